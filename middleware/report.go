package middleware

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/todo"
)

// reporter reports events to the observers and to the log.
type reporter struct {
	observers []Observer
	logger    *slog.Logger // nil for none
	content   bool         // texts may be logged
}

// tell calls the observers' function for an event of the turn id. A panic in one
// is an event of its own, unless it came from being told of such.
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
		if _, failing := any(event).(Failed); failing {
			r.log(ctx, slog.LevelError, "carryon: failed", id, slog.String("op", "observer"), r.errorAttr(err))
		} else {
			r.failed(ctx, Failed{TurnID: id, Op: "observer", Err: err})
		}
	}
}

// log logs a message about the turn id. It allocates nothing if nobody listens.
func (r *reporter) log(ctx context.Context, level slog.Level, message string, id continuation.TurnID, more ...slog.Attr) {
	if !r.logs(ctx, level) {
		return
	}
	attrs := append(slices.Clone(more),
		slog.Int("attempt", id.Attempt), slog.String("session", id.Session), slog.Int("turn", id.Turn))
	// There is nobody left to tell of a handler that panics.
	_ = guard.Run(func() error { r.logger.LogAttrs(ctx, level, message, attrs...); return nil })
}

func (r *reporter) logs(ctx context.Context, level slog.Level) bool {
	return r.logger != nil && r.logger.Enabled(ctx, level)
}

// contentAttr returns the attribute if texts may be logged.
func (r *reporter) contentAttr(key, text string) slog.Attr {
	if !r.content || text == "" {
		return slog.Attr{}
	}
	return slog.String(key, text)
}

// errorAttr describes an error of the provider, which may quote messages: only its
// type is logged unless texts may be.
func (r *reporter) errorAttr(err error) slog.Attr {
	if err == nil {
		return slog.Attr{}
	}
	if r.content {
		return slog.String("error", err.Error())
	}
	return slog.String("error", describeError(err))
}

// ownErrorAttr describes an error of what the program has plugged in, as it is.
func ownErrorAttr(err error) slog.Attr {
	if err == nil {
		return slog.Attr{}
	}
	return slog.String("error", err.Error())
}

// listFrom says where a list was read, "" if none was.
func listFrom(l *continuation.List) string {
	if *l == (continuation.List{}) {
		return ""
	}
	return l.Origin.String()
}

// warnings are those that were given, each once.
type warnings struct {
	lookalike, status, session atomic.Bool
}

// warnOf logs what a decision shows to be wrong with the set-up, once.
func (mw *Middleware) warnOf(ctx context.Context, id continuation.TurnID, ev *continuation.Evaluation) {
	r, list := &mw.options.report, &ev.List
	if list.Err == nil && list.UnknownStatus == "" || !r.logs(ctx, slog.LevelWarn) {
		return
	}
	var none *todo.NoListError
	switch {
	case list.UnknownStatus != "":
		warnOnce(ctx, r, &mw.warnings.status, "carryon: a status is not known", id, slog.String("status", string(list.UnknownStatus)))
	case errors.As(list.Err, &none) && len(none.Lookalikes) > 0:
		warnOnce(ctx, r, &mw.warnings.lookalike, "carryon: a tool looks like a todo tool and is not known",
			id, slog.Any("tools", none.Lookalikes), slog.String("remedy", "todo.WithToolNames"))
	case errors.Is(list.Err, todo.ErrNoSession):
		warnOnce(ctx, r, &mw.warnings.session, "carryon: the todo list needs a session", id, ownErrorAttr(list.Err))
	}
}

func warnOnce(ctx context.Context, r *reporter, given *atomic.Bool, message string, id continuation.TurnID, more ...slog.Attr) {
	if given.CompareAndSwap(false, true) {
		r.log(ctx, slog.LevelWarn, message, id, more...)
	}
}

func (r *reporter) turnEnded(ctx context.Context, e TurnEnded) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, TurnEnded) { return o.TurnEnded })
	r.log(ctx, slog.LevelDebug, "carryon: turn ended", e.TurnID,
		slog.String("finish", e.Finish), slog.Int("tool_calls", e.ToolCalls),
		slog.Int("tokens", e.Usage.Tokens()), r.errorAttr(e.Err))
}

func (r *reporter) callEnded(ctx context.Context, e CallEnded) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, CallEnded) { return o.CallEnded })
}

func (r *reporter) decided(ctx context.Context, e Decision) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, Decision) { return o.Decision })
	if r.logs(ctx, slog.LevelDebug) {
		r.log(ctx, slog.LevelDebug, "carryon: decision", e.TurnID,
			slog.Bool("should_continue", e.Evaluation.Continue),
			slog.String("reason", e.Evaluation.Reason.String()),
			slog.String("code", e.Evaluation.Reason.Code()),
			slog.String("todo_id", e.Evaluation.Todo.ID),
			slog.Int("todos", e.Evaluation.List.Todos),
			slog.Int("active", e.Evaluation.List.Active),
			slog.String("list_from", listFrom(&e.Evaluation.List)),
			ownErrorAttr(cmp.Or(e.Err, e.Evaluation.List.Err)),
			slog.String("conditions", e.Evaluation.Conditions.String()),
			r.contentAttr("todo", e.Evaluation.Todo.Content))
	}
}

func (r *reporter) started(ctx context.Context, e ContinuationStarted) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, ContinuationStarted) { return o.ContinuationStarted })
	r.log(ctx, slog.LevelInfo, "carryon: continuation started",
		e.TurnID, slog.String("todo_id", e.Todo.ID), r.contentAttr("prompt", e.Prompt))
}

func (r *reporter) continuationEnded(ctx context.Context, e ContinuationEnded) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, ContinuationEnded) { return o.ContinuationEnded })
	r.log(ctx, slog.LevelDebug, "carryon: continuation ended", e.TurnID,
		slog.Int("tool_calls", e.ToolCalls), slog.Int("tokens", e.Usage.Tokens()), r.errorAttr(e.Err))
}

func (r *reporter) pauseRejected(ctx context.Context, e PauseRejected) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, PauseRejected) { return o.PauseRejected })
	r.log(ctx, slog.LevelWarn, "carryon: pause rejected", e.TurnID, r.contentAttr("pause_reason", e.Reason), r.errorAttr(e.Err))
}

func (r *reporter) paused(ctx context.Context, e Paused) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, Paused) { return o.Paused })
	r.log(ctx, slog.LevelInfo, "carryon: paused", e.TurnID, r.contentAttr("pause_reason", e.Result.Reason))
}

func (r *reporter) exhausted(ctx context.Context, e Exhausted) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, Exhausted) { return o.Exhausted })
	r.log(ctx, slog.LevelWarn, "carryon: exhausted", e.TurnID, slog.String("reason", e.Reason.String()), slog.String("code", e.Reason.Code()))
}

func (r *reporter) delivered(ctx context.Context, e ReminderDelivered) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, ReminderDelivered) { return o.ReminderDelivered })
	r.log(ctx, slog.LevelDebug, "carryon: reminder delivered", e.TurnID, slog.Int("tasks", len(e.Tasks)))
}

func (r *reporter) failed(ctx context.Context, e Failed) {
	tell(ctx, r, e.TurnID, e, func(o *Observer) func(context.Context, Failed) { return o.Failed })
	attr := r.errorAttr(e.Err)
	switch e.Op {
	case "todos", "store", "tasks", "gate", "session key": // which are shown no text
		attr = ownErrorAttr(e.Err)
	}
	r.log(ctx, slog.LevelError, "carryon: failed", e.TurnID, slog.String("op", e.Op), attr)
}
