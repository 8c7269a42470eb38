package middleware

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/carryon-go/carryon/pause"
)

// PanicError is what becomes of a panic in something that the program plugged
// in: a todo source, a gate, a store, an observer, a session key, a notice.
type PanicError struct {
	Value any    // what it panicked with
	Stack []byte // where, as runtime/debug.Stack has it
}

// Error returns a text with the value, without the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v", e.Value)
}

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// guard runs f and turns a panic into a *PanicError.
func guard(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}

// ErrClosed is what interrupts a wait or a continuation whose stream is closed.
var ErrClosed = errors.New("middleware: stream closed")

// ErrNoSession is returned where a session is needed and ctx has none.
var ErrNoSession = errors.New("middleware: no session (see continuation.WithSession)")

// Causes of a continuation's end that are the engine's own.
var (
	ErrFirstByteTimeout = errors.New("middleware: no answer to the continuation in time")
	ErrResponseTimeout  = errors.New("middleware: the continuation's stream fell silent")
	ErrDeadlineNear     = errors.New("middleware: the caller's deadline is near")
	ErrIncomplete       = errors.New("middleware: the continuation ended without a finish reason")
)

// errPanicked is what a turn ends with if the SDK panics.
var errPanicked = errors.New("middleware: the turn ended in a panic")

// StatusError carries the HTTP status of a failed continuation, so that the
// next prompt can name it. Adapters wrap their SDK's errors in it; Unwrap
// gives the SDK's own.
type StatusError struct {
	Status int   // 0 if the SDK does not say
	Err    error // what it wraps; must not be nil
}

// Error returns the text of the SDK's error.
func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns the SDK's error.
func (e *StatusError) Unwrap() error { return e.Err }

// describeError names an error without repeating a text that may hold parts
// of messages: the engine's own errors in full, others by type and status.
func describeError(err error) string {
	var status *StatusError
	if errors.As(err, &status) {
		return fmt.Sprintf("HTTP status %d (%T)", status.Status, status.Err)
	}
	own := []error{
		ErrClosed, ErrFirstByteTimeout, ErrResponseTimeout, ErrDeadlineNear, ErrIncomplete,
		context.Canceled, context.DeadlineExceeded, pause.ErrInvalidReason,
	}
	for _, known := range own {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprintf("%T", err)
}
