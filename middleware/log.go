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
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/todo"
)

// eventLog is the observer that logs.
type eventLog struct {
	logger   *slog.Logger
	content  bool // texts may be logged
	warnings warnings
}

// observer returns the functions that log.
func (l *eventLog) observer() Observer {
	return Observer{
		TurnEnded: l.turnEnded, Decision: l.decided,
		ContinuationStarted: l.started, PauseCalled: l.pauseCalled,
		CallEnded: l.callEnded, ReminderDelivered: l.delivered, Failed: l.failed, Answered: l.answered,
	}
}

// write logs a line about the turn id, if the level is enabled.
func (l *eventLog) write(ctx context.Context, level slog.Level, message string, id continuation.TurnID, more ...slog.Attr) {
	if !l.listens(ctx, level) {
		return
	}
	attrs := append(slices.Clone(more),
		slog.Int("attempt", id.Attempt), slog.String("session", id.Session), slog.Int("turn", id.Turn))
	// Nobody is left to report a panic of the handler to.
	_ = guard.Run(func() error { l.logger.LogAttrs(ctx, level, message, attrs...); return nil })
}

func (l *eventLog) listens(ctx context.Context, level slog.Level) bool {
	return l.logger.Enabled(ctx, level)
}

// contentAttr returns the attribute if texts may be logged.
func (l *eventLog) contentAttr(key, text string) slog.Attr {
	if !l.content || text == "" {
		return slog.Attr{}
	}
	return slog.String(key, text)
}

// errorAttr describes an error of the provider. Its text may quote messages, so only
// its type is logged, unless texts may be.
func (l *eventLog) errorAttr(err error) slog.Attr {
	if err == nil {
		return slog.Attr{}
	}
	if l.content {
		return slog.String("error", err.Error())
	}
	return slog.String("error", describeError(err))
}

// ownErrorAttr returns an error of something that the program plugged in, in full.
func ownErrorAttr(err error) slog.Attr {
	if err == nil {
		return slog.Attr{}
	}
	return slog.String("error", err.Error())
}

// listFrom says where a list was read; "" if none was.
func listFrom(list *continuation.List) string {
	if *list == (continuation.List{}) || list.Err != nil {
		return ""
	}
	return list.Origin.String()
}

// warnings says which warnings were given. Each is given once.
type warnings struct {
	lookalike, status, session atomic.Bool
}

// warn logs a fault in the set-up that a decision has brought to light, once.
func (l *eventLog) warn(ctx context.Context, id continuation.TurnID, list *continuation.List) {
	if list.Err == nil && list.UnknownStatus == "" || !l.listens(ctx, slog.LevelWarn) {
		return
	}
	var none *todo.NoListError
	switch {
	case list.UnknownStatus != "":
		l.warnOnce(ctx, &l.warnings.status, "carryon: a status is not known", id, slog.String("status", string(list.UnknownStatus)))
	case errors.As(list.Err, &none) && len(none.Lookalikes) > 0:
		l.warnOnce(ctx, &l.warnings.lookalike, "carryon: a tool looks like a todo tool and is not known",
			id, slog.Any("tools", none.Lookalikes), slog.String("remedy", "todo.WithToolNames"))
	case none != nil && len(none.ItemTools) > 0:
		l.warnOnce(ctx, &l.warnings.lookalike, "carryon: a tool looks like a todo tool, but its calls do not have the whole list",
			id, slog.Any("tools", none.ItemTools), slog.String("remedy", "todo.ProviderFunc"))
	case errors.Is(list.Err, todo.ErrNoSession):
		l.warnOnce(ctx, &l.warnings.session, "carryon: the todo list needs a session", id, ownErrorAttr(list.Err))
	}
}

func (l *eventLog) warnOnce(ctx context.Context, given *atomic.Bool, message string, id continuation.TurnID, more ...slog.Attr) {
	if given.CompareAndSwap(false, true) {
		l.write(ctx, slog.LevelWarn, message, id, more...)
	}
}

func (l *eventLog) turnEnded(ctx context.Context, e TurnEnded) {
	l.write(ctx, slog.LevelDebug, "carryon: turn ended", e.TurnID,
		slog.String("finish", e.Finish), slog.Int("tool_calls", e.ToolCalls),
		slog.Int("tokens", e.Usage.Tokens()), l.errorAttr(e.Err))
	if e.Result != "" {
		l.write(ctx, slog.LevelDebug, "carryon: continuation ended", e.TurnID,
			slog.Bool("closing_question", e.Asked), slog.String("result", e.Result),
			slog.Int("tool_calls", e.ToolCalls), slog.Int("tokens", e.Usage.Tokens()), l.errorAttr(e.Err))
	}
}

func (l *eventLog) decided(ctx context.Context, e Decision) {
	l.warn(ctx, e.TurnID, &e.List)
	if handsBack(e.Reason) {
		l.write(ctx, slog.LevelInfo, "carryon: not continued", e.TurnID, slog.String("reason", e.Reason.String()),
			slog.String("code", e.Reason.Code()),
			slog.Int("active", e.List.Active), slog.Int("others", e.List.Others), slog.Int("awaited", e.Awaited))
	}
	if l.listens(ctx, slog.LevelDebug) {
		l.write(ctx, slog.LevelDebug, "carryon: decision", e.TurnID,
			slog.Bool("should_continue", e.Continue),
			slog.Bool("holdout", e.Holdout),
			slog.String("reason", e.Reason.String()),
			slog.String("code", e.Reason.Code()),
			slog.String("todo_id", e.Todo.ID),
			slog.Int("todos", e.List.Todos),
			slog.Int("active", e.List.Active),
			slog.String("list_from", listFrom(&e.List)),
			ownErrorAttr(cmp.Or(e.Err, e.List.Err)),
			slog.String("conditions", e.Conditions),
			l.contentAttr("todo", e.Todo.Content))
	}
	if e.Exhausted {
		l.write(ctx, slog.LevelWarn, "carryon: exhausted", e.TurnID,
			slog.String("reason", e.Reason.String()), slog.String("code", e.Reason.Code()))
	}
}

// handsBack reports whether the reason is that the agent waits for the user, for other
// agents or for background work. That is not a fault.
func handsBack(r continuation.Reason) bool {
	return r == reasons.AsksUser || r == reasons.LeftToUser || r == reasons.ListUntouched ||
		r == reasons.OthersWork || r == reasons.Background
}

func (l *eventLog) started(ctx context.Context, e ContinuationStarted) {
	l.write(ctx, slog.LevelInfo, "carryon: continuation started",
		e.TurnID, slog.Bool("closing_question", e.Asks), slog.String("todo_id", e.Todo.ID), l.contentAttr("prompt", e.Prompt))
}

func (l *eventLog) pauseCalled(ctx context.Context, e PauseCalled) {
	reason := l.contentAttr("pause_reason", e.Result.Reason)
	if e.Err != nil {
		l.write(ctx, slog.LevelWarn, "carryon: pause rejected", e.TurnID, reason, l.errorAttr(e.Err))
		return
	}
	l.write(ctx, slog.LevelInfo, "carryon: paused", e.TurnID, reason)
}

// callEnded logs what continuations were worth, if that is known or was estimated now.
// What was not sent would have cost money, so it has the level of what was sent.
func (l *eventLog) callEnded(ctx context.Context, e CallEnded) {
	w := &e.Outcome.Worth
	if *w == (Worth{}) {
		return
	}
	if w.Unsent > 0 {
		l.write(ctx, slog.LevelInfo, "carryon: continuation not sent", e.TurnID,
			slog.Bool("dry_run", e.Outcome.DryRun), slog.Bool("holdout", e.Outcome.Holdout), slog.Int("estimated_tokens", w.Estimate.Total()))
	}
	l.write(ctx, slog.LevelDebug, "carryon: worth", e.TurnID,
		slog.Int("resumed", w.Resumed), slog.Int("finished", w.Finished), slog.Int("unwanted", w.Unwanted()),
		slog.Int("questions", w.Questions), slog.Int("reopened", w.Reopened),
		slog.Int("checks_failed", w.ChecksFailed), slog.Int("checks_mended", w.ChecksMended),
		slog.Int("input_tokens", w.Tokens.Input), slog.Int("cached_tokens", w.Tokens.Cached), slog.Int("output_tokens", w.Tokens.Output),
		slog.Int("unreported", w.Unreported), slog.Int("unsent", w.Unsent), slog.Int("estimated_tokens", w.Estimate.Total()))
}

func (l *eventLog) delivered(ctx context.Context, e ReminderDelivered) {
	l.write(ctx, slog.LevelDebug, "carryon: reminder delivered", e.TurnID, slog.Int("tasks", len(e.Tasks)))
}

func (l *eventLog) failed(ctx context.Context, e Failed) {
	attr := l.errorAttr(e.Err)
	switch e.Op {
	case opTodos, opStore, opTasks, opGate, opCheck, opSessionKey: // the program's own code; WithLogger says so
		attr = ownErrorAttr(e.Err)
	}
	l.write(ctx, slog.LevelError, "carryon: failed", e.TurnID, slog.String("op", e.Op), attr)
}

func (l *eventLog) answered(ctx context.Context, e Answered) {
	if e.Recovered {
		l.write(ctx, slog.LevelInfo, "carryon: recovered", continuation.TurnID{}, slog.String("op", e.Op))
	}
}
