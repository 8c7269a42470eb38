package asynctask_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
)

// many returns a Manager in whose session a thousand tasks have ended.
func many(tb testing.TB, size int) *asynctask.Manager {
	tb.Helper()
	m := asynctask.NewManager(asynctask.WithLimit(asynctask.Unlimited), asynctask.WithOutputSize(64<<20))
	for i := range 1000 {
		id := fmt.Sprintf("%04d-0f7bd1c7e1f24a5c", i)
		_, err := m.Begin(in(tb, "a"), id, "index the documents of shard "+id)
		require.NoError(tb, err)
		var output *asynctask.Output
		if size > 0 {
			output = asynctask.Message(strings.Repeat("word \"and\" word\n", size/16))
		}
		require.NoError(tb, m.Finish(id, output))
	}
	return m
}

func BenchmarkRemindOfAThousand(b *testing.B) {
	for _, size := range []int{0, 200, 10_000} {
		b.Run(fmt.Sprintf("output=%d", size), func(b *testing.B) {
			m := many(b, size)
			b.ReportAllocs()
			for b.Loop() {
				m.Remind("a").Release()
			}
		})
	}
}

func BenchmarkDeliverAThousand(b *testing.B) {
	m := many(b, 200)
	b.ReportAllocs()
	for b.Loop() {
		m.Deliver("a", asynctask.ReminderAndSummary).Release()
	}
}

func BenchmarkSummaryOfAThousand(b *testing.B) {
	m := many(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		_ = m.Summary("a")
	}
}

// quiets are Managers that have nothing to say, with the sessions that ask.
func quiets(tb testing.TB) map[string]func() *asynctask.Delivery {
	tb.Helper()
	none, told, held := asynctask.NewManager(), many(tb, 0), many(tb, 0)
	told.Remind("a").Ack()
	told.Deliver("a", asynctask.ReminderAndSummary).Ack(true)
	held.Remind("a")
	held.Remind("a")
	held.Deliver("a", asynctask.ReminderAndSummary).Ack(true) // of the summary
	ask := func(m *asynctask.Manager) func() *asynctask.Delivery {
		return func() *asynctask.Delivery { return m.Deliver("a", asynctask.ReminderAndSummary) }
	}
	return map[string]func() *asynctask.Delivery{"none": ask(none), "told": ask(told), "held": ask(held)}
}

func BenchmarkNothingToSay(b *testing.B) {
	for name, ask := range quiets(b) {
		b.Run("tasks="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ask() != nil {
					b.Fatal("there is something")
				}
			}
		})
	}
}

func TestNothingToSayAllocatesNothing(t *testing.T) {
	for name, ask := range quiets(t) {
		assert.Zero(t, testing.AllocsPerRun(100, func() { require.Nil(t, ask()) }), name)
	}
}
