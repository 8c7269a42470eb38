package asynctask

import (
	"errors"
	"fmt"
)

// What the methods of a [Manager] fail with, for errors.Is. The texts say more,
// and nothing about tasks of another session.
var (
	// ErrLimit is returned where a task would be one more than the limit.
	ErrLimit = errors.New("asynctask: limit reached")
	// ErrBacklog is returned where a task would be started although the ends
	// of [MaxUndelivered] others have not been delivered.
	ErrBacklog = errors.New("asynctask: too many ended tasks wait for delivery")
	// ErrClosed is returned after Close, and is the cause of a task's ctx that
	// Close has ended.
	ErrClosed = errors.New("asynctask: manager closed")
	// ErrReservation is returned for a reservation that was used, released, or
	// not used in time.
	ErrReservation = errors.New("asynctask: reservation used, released or lapsed")
	// ErrInvalid is returned for an id or a name that will not do.
	ErrInvalid = errors.New("asynctask: invalid")
	// ErrDuplicate is returned for the id of a task that is there already.
	ErrDuplicate = errors.New("asynctask: a task with this id exists")
	// ErrUnknown is returned for an id that no task has, or has any more.
	ErrUnknown = errors.New("asynctask: no such task")
	// ErrEnded is returned where a task is to end that has ended already.
	ErrEnded = errors.New("asynctask: the task has ended already")
	// ErrAmbiguous is what every *AmbiguousError is.
	ErrAmbiguous = errors.New("asynctask: several tasks begin with this")
)

var (
	// ErrCancelled is the cause of a task's ctx that was cancelled.
	ErrCancelled = errors.New("asynctask: task cancelled")
	// ErrExited is what a task fails with whose function ended its goroutine
	// (runtime.Goexit) instead of returning.
	ErrExited = errors.New("asynctask: the task's function did not return")
	// ErrBusy is for [Host.Trigger] to return if the agent has become busy.
	ErrBusy = errors.New("asynctask: the agent is busy")
	// ErrStopped is the cause of the ctx of a [Host.Trigger] that was stopped.
	ErrStopped = errors.New("asynctask: auto-trigger stopped")
)

// AmbiguousError says which tasks a prefix may mean.
type AmbiguousError struct {
	Prefix     string
	Candidates []Task // in order of start, two at least
}

// Error returns the prefix and how many tasks begin with it.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("asynctask: %d tasks begin with %q", len(e.Candidates), e.Prefix)
}

// Is reports whether target is ErrAmbiguous.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// PanicError is what becomes of a panic in a task's function, or in what a
// [Host] supplies.
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
