package middleware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/pause"
)

// PanicError is the error for a panic in something that the program supplied: a todo
// source, a gate, a store, an observer, a session key, a notice. Value is the value
// that was passed to panic, and Stack ([]byte) the stack at that point. Unwrap returns
// Value if it is an error. Use [errors.As] with a *PanicError.
type PanicError = guard.PanicError

// ErrClosed is the error of a Recv, a wait or a continuation that [Stream.Close]
// interrupted.
var ErrClosed = errors.New("middleware: stream closed")

// ErrNoSession is the error of a method that needs a session if its ctx has none.
var ErrNoSession = errors.New("middleware: no session (see continuation.WithSession)")

// Errors with which the engine ends a continuation. They appear, perhaps wrapped, in
// [Outcome].Err and in events.
var (
	ErrFirstByteTimeout = errors.New("middleware: no answer to the continuation in time")
	ErrResponseTimeout  = errors.New("middleware: the continuation's stream fell silent")
	ErrDeadlineNear     = errors.New("middleware: the caller's deadline is near")
	ErrShutdown         = errors.New("middleware: the program is shutting down")
	ErrIncomplete       = errors.New("middleware: the continuation ended without a finish reason")
)

// errPanicked ends a turn in which the SDK panicked.
var errPanicked = errors.New("middleware: the turn ended in a panic")

// describeError describes an error of the provider without its text, which may quote
// messages. It describes the exported errors of the engine and those of the system in
// full, and others by status or type.
func describeError(err error) string {
	if status := statusOf(err); status > 0 {
		return fmt.Sprintf("HTTP status %d", status)
	}
	for _, known := range [...]error{
		ErrClosed, ErrFirstByteTimeout, ErrResponseTimeout, ErrDeadlineNear, ErrShutdown, ErrIncomplete,
		context.Canceled, context.DeadlineExceeded, pause.ErrInvalidReason, io.ErrUnexpectedEOF, io.EOF,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	var system *os.SyscallError // whose text is only "connect: connection refused" or the like
	if errors.As(err, &system) {
		return system.Error()
	}
	return typeOf(err)
}

// statusOf returns the HTTP status of an error, 0 if it is not known.
func statusOf(err error) int {
	if err == nil { // most turns; what As fills would be allocated
		return 0
	}
	var status *adapter.StatusError
	if errors.As(err, &status) {
		return status.Status
	}
	return 0
}

// typeOf returns the name of the first telling type in the chain of err: not one of
// errors.New, fmt.Errorf or http.Client.
func typeOf(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		name := fmt.Sprintf("%T", err)
		if !strings.HasPrefix(name, "*errors.") && !strings.HasPrefix(name, "*fmt.") && name != "*url.Error" {
			return name
		}
	}
	return "an error whose text is not logged (see WithLogContent)"
}

// isUnreported reports whether a failure of the store or of the background tasks was not
// reported yet.
func isUnreported(err error) bool {
	return !guard.IsKnown(err) && !errors.Is(err, errStoreSkipped) && !errors.Is(err, errTasksSkipped)
}

// Errors of calls for which carryon did not ask again, after an error or a timeout of
// an earlier call.
var (
	// errStoreSkipped says that carryon did not ask the store of session state, because
	// the store had failed a few seconds before.
	errStoreSkipped = errors.New("middleware: the session store has failed and is not asked again for some seconds")
	// errTasksSkipped says that carryon did not ask for the background tasks, because
	// asking had failed a few seconds before.
	errTasksSkipped = errors.New("middleware: the background tasks have failed and are not asked again for some seconds")
	// errSourceSkipped says that carryon did not ask the todo source, because the
	// source had been late a few seconds before. It wraps [context.DeadlineExceeded].
	errSourceSkipped = fmt.Errorf("middleware: the todo source was late and is not asked again for some seconds: %w", context.DeadlineExceeded)
)
