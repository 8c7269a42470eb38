package asynctask_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/delivery"
)

// kept returns the ids of the session's tasks that are still kept.
func (s *setup) kept(session string) []string {
	var ids []string
	for _, t := range s.Tasks(session) {
		ids = append(ids, t.ID)
	}
	return ids
}

func TestHistoryIsTwiceTheLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ limit, want int }{
		"limit 1":   {1, 2},
		"limit 3":   {3, 6},
		"unlimited": {asynctask.Off, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, asynctask.WithLimit(c.limit))
			var ids []string
			for i := range 30 {
				id := fmt.Sprintf("task-%02d", i)
				ids = append(ids, id)
				s.ends("a", id)
				s.acks("a")
				assert.LessOrEqual(t, len(s.kept("a")), c.want)
			}
			assert.Equal(t, ids[30-c.want:], s.kept("a"), "the oldest go")
			_, ok := s.Get("task-00")
			assert.False(t, ok)
			require.ErrorIs(t, s.Finish("task-00", nil), asynctask.ErrUnknown)
			s.begins("a", "task-00") // the id is free again
		})
	}
}

func TestOldestIsWhatEndedFirst(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(3))
	s.begins("a", "slow")
	for i := range 5 {
		s.ends("a", fmt.Sprint("quick-", i))
	}
	require.NoError(t, s.Finish("slow", nil))
	s.ends("a", "last")
	s.acks("a")
	assert.Equal(t, []string{"slow", "quick-1", "quick-2", "quick-3", "quick-4", "last"}, s.kept("a"))
}

func TestUndeliveredAreNeverDropped(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(1))
	var want []string
	for i := range 30 {
		want = append(want, fmt.Sprintf("task-%02d", i))
	}
	s.ends("a", want...)
	assert.Equal(t, want, s.kept("a"))

	r := s.Remind("a")
	s.ends("a", "after")
	assert.Equal(t, append(want, "after"), s.kept("a"), "tasks that a delivery holds are not dropped")
	s.settle(r, delivery.Unread)
	s.ends("a", "later")
	assert.Equal(t, append(want, "after", "later"), s.told("a"))

	s.acks("a")
	assert.Equal(t, []string{"after", "later"}, s.kept("a"), "the history shrinks as soon as it may")
}

func TestCancelledDoNotBlockEviction(t *testing.T) {
	t.Parallel()
	for name, announced := range map[string]bool{"silent": false, "told": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := []asynctask.Option{asynctask.WithLimit(1)}
			if announced {
				opts = append(opts, asynctask.WithCancellations())
			}
			s := newSetup(t, opts...)
			s.begins("a", "cancelled")
			require.NoError(t, s.Cancel("cancelled"))
			r := s.Remind("a") // of the cancelled one, if it is told
			s.ends("a", "one", "two", "three")
			s.acks("a")
			if !announced {
				assert.Nil(t, r)
				assert.Equal(t, []string{"two", "three"}, s.kept("a"))
				return
			}
			assert.Equal(t, []string{"cancelled", "three"}, s.kept("a"), "one that waits is skipped")
			s.settle(r, delivery.Delivered)
			s.ends("a", "four")
			s.acks("a")
			assert.Equal(t, []string{"three", "four"}, s.kept("a"))
		})
	}
}

func TestSessionsDoNotEvictEachOther(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(1))
	s.ends("a", "a1")
	s.acks("a")
	for i := range 20 {
		s.ends("b", fmt.Sprint("b", i))
		s.acks("b")
		s.ends("", fmt.Sprint("nobody's-", i))
	}
	assert.Equal(t, []string{"a1"}, s.kept("a"))
	_, ok := s.Get("nobody's-0")
	assert.False(t, ok, "tasks without a session are bounded too")
}

func TestForgetLeavesWhatIsStartedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "told")
	d := s.deliver()
	s.settle(d, delivery.Repeat)
	s.ends("a", "held")
	held := s.Remind("a")
	s.begins("a", "running")
	s.Subscribe(func(task asynctask.Task) {
		if task.ID == "running" {
			s.begins("a", "new")
		}
	})

	s.Forget("a")
	assert.Equal(t, []string{"new"}, s.kept("a"))
	assert.Empty(t, s.deliver().Repeated)
	require.NoError(t, s.Finish("new", nil))
	assert.Equal(t, []string{"new"}, s.told("a"))
	s.settle(held, delivery.Delivered)
	assert.Equal(t, []string{"new"}, s.told("a"))
}

func TestForgetDropsTheSession(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(3))
	cancelled := make(chan struct{})
	_, err := s.Start(in(t, "a"), "running", func(ctx context.Context) (*asynctask.Output, error) {
		<-ctx.Done()
		close(cancelled)
		return nil, nil
	})
	require.NoError(t, err)
	s.ends("a", "undelivered")
	s.ends("b", "b1")
	held := s.Remind("a")
	d := s.Deliver("a", delivery.Options{})
	s.settle(d, delivery.Repeat)

	s.Forget("a")
	<-cancelled
	assert.Empty(t, s.kept("a"))
	assert.Empty(t, s.Summary("a"))
	assert.Nil(t, s.Remind("a"))
	assert.Nil(t, s.Deliver("a", delivery.Options{}), "nothing stands")
	s.settle(held, delivery.Delivered) // comes too late and does nothing
	s.Forget("a")
	s.Forget("")
	assert.Equal(t, []string{"b1"}, s.told("b"))

	s.ends("a", "undelivered") // the conversation may begin anew, with the same ids
	s.settle(held, delivery.Unread)
	assert.Equal(t, []string{"undelivered"}, s.told("a"))
}
