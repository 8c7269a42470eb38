package middleware

import (
	"context"
	"log/slog"

	"github.com/carryon-go/carryon/continuation"
)

// tell calls the observers' function for an event. A panic in one is an event
// of its own, unless it came from being told of such.
func tell[E any](ctx context.Context, mw *Middleware, event E, hook func(*Observer) func(context.Context, E)) {
	if len(mw.options.observers) == 0 {
		return
	}
	var panics []error
	for i := range mw.options.observers {
		if f := hook(&mw.options.observers[i]); f != nil {
			if err := guard(func() error { f(ctx, event); return nil }); err != nil {
				panics = append(panics, err)
			}
		}
	}
	var place Place
	if e, ok := any(event).(interface{ where() Place }); ok {
		place = e.where()
	}
	for _, err := range panics {
		if _, failing := any(event).(Failed); failing {
			mw.log(ctx, slog.LevelError, "carryon: failed", place.attrs(slog.String("op", "observer"), mw.errorAttr(err))...)
		} else {
			mw.failed(ctx, Failed{Place: place, Op: "observer", Err: err})
		}
	}
}

func (mw *Middleware) log(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	if logger := mw.options.logger; logger != nil && logger.Enabled(ctx, level) {
		// There is nobody left to tell of a handler that panics.
		_ = guard(func() error { logger.LogAttrs(ctx, level, message, attrs...); return nil })
	}
}

// debugs reports whether what happens all the time is logged.
func (mw *Middleware) debugs(ctx context.Context) bool {
	return mw.options.logger != nil && mw.options.logger.Enabled(ctx, slog.LevelDebug)
}

// where returns the place of the event that p is embedded in.
func (p Place) where() Place { return p }

func (p Place) attrs(more ...slog.Attr) []slog.Attr {
	return append(more,
		slog.Int("attempt", p.Attempt), slog.String("session", p.Session), slog.Int("turn", p.Turn))
}

// content returns the attribute if texts may be logged.
func (mw *Middleware) content(key, text string) slog.Attr {
	if !mw.options.content || text == "" {
		return slog.Attr{}
	}
	return slog.String(key, text)
}

// errorAttr describes err. Errors of providers and hooks may quote messages,
// so that only their type is logged unless texts may be.
func (mw *Middleware) errorAttr(err error) slog.Attr {
	if err == nil {
		return slog.Attr{}
	}
	if mw.options.content {
		return slog.String("error", err.Error())
	}
	return slog.String("error", describeError(err))
}

func (mw *Middleware) turnEnded(ctx context.Context, e TurnEnded) {
	tell(ctx, mw, e, func(o *Observer) func(context.Context, TurnEnded) { return o.TurnEnded })
	if mw.debugs(ctx) {
		mw.log(ctx, slog.LevelDebug, "carryon: turn ended", e.attrs(
			slog.String("finish", e.Finish), slog.Int("tool_calls", e.ToolCalls),
			slog.Int("tokens", e.Usage.Tokens()), mw.errorAttr(e.Err))...)
	}
}

func (mw *Middleware) decided(ctx context.Context, e Decision) {
	tell(ctx, mw, e, func(o *Observer) func(context.Context, Decision) { return o.Decision })
	if mw.debugs(ctx) {
		mw.log(ctx, slog.LevelDebug, "carryon: decision", e.attrs(
			slog.Bool("should_continue", e.Evaluation.Continue),
			slog.String("reason", e.Evaluation.Reason.String()),
			slog.String("todo_id", e.Evaluation.Todo.ID),
			slog.String("conditions", e.Evaluation.Conditions.String()),
			mw.content("todo", e.Evaluation.Todo.Content))...)
	}
}

func (mw *Middleware) started(ctx context.Context, e ContinuationStarted) {
	tell(ctx, mw, e, func(o *Observer) func(context.Context, ContinuationStarted) { return o.ContinuationStarted })
	if mw.debugs(ctx) {
		mw.log(ctx, slog.LevelDebug, "carryon: continuation started",
			e.attrs(slog.String("todo_id", e.Todo.ID), mw.content("prompt", e.Prompt))...)
	}
}

func (mw *Middleware) ended(ctx context.Context, e ContinuationEnded) {
	tell(ctx, mw, e, func(o *Observer) func(context.Context, ContinuationEnded) { return o.ContinuationEnded })
	if mw.debugs(ctx) {
		mw.log(ctx, slog.LevelDebug, "carryon: continuation ended", e.attrs(
			slog.Int("tool_calls", e.ToolCalls), slog.Int("tokens", e.Usage.Tokens()), mw.errorAttr(e.Err))...)
	}
}

func (mw *Middleware) pauseRejected(ctx context.Context, e PauseRejected) {
	tell(ctx, mw, e, func(o *Observer) func(context.Context, PauseRejected) { return o.PauseRejected })
	mw.log(ctx, slog.LevelWarn, "carryon: pause rejected", e.attrs(
		mw.content("pause_reason", e.Reason), mw.errorAttr(e.Err))...)
}

func (mw *Middleware) paused(ctx context.Context, e Paused) {
	tell(ctx, mw, e, func(o *Observer) func(context.Context, Paused) { return o.Paused })
	mw.log(ctx, slog.LevelInfo, "carryon: paused", e.attrs(mw.content("pause_reason", e.Result.Reason))...)
}

func (mw *Middleware) exhausted(ctx context.Context, e Exhausted) {
	tell(ctx, mw, e, func(o *Observer) func(context.Context, Exhausted) { return o.Exhausted })
	mw.log(ctx, slog.LevelWarn, "carryon: exhausted", e.attrs(slog.String("reason", e.Reason.String()))...)
}

func (mw *Middleware) delivered(ctx context.Context, e ReminderDelivered) {
	tell(ctx, mw, e, func(o *Observer) func(context.Context, ReminderDelivered) { return o.ReminderDelivered })
	if mw.debugs(ctx) {
		mw.log(ctx, slog.LevelDebug, "carryon: reminder delivered", e.attrs(slog.Int("tasks", len(e.Tasks)))...)
	}
}

func (mw *Middleware) failed(ctx context.Context, e Failed) {
	tell(ctx, mw, e, func(o *Observer) func(context.Context, Failed) { return o.Failed })
	mw.log(ctx, slog.LevelError, "carryon: failed", e.attrs(slog.String("op", e.Op), mw.errorAttr(e.Err))...)
}

// passed reports a call that carryon has nothing to do with.
func (mw *Middleware) passed(ctx context.Context, reason continuation.Reason) {
	place := Place{Session: mw.session(ctx), Turn: 1}
	ev := mw.evaluatePassed(place.Session, reason)
	mw.decided(ctx, Decision{Place: place, Evaluation: ev, DryRun: mw.options.dryRun})
	if outcomes := capture(ctx); outcomes != nil {
		outcomes.add().set(mw.passedOutcome(place.Session, ev))
	}
}

// Passed returns the outcome of a call for which [Middleware.Begin] has just
// returned nil: what [Capture] has of it. It reports nothing.
func (mw *Middleware) Passed(ctx context.Context, r Request) Outcome {
	session := mw.session(ctx)
	return mw.passedOutcome(session, mw.evaluatePassed(session, mw.scopeOf(ctx, &r)))
}

func (mw *Middleware) evaluatePassed(session string, reason continuation.Reason) continuation.Evaluation {
	return continuation.Evaluate(continuation.Input{Settings: mw.settings.For(session), Scope: reason})
}

func (mw *Middleware) passedOutcome(session string, ev continuation.Evaluation) Outcome {
	return Outcome{Session: session, Turns: 1, Reason: ev.Reason, DryRun: mw.options.dryRun, Ended: true}
}
