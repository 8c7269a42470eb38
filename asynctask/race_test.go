package asynctask_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/autotrigger"
	"github.com/carryon-go/carryon/internal/delivery"
)

// tally counts how often each task was told, by calls that ended well.
type tally struct {
	mu   sync.Mutex
	told map[string]int
}

func (c *tally) add(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.told[id]++
	}
}

// talk makes model calls of a session, some of which fail.
func talk(s *setup, session string, calls int, c *tally) {
	for range calls {
		r, d := s.Remind(session), s.Deliver(session, delivery.Options{})
		_ = s.Summary(session)
		well := rand.IntN(2) == 0
		if r != nil {
			if well {
				c.add(r.Tasks)
				s.settle(r, delivery.Delivered)
			} else {
				s.settle(r, delivery.Unread)
			}
		}
		if d != nil {
			if rand.IntN(2) == 0 {
				c.add(d.Tasks)
				s.settle(d, map[bool]delivery.Outcome{true: delivery.Delivered, false: delivery.Repeat}[well])
			} else {
				s.settle(d, delivery.Unread)
			}
		}
	}
}

// work starts tasks of a session that end in every possible way, and returns the ids
// of those whose ends the model is told.
func work(t *testing.T, m *setup, session string, tasks int) []string {
	t.Helper()
	var told []string
	for i := range tasks {
		id, err := m.Start(in(t, session), fmt.Sprint("task ", i), func(ctx context.Context) (*asynctask.Output, error) {
			switch i % 4 {
			case 0:
				return nil, errors.New("failed")
			case 1:
				panic("panicked")
			case 2:
				<-ctx.Done()
			}
			return asynctask.Message("done"), nil
		})
		switch {
		case err != nil:
			t.Error(err)
		case i%4 != 2:
			told = append(told, id)
		default:
			assert.NoError(t, m.Cancel(id))
		}
	}
	return told
}

// waitFor waits until the tasks have ended.
func waitFor(t *testing.T, m *setup, ids []string) {
	t.Helper()
	for _, id := range ids {
		if _, err := m.Wait(t.Context(), id); err != nil {
			require.ErrorIs(t, err, asynctask.ErrUnknown, "it may have been delivered and dropped")
		}
	}
}

func TestConcurrentCallsDeliverEachEndOnce(t *testing.T) {
	t.Parallel()
	m := setupOf(t, asynctask.NewManager(asynctask.WithLimit(asynctask.Off)), nil)
	m.Subscribe(func(task asynctask.Task) { _, _ = m.Get(task.ID) })
	var group sync.WaitGroup
	counts := map[string]*tally{}
	want := map[string]*[]string{}
	for _, session := range []string{"a", "b", "c"} {
		c, ids := &tally{told: map[string]int{}}, new([]string)
		counts[session], want[session] = c, ids
		group.Go(func() { *ids = work(t, m, session, 200) })
		for range 3 {
			group.Go(func() { talk(m, session, 200, c) })
		}
	}
	group.Wait()
	for _, ids := range want {
		waitFor(t, m, *ids)
	}
	require.NoError(t, m.Close(t.Context()))
	for session, c := range counts {
		for r := m.Remind(session); r != nil; r = m.Remind(session) {
			c.add(r.Tasks)
			m.settle(r, delivery.Delivered)
		}
		require.Len(t, c.told, len(*want[session]))
		for _, id := range *want[session] {
			assert.Equal(t, 1, c.told[id])
		}
	}
}

func TestConcurrentTriggersAndCallsDeliverEachEndOnce(t *testing.T) {
	t.Parallel()
	m := setupOf(t, asynctask.NewManager(asynctask.WithLimit(asynctask.Off)), nil)
	c := &tally{told: map[string]int{}}
	all := make(chan struct{})
	trigger := autotrigger.New(in(t, "a"), m.Manager, autotrigger.Host{
		Busy: func() bool { return false },
		Trigger: func(_ context.Context, message string) error {
			list, _ := payloads(t, message)
			var ids []string
			for _, p := range list {
				ids = append(ids, p.AgentID)
			}
			c.add(ids)
			if slices.Contains(ids, "last") {
				close(all)
			}
			return nil
		},
	})
	var group sync.WaitGroup
	var want []string
	group.Go(func() { want = work(t, m, "a", 200) })
	group.Go(func() { talk(m, "a", 200, c) })
	group.Go(func() {
		for range 200 {
			trigger.Idle()
		}
	})
	group.Wait()
	err := m.Begin(in(t, "a"), "last", "last")
	require.NoError(t, err)
	waitFor(t, m, want)
	require.NoError(t, m.Finish("last", nil))
	<-all
	require.NoError(t, m.Close(t.Context()))
	for _, id := range append(want, "last") {
		assert.Equal(t, 1, c.told[id])
	}
}

func TestCloseRacesWithEverything(t *testing.T) {
	t.Parallel()
	for range 20 {
		m := setupOf(t, asynctask.NewManager(asynctask.WithLimit(asynctask.Off)), nil)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for {
					if _, err := m.Start(in(t, "a"), "task", untilCancelled); err != nil {
						assert.ErrorIs(t, err, asynctask.ErrClosed)
						return
					}
				}
			})
		}
		group.Go(func() {
			trigger := autotrigger.New(in(t, "a"), m.Manager, autotrigger.Host{
				Busy: func() bool { return false }, Trigger: func(context.Context, string) error { return nil },
			})
			assert.NoError(t, trigger.Stop(t.Context()))
		})
		require.NoError(t, m.Close(t.Context()))
		group.Wait()
		n, _ := m.Pending("a", -1)
		assert.Zero(t, n)
	}
}
