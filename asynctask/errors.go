package asynctask

import (
	"errors"
)

// Errors of a [Manager]. Test for them with [errors.Is]. Their texts give details, but
// say nothing about tasks of other sessions.
var (
	// ErrLimit says that one more task would exceed a limit: of running tasks, or of
	// 1,000 ended tasks of the session that wait for delivery.
	ErrLimit = errors.New("asynctask: limit reached")
	// ErrClosed says that the Manager is closed. It is also the cause of the ctx of a
	// task that Close has cancelled.
	ErrClosed = errors.New("asynctask: manager closed")
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
)

// errExited is the error of a task whose function ended its goroutine (runtime.Goexit)
// instead of returning.
var errExited = errors.New("asynctask: the task's function did not return")
