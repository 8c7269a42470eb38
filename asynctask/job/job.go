// Package job translates the life of a job in a queue into that of a background
// task. Modules below carryon/queues use it for River and asynq; for another queue
// it takes a few lines:
//
//	ticket, err := tasks.Begin(ctx, id, "transcode the video") // then enqueue, with ticket.String() in the job
//
//	// in the worker
//	ticket, err := asynctask.ParseTicket(header)
//	err = job.Work(ctx, tasks, ticket, isLast, func(ctx context.Context) error {
//		job.SetOutput(ctx, asynctask.Message("done"))
//		return transcode(ctx)
//	})
package job

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/carryon-go/carryon/asynctask"
)

// ErrOver means that there is nothing left to work on: the task was cancelled,
// has failed, or is unknown. The queue should not run the job again.
var ErrOver = errors.New("job: the task of the job is over")

// Work does the work of a job that belongs to the task of the ticket, and ends the
// task with it: as completed if work returns nil, with the output that it has set,
// and as failed if work returns an error after which the queue does not run the
// job again. isLast says so of an error; nil says it of every error. Otherwise
// the task goes on until the job has been run again.
//
// The ctx of work ends when the task is cancelled, with asynctask.ErrCancelled as
// its cause, wherever that happens. If the task has been completed before, as
// happens when a queue runs a job twice, Work returns nil and does nothing. If the
// task is over for another reason it does nothing either, or stops work, and
// returns an error that wraps ErrOver. A panic of work goes on to the queue; for
// the task it is an error of type *asynctask.PanicError.
//
// Work returns the error of work, and those of the engine that keeps the tasks:
// then too the job has to be run again. It panics if tasks or work is nil.
func Work(
	ctx context.Context, tasks *asynctask.Manager, ticket asynctask.Ticket,
	isLast func(error) bool, work func(context.Context) error,
) error {
	if tasks == nil || work == nil {
		panic("carryon/asynctask/job: Work needs tasks and a function")
	}
	own, detach, err := tasks.Attach(ctx, ticket)
	if err != nil {
		return over(ctx, tasks, ticket, err)
	}
	defer detach()
	output := &atomic.Pointer[asynctask.Output]{}
	end := func(err error) error {
		ctx := context.WithoutCancel(ctx) // it has to be stored although the worker may be shutting down
		switch {
		case err == nil:
			return over(ctx, tasks, ticket, tasks.Finish(ctx, ticket, output.Load()))
		case errors.Is(context.Cause(own), asynctask.ErrCancelled):
			return fmt.Errorf("%w: %w", ErrOver, err)
		case isLast == nil || isLast(err):
			return errors.Join(err, unlessEnded(tasks.Fail(ctx, ticket, err)))
		}
		return err
	}
	defer func() {
		if v := recover(); v != nil {
			_ = end(&asynctask.PanicError{Value: v, Stack: debug.Stack()}) // the queue hears of the panic itself
			panic(v)
		}
	}()
	return end(work(context.WithValue(own, outputKey{}, output)))
}

// over returns what to say of a task that could not be worked on, or ended,
// because of err.
func over(ctx context.Context, tasks *asynctask.Manager, ticket asynctask.Ticket, err error) error {
	if err == nil || unlessEnded(err) != nil {
		return err
	}
	if task, failure := tasks.Get(ctx, ticket); failure == nil && task.State == asynctask.Completed {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrOver, err)
}

// unlessEnded returns err unless that says that the task has ended before.
func unlessEnded(err error) error {
	if errors.Is(err, asynctask.ErrEnded) || errors.Is(err, asynctask.ErrUnknown) {
		return nil
	}
	return err
}

type outputKey struct{}

// SetOutput sets what the task leaves if the work under ctx ends well, instead of
// what was set before. Under another ctx than that of Work it does nothing.
func SetOutput(ctx context.Context, output *asynctask.Output) {
	if slot, ok := ctx.Value(outputKey{}).(*atomic.Pointer[asynctask.Output]); ok {
		slot.Store(output)
	}
}
