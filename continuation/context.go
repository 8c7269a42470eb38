package continuation

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/internal/scope"
)

// WithSession returns a ctx whose calls belong to the conversation named session.
// Pauses, budgets and settings belong to one session and do not affect another. The
// empty name means no session. A name of more than 128 bytes is shortened to its
// beginning and a hash wherever carryon uses it.
//
// Agents that call the model at the same time need a session each, even if one works
// for the other. In a shared session, carryon would take their messages for new user
// turns.
func WithSession(ctx context.Context, session string) context.Context {
	return scope.WithSession(ctx, session)
}

// Session returns the session of ctx, or "" if it has none.
func Session(ctx context.Context) string {
	return scope.Session(ctx)
}

// Suppress returns a ctx under which no call is continued: for titles,
// summaries and other side calls that share a wrapped client with the agent.
func Suppress(ctx context.Context) context.Context {
	return scope.Suppress(ctx)
}

// WithUserTurn returns a ctx whose calls belong to the user turn named id. It is for
// programs that rewrite their history: without it, carryon tells user turns apart by
// the user messages of the request. Another id in the same session is a new user
// turn: budgets start over, and a pause ends.
func WithUserTurn(ctx context.Context, id string) context.Context {
	return scope.WithUserTurn(ctx, id)
}

// Automatic returns a ctx whose calls were started by the program and not by
// a message of the user. Such a call never begins a new user turn, whatever
// its messages are, so it neither renews a budget nor ends a pause.
func Automatic(ctx context.Context) context.Context {
	return scope.Automatic(ctx)
}

// WithDeadline returns a ctx for calls whose caller gives up at the given time, such
// as a client that has told a proxy its timeout. Carryon sends no continuation that
// would probably end later, and cuts a running one shortly before that time. Unlike
// [context.WithDeadline], it ends no ctx, so it never cuts the caller's own turn.
// Carryon obeys both; the earliest deadline applies.
func WithDeadline(ctx context.Context, at time.Time) context.Context {
	return scope.WithDeadline(ctx, at)
}

// TurnID identifies one turn of a call.
type TurnID struct {
	Session string `json:"session,omitzero"` // the session, "" if the call has none
	Call    uint64 `json:"call,omitzero"`    // the number of the call; 0 if the Middleware has no observer
	Turn    int    `json:"turn"`             // the number of the turn within the call; continuations begin at 2
	Attempt int    `json:"attempt,omitzero"` // the number of the continuation, counted since the last progress
}

// FromContext reports whether ctx belongs to a continuation, and to which turn.
// Callbacks, tracers and loggers that sit below carryon use it to tell the
// calls that carryon added from those of the program.
func FromContext(ctx context.Context) (TurnID, bool) {
	id, ok := scope.Turn(ctx)
	return TurnID(id), ok
}
