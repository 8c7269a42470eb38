package asynctask_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/records"
)

// hooked is an engine that runs each change twice, as engines may, and fails when it
// is told to.
type hooked struct {
	records.Records

	mu      sync.Mutex
	updates int
	before  func(update int) error // nil to let updates through
	after   func(update int) error // what an update that was stored returns
}

func newHooked(c clock.Clock) *hooked {
	return &hooked{Records: records.NewMemoryEngine(c.Now)}
}

func (h *hooked) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	h.mu.Lock()
	h.updates++
	update, before, after := h.updates, h.before, h.after
	h.mu.Unlock()
	if before != nil {
		if err := before(update); err != nil {
			return err
		}
	}
	err := h.Records.Update(ctx, key, func(now time.Time, old []byte) ([]byte, time.Duration, error) {
		_, _, _ = f(now, old)
		return f(now, old)
	})
	if err == nil && after != nil {
		err = after(update)
	}
	return err
}

// fails makes the engine fail before it stores anything, or work if err is nil.
func (h *hooked) fails(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before = func(int) error { return err }
}

// failsAfter makes the engine fail after storing, until done is called.
func (h *hooked) failsAfter() (done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.after = func(int) error { return assert.AnError }
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.after = nil
	}
}

// replicas are Managers of processes that share an engine.
type replicas struct {
	t      *testing.T
	clock  *testclock.Clock
	engine records.Records
	opts   []asynctask.Option
}

// newReplicas shares an engine that cannot notify, so that processes must check.
func newReplicas(t *testing.T, opts ...asynctask.Option) *replicas {
	t.Helper()
	clock := testclock.New()
	return &replicas{t: t, clock: clock, engine: newHooked(clock), opts: opts}
}

// process returns the Manager of one more process.
func (r *replicas) process() *setup {
	r.t.Helper()
	all := append([]asynctask.Option{asynctask.WithClock(r.clock), asynctask.WithRecords(r.engine)}, r.opts...)
	s := newSetup(r.t, all...)
	s.clock = r.clock
	return s
}

// look lets the processes check what the others have done.
func (r *replicas) look() { r.clock.Advance(asynctask.PollInterval) }

// Three processes share an engine: one starts a task, another finishes it, and a
// third tells the model. What travels between them is text.
func TestTaskOfOneProcessIsFinishedAndToldByOthers(t *testing.T) {
	t.Parallel()
	r := newReplicas(t, asynctask.WithSessionLimit(1))
	starter, worker, teller := r.process(), r.process(), r.process()

	ticket, err := starter.Manager.Begin(in(t, "a"), "job-7", "transcode")
	require.NoError(t, err)
	text := ticket.String()
	n, _ := teller.Pending("a", -1)
	assert.Equal(t, 1, n)
	_, err = worker.Manager.Begin(in(t, "a"), "job-8", "transcode")
	require.ErrorIs(t, err, asynctask.ErrLimit, "the session's one slot is taken")

	received, err := asynctask.ParseTicket(text)
	require.NoError(t, err)
	require.NoError(t, worker.Manager.Finish(t.Context(), received, asynctask.Message("done")))
	require.ErrorIs(t, worker.Manager.Finish(t.Context(), received, nil), asynctask.ErrEnded, "the job ran twice")

	d := teller.Deliver("a", delivery.Options{})
	require.NotNil(t, d)
	assert.Equal(t, []string{"job-7"}, d.Tasks)
	assert.Contains(t, d.Text, "done")
	assert.Empty(t, starter.told("a"), "the delivery holds it")
	carried, err := json.Marshal(d)
	require.NoError(t, err)
	var settled delivery.Delivery
	require.NoError(t, json.Unmarshal(carried, &settled))
	starter.settle(&settled, delivery.Delivered)
	assert.Empty(t, teller.told("a"))

	require.NoError(t, starter.Begin(in(t, "a"), "job-8", "transcode"), "the slot is free again")
}

func TestFunctionIsCancelledFromElsewhere(t *testing.T) {
	t.Parallel()
	for name, notifies := range map[string]bool{"by looking": false, "by a message": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReplicas(t)
			if notifies {
				r.engine = records.NewMemoryEngine(r.clock.Now)
			}
			owner, other := r.process(), r.process()
			causes := make(chan error, 1)
			ticket, err := owner.Manager.Start(in(t, "a"), "task", func(ctx context.Context) (*asynctask.Output, error) {
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return nil, nil
			})
			require.NoError(t, err)
			require.NoError(t, other.Manager.Cancel(t.Context(), ticket))
			if !notifies {
				r.look()
			}
			require.ErrorIs(t, <-causes, asynctask.ErrCancelled)
			task, err := owner.Manager.Wait(t.Context(), ticket)
			require.NoError(t, err)
			assert.Equal(t, asynctask.Cancelled, task.State)
		})
	}
}

func TestWaitNoticesWhatEndsElsewhere(t *testing.T) {
	t.Parallel()
	r := newReplicas(t)
	starter, worker := r.process(), r.process()
	ticket, err := starter.Manager.Begin(in(t, "a"), "job", "job")
	require.NoError(t, err)
	waited := make(chan asynctask.Task)
	go func() {
		task, err := starter.Manager.Wait(t.Context(), ticket)
		assert.NoError(t, err)
		waited <- task
	}()
	require.NoError(t, r.clock.BlockUntil(t.Context(), 1))
	require.NoError(t, worker.Manager.Finish(t.Context(), ticket, asynctask.Message("done")))
	r.look()
	task := <-waited
	assert.Equal(t, "done", *task.Output.FinalMessage)
}

func TestAttachedWorkEndsWithTheTask(t *testing.T) {
	t.Parallel()
	r := newReplicas(t, asynctask.WithTaskLife(time.Hour))
	starter, worker := r.process(), r.process()
	ticket, err := starter.Manager.Begin(in(t, "a"), "job", "job")
	require.NoError(t, err)
	own, detach, err := worker.Attach(t.Context(), ticket)
	require.NoError(t, err)

	for range 2 * int(time.Hour/asynctask.OwnerLife) { // twice its life
		r.clock.Advance(asynctask.OwnerLife / 2)
	}
	task, err := starter.Manager.Get(t.Context(), ticket)
	require.NoError(t, err)
	assert.Equal(t, asynctask.Running, task.State, "a worker is attached")
	require.NoError(t, own.Err())

	require.NoError(t, starter.Manager.Cancel(t.Context(), ticket))
	r.look()
	<-own.Done()
	require.ErrorIs(t, context.Cause(own), asynctask.ErrCancelled)
	detach()
	detach()
	_, _, err = worker.Attach(t.Context(), ticket)
	require.ErrorIs(t, err, asynctask.ErrEnded)
	_, _, err = worker.Attach(t.Context(), asynctask.Ticket{Session: "a", ID: "none"})
	require.ErrorIs(t, err, asynctask.ErrUnknown)

	ticket, err = starter.Manager.Begin(in(t, "a"), "next", "next")
	require.NoError(t, err)
	own, _, err = worker.Attach(t.Context(), ticket)
	require.NoError(t, err)
	require.NoError(t, worker.Close(t.Context()))
	require.ErrorIs(t, context.Cause(own), asynctask.ErrClosed, "the job has to be run again elsewhere")
	n, _ := starter.Pending("a", -1)
	assert.Equal(t, 1, n)
	_, _, err = worker.Attach(t.Context(), ticket)
	require.ErrorIs(t, err, asynctask.ErrClosed)
}

// Tasks that nobody works on any more fail, whichever process checks first.
func TestLostTasksFail(t *testing.T) {
	t.Parallel()
	r := newReplicas(t, asynctask.WithTaskLife(time.Hour))
	s := r.process()
	ended := make(chan asynctask.Task, 1)
	s.Subscribe(func(task asynctask.Task) { ended <- task })
	s.begins("a", "job")
	r.clock.Advance(time.Hour - 1)
	n, _ := s.Pending("a", -1)
	assert.Equal(t, 1, n)
	r.clock.Advance(1)
	assert.Equal(t, []string{"job"}, s.told("a"))
	task := <-ended
	require.ErrorIs(t, task.Err, asynctask.ErrOwnerLost)
	require.ErrorIs(t, s.Finish("job", nil), asynctask.ErrEnded)
}

// A live process gives signs of life for its functions; a dead one does not.
func TestFunctionsAreLostWithTheirProcess(t *testing.T) {
	t.Parallel()
	r := newReplicas(t)
	link := &hooked{Records: r.engine} // of the owner alone
	owner := newSetup(t, asynctask.WithClock(r.clock), asynctask.WithRecords(link))
	other := r.process()
	ticket, err := owner.Manager.Start(in(t, "a"), "task", untilCancelled)
	require.NoError(t, err)
	for range 20 {
		r.clock.Advance(asynctask.OwnerLife / 4)
	}
	task, err := other.Manager.Get(t.Context(), ticket)
	require.NoError(t, err)
	assert.Equal(t, asynctask.Running, task.State)

	link.fails(assert.AnError) // as if it had been killed
	r.clock.Advance(asynctask.OwnerLife)
	assert.Equal(t, []string{ticket.ID}, other.told("a"))
	task, err = other.Manager.Get(t.Context(), ticket)
	require.NoError(t, err)
	require.EqualError(t, task.Err, asynctask.ErrOwnerLost.Error())

	link.fails(nil) // it was only cut off: its function is of no use any more
	r.look()
	task, err = owner.Manager.Wait(t.Context(), ticket)
	require.NoError(t, err)
	assert.Equal(t, asynctask.Failed, task.State)
}

// The model is told about functions that were running when their process was shut down.
func TestClosedProcessLeavesNothingUntold(t *testing.T) {
	t.Parallel()
	r := newReplicas(t)
	leaving, staying := r.process(), r.process()
	ticket, err := leaving.Manager.Start(in(t, "a"), "task", untilCancelled)
	require.NoError(t, err)
	require.NoError(t, leaving.Close(t.Context()))
	task, err := staying.Manager.Get(t.Context(), ticket)
	require.NoError(t, err)
	require.EqualError(t, task.Err, asynctask.ErrClosed.Error())
	assert.Equal(t, []string{ticket.ID}, staying.told("a"))
}
