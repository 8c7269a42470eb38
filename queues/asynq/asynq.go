// Package asynq turns jobs of github.com/hibiken/asynq into background tasks of a
// conversation: carryon tells the model once when a job has ended. One process may
// enqueue the job, another run it, and a third talk to the model.
//
// The Managers of these processes share an engine, such as the Redis that asynq uses:
//
//	engine, err := redis.Open("redis://localhost:6379") // carryon/stores/redis
//	tasks := asynctask.NewManager(asynctask.WithRecords(engine))
//
//	// where the conversation is
//	info, err := carryonasynq.NewClient(tasks, client).Enqueue(ctx, "transcode the video", "transcode", payload)
//
//	// in the worker; shut it down before tasks
//	mux.Use(carryonasynq.Middleware(tasks))
//
// A handler reports a result to the model with [job.SetOutput]. Its ctx ends when the
// task is cancelled. asynq runs a job at least once; the task ends once. If a worker
// dies during the last run of its job, asynq archives the job and does not notify
// carryon: the task fails when its life ends, see asynctask.WithTaskLife.
package asynq

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/hibiken/asynq"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/job"
)

// ticketHeader is the header of a job that carries the ticket of its task.
const ticketHeader = "Carryon-Ticket"

// Client enqueues jobs as background tasks. It is safe for concurrent use.
type Client struct {
	tasks  *asynctask.Manager
	client *asynq.Client
}

// NewClient returns a Client that enqueues through client. The caller closes client.
// NewClient panics if tasks or client is nil.
func NewClient(tasks *asynctask.Manager, client *asynq.Client) *Client {
	if tasks == nil || client == nil {
		panic("carryon/queues/asynq: NewClient needs tasks and a client")
	}
	return &Client{tasks: tasks, client: client}
}

// Enqueue begins a background task in the session of ctx and enqueues a job for it.
// The name is for people and models, see asynctask.Manager.Start. The arguments
// typename, payload and opts are those of asynq.NewTask. If Enqueue cannot enqueue
// the job, it cancels the task.
//
// Enqueue returns the errors of asynctask.Manager.Begin and of the client. Programs
// that enqueue jobs in another way call Begin themselves and put the ticket into the
// job's header Carryon-Ticket.
func (c *Client) Enqueue(
	ctx context.Context, name, typename string, payload []byte, opts ...asynq.Option,
) (*asynq.TaskInfo, error) {
	ticket, err := c.tasks.Begin(ctx, strings.ToLower(rand.Text()), name)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{ticketHeader: ticket.String()}
	info, err := c.client.EnqueueContext(ctx, asynq.NewTaskWithHeaders(typename, payload, headers), opts...)
	if err != nil {
		return nil, errors.Join(err, c.tasks.Cancel(context.WithoutCancel(ctx), ticket))
	}
	return info, nil
}

// Middleware returns a middleware for asynq.ServeMux.Use that ends the task of a job
// when the job has ended. Jobs without a ticket run as usual. A job whose task is
// over, for example because it was cancelled, does not run: asynq archives it.
// Middleware panics if tasks is nil.
func Middleware(tasks *asynctask.Manager) asynq.MiddlewareFunc {
	if tasks == nil {
		panic("carryon/queues/asynq: nil tasks")
	}
	return func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
			header, ok := t.Headers()[ticketHeader]
			if !ok {
				return next.ProcessTask(ctx, t)
			}
			ticket, err := asynctask.ParseTicket(header)
			if err != nil {
				return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
			}
			isLast := func(err error) bool { return isLastRun(ctx, err) }
			err = job.Work(ctx, tasks, ticket, isLast, func(ctx context.Context) error { return next.ProcessTask(ctx, t) })
			if errors.Is(err, job.ErrOver) {
				return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
			}
			return err
		})
	}
}

// isLastRun reports whether this is the job's last run if it returns err.
func isLastRun(ctx context.Context, err error) bool {
	if errors.Is(err, asynq.SkipRetry) || errors.Is(err, asynq.RevokeTask) {
		return true
	}
	retried, _ := asynq.GetRetryCount(ctx)
	retries, ok := asynq.GetMaxRetry(ctx)
	return ok && retried >= retries
}
