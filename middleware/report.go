package middleware

import (
	"context"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/guard"
)

// reporter reports events to the observers, of which the log is one.
type reporter struct {
	observers []Observer
	log       *eventLog // nil for none
}

// tell calls the observers' function for an event of the turn id. A panic in one is
// reported as [Failed], unless the event is a Failed itself; then it is only logged.
func tell[E any](
	ctx context.Context, r *reporter, id continuation.TurnID, event E, hook func(*Observer) func(context.Context, E),
) {
	if len(r.observers) == 0 {
		return
	}
	var panics []error
	for i := range r.observers {
		if f := hook(&r.observers[i]); f != nil {
			if err := guard.Run(func() error { f(ctx, event); return nil }); err != nil {
				panics = append(panics, err)
			}
		}
	}
	for _, err := range panics {
		if _, failing := any(event).(Failed); !failing {
			r.failed(ctx, Failed{TurnID: id, Op: "observer", Err: err})
		} else if r.log != nil {
			r.log.failed(ctx, Failed{TurnID: id, Op: "observer", Err: err})
		}
	}
}

func (r *reporter) turnEnded(ctx context.Context, e TurnEnded) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, TurnEnded) { return o.TurnEnded })
}

func (r *reporter) callEnded(ctx context.Context, e CallEnded) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, CallEnded) { return o.CallEnded })
}

func (r *reporter) decided(ctx context.Context, e Decision) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, Decision) { return o.Decision })
}

func (r *reporter) started(ctx context.Context, e ContinuationStarted) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, ContinuationStarted) { return o.ContinuationStarted })
}

func (r *reporter) continuationEnded(ctx context.Context, e ContinuationEnded) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, ContinuationEnded) { return o.ContinuationEnded })
}

func (r *reporter) pauseRejected(ctx context.Context, e PauseRejected) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, PauseRejected) { return o.PauseRejected })
}

func (r *reporter) paused(ctx context.Context, e Paused) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, Paused) { return o.Paused })
}

func (r *reporter) exhausted(ctx context.Context, e Exhausted) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, Exhausted) { return o.Exhausted })
}

func (r *reporter) delivered(ctx context.Context, e ReminderDelivered) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, ReminderDelivered) { return o.ReminderDelivered })
}

func (r *reporter) todosRead(ctx context.Context, e TodosRead) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, TodosRead) { return o.TodosRead })
}

func (r *reporter) storeAnswered(ctx context.Context, e StoreAnswered) {
	id := continuation.TurnID{Session: e.Session}
	tell(ctx, r, id, e, func(o *Observer) func(context.Context, StoreAnswered) { return o.StoreAnswered })
}

func (r *reporter) recovered(ctx context.Context, e Recovered) {
	tell(ctx, r, continuation.TurnID{}, e, func(o *Observer) func(context.Context, Recovered) { return o.Recovered })
}

func (r *reporter) failed(ctx context.Context, e Failed) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, Failed) { return o.Failed })
}
