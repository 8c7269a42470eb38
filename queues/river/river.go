// Package river turns jobs of github.com/riverqueue/river into background tasks of a
// conversation: carryon tells the model once when a job has ended. One process may
// insert the job, another run it, and a third talk to the model.
//
// The Managers of these processes share an engine, such as the PostgreSQL that River
// uses:
//
//	engine, err := postgres.Open(ctx, "postgres://…") // carryon/stores/postgres
//	tasks := asynctask.NewManager(asynctask.WithRecords(engine))
//
//	// where the conversation is
//	inserted, err := carryonriver.NewClient(tasks, client).Insert(ctx, "transcode the video", Transcode{File: "cats.mov"}, nil)
//
//	// in the worker; stop the client before tasks
//	config := &river.Config{Middleware: []rivertype.Middleware{carryonriver.Middleware(tasks)}, …}
//
// A worker that completes its job in its own transaction, with river.JobCompleteTx,
// ends the task in the same transaction with [job.FinishIn]: both are committed, or
// neither.
//
// A worker reports a result to the model with [job.SetOutput]. Its ctx ends when the
// task is cancelled. River runs a job at least once; the task ends once. If a worker
// dies during the last attempt of its job, River discards the job and does not notify
// carryon: the task fails when its life ends, see asynctask.WithTaskLife.
package river

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/job"
)

// metadataKey is the member of a job's metadata that carries the ticket of its
// task.
const metadataKey = "carryon_ticket"

// Client inserts jobs as background tasks. It is safe for concurrent use.
type Client[TTx any] struct {
	tasks  *asynctask.Manager
	client *river.Client[TTx]
}

// NewClient returns a Client that inserts through client. It panics if tasks or
// client is nil.
func NewClient[TTx any](tasks *asynctask.Manager, client *river.Client[TTx]) *Client[TTx] {
	if tasks == nil || client == nil {
		panic("carryon/queues/river: NewClient needs tasks and a client")
	}
	return &Client[TTx]{tasks: tasks, client: client}
}

// Insert begins a background task in the session of ctx and inserts a job for it.
// The name is for people and models, see asynctask.Manager.Start. The arguments args
// and opts are those of river.Client.Insert. If Insert cannot insert the job, or
// River skips it as a duplicate, Insert cancels the task.
//
// Insert returns the errors of asynctask.Manager.Begin and of the client, and an
// error if the job's metadata is not a JSON object. Programs that insert jobs in
// another way, such as in a transaction, call Begin themselves and put the ticket
// into the metadata under "carryon_ticket".
func (c *Client[TTx]) Insert(
	ctx context.Context, name string, args river.JobArgs, opts *river.InsertOpts,
) (*rivertype.JobInsertResult, error) {
	ticket, err := c.tasks.Begin(ctx, strings.ToLower(rand.Text()), name)
	if err != nil {
		return nil, err
	}
	var inserted *rivertype.JobInsertResult
	with, err := carrying(ticket, args, opts)
	if err == nil {
		inserted, err = c.client.Insert(ctx, args, with)
	}
	if err != nil || inserted.UniqueSkippedAsDuplicate {
		return inserted, errors.Join(err, c.tasks.Cancel(context.WithoutCancel(ctx), ticket))
	}
	return inserted, nil
}

// carrying returns a copy of opts with the ticket added to the metadata, which comes
// from opts or else from args.
func carrying(ticket asynctask.Ticket, args river.JobArgs, opts *river.InsertOpts) (*river.InsertOpts, error) {
	var with river.InsertOpts
	if opts != nil {
		with = *opts
	}
	metadata := map[string]json.RawMessage{}
	given := with.Metadata
	if own, ok := args.(river.JobArgsWithInsertOpts); ok && len(given) == 0 {
		given = own.InsertOpts().Metadata
	}
	if len(given) > 0 {
		if err := json.Unmarshal(given, &metadata); err != nil {
			return nil, fmt.Errorf("river: metadata: %w", err)
		}
	}
	text, err := json.Marshal(ticket)
	if err != nil {
		return nil, err
	}
	metadata[metadataKey] = text
	with.Metadata, err = json.Marshal(metadata)
	return &with, err
}

// Middleware returns a middleware for river.Config that ends the task of a job when
// the job has ended. Jobs without a ticket run as usual. A job whose task is over,
// for example because it was cancelled, does not run: River cancels it. Middleware
// panics if tasks is nil.
func Middleware(tasks *asynctask.Manager) rivertype.WorkerMiddleware {
	if tasks == nil {
		panic("carryon/queues/river: nil tasks")
	}
	return river.WorkerMiddlewareFunc(func(
		ctx context.Context, row *rivertype.JobRow, next func(context.Context) error,
	) error {
		var metadata struct {
			Ticket *asynctask.Ticket `json:"carryon_ticket"`
		}
		if err := json.Unmarshal(row.Metadata, &metadata); err != nil {
			return river.JobCancel(fmt.Errorf("river: ticket of a task: %w", err))
		}
		if metadata.Ticket == nil {
			return next(ctx)
		}
		isLast := func(err error) bool { return isLastAttempt(row, err) }
		err := job.Work(ctx, tasks, *metadata.Ticket, isLast, next)
		if errors.Is(err, job.ErrOver) {
			return river.JobCancel(err)
		}
		return err
	})
}

// isLastAttempt reports whether this is the job's last attempt if it returns err.
func isLastAttempt(row *rivertype.JobRow, err error) bool {
	var cancelled *river.JobCancelError
	var snoozed *river.JobSnoozeError
	switch {
	case errors.As(err, &cancelled):
		return true
	case errors.As(err, &snoozed):
		return false
	}
	return row.Attempt >= row.MaxAttempts
}
