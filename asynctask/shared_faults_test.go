package asynctask_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
)

func TestErrorsOfTheEngineAreReturned(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	engine, down := newHooked(clock), errors.New("down")
	s := newSetup(t, asynctask.WithClock(clock), asynctask.WithRecords(engine))
	s.begins("a", "job")
	ctx, ticket := t.Context(), s.ticket("job")
	engine.fails(down)

	_, err := s.deliveries.Pending(ctx, "a", 0)
	require.ErrorIs(t, err, down)
	_, err = s.Manager.Summary(ctx, "a")
	require.ErrorIs(t, err, down)
	_, err = s.Manager.Tasks(ctx, "a")
	require.ErrorIs(t, err, down)
	_, err = s.Manager.Get(ctx, ticket)
	require.ErrorIs(t, err, down)
	_, err = s.Manager.Wait(ctx, ticket)
	require.ErrorIs(t, err, down)
	_, err = s.deliveries.Deliver(ctx, "a", delivery.Options{})
	require.ErrorIs(t, err, down)
	_, err = s.deliveries.Remind(ctx, "a")
	require.ErrorIs(t, err, down)
	_, err = s.Start(in(t, "a"), "task", untilCancelled)
	require.ErrorIs(t, err, down)
	_, _, err = s.Attach(ctx, ticket)
	require.ErrorIs(t, err, down)
	require.ErrorIs(t, s.Begin(in(t, "a"), "id", "task"), down)
	require.ErrorIs(t, s.Finish("job", nil), down)
	require.ErrorIs(t, s.Manager.Forget(ctx, "a"), down)
	require.ErrorIs(t, s.deliveries.Settle(ctx, &delivery.Delivery{Session: "a", Lease: 1}, delivery.Delivered), down)
	require.ErrorIs(t, s.deliveries.Renew(ctx, &delivery.Delivery{Session: "a", Lease: 1}), down)
	result, ok, err := s.Handle(in(t, "a"), asynctask.CheckTool().Name, "{}")
	require.ErrorIs(t, err, down)
	assert.True(t, ok)
	assert.Equal(t, "Error: the tasks cannot be looked up now.", result)
}

// reports collects the errors that OnError gets.
type reports struct {
	mu   sync.Mutex
	list []error
}

func (r *reports) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, err)
}

// A function whose end the engine refuses does not stay running: the end is stored
// once the engine accepts it, and until then the task gets no sign of life.
func TestRefusedEndIsStoredLaterOrTheTaskIsLost(t *testing.T) {
	t.Parallel()
	for name, heals := range map[string]bool{"heals": true, "refuses for good": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, down := testclock.New(), errors.New("down")
			engine, reported := newHooked(clock), &reports{}
			owner := newSetup(t, asynctask.WithClock(clock), asynctask.WithRecords(engine), asynctask.OnError(reported.add))
			other := newSetup(t, asynctask.WithClock(clock), asynctask.WithRecords(engine))
			hold := make(chan struct{})
			ticket, err := owner.Manager.Start(in(t, "a"), "task", func(context.Context) (*asynctask.Output, error) {
				<-hold
				return asynctask.Message("done"), nil
			})
			require.NoError(t, err)
			engine.fails(down)
			returned := make(chan error, 1)
			go func() {
				_, err := owner.Manager.Wait(t.Context(), ticket)
				returned <- err
			}()
			close(hold)
			require.ErrorIs(t, <-returned, down)
			if heals {
				engine.fails(nil)
				clock.Advance(asynctask.PollInterval)
				task, err := other.Manager.Get(t.Context(), ticket)
				require.NoError(t, err)
				assert.Equal(t, asynctask.Completed, task.State)
				assert.Equal(t, []string{ticket.ID}, other.told("a"))
			} else {
				for range 30 {
					clock.Advance(asynctask.OwnerLife / 20)
				}
				engine.fails(nil)
				task, err := other.Manager.Get(t.Context(), ticket)
				require.NoError(t, err)
				require.EqualError(t, task.Err, asynctask.ErrOwnerLost.Error())
			}
			reported.mu.Lock()
			defer reported.mu.Unlock()
			require.NotEmpty(t, reported.list)
			assert.LessOrEqual(t, len(reported.list), 2, "the errors of the function and of the first check")
			for _, err := range reported.list {
				require.ErrorIs(t, err, down)
			}
		})
	}
}

func TestEngineThatFailsAfterStoringTellsNothingTwice(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	engine := newHooked(clock)
	s := newSetup(t, asynctask.WithClock(clock), asynctask.WithRecords(engine))
	s.ends("a", "1")

	done := engine.failsAfter()
	_, err := s.deliveries.Remind(t.Context(), "a")
	require.ErrorIs(t, err, assert.AnError)
	done()
	assert.Empty(t, s.told("a"), "another delivery may hold the task")
	clock.Advance(delivery.Life)
	r := s.Remind("a")
	require.Equal(t, []string{"1"}, r.Tasks, "the task is reported once that lease has lapsed")

	done = engine.failsAfter()
	require.ErrorIs(t, s.deliveries.Settle(t.Context(), r, delivery.Delivered), assert.AnError)
	done()
	s.settle(r, delivery.Unread) // the program thinks that it failed
	clock.Advance(delivery.Life)
	assert.Empty(t, s.told("a"))
}

func TestStartThatFailsLeavesNoTaskBehind(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	engine := newHooked(clock)
	s := newSetup(t, asynctask.WithRecords(engine), asynctask.WithClock(clock), asynctask.WithLimit(1))
	done := engine.failsAfter()
	_, err := s.Start(in(t, "a"), "task", untilCancelled)
	require.ErrorIs(t, err, assert.AnError)
	done()
	n, _ := s.Pending("a", -1)
	assert.Zero(t, n)
	_, err = s.Start(in(t, "a"), "task", untilCancelled)
	require.NoError(t, err, "the slot is free")
}

// Close may come while a start is on its way to the engine.
func TestCloseEndsWhatIsJustBeginning(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	engine := newHooked(clock)
	m := asynctask.NewManager(asynctask.WithRecords(engine), asynctask.WithClock(clock))
	closed := make(chan error, 1)
	engine.before = func(update int) error {
		if update > 1 {
			return nil
		}
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		cancel()
		_ = m.Close(ctx) // has to wait for the start
		go func() { closed <- m.Close(context.WithoutCancel(t.Context())) }()
		return nil
	}
	ticket, err := m.Start(in(t, "a"), "task", untilCancelled)
	require.NoError(t, err)
	require.NoError(t, <-closed)
	task, err := m.Get(t.Context(), ticket)
	require.NoError(t, err)
	require.EqualError(t, task.Err, asynctask.ErrClosed.Error())
}
