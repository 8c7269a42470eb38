package asynctask

import (
	"errors"
	"fmt"

	"github.com/carryon-go/carryon/internal/guard"
)

// Errors of a [Manager], for errors.Is. Their texts give details, but nothing about
// tasks of another session.
var (
	// ErrLimit means that one more task would exceed a limit.
	ErrLimit = errors.New("asynctask: limit reached")
	// ErrBacklog means that no task is started in a session while [MaxUndelivered]
	// ended tasks wait for delivery there.
	ErrBacklog = errors.New("asynctask: too many ended tasks wait for delivery")
	// ErrClosed is returned after Close, and is the cause of the ctx of a task
	// that Close has cancelled.
	ErrClosed = errors.New("asynctask: manager closed")
	// ErrReservation means that a reservation was used, released, or not used
	// in time.
	ErrReservation = errors.New("asynctask: reservation used, released or lapsed")
	// ErrInvalid means that an id, a name or the text of a ticket is not valid.
	ErrInvalid = errors.New("asynctask: invalid")
	// ErrDuplicate means that the session has a task with this id.
	ErrDuplicate = errors.New("asynctask: a task with this id exists")
	// ErrUnknown means that no task has this id, or that the task is no longer kept.
	ErrUnknown = errors.New("asynctask: no such task")
	// ErrEnded means that the task has already ended.
	ErrEnded = errors.New("asynctask: the task has ended already")
)

var (
	// ErrOwnerLost is the error of a task that shows no sign of life any more: the
	// process that ran its function is gone, or the task has exceeded its life.
	ErrOwnerLost = errors.New("asynctask: whoever ran the task is gone")
	// ErrCancelled is the cause of the ctx of a task that was cancelled.
	ErrCancelled = errors.New("asynctask: task cancelled")
	// ErrExited is the error of a task whose function ended its goroutine
	// (runtime.Goexit) instead of returning.
	ErrExited = errors.New("asynctask: the task's function did not return")
)

// AmbiguousError names the tasks that a prefix may mean.
type AmbiguousError struct {
	Prefix     string
	Candidates []Task // in order of start, at least two
}

// Error returns the prefix and how many tasks begin with it.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("asynctask: %d tasks begin with %q", len(e.Candidates), e.Prefix)
}

// PanicError is a panic of a task's function, or of another function of the program.
// Its Value is what was passed to panic, and its Stack ([]byte) is where. Unwrap
// returns the Value if that is an error.
type PanicError = guard.PanicError
