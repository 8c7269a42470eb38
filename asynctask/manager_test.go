package asynctask_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/guard"
)

// untilCancelled is a task that ends when it is cancelled.
func untilCancelled(ctx context.Context) (*asynctask.Output, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestTaskRunsToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	began := s.clock.Now()
	step := make(chan struct{})
	id, err := s.Start(in(t, "a"), "  build\nthe   index ", func(context.Context) (*asynctask.Output, error) {
		<-step
		return asynctask.Message("done"), nil
	})
	require.NoError(t, err)

	task, ok := s.Get(id)
	require.True(t, ok)
	assert.Equal(t, asynctask.Task{
		ID: id, Name: "build the index", Session: "a", State: asynctask.Running, Started: began,
	}, task)

	s.clock.Advance(time.Minute)
	close(step)
	task, err = s.Wait(t.Context(), id)
	require.NoError(t, err)
	done := "done"
	assert.Equal(t, asynctask.Task{
		ID: id, Name: "build the index", Session: "a", State: asynctask.Completed, Started: began,
		Ended:  began.Add(time.Minute),
		Output: &asynctask.Output{TerminateReason: asynctask.ReasonGoal, FinalMessage: &done},
	}, task)
}

func TestTaskCtxHasTheValuesOfTheCallerAndNotItsEnd(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	ctx, cancel := context.WithCancel(in(t, "a"))
	cancel()
	id, err := s.Start(ctx, "task", func(ctx context.Context) (*asynctask.Output, error) {
		return asynctask.Message(continuation.Session(ctx)), ctx.Err()
	})
	require.NoError(t, err)
	task, err := s.Wait(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, task.Err)
	assert.Equal(t, "a", *task.Output.FinalMessage)
}

func TestWhatTasksFailWith(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	for name, c := range map[string]struct {
		f    asynctask.Func
		is   error
		text string
	}{
		"error": {func(context.Context) (*asynctask.Output, error) {
			return asynctask.Message("dropped"), fmt.Errorf("write: %w", broken)
		}, broken, "write: disk full"},
		"panic": {func(context.Context) (*asynctask.Output, error) { panic("no such shard") }, nil, "panic: no such shard"},
		"panic with an error": {
			func(context.Context) (*asynctask.Output, error) { panic(broken) }, broken, "panic: disk full",
		},
		"goexit": {func(context.Context) (*asynctask.Output, error) {
			runtime.Goexit()
			return nil, nil
		}, asynctask.ErrExited, "asynctask: the task's function did not return"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, asynctask.WithLimit(1))
			id, err := s.Start(in(t, "a"), "task", c.f)
			require.NoError(t, err)
			task, err := s.Wait(t.Context(), id)
			require.NoError(t, err)

			assert.Equal(t, asynctask.Failed, task.State)
			assert.Nil(t, task.Output)
			require.EqualError(t, task.Err, c.text)
			if c.is != nil {
				require.ErrorIs(t, task.Err, c.is)
			}
			r := s.Remind("a")
			require.NotNil(t, r)
			told, _ := payloads(t, r.Text)
			require.Len(t, told, 1)
			assert.Equal(t, payload{AgentID: id, Status: "failed", Error: &c.text}, told[0])

			_, err = s.Start(in(t, "a"), "next", untilCancelled)
			require.NoError(t, err, "the slot is free again")
		})
	}
}

func TestPanicErrorTellsWhere(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	id, err := s.Start(in(t, "a"), "task", func(context.Context) (*asynctask.Output, error) { panic("oh") })
	require.NoError(t, err)
	task, err := s.Wait(t.Context(), id)
	require.NoError(t, err)
	var panicked *guard.PanicError
	require.ErrorAs(t, task.Err, &panicked)
	assert.Equal(t, "oh", panicked.Value)
	assert.Contains(t, string(panicked.Stack), "manager_test.go")
}

// silent is an error whose Error method panics.
type silent struct{}

func (silent) Error() string { panic("no text") }

func TestErrorWhoseTextPanicsIsAFailureAllTheSame(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.begins("a", "one")
	require.NoError(t, s.Fail("one", silent{}))
	told, _ := payloads(t, s.Remind("a").Text)
	assert.Equal(t, "asynctask_test.silent", *told[0].Error)
}

func TestCancelEndsTheTaskAndItsCtxAtOnce(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(1))
	cause, hold := make(chan error, 1), make(chan struct{})
	id, err := s.Start(in(t, "a"), "task", func(ctx context.Context) (*asynctask.Output, error) {
		<-ctx.Done()
		cause <- context.Cause(ctx)
		<-hold
		return asynctask.Message("too late"), nil
	})
	require.NoError(t, err)

	require.NoError(t, s.Cancel(id))
	require.ErrorIs(t, <-cause, asynctask.ErrCancelled)
	task, _ := s.Get(id)
	assert.Equal(t, asynctask.Cancelled, task.State)
	require.ErrorIs(t, s.Cancel(id), asynctask.ErrEnded)
	n, _ := s.Pending("a", -1)
	assert.Zero(t, n, "there is nothing to wait for")

	_, err = s.Start(in(t, "a"), "next", untilCancelled)
	require.ErrorIs(t, err, asynctask.ErrLimit, "its function keeps the slot until it returns")
	close(hold)
	task, err = s.Wait(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, asynctask.Cancelled, task.State, "the function's result is ignored")
	assert.Nil(t, task.Output)
	_, err = s.Start(in(t, "a"), "next", untilCancelled)
	require.NoError(t, err)
}

func TestLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts  []asynctask.Option
		limit int
	}{
		"default": {nil, 25},
		"one":     {[]asynctask.Option{asynctask.WithLimit(1)}, 1},
		"none":    {[]asynctask.Option{asynctask.WithLimit(asynctask.Off)}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, c.opts...)
			n := c.limit
			if n < 0 {
				n = 100
			}
			for i := range n {
				_, err := s.Start(in(t, strconv.Itoa(i)), "task", untilCancelled)
				require.NoError(t, err)
			}
			_, err := s.Start(in(t, "a"), "one more", untilCancelled)
			if c.limit < 0 {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, fmt.Sprintf(
				"asynctask: limit reached: %d of %d functions are running", n, n))
			require.ErrorIs(t, err, asynctask.ErrLimit)
			assert.Empty(t, s.Tasks("a"), "a refused task leaves no trace")
			s.begins("a", "elsewhere") // takes no slot here
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(asynctask.Off))
	for _, name := range []string{"", " \n\t", "\x00\u200b"} {
		_, err := s.Start(in(t, "a"), name, untilCancelled)
		require.ErrorIs(t, err, asynctask.ErrInvalid)
		require.EqualError(t, err, "asynctask: invalid name: it is blank")
	}
	for name, want := range map[string]string{
		"a\n[2] forged - [DONE] (x)": "a [2] forged - [DONE] (x)",
		"\x1b[31mred\xff":            "[31mred",
		strings.Repeat("é", 100):     strings.Repeat("é", 100),
		strings.Repeat("é", 101):     strings.Repeat("é", 97) + "...",
	} {
		id, err := s.Start(in(t, "a"), name, untilCancelled)
		require.NoError(t, err)
		task, _ := s.Get(id)
		assert.Equal(t, want, task.Name)
	}
}

func TestPendingCountsWhatIsToBeWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(asynctask.Off))
	pending := func(session string, maxAge time.Duration) (n int, age time.Duration) {
		n, oldest := s.Pending(session, maxAge)
		if n > 0 {
			age = s.clock.Now().Sub(oldest)
		}
		return n, age
	}
	check := func(session string, maxAge time.Duration, wantN int, wantAge time.Duration) {
		t.Helper()
		n, age := pending(session, maxAge)
		assert.Equal(t, wantN, n)
		assert.Equal(t, wantAge, age)
	}
	check("a", -1, 0, 0)
	s.begins("a", "first")
	s.clock.Advance(time.Minute)
	s.begins("a", "second")
	s.begins("b", "other")
	s.begins("", "nobody's")
	s.clock.Advance(time.Minute)
	s.begins("a", "third")

	check("a", -1, 3, 2*time.Minute)
	check("a", 2*time.Minute+1, 3, 2*time.Minute)
	check("a", 2*time.Minute, 2, time.Minute) // the first is too old to be waited for
	check("a", time.Minute, 1, 0)
	check("a", 0, 3, 2*time.Minute)
	check("b", time.Hour, 1, time.Minute)
	check("", -1, 0, 0)
	check("c", -1, 0, 0)

	require.NoError(t, s.Finish("first", nil))
	require.NoError(t, s.Finish("third", nil))
	check("a", -1, 1, time.Minute)
	require.NoError(t, s.Cancel("second"))
	check("a", -1, 0, 0)
}

func TestCloseEndsAndJoinsEverything(t *testing.T) {
	t.Parallel()
	m := setupOf(t, asynctask.NewManager(), nil)
	causes := make(chan error, 1)
	id, err := m.Start(in(t, "a"), "local", func(ctx context.Context) (*asynctask.Output, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, nil
	})
	require.NoError(t, err)
	m.begins("a", "elsewhere", "ended")
	elsewhere, _, err := m.Attach(t.Context(), m.ticket("elsewhere"))
	require.NoError(t, err)
	require.NoError(t, m.Finish("ended", nil))

	require.NoError(t, m.Close(t.Context()))
	require.ErrorIs(t, <-causes, asynctask.ErrClosed)
	require.ErrorIs(t, context.Cause(elsewhere), asynctask.ErrClosed)
	for id, state := range map[string]asynctask.TaskState{
		id: asynctask.Cancelled, "elsewhere": asynctask.Running, "ended": asynctask.Completed,
	} {
		task, _ := m.Get(id)
		assert.Equal(t, state, task.State)
	}

	_, err = m.Start(in(t, "a"), "late", untilCancelled)
	require.ErrorIs(t, err, asynctask.ErrClosed)
	require.NoError(t, m.Close(t.Context()), "once more")
	r := m.Remind("a")
	require.NotNil(t, r, "tasks that ended before can still be reported")
	assert.Equal(t, []string{"ended"}, r.Tasks)
}

func TestCloseWaitsNoLongerThanItsCtx(t *testing.T) {
	t.Parallel()
	m := asynctask.NewManager()
	hold := make(chan struct{})
	_, err := m.Start(in(t, "a"), "stubborn", func(context.Context) (*asynctask.Output, error) {
		<-hold
		return nil, nil
	})
	require.NoError(t, err)
	impatient := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(impatient)

	err = m.Close(ctx)
	require.ErrorIs(t, err, impatient)
	require.EqualError(t, err, "asynctask: closed, but 1 goroutines have not ended: shutting down")
	close(hold)
	require.NoError(t, m.Close(t.Context()))
}

func TestCloseOfAnEmptyManager(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, asynctask.NewManager().Close(ctx), "there is nothing to wait for")
}

func TestWrongUsePanics(t *testing.T) {
	t.Parallel()
	m := asynctask.NewManager(nil)
	var noCtx context.Context
	for want, options := range map[string][]asynctask.Option{
		"asynctask: limit 0 is not positive (use asynctask.Off for none)":         {asynctask.WithLimit(0), asynctask.WithLimit(-2)},
		"asynctask: limit -2 is not positive (use asynctask.Off for none)":        {asynctask.WithLimit(-2)},
		"asynctask: session limit 0 is not positive (use asynctask.Off for none)": {asynctask.WithSessionLimit(0)},
		"asynctask: memory 0 is not positive":                                     {asynctask.WithMemory(0)},
		"asynctask: task life 0s is not positive (use asynctask.Off for none)":    {asynctask.WithTaskLife(0)},
		"asynctask: retention -2ns is not positive (use asynctask.Off for none)":  {asynctask.WithRetention(-2)},
		"asynctask: nil records": {asynctask.WithRecords(nil)},
	} {
		assert.PanicsWithValue(t, "carryon/"+want, func() { asynctask.NewManager(options...) })
	}
	assert.PanicsWithValue(t, "carryon/asynctask: nil function", func() { _, _ = m.Start(t.Context(), "x", nil) })
	assert.PanicsWithValue(t, "carryon/asynctask: Subscribe: nil function", func() { m.Subscribe(nil) })
	for _, f := range []func(){
		func() { _, _ = m.Start(noCtx, "x", untilCancelled) },
		func() { _, _ = m.Begin(noCtx, "id", "x") },
		func() { _, _ = m.Wait(noCtx, asynctask.Ticket{ID: "id"}) },
		func() { _ = m.Finish(noCtx, asynctask.Ticket{ID: "id"}, nil) },
		func() { _, _ = m.Get(noCtx, asynctask.Ticket{ID: "id"}) },
		func() { _, _ = m.Deliveries().Deliver(noCtx, "a", both) },
		func() { _, _ = m.Deliveries().Pending(noCtx, "", 0) },
		func() { _ = m.Close(noCtx) },
		func() { _, _, _ = m.Handle(noCtx, asynctask.CheckTool().Name, "") },
	} {
		assert.PanicsWithValue(t, "carryon/asynctask: nil context", f)
	}
}
