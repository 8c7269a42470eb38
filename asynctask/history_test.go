package asynctask_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
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
	assert.Equal(t, append(want, "after"), s.kept("a"), "nor are those that somebody is telling")
	s.settle(r, asynctask.Unread)
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
			s.settle(r, asynctask.Told)
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
	assert.False(t, ok, "what nobody is told of is bounded too")
}

func TestSessionsThatNeverComeBackAreForgotten(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(1))
	s.ends("waiting", "waiting") // undelivered, and the oldest
	for i := range 10_001 {
		session := fmt.Sprint("session-", i)
		s.ends(session, session)
		s.acks(session)
	}
	assert.Empty(t, s.kept("session-0"))
	assert.Equal(t, []string{"session-1"}, s.kept("session-1"))
	assert.Equal(t, []string{"waiting"}, s.told("waiting"))
}

func TestTooManyUndeliveredKeepOthersFromStarting(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	for i := range asynctask.MaxUndelivered {
		s.ends(fmt.Sprint("session-", i%100), fmt.Sprint("task-", i))
	}
	_, err := s.Begin(in(t, "a"), "more", "more")
	require.ErrorIs(t, err, asynctask.ErrBacklog)
	require.EqualError(t, err, "asynctask: too many ended tasks wait for delivery: 10000")
	_, err = s.Reserve(in(t, "a"))
	require.ErrorIs(t, err, asynctask.ErrBacklog)

	s.acks("session-7")
	s.begins("a", "more")
	s.Forget("session-8")
	require.NoError(t, s.Finish("more", nil))
	s.begins("a", "and-more")
}

func message(t *testing.T, s *setup, id string) string {
	t.Helper()
	task, ok := s.Get(id)
	require.True(t, ok)
	return *task.Output.FinalMessage
}

func TestBeyondTheTotalSizeTheOldestOutputsShrink(t *testing.T) {
	t.Parallel()
	const each = 100 << 10
	s := newSetup(t, asynctask.WithOutputSize(3*each+(4<<10)))
	long := strings.Repeat("begin ", 10) + strings.Repeat("x", each-300) + strings.Repeat(" end", 10)
	for _, id := range []string{"one", "two", "three"} {
		s.begins("a", id)
		require.NoError(t, s.Finish(id, asynctask.Message(long)))
	}
	for _, id := range []string{"one", "two"} {
		assert.Len(t, message(t, s, id), len(long), "within the size nothing is cut")
	}

	s.begins("b", "four")
	require.NoError(t, s.Finish("four", asynctask.Message(long)))
	shrunk := message(t, s, "one")
	assert.LessOrEqual(t, len(shrunk), 2<<10)
	assert.Regexp(t, `^begin (.|\n)*x\n\[\.\.\. 100\d\d\d bytes cut \.\.\.\]\nx(.|\n)* end$`, shrunk)
	for _, id := range []string{"two", "three", "four"} {
		assert.Equal(t, long, message(t, s, id), id)
	}

	told, _ := payloads(t, s.Remind("a").Text)
	assert.Equal(t, shrunk, *told[0].FinalMessage, "it is told as it was kept")
}

func TestDeliveredOutputsShrinkFirst(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithOutputSize(200<<10))
	long := strings.Repeat("x", 90<<10)
	s.begins("a", "waiting")
	require.NoError(t, s.Finish("waiting", asynctask.Message(long)))
	s.begins("b", "delivered")
	require.NoError(t, s.Finish("delivered", asynctask.Message(long)))
	s.acks("b")
	s.begins("a", "new")
	require.NoError(t, s.Finish("new", asynctask.Message(long)))

	assert.Len(t, message(t, s, "waiting"), len(long))
	assert.Less(t, len(message(t, s, "delivered")), 2<<10)
	assert.Len(t, message(t, s, "new"), len(long))
}

func TestHugeOutputsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithOutputSize(1<<20))
	vars := map[string]string{}
	for i := range 50_000 {
		vars[fmt.Sprintf("variable-%05d", i)] = "value"
	}
	cause := errors.New(strings.Repeat("e", 8<<20))
	s.begins("a", "message", "vars", "error")
	require.NoError(t, s.Finish("message", asynctask.Message(strings.Repeat("m", 64<<20))))
	require.NoError(t, s.Finish("vars", &asynctask.Output{EmittedVars: vars}))
	require.NoError(t, s.Fail("error", cause))

	assert.Less(t, len(message(t, s, "message")), 2<<10)
	task, _ := s.Get("vars")
	assert.Less(t, len(task.Output.EmittedVars), 100)
	task, _ = s.Get("error")
	assert.Less(t, len(task.Err.Error()), 2<<10)
	require.NotErrorIs(t, task.Err, cause, "the error itself would keep its text")

	told, longest := payloads(t, s.Remind("a").Text)
	assert.LessOrEqual(t, longest, 2<<10)
	require.Len(t, told, 3)
	assert.Regexp(t, `^\[49\d\d\d variables left out\]$`, told[1].EmittedVars["..."])
	assert.Contains(t, *told[2].Error, "bytes cut")
}

func TestForgetLeavesWhatIsStartedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "told")
	d := s.deliver()
	s.settle(d, asynctask.Repeat)
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
	s.settle(held, asynctask.Told)
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
	d := s.Deliver("a", asynctask.DeliverOptions{})
	s.settle(d, asynctask.Repeat)

	s.Forget("a")
	<-cancelled
	assert.Empty(t, s.kept("a"))
	assert.Empty(t, s.Summary("a"))
	assert.Nil(t, s.Remind("a"))
	assert.Nil(t, s.Deliver("a", asynctask.DeliverOptions{}), "nothing stands")
	s.settle(held, asynctask.Told) // comes too late and does nothing
	s.Forget("a")
	s.Forget("")
	assert.Equal(t, []string{"b1"}, s.told("b"))

	s.ends("a", "undelivered") // the conversation may begin anew, with the same ids
	s.settle(held, asynctask.Unread)
	assert.Equal(t, []string{"undelivered"}, s.told("a"))
}
