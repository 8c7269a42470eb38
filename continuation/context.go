package continuation

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/internal/scope"
)

// WithSession returns a ctx whose calls belong to the conversation named
// session. Pausing, budgets and settings are kept per session; nothing of one
// session shows in another. The empty name is no session. Of a name of more than
// 128 bytes the beginning and a hash are kept, everywhere.
//
// Agents that talk to the model at the same time need a session each, also if
// one works for the other: their messages would be taken for new user turns of
// each other.
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

// WithUserTurn returns a ctx whose calls belong to the user turn named id. It
// replaces the recognition by the request's user messages, for programs that
// rewrite their history. Another id in the same session is a new user turn:
// budgets start anew and a pause ends.
func WithUserTurn(ctx context.Context, id string) context.Context {
	return scope.WithUserTurn(ctx, id)
}

// Automatic returns a ctx whose calls were started by the program and not by
// a message of the user. Such a call never begins a new user turn, whatever
// its messages are, so it neither renews a budget nor ends a pause.
func Automatic(ctx context.Context) context.Context {
	return scope.Automatic(ctx)
}

// WithDeadline returns a ctx for calls whose caller gives up at the given time,
// for example because a client told the proxy so. No continuation is sent that would
// probably end later, and one that runs is cut before. Unlike the deadline of
// [context.WithDeadline], which counts as well, it ends no ctx, so that it never
// cuts the caller's own turn. Of several the earliest counts.
func WithDeadline(ctx context.Context, at time.Time) context.Context {
	return scope.WithDeadline(ctx, at)
}

// TurnID identifies one turn of a call.
type TurnID struct {
	Session string `json:"session,omitzero"` // the session, "" if the call has none
	Call    uint64 `json:"call,omitzero"`    // tells calls of a middleware with an observer apart; 0 without one
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
