package continuation

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/internal/scope"
)

// WithSession returns a ctx whose calls belong to the conversation named session. Each
// session has its own pauses, budgets and settings. An empty name means no session. If a
// name has more than 128 bytes, carryon uses its beginning and a hash instead.
//
// Give each agent that calls the model concurrently its own session, even if one works
// for the other. In a shared session, carryon would take their messages for new user
// turns.
func WithSession(ctx context.Context, session string) context.Context {
	return scope.WithSession(ctx, session)
}

// Session returns the session of ctx, or "" if it has none.
func Session(ctx context.Context) string {
	return scope.Session(ctx)
}

// Suppress returns a ctx under which no call is continued. Use it for titles, summaries
// and other side calls that share a wrapped client with the agent.
func Suppress(ctx context.Context) context.Context {
	return scope.Suppress(ctx)
}

// WithUserTurn returns a ctx whose calls belong to the user turn named id. It is for
// programs that rewrite their history: by default carryon tells user turns apart by the
// user messages in the request. A new id in a session begins a new user turn: budgets
// start over, and a pause ends.
func WithUserTurn(ctx context.Context, id string) context.Context {
	return scope.WithUserTurn(ctx, id)
}

// Automatic returns a ctx for calls that the program makes without a message from the
// user. Whatever its messages are, such a call never begins a user turn, so it neither
// renews a budget nor ends a pause.
func Automatic(ctx context.Context) context.Context {
	return scope.Automatic(ctx)
}

// WithDeadline returns a ctx for calls whose caller gives up at the given time, such as
// a client that has told a proxy its timeout. carryon sends no continuation that would
// probably end later, and cuts a running one off shortly before that time. Unlike
// [context.WithDeadline], it does not cancel the ctx, so the caller's own turn is never
// cut off. If there are several deadlines, the earliest applies.
func WithDeadline(ctx context.Context, at time.Time) context.Context {
	return scope.WithDeadline(ctx, at)
}

// TurnID identifies one turn of a call.
type TurnID struct {
	Session string `json:"session,omitzero"` // the session, "" if the call has none
	Call    uint64 `json:"call,omitzero"`    // the number of the call; 0 if the Middleware has no observer
	Turn    int    `json:"turn"`             // the number of the turn within the call, from 1; continuations begin at 2
	Attempt int    `json:"attempt,omitzero"` // the number of the continuation since the last progress, from 1; 0 for the caller's own turn
}

// FromContext returns the turn to which ctx belongs, and reports whether that turn is a
// continuation. With it, callbacks, tracers and loggers below carryon tell the requests
// that carryon adds from those of the program.
func FromContext(ctx context.Context) (TurnID, bool) {
	id, ok := scope.Turn(ctx)
	return TurnID(id), ok
}
