package job_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/job"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/records"
)

// begun returns two Managers that share an engine, and the ticket of a task.
func begun(t *testing.T) (worker, other *asynctask.Manager, ticket asynctask.Ticket) {
	t.Helper()
	engine := records.NewMemoryEngine()
	worker, other = asynctask.NewManager(asynctask.WithRecords(engine)), asynctask.NewManager(asynctask.WithRecords(engine))
	t.Cleanup(func() {
		assert.NoError(t, worker.Close(context.WithoutCancel(t.Context())))
		assert.NoError(t, other.Close(context.WithoutCancel(t.Context())))
	})
	ticket, err := other.Begin(continuation.WithSession(t.Context(), "a"), "job-7", "transcode")
	require.NoError(t, err)
	return worker, other, ticket
}

func never(error) bool { return false }

func TestWorkEndsItsTask(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		isLast func(error) bool
		work   func(context.Context) error
		state  asynctask.TaskState
		err    error
	}{
		"well":  {never, func(context.Context) error { return nil }, asynctask.Completed, nil},
		"badly": {nil, func(context.Context) error { return broken }, asynctask.Failed, broken},
		"to be tried again": {
			never, func(context.Context) error { return broken }, asynctask.Running, broken,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worker, other, ticket := begun(t)
			err := job.Work(t.Context(), worker, ticket, c.isLast, func(ctx context.Context) error {
				job.SetOutput(ctx, asynctask.Message("first"))
				job.SetOutput(ctx, asynctask.Message("done"))
				return c.work(ctx)
			})
			require.ErrorIs(t, err, c.err)
			task, err := other.Get(t.Context(), ticket)
			require.NoError(t, err)
			assert.Equal(t, c.state, task.State)
			if c.state == asynctask.Completed {
				assert.Equal(t, "done", *task.Output.FinalMessage)
			}
		})
	}
}

func TestPanicEndsTheTaskAndGoesOnToTheQueue(t *testing.T) {
	t.Parallel()
	worker, other, ticket := begun(t)
	assert.PanicsWithValue(t, "oh", func() {
		_ = job.Work(t.Context(), worker, ticket, nil, func(context.Context) error { panic("oh") })
	})
	task, err := other.Get(t.Context(), ticket)
	require.NoError(t, err)
	require.EqualError(t, task.Err, "panic: oh")
}

func TestJobThatRunsTwiceIsWorkedOnOnce(t *testing.T) {
	t.Parallel()
	worker, other, ticket := begun(t)
	runs := 0
	for range 2 {
		require.NoError(t, job.Work(t.Context(), worker, ticket, nil, func(context.Context) error { runs++; return nil }))
	}
	assert.Equal(t, 1, runs)

	// Two workers at a time: the second to end it finds it ended.
	ticket, err := other.Begin(continuation.WithSession(t.Context(), "a"), "job-8", "transcode")
	require.NoError(t, err)
	require.NoError(t, job.Work(t.Context(), worker, ticket, nil, func(context.Context) error {
		return job.Work(t.Context(), other, ticket, nil, func(context.Context) error { return nil }) //nolint:contextcheck // another worker
	}))
}

func TestWorkOnATaskThatIsOver(t *testing.T) {
	t.Parallel()
	worker, other, ticket := begun(t)
	err := job.Work(t.Context(), worker, ticket, nil, func(ctx context.Context) error {
		require.NoError(t, other.Cancel(ctx, ticket))
		<-ctx.Done()
		return context.Cause(ctx)
	})
	require.ErrorIs(t, err, job.ErrOver)
	require.ErrorIs(t, err, asynctask.ErrCancelled)

	fails := func(context.Context) error { t.Error("there is nothing to do"); return nil }
	require.ErrorIs(t, job.Work(t.Context(), worker, ticket, nil, fails), job.ErrOver)
	unknown := asynctask.Ticket{Session: "a", ID: "none"}
	require.ErrorIs(t, job.Work(t.Context(), worker, unknown, nil, fails), job.ErrOver)
}

// sick is an engine that fails.
type sick struct{}

var errSick = errors.New("sick")

func (sick) Update(context.Context, string, records.UpdateFunc) error { return errSick }

func TestWorkWithoutTheEngineIsToBeRunAgain(t *testing.T) {
	t.Parallel()
	m := asynctask.NewManager(asynctask.WithRecords(sick{}))
	err := job.Work(t.Context(), m, asynctask.Ticket{ID: "x"}, nil, nothing)
	require.ErrorIs(t, err, errSick)
	require.NotErrorIs(t, err, job.ErrOver)
	assert.Panics(t, func() { _ = job.Work(t.Context(), nil, asynctask.Ticket{}, nil, nothing) })
	job.SetOutput(t.Context(), nil) // under another ctx: nothing
}

func nothing(context.Context) error { return nil }
