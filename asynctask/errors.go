package asynctask

import (
	"errors"
	"fmt"

	"github.com/carryon-go/carryon/internal/guard"
)

// Errors of a [Manager]. Test for them with [errors.Is]. Their texts give details, but
// say nothing about tasks of other sessions.
var (
	// ErrLimit says that one more task would exceed a limit.
	ErrLimit = errors.New("asynctask: limit reached")
	// ErrBacklog says that 1,000 ended tasks of the session wait for delivery.
	ErrBacklog = errors.New("asynctask: too many ended tasks wait for delivery")
	// ErrClosed says that the Manager is closed. It is also the cause of the ctx of a
	// task that Close has cancelled.
	ErrClosed = errors.New("asynctask: manager closed")
	// ErrReservation says that a reservation was already used or released, or that it
	// was not used in time.
	ErrReservation = errors.New("asynctask: reservation used, released or lapsed")
	// ErrInvalid says that an id, a name or the text of a ticket is invalid.
	ErrInvalid = errors.New("asynctask: invalid")
	// ErrDuplicate says that the session already has a task with this id.
	ErrDuplicate = errors.New("asynctask: a task with this id exists")
	// ErrUnknown says that no task has this id, or that the task is no longer kept.
	ErrUnknown = errors.New("asynctask: no such task")
	// ErrEnded says that the task has already ended.
	ErrEnded = errors.New("asynctask: the task has ended already")
)

var (
	// ErrOwnerLost is the error of a task that gives no sign of life: the process that
	// ran its function is gone, or the task of Begin has exceeded its life.
	ErrOwnerLost = errors.New("asynctask: whoever ran the task is gone")
	// ErrCancelled is the cause of the ctx of a cancelled task.
	ErrCancelled = errors.New("asynctask: task cancelled")
	// ErrExited is the error of a task whose function ended its goroutine
	// (runtime.Goexit) instead of returning.
	ErrExited = errors.New("asynctask: the task's function did not return")
)

// AmbiguousError is the error of [Manager.Find] if several tasks have the prefix.
type AmbiguousError struct {
	Prefix     string
	Candidates []Task // at least two, in the order in which they were started
}

// Error returns the prefix and the number of tasks that have it.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("asynctask: %d tasks begin with %q", len(e.Candidates), e.Prefix)
}

// PanicError is the error for a panic of a task's function or of another function of
// the program. Value is the value that was passed to panic, and Stack ([]byte) the
// stack at that point. Unwrap returns Value if it is an error. Use [errors.As] with a
// *PanicError.
type PanicError = guard.PanicError
