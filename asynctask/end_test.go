package asynctask_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
)

func TestTaskElsewhereEndsWhenItIsReported(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		end   func(s *setup) error
		state asynctask.TaskState
		cause error // of the ctx of who is attached
		err   error
	}{
		"finished":  {func(s *setup) error { return s.Finish("id", nil) }, asynctask.Completed, context.Canceled, nil},
		"failed":    {func(s *setup) error { return s.Fail("id", broken) }, asynctask.Failed, context.Canceled, broken},
		"cancelled": {func(s *setup) error { return s.Cancel("id") }, asynctask.Cancelled, asynctask.ErrCancelled, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, asynctask.WithLimit(1))
			s.begins("a", "id")
			ctx, detach, err := s.Attach(t.Context(), s.ticket("id"))
			require.NoError(t, err)
			defer detach()
			require.NoError(t, ctx.Err())

			require.NoError(t, c.end(s))
			require.ErrorIs(t, context.Cause(ctx), c.cause)
			task, err := s.Wait(t.Context(), "id")
			require.NoError(t, err)
			assert.Equal(t, c.state, task.State)
			assert.Equal(t, c.err, task.Err)

			for _, again := range []error{s.Finish("id", nil), s.Fail("id", broken), s.Cancel("id")} {
				require.ErrorIs(t, again, asynctask.ErrEnded)
				require.EqualError(t, again, "asynctask: the task has ended already: id is "+string(c.state))
			}
			after, _ := s.Get("id")
			assert.Equal(t, task, after)
			s.begins("a", "next") // the slot is free
		})
	}
}

func TestEndOfAnUnknownTask(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	for _, err := range []error{s.Finish("x", nil), s.Fail("x", nil), s.Cancel("x")} {
		require.ErrorIs(t, err, asynctask.ErrUnknown)
		require.EqualError(t, err, `asynctask: no such task: "x"`)
	}
	_, err := s.Wait(t.Context(), "x")
	require.ErrorIs(t, err, asynctask.ErrUnknown)
}

func TestIDs(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	for _, id := range []string{"", "a b", "a\n", `a"`, `a\b`, "é", "\x7f", strings.Repeat("x", 129)} {
		err := s.Begin(in(t, "a"), id, "name")
		require.ErrorIs(t, err, asynctask.ErrInvalid, "%q", id)
	}
	for _, id := range []string{"x", "call_7/step:2#3", strings.Repeat("x", 128)} {
		s.begins("a", id)
	}
	err := s.Begin(in(t, "a"), "x", "name")
	require.ErrorIs(t, err, asynctask.ErrDuplicate)
	require.EqualError(t, err, "asynctask: a task with this id exists: x")
	require.NoError(t, s.Finish("x", nil))
	err = s.Begin(in(t, "a"), "x", "name")
	require.ErrorIs(t, err, asynctask.ErrDuplicate, "an ended task has its id still")
}

// No session can notice the ids of another session's tasks.
func TestIDsBelongToTheirSession(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.begins("a", "x")
	s.begins("b", "x")
	s.begins("", "x")
	require.NoError(t, s.Manager.Finish(t.Context(), asynctask.Ticket{Session: "b", ID: "x"}, nil))
	for session, state := range map[string]asynctask.TaskState{
		"a": asynctask.Running, "b": asynctask.Completed, "": asynctask.Running,
	} {
		task, err := s.Manager.Get(t.Context(), asynctask.Ticket{Session: session, ID: "x"})
		require.NoError(t, err)
		assert.Equal(t, state, task.State, session)
	}
	_, err := s.Manager.Get(t.Context(), asynctask.Ticket{Session: "c", ID: "x"})
	require.ErrorIs(t, err, asynctask.ErrUnknown)
}

func TestFailureWithoutAnError(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.begins("a", "id")
	require.NoError(t, s.Fail("id", nil))
	task, _ := s.Get("id")
	require.EqualError(t, task.Err, "no reason given")
}

func TestTaskWithAFunctionCanBeFinishedEarly(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	id, err := s.Start(in(t, "a"), "task", untilCancelled)
	require.NoError(t, err)
	require.NoError(t, s.Finish(id, asynctask.Message("enough")))
	task, err := s.Wait(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, asynctask.Completed, task.State)
	assert.Equal(t, "enough", *task.Output.FinalMessage)
}

func TestOfManyEndsOneCounts(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	var ended atomic.Int32
	s.Subscribe(func(asynctask.Task) { ended.Add(1) })
	for range 50 {
		id, err := s.Start(in(t, "a"), "task", func(context.Context) (*asynctask.Output, error) { return nil, nil })
		require.NoError(t, err)
		var won atomic.Int32
		var group sync.WaitGroup
		for _, end := range []func() error{
			func() error { return s.Cancel(id) },
			func() error { return s.Finish(id, nil) },
			func() error { return s.Fail(id, nil) },
		} {
			group.Go(func() {
				if end() == nil {
					won.Add(1)
				}
			})
		}
		group.Wait()
		_, err = s.Wait(t.Context(), id)
		require.NoError(t, err)
		assert.LessOrEqual(t, won.Load(), int32(1))
		s.acks("a")
	}
	require.NoError(t, s.Close(t.Context()))
	assert.EqualValues(t, 50, ended.Load())
}

func TestWaitEndsWithItsCtx(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.begins("a", "id")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Wait(ctx, "id")
	require.ErrorIs(t, err, context.Canceled)
}
