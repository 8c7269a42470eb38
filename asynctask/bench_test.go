package asynctask_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// many returns a Manager in whose session a thousand tasks have ended.
func many(tb testing.TB, size int) *asynctask.Manager {
	tb.Helper()
	m := asynctask.NewManager(asynctask.WithLimit(asynctask.Off))
	for i := range 1000 {
		id := fmt.Sprintf("%04d-0f7bd1c7e1f24a5c", i)
		ticket, err := m.Begin(in(tb, "a"), id, "index the documents of shard "+id)
		require.NoError(tb, err)
		var output *asynctask.Output
		if size > 0 {
			output = asynctask.Message(strings.Repeat("word \"and\" word\n", size/16))
		}
		require.NoError(tb, m.Finish(tb.Context(), ticket, output))
	}
	return m
}

func BenchmarkRemindOfAThousand(b *testing.B) {
	for _, size := range []int{0, 200, 10_000} {
		b.Run(fmt.Sprintf("output=%d", size), func(b *testing.B) {
			s := setupOf(b, many(b, size), nil)
			b.ReportAllocs()
			for b.Loop() {
				s.settle(s.Remind("a"), delivery.Unread)
			}
		})
	}
}

func BenchmarkDeliverAThousand(b *testing.B) {
	s := setupOf(b, many(b, 200), nil)
	b.ReportAllocs()
	for b.Loop() {
		s.settle(s.Deliver("a", both), delivery.Unread)
	}
}

func BenchmarkSummaryOfAThousand(b *testing.B) {
	s := setupOf(b, many(b, 0), nil)
	b.ReportAllocs()
	for b.Loop() {
		_ = s.Summary("a")
	}
}

// quiets are Managers that have nothing to say, with the sessions that ask.
func quiets(tb testing.TB) map[string]func() *delivery.Delivery {
	tb.Helper()
	none, told, held := setupOf(tb, asynctask.NewManager(), nil), setupOf(tb, many(tb, 0), nil), setupOf(tb, many(tb, 0), nil)
	told.settle(told.Remind("a"), delivery.Delivered)
	told.settle(told.Deliver("a", both), delivery.Delivered)
	held.Remind("a")
	held.Remind("a")
	held.settle(held.Deliver("a", both), delivery.Delivered) // of the summary
	ctx := tb.Context()
	ask := func(s *setup) func() *delivery.Delivery {
		return func() *delivery.Delivery {
			d, err := s.Manager.Deliveries().Deliver(ctx, "a", both)
			if err != nil {
				panic(err)
			}
			return d
		}
	}
	return map[string]func() *delivery.Delivery{"none": ask(none), "told": ask(told), "held": ask(held)}
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
		assert.Zero(t, measure.Allocations(func() { require.Nil(t, ask()) }), name)
	}
}
