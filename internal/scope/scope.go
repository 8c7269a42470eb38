// Package scope defines the context values that several packages of carryon
// share. Todo sources and the engine read the same session without importing
// each other.
package scope

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"
	"time"
)

type (
	sessionKey   struct{}
	suppressKey  struct{}
	userTurnKey  struct{}
	automaticKey struct{}
	deadlineKey  struct{}
	layerKey     struct{}
	turnKey      struct{}
	toolsKey     struct{}
	callsKey     struct{}
)

// MaxName is the length in bytes up to which [Name] leaves a session's name
// unchanged.
const MaxName = 128

// Name returns the name under which a session is stored: the session's own
// name, or the beginning and a hash of a long one, so that no name can fill a
// store. Name is idempotent.
func Name(session string) string {
	if len(session) <= MaxName {
		return session
	}
	sum := sha256.Sum256([]byte(session))
	hash := hex.EncodeToString(sum[:])
	return strings.ToValidUTF8(session[:MaxName-len("...")-len(hash)], "") + "..." + hash
}

// WithSession returns a ctx whose calls belong to session; "" means none.
func WithSession(ctx context.Context, session string) context.Context {
	return context.WithValue(ctx, sessionKey{}, Name(session))
}

// Session returns the [Name] of the session of ctx, or "" if it has none.
func Session(ctx context.Context) string {
	session, _ := ctx.Value(sessionKey{}).(string)
	return session
}

// WithTools returns a ctx with the names of the tools that a request offers. nil means
// that they are unknown.
func WithTools(ctx context.Context, tools iter.Seq[string]) context.Context {
	return context.WithValue(ctx, toolsKey{}, tools)
}

// Tools returns the names of the tools that the request of ctx offers, and whether they
// are known. They may be used only until the todo source returns.
func Tools(ctx context.Context) (tools iter.Seq[string], known bool) {
	tools, _ = ctx.Value(toolsKey{}).(iter.Seq[string])
	return tools, tools != nil
}

// WithToolCalls returns a ctx with the number of tool calls that models have made so far.
func WithToolCalls(ctx context.Context, n uint64) context.Context {
	return context.WithValue(ctx, callsKey{}, n)
}

// ToolCalls returns the number that WithToolCalls set, if it did.
func ToolCalls(ctx context.Context) (n uint64, ok bool) {
	n, ok = ctx.Value(callsKey{}).(uint64)
	return n, ok
}

// Suppress returns a ctx under which carryon continues no call.
func Suppress(ctx context.Context) context.Context {
	return context.WithValue(ctx, suppressKey{}, true)
}

// Suppressed reports whether ctx was derived from one that Suppress returned.
func Suppressed(ctx context.Context) bool {
	return ctx.Value(suppressKey{}) != nil
}

// WithUserTurn returns a ctx whose calls belong to the user turn id.
func WithUserTurn(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, userTurnKey{}, id)
}

// UserTurn returns the id of the user turn that WithUserTurn set, if it did. An
// id may be "".
func UserTurn(ctx context.Context) (string, bool) {
	id, ok := ctx.Value(userTurnKey{}).(string)
	return id, ok
}

// WithDeadline returns a ctx whose callers expect no answer after that time. It
// does not end ctx. The earliest deadline counts.
func WithDeadline(ctx context.Context, at time.Time) context.Context {
	if before, ok := Deadline(ctx); ok && before.Before(at) {
		return ctx
	}
	return context.WithValue(ctx, deadlineKey{}, at)
}

// Deadline returns the time that WithDeadline set, if it did.
func Deadline(ctx context.Context) (time.Time, bool) {
	at, ok := ctx.Value(deadlineKey{}).(time.Time)
	return at, ok
}

// Automatic returns a ctx whose calls the program makes without a user message.
func Automatic(ctx context.Context) context.Context {
	return context.WithValue(ctx, automaticKey{}, true)
}

// IsAutomatic reports whether ctx was derived from one that Automatic returned.
func IsAutomatic(ctx context.Context) bool {
	return ctx.Value(automaticKey{}) != nil
}

// EnterLayer returns a ctx for use inside a carryon layer. Layers further in
// pass calls under that ctx through unchanged.
func EnterLayer(ctx context.Context) context.Context {
	return context.WithValue(ctx, layerKey{}, true)
}

// InLayer reports whether ctx was derived from one that EnterLayer returned.
func InLayer(ctx context.Context) bool {
	return ctx.Value(layerKey{}) != nil
}

// TurnID identifies one turn of a call. It converts to continuation.TurnID.
type TurnID struct {
	Session string
	Call    uint64
	Turn    int
	Attempt int
}

// WithTurn returns a ctx that belongs to the continuation id.
func WithTurn(ctx context.Context, id TurnID) context.Context {
	return context.WithValue(ctx, turnKey{}, id)
}

// Turn returns the continuation that ctx belongs to, if it belongs to one.
func Turn(ctx context.Context) (TurnID, bool) {
	id, ok := ctx.Value(turnKey{}).(TurnID)
	return id, ok
}
