// Package job ends a background task with the job of a queue. The modules below
// carryon/queues use it for River and asynq; for another queue it takes a few lines:
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
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/records"
)

// ErrOver means that there is nothing left to work on: the task was cancelled, has
// failed, or is unknown. The queue should not run the job again.
var ErrOver = errors.New("job: the task of the job is over")

// Work runs work, the job of the ticket's task, and ends the task with it. If work
// returns nil, the task is completed with the output of [SetOutput]. If work returns
// an error for which isLast reports true, because the queue will not run the job
// again, the task has failed; a nil isLast means every error. After any other error
// the task goes on until the queue has run the job again.
//
// The ctx of work ends, with asynctask.ErrCancelled as its cause, when any process
// cancels the task. If the task is already completed, which happens when a queue runs
// a job twice, Work returns nil and does nothing. If the task is over for another
// reason, Work does not run work, or stops it, and returns an error that wraps
// ErrOver. A panic of work goes on to the queue; the task fails with an
// *middleware.PanicError.
//
// Work returns the error of work, and errors of the engine that keeps the tasks,
// after which the job must be run again too. It panics if tasks or work is nil.
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
		ctx := context.WithoutCancel(ctx) // it must be stored even if the worker is shutting down
		switch {
		case err == nil:
			return r.finish(ctx)
		case errors.Is(context.Cause(own), asynctask.ErrCancelled):
			return fmt.Errorf("%w: %w", ErrOver, err)
		case isLast == nil || isLast(err):
			return errors.Join(err, ignoreEnded(tasks.Fail(ctx, ticket, err)))
		}
		return err
	}
	defer func() {
		if v := recover(); v != nil {
			_ = end(&guard.PanicError{Value: v, Stack: debug.Stack()}) // the queue gets the panic itself
			panic(v)
		}
	}()
	return end(work(context.WithValue(own, runKey{}, r)))
}

// over returns the result of Work for a task that err kept from being worked on or
// ended.
func over(ctx context.Context, tasks *asynctask.Manager, ticket asynctask.Ticket, err error) error {
	if err == nil || ignoreEnded(err) != nil {
		return err
	}
	if task, failure := tasks.Get(ctx, ticket); failure == nil && task.State == asynctask.Completed {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrOver, err)
}

// ignoreEnded returns err, or nil if err says that the task has already ended.
func ignoreEnded(err error) error {
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
	committed atomic.Pointer[func()] // set by FinishIn; to be called once its transaction is committed
}

type runKey struct{}

// finish ends the task after work has ended well.
func (r *run) finish(ctx context.Context) error {
	err := over(ctx, r.tasks, r.ticket, r.tasks.Finish(ctx, r.ticket, r.output.Load()))
	if committed := r.committed.Load(); committed != nil && err == nil {
		(*committed)()
	}
	return err
}

// SetOutput sets the output of the task for when the work under ctx ends well. The
// last call counts. With a ctx that is not from Work it does nothing.
func SetOutput(ctx context.Context, output *asynctask.Output) {
	if r, ok := ctx.Value(runKey{}).(*run); ok {
		r.output.Store(output)
	}
}

// FinishIn ends the task within a transaction of the program that also completes the
// job, so that both happen or neither, whenever the worker dies. engine is the engine
// of the tasks as part of the transaction. Commit soon after FinishIn. If the
// transaction is rolled back, the task goes on. With a ctx that is not from Work, as
// in a job without a task, FinishIn does nothing.
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
