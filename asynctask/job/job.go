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
	"github.com/carryon-go/carryon/records"
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
	r := &run{tasks: tasks, ticket: ticket}
	end := func(err error) error {
		ctx := context.WithoutCancel(ctx) // it has to be stored although the worker may be shutting down
		switch {
		case err == nil:
			return r.finish(ctx)
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
	return end(work(context.WithValue(own, runKey{}, r)))
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

// run is the work on a job.
type run struct {
	tasks     *asynctask.Manager
	ticket    asynctask.Ticket
	output    atomic.Pointer[asynctask.Output]
	committed atomic.Pointer[func()] // set once FinishIn has ended the task, if that was committed
}

type runKey struct{}

// finish ends the task of work that has ended well.
func (r *run) finish(ctx context.Context) error {
	err := over(ctx, r.tasks, r.ticket, r.tasks.Finish(ctx, r.ticket, r.output.Load()))
	if committed := r.committed.Load(); committed != nil && err == nil {
		(*committed)()
	}
	return err
}

// SetOutput sets what the task leaves if the work under ctx ends well, instead of
// what was set before. Under another ctx than that of Work it does nothing.
func SetOutput(ctx context.Context, output *asynctask.Output) {
	if r, ok := ctx.Value(runKey{}).(*run); ok {
		r.output.Store(output)
	}
}

// FinishIn ends the task within a transaction of the program's that completes the
// job too, so that there are both or neither, whenever the worker dies: engine is
// that of the tasks, as part of the transaction. Commit soon after it. If the
// transaction is rolled back, the task goes on. Under another ctx than that of
// Work, for a job without a task, it does nothing.
//
//	tx, err := pool.Begin(ctx)
//	…
//	job.SetOutput(ctx, asynctask.Message("done"))
//	err = job.FinishIn(ctx, engine.InTx(tx)) // of carryon/stores/postgres
//	_, err = river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, riverJob)
//	err = tx.Commit(ctx)
//
// It fails as asynctask.Manager.Finish does.
func FinishIn(ctx context.Context, engine records.Records) error {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return nil
	}
	committed, err := r.tasks.FinishIn(ctx, engine, r.ticket, r.output.Load())
	if err == nil {
		r.committed.Store(&committed)
	}
	return err
}
