package middleware

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/asynctask"
)

// SummaryMode says where the status summary of background tasks goes.
type SummaryMode uint8

// The summary modes.
const (
	// SummaryOnChange puts it beside the reminder, when it has changed.
	SummaryOnChange SummaryMode = iota
	// SummaryInSystem puts it behind the system message of every request. That
	// changes what the request begins with, which providers cache prompts by.
	SummaryInSystem
)

// Tasks is what the engine needs of background tasks. An [asynctask.Manager] has
// it.
type Tasks interface {
	// Pending returns the work of the session.
	Pending(ctx context.Context, session string, maxAge time.Duration) (asynctask.Pending, error)
	// Summary returns the status summary of the session, "" if it has no tasks.
	Summary(ctx context.Context, session string) (string, error)
	// Deliver returns what to say in a request that is about to be sent, nil if
	// nothing.
	Deliver(ctx context.Context, session string, o asynctask.DeliverOptions) (*asynctask.Delivery, error)
	// Settle says what became of a delivery.
	Settle(ctx context.Context, d *asynctask.Delivery, outcome asynctask.DeliveryOutcome) error
}

const (
	// tasksTime is how long background tasks may take to answer.
	tasksTime = 500 * time.Millisecond
	// tasksRest is how long they are left alone once they have failed.
	tasksRest = 5 * time.Second
)

// ErrTasksSkipped says that background tasks have failed to answer shortly
// before, and were not asked again.
var ErrTasksSkipped = errors.New("middleware: the background tasks failed before, and are left alone for some seconds")

// limitedTasks keeps background tasks that are asked over a network from costing
// calls more than tasksTime, and the calls after one that they failed anything.
type limitedTasks struct {
	Tasks

	clock Clock
	rests atomic.Int64 // until then, in nanoseconds since 1970; 0 if they answer
}

// limitTasks returns tasks that answer soon, or fail. A Manager that keeps its
// tasks in memory does so anyway.
func limitTasks(tasks Tasks, clock Clock) Tasks {
	if m, ok := tasks.(*asynctask.Manager); tasks == nil || ok && !m.IsShared() {
		return tasks
	}
	return &limitedTasks{Tasks: tasks, clock: clock}
}

// ask asks something of the tasks, unless they are left alone.
func (l *limitedTasks) ask(ctx context.Context, question func(context.Context) error) error {
	if until, now := l.rests.Load(), l.clock.Now(); until != 0 {
		again := now.Add(tasksRest).UnixNano() // one call tries, and the others go on without
		if now.UnixNano() < until || !l.rests.CompareAndSwap(until, again) {
			return ErrTasksSkipped
		}
	}
	limited, cancel := context.WithTimeout(ctx, tasksTime)
	defer cancel()
	err := question(limited)
	switch {
	case err == nil:
		l.rests.Store(0)
	case ctx.Err() == nil: // else it is the caller's doing
		l.rests.Store(l.clock.Now().Add(tasksRest).UnixNano())
	}
	return err
}

func (l *limitedTasks) Pending(ctx context.Context, session string, maxAge time.Duration) (p asynctask.Pending, err error) {
	err = l.ask(ctx, func(ctx context.Context) error {
		p, err = l.Tasks.Pending(ctx, session, maxAge)
		return err
	})
	return p, err
}

func (l *limitedTasks) Summary(ctx context.Context, session string) (summary string, err error) {
	err = l.ask(ctx, func(ctx context.Context) error {
		summary, err = l.Tasks.Summary(ctx, session)
		return err
	})
	return summary, err
}

func (l *limitedTasks) Deliver(
	ctx context.Context, session string, o asynctask.DeliverOptions,
) (d *asynctask.Delivery, err error) {
	err = l.ask(ctx, func(ctx context.Context) error {
		d, err = l.Tasks.Deliver(ctx, session, o)
		return err
	})
	return d, err
}

// Settle is tried even if the tasks are left alone: what was told is told again
// otherwise.
func (l *limitedTasks) Settle(ctx context.Context, d *asynctask.Delivery, outcome asynctask.DeliveryOutcome) error {
	limited, cancel := context.WithTimeout(ctx, tasksTime)
	defer cancel()
	return l.Tasks.Settle(limited, d, outcome)
}
