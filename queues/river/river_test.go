package river_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/job"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
	carryonriver "github.com/carryon-go/carryon/queues/river"
	"github.com/carryon-go/carryon/stores/postgres"
)

// work is a job whose worker is looked up by its name.
type work struct {
	Do string `json:"do" river:"unique"`
}

func (work) Kind() string { return "work" }

// worker does what the test says.
type worker struct {
	river.WorkerDefaults[work]

	do func(ctx context.Context, job *river.Job[work]) error
}

func (w *worker) Work(ctx context.Context, job *river.Job[work]) error { return w.do(ctx, job) }

func (w *worker) NextRetry(*river.Job[work]) time.Time { return time.Now() }

// world is a database with River's tables and carryon's.
type world struct {
	pool   *pgxpool.Pool
	engine *postgres.Engine
}

// newWorld returns a database of its own on the server.
func newWorld(t *testing.T, server, name string) *world {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), server)
	require.NoError(t, err)
	_, err = admin.Exec(t.Context(), "create database "+name)
	require.NoError(t, err)
	require.NoError(t, admin.Close(t.Context()))
	url := strings.Replace(server, "/postgres?", "/"+name+"?", 1)
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	engine, err := postgres.Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, engine.Close()) })
	require.NoError(t, engine.CreateTable(t.Context()))
	return &world{pool: pool, engine: engine}
}

// process returns the Manager of one of the processes.
func (w *world) process(t *testing.T) *asynctask.Manager {
	t.Helper()
	tasks := asynctask.NewManager(asynctask.WithRecords(w.engine))
	t.Cleanup(func() { assert.NoError(t, tasks.Close(context.WithoutCancel(t.Context()))) })
	return tasks
}

// client returns a client that only inserts.
func (w *world) client(t *testing.T) *river.Client[pgx.Tx] {
	t.Helper()
	client, err := river.NewClient(riverpgxv5.New(w.pool), &river.Config{})
	require.NoError(t, err)
	return client
}

// works runs a worker until the test ends.
func (w *world) works(t *testing.T, tasks *asynctask.Manager, do func(context.Context, *river.Job[work]) error) {
	t.Helper()
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{do: do})
	client, err := river.NewClient(riverpgxv5.New(w.pool), &river.Config{
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2}},
		Workers: workers, Middleware: []rivertype.Middleware{carryonriver.Middleware(tasks)},
		FetchCooldown: 10 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond,
	})
	require.NoError(t, err)
	require.NoError(t, client.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(func() { assert.NoError(t, client.StopAndCancel(context.WithoutCancel(t.Context()))) })
}

// end waits for the end of the only task of the session, and returns it.
func end(t *testing.T, tasks *asynctask.Manager, session string) asynctask.Task {
	t.Helper()
	all, err := tasks.Tasks(t.Context(), session)
	require.NoError(t, err)
	require.Len(t, all, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	task, err := tasks.Wait(ctx, all[0].Ticket())
	require.NoError(t, err)
	return task
}

// The tests share a server, because it takes long to start.
func TestOnAServer(t *testing.T) {
	t.Parallel()
	server := servertest.StartPostgres(t).URL
	for name, test := range map[string]func(*testing.T, *world){
		"told":      testJobIsToldByAThirdProcess,
		"fails":     testTaskFailsWithTheLastAttemptOfItsJob,
		"cancelled": testCancelledJobIsStoppedOrNotRun,
		"refused":   testJobsThatAreNotInsertedLeaveNoTask,
		"others":    testOtherJobsPass,
		"in_tx":     testJobThatIsCompletedInATransactionOfTheProgram,
	} {
		t.Run(name, func(t *testing.T) { test(t, newWorld(t, server, name)) })
	}
}

// One process inserts, a second works, a third tells the model, once.
func testJobIsToldByAThirdProcess(t *testing.T, w *world) {
	starter, worker, teller := w.process(t), w.process(t), w.process(t)
	ctx := continuation.WithSession(t.Context(), "conversation-42")
	_, err := carryonriver.NewClient(starter, w.client(t)).Insert(ctx, "transcode the video", work{Do: "it"},
		&river.InsertOpts{Metadata: []byte(`{"mine":1}`)})
	require.NoError(t, err)
	pending, err := teller.Deliveries().Pending(t.Context(), "conversation-42", 0)
	require.NoError(t, err)
	assert.Equal(t, 1, pending.Unfinished)

	metadata := make(chan string, 1)
	w.works(t, worker, func(ctx context.Context, j *river.Job[work]) error {
		metadata <- string(j.Metadata)
		job.SetOutput(ctx, asynctask.Message("did "+j.Args.Do))
		return nil
	})
	assert.Equal(t, asynctask.Completed, end(t, teller, "conversation-42").State)
	assert.Contains(t, <-metadata, `"mine": 1`)
	d, err := teller.Deliveries().Deliver(t.Context(), "conversation-42", delivery.Options{})
	require.NoError(t, err)
	assert.Contains(t, d.Text, `"final_message": "did it"`)
	require.NoError(t, teller.Deliveries().Settle(t.Context(), d, delivery.Delivered))
	again, err := starter.Deliveries().Deliver(t.Context(), "conversation-42", delivery.Options{})
	require.NoError(t, err)
	assert.Nil(t, again)
}

func testTaskFailsWithTheLastAttemptOfItsJob(t *testing.T, w *world) {
	tasks, client := w.process(t), w.client(t)
	broken := errors.New("broken")
	runs := make(chan string, 100)
	w.works(t, tasks, func(_ context.Context, j *river.Job[work]) error {
		runs <- j.Args.Do
		switch {
		case j.Args.Do == "panics":
			panic("oh")
		case j.Args.Do == "cancelled":
			return river.JobCancel(broken)
		case j.Args.Do == "snoozed" && len(j.Errors) == 0 && !strings.Contains(string(j.Metadata), "snoozes"):
			return river.JobSnooze(0)
		}
		return broken
	})
	for name, c := range map[string]struct{ attempts, runs int }{
		"attempts": {3, 3}, "one-attempt": {1, 1}, "cancelled": {5, 1}, "panics": {2, 2}, "snoozed": {1, 2},
	} {
		ctx := continuation.WithSession(t.Context(), name)
		_, err := carryonriver.NewClient(tasks, client).Insert(ctx, "job", work{Do: name}, &river.InsertOpts{MaxAttempts: c.attempts})
		require.NoError(t, err)
		task := end(t, tasks, name)
		assert.Equal(t, asynctask.Failed, task.State, name)
		for range c.runs {
			assert.Equal(t, name, <-runs)
		}
		assert.Empty(t, runs, name)
	}
}

func testCancelledJobIsStoppedOrNotRun(t *testing.T, w *world) {
	starter, worker, client := w.process(t), w.process(t), w.client(t)
	ctx := continuation.WithSession(t.Context(), "a")
	early, err := carryonriver.NewClient(starter, client).Insert(ctx, "early", work{Do: "early"}, nil)
	require.NoError(t, err)
	cancelAll(ctx, t, starter)

	running, stopped := make(chan string, 2), make(chan error, 2)
	w.works(t, worker, func(ctx context.Context, j *river.Job[work]) error {
		running <- j.Args.Do
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return context.Cause(ctx)
	})
	late, err := carryonriver.NewClient(starter, client).Insert(ctx, "late", work{Do: "late"}, nil)
	require.NoError(t, err)
	assert.Equal(t, "late", <-running, "the other is not run")
	cancelAll(ctx, t, starter)
	require.ErrorIs(t, <-stopped, asynctask.ErrCancelled)
	for _, inserted := range []*rivertype.JobInsertResult{early, late} {
		require.Eventually(t, func() bool {
			row, err := client.JobGet(t.Context(), inserted.Job.ID)
			return err == nil && row.State == rivertype.JobStateCancelled
		}, time.Minute, 20*time.Millisecond)
	}
}

func testJobsThatAreNotInsertedLeaveNoTask(t *testing.T, w *world) {
	tasks, client := w.process(t), w.client(t)
	ctx := continuation.WithSession(t.Context(), "a")
	unique := &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
	_, err := carryonriver.NewClient(tasks, client).Insert(ctx, "job", work{Do: "once"}, unique)
	require.NoError(t, err)
	skipped, err := carryonriver.NewClient(tasks, client).Insert(ctx, "job", work{Do: "once"}, unique)
	require.NoError(t, err)
	assert.True(t, skipped.UniqueSkippedAsDuplicate)
	_, err = carryonriver.NewClient(tasks, client).Insert(ctx, "job", work{}, &river.InsertOpts{Metadata: []byte("[]")})
	require.ErrorContains(t, err, "river: metadata: ")
	_, err = carryonriver.NewClient(tasks, client).Insert(ctx, "job", work{}, &river.InsertOpts{Priority: 100})
	require.Error(t, err)
	_, err = carryonriver.NewClient(tasks, client).Insert(ctx, "", work{}, nil)
	require.ErrorIs(t, err, asynctask.ErrInvalid)
	pending, err := tasks.Deliveries().Pending(t.Context(), "a", 0)
	require.NoError(t, err)
	assert.Equal(t, 1, pending.Unfinished)
	assert.Panics(t, func() { carryonriver.Middleware(nil) })
	assert.Panics(t, func() { carryonriver.NewClient[pgx.Tx](tasks, nil) })
}

func testOtherJobsPass(t *testing.T, w *world) {
	client := w.client(t)
	ran := make(chan string, 2)
	w.works(t, w.process(t), func(_ context.Context, j *river.Job[work]) error {
		ran <- j.Args.Do
		return nil
	})
	bad, err := client.Insert(t.Context(), work{Do: "bad"}, &river.InsertOpts{Metadata: []byte(`{"carryon_ticket":"no ticket"}`)})
	require.NoError(t, err)
	_, err = client.Insert(t.Context(), work{Do: "own"}, nil)
	require.NoError(t, err)
	assert.Equal(t, "own", <-ran)
	require.Eventually(t, func() bool {
		row, err := client.JobGet(t.Context(), bad.Job.ID)
		return err == nil && row.State == rivertype.JobStateCancelled
	}, time.Minute, 20*time.Millisecond)
}

// A worker completes its job in a transaction of its own, with the changes that the job is about, and may die at any moment.
func testJobThatIsCompletedInATransactionOfTheProgram(t *testing.T, w *world) {
	_, err := w.pool.Exec(t.Context(), "create table done (what text)")
	require.NoError(t, err)
	starter, worker, client := w.process(t), w.process(t), w.client(t)
	runs := make(chan string, 10)
	w.works(t, worker, func(ctx context.Context, j *river.Job[work]) error {
		runs <- j.Args.Do
		tx, err := w.pool.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // unless it was committed
		if _, err := tx.Exec(ctx, "insert into done values ($1)", j.Args.Do); err != nil {
			return err
		}
		job.SetOutput(ctx, asynctask.Message("did "+j.Args.Do))
		if err := job.FinishIn(ctx, w.engine.InTx(tx)); err != nil {
			return err
		}
		if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, j); err != nil {
			return err
		}
		if j.Args.Do == "fails once" && j.Attempt == 1 {
			return errors.New("the transaction is rolled back")
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		if j.Args.Do == "dies" {
			panic("the worker dies just after the commit")
		}
		return nil
	})
	for name, wantRuns := range map[string]int{"ends well": 1, "fails once": 2, "dies": 1} {
		ctx := continuation.WithSession(t.Context(), name)
		inserted, err := carryonriver.NewClient(starter, client).Insert(ctx, "job", work{Do: name}, nil)
		require.NoError(t, err)
		task := end(t, starter, name)
		assert.Equal(t, asynctask.Completed, task.State, name)
		require.NotNil(t, task.Output, name)
		assert.Equal(t, "did "+name, *task.Output.FinalMessage)
		for range wantRuns {
			assert.Equal(t, name, <-runs)
		}
		row, err := client.JobGet(t.Context(), inserted.Job.ID)
		require.NoError(t, err)
		assert.Equal(t, rivertype.JobStateCompleted, row.State, name)
		var n int
		require.NoError(t, w.pool.QueryRow(t.Context(), "select count(*) from done where what = $1", name).Scan(&n))
		assert.Equal(t, 1, n, "there is all of it or nothing: %s", name)
	}
	assert.Empty(t, runs)
}

// cancelAll cancels the tasks of session a, one of which is running.
func cancelAll(ctx context.Context, t *testing.T, tasks *asynctask.Manager) {
	t.Helper()
	all, err := tasks.Tasks(ctx, "a")
	require.NoError(t, err)
	cancelled := 0
	for _, task := range all {
		if task.State == asynctask.Running {
			require.NoError(t, tasks.Cancel(ctx, task.Ticket()))
			cancelled++
		}
	}
	require.Equal(t, 1, cancelled)
}
