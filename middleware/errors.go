package middleware

import (
	"context"
	"errors"
	"fmt"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/pause"
)

// PanicError is the error that a panic becomes in something that the program
// plugged in: a todo source, a gate, a store, an observer, a session key, a
// notice.
type PanicError = guard.PanicError

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

// describeError names an error without repeating a text that may hold parts
// of messages: the engine's own errors in full, others by type and status.
func describeError(err error) string {
	var status *adapter.StatusError
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
