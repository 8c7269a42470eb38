// Package scope holds the context values that several packages of carryon
// share, so that a todo source and the decision agree on which session a call
// belongs to without importing each other.
package scope

import "context"

type (
	sessionKey   struct{}
	suppressKey  struct{}
	userTurnKey  struct{}
	automaticKey struct{}
	layerKey     struct{}
)

// WithSession returns a ctx that belongs to the session; "" is no session.
func WithSession(ctx context.Context, session string) context.Context {
	return context.WithValue(ctx, sessionKey{}, session)
}

// Session returns the session of ctx, or "".
func Session(ctx context.Context) string {
	session, _ := ctx.Value(sessionKey{}).(string)
	return session
}

// Suppress returns a ctx under which no call is continued.
func Suppress(ctx context.Context) context.Context {
	return context.WithValue(ctx, suppressKey{}, true)
}

// Suppressed reports whether continuation was suppressed for ctx.
func Suppressed(ctx context.Context) bool {
	return ctx.Value(suppressKey{}) != nil
}

// WithUserTurn returns a ctx whose calls belong to the user turn named id.
func WithUserTurn(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, userTurnKey{}, id)
}

// UserTurn returns the name of the user turn of ctx, if it has one.
func UserTurn(ctx context.Context) (string, bool) {
	id, ok := ctx.Value(userTurnKey{}).(string)
	return id, ok
}

// Automatic returns a ctx whose calls no user asked for.
func Automatic(ctx context.Context) context.Context {
	return context.WithValue(ctx, automaticKey{}, true)
}

// IsAutomatic reports whether calls under ctx were started by the program.
func IsAutomatic(ctx context.Context) bool {
	return ctx.Value(automaticKey{}) != nil
}

// EnterLayer marks ctx as running inside a carryon layer, which makes every
// layer further in inert.
func EnterLayer(ctx context.Context) context.Context {
	return context.WithValue(ctx, layerKey{}, true)
}

// InLayer reports whether ctx runs inside a carryon layer.
func InLayer(ctx context.Context) bool {
	return ctx.Value(layerKey{}) != nil
}
