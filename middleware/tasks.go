package middleware

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/asynctask"
)

// SummaryMode says where the status summary of background tasks goes.
type SummaryMode uint8

// The summary modes.
const (
	// SummaryOnChange puts it beside the reminder, if it has changed.
	SummaryOnChange SummaryMode = iota
	// SummaryInSystem puts it behind the system message of every request. That
	// changes the beginning of the request, so providers cannot cache the prompt.
	SummaryInSystem
)

// Tasks is what the engine needs of background tasks. [asynctask.Manager] implements
// it.
type Tasks interface {
	// Pending returns the work of the session. If maxAge is positive, work that has
	// been unfinished for that long does not count.
	Pending(ctx context.Context, session string, maxAge time.Duration) (asynctask.Pending, error)
	// Summary returns the status summary of the session, "" if it has no tasks.
	Summary(ctx context.Context, session string) (string, error)
	// Deliver returns what to tell the model in a request that is about to be sent,
	// or nil for nothing.
	Deliver(ctx context.Context, session string, o asynctask.DeliverOptions) (*asynctask.Delivery, error)
	// Settle records the outcome of a delivery.
	Settle(ctx context.Context, d *asynctask.Delivery, outcome asynctask.DeliveryOutcome) error
}

// areShared reports whether tasks are asked over a network. A Manager with its tasks
// in memory neither waits nor fails.
func areShared(tasks Tasks) bool {
	m, ok := tasks.(*asynctask.Manager)
	return tasks != nil && (!ok || m.IsShared())
}

// askTasks asks the background tasks a question. Tasks that are asked over a network
// share the time limit of the store, and are not asked for some seconds after a failure.
func (s *callScope) askTasks(ctx context.Context, question func(context.Context) error) error {
	if !s.mw.options.sharedTasks {
		return question(ctx)
	}
	if s.session.waited.isOver() || !s.mw.tasksBreaker.allows(s.mw.options.clock) {
		return ErrTasksSkipped
	}
	return s.askSharedTasks(ctx, question)
}

func (s *callScope) askSharedTasks(ctx context.Context, question func(context.Context) error) error {
	limited, done := s.session.limitWait(ctx)
	defer done()
	err := question(limited)
	switch {
	case err == nil:
		if s.mw.tasksBreaker.close() {
			s.mw.options.report.recovered(ctx, Recovered{Op: "tasks"})
		}
	case ctx.Err() == nil: // else it is the caller's doing
		if limited.Err() != nil {
			s.session.waited.end()
		}
		err = s.mw.tasksBreaker.open(s.mw.options.clock, err)
	}
	return err
}
