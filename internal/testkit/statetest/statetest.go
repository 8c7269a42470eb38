// Package statetest reads what a Middleware keeps of a session, for tests that look
// behind [middleware.Middleware.State].
package statetest

import (
	"context"
	"reflect"
	"unsafe"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/middleware"
)

// State returns the state of the session that ctx names.
func State(ctx context.Context, mw *middleware.Middleware) (state decision.State, err error) {
	field := reflect.ValueOf(mw).Elem().FieldByName("sessions").FieldByName("store")
	store := *(*session.Store)(unsafe.Pointer(field.UnsafeAddr())) //nolint:gosec // a test reads a field that programs do not see
	err = store.Update(ctx, continuation.Session(ctx), func(s decision.State) decision.State {
		state = s
		return s
	})
	return state, err
}
