package asynq_test

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/job"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
	carryonasynq "github.com/carryon-go/carryon/queues/asynq"
	"github.com/carryon-go/carryon/stores/redis"
)

// process returns the Manager of one of the processes that share the server.
func process(t *testing.T, at string) *asynctask.Manager {
	t.Helper()
	engine, err := redis.Open(at)
	require.NoError(t, err)
	tasks := asynctask.NewManager(asynctask.WithRecords(engine))
	t.Cleanup(func() {
		assert.NoError(t, tasks.Close(context.WithoutCancel(t.Context())))
		assert.NoError(t, engine.Close())
	})
	return tasks
}

// redises runs a test on each kind of server.
func redises(t *testing.T, test func(t *testing.T, at string)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) {
		t.Parallel()
		test(t, mini(t))
	})
	t.Run("redis-server", func(t *testing.T) {
		t.Parallel()
		test(t, servertest.StartRedis(t).URL)
	})
}

// mini starts a server in this process, and returns its URL.
func mini(t *testing.T) string {
	t.Helper()
	return "redis://" + miniredis.RunT(t).Addr()
}

// server returns how asynq connects to the server of a URL.
func server(t *testing.T, raw string) asynq.RedisClientOpt {
	t.Helper()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	if u.Scheme == "unix" {
		return asynq.RedisClientOpt{Network: "unix", Addr: u.Path}
	}
	return asynq.RedisClientOpt{Addr: u.Host}
}

// works runs a worker with a handler for jobs of type work until the test ends.
func works(t *testing.T, at string, tasks *asynctask.Manager, handler asynq.HandlerFunc) {
	t.Helper()
	mux := asynq.NewServeMux()
	mux.Use(carryonasynq.Middleware(tasks))
	mux.HandleFunc("work", handler)
	worker := asynq.NewServer(server(t, at), asynq.Config{
		Concurrency: 2, LogLevel: asynq.FatalLevel, TaskCheckInterval: 20 * time.Millisecond,
		DelayedTaskCheckInterval: 20 * time.Millisecond, ShutdownTimeout: time.Second,
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return 0 },
	})
	require.NoError(t, worker.Start(mux))
	t.Cleanup(worker.Shutdown)
}

func connect(t *testing.T, at string) *asynq.Client {
	t.Helper()
	client := asynq.NewClient(server(t, at))
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	return client
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

// One process enqueues, a second works, a third tells the model, once.
func TestJobIsToldByAThirdProcess(t *testing.T) {
	t.Parallel()
	redises(t, func(t *testing.T, at string) {
		starter, worker, teller := process(t, at), process(t, at), process(t, at)
		ctx := continuation.WithSession(t.Context(), "conversation-42")
		_, err := carryonasynq.NewClient(starter, connect(t, at)).Enqueue(ctx, "transcode the video", "work", []byte("payload"))
		require.NoError(t, err)
		pending, err := teller.Deliveries().Pending(t.Context(), "conversation-42", 0)
		require.NoError(t, err)
		assert.Equal(t, 1, pending.Unfinished)

		works(t, at, worker, func(ctx context.Context, task *asynq.Task) error {
			job.SetOutput(ctx, asynctask.Message("did "+string(task.Payload())))
			return nil
		})
		assert.Equal(t, asynctask.Completed, end(t, teller, "conversation-42").State)
		d, err := teller.Deliveries().Deliver(t.Context(), "conversation-42", delivery.Options{})
		require.NoError(t, err)
		assert.Contains(t, d.Text, `"final_message": "did payload"`)
		require.NoError(t, teller.Deliveries().Settle(t.Context(), d, delivery.Delivered))
		again, err := starter.Deliveries().Deliver(t.Context(), "conversation-42", delivery.Options{})
		require.NoError(t, err)
		assert.Nil(t, again)
	})
}

func TestTaskFailsWithTheLastRunOfItsJob(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	redises(t, func(t *testing.T, at string) {
		tasks, client := process(t, at), connect(t, at)
		var mu sync.Mutex
		runs := map[string]int{}
		works(t, at, tasks, func(_ context.Context, task *asynq.Task) error {
			mu.Lock()
			defer mu.Unlock()
			name := string(task.Payload())
			runs[name]++
			switch name {
			case "panics":
				panic("oh")
			case "skipped":
				return errors.Join(broken, asynq.SkipRetry)
			}
			return broken
		})
		for name, c := range map[string]struct{ retries, runs int }{
			"retries": {2, 3}, "no-retries": {0, 1}, "skipped": {5, 1}, "panics": {1, 2},
		} {
			ctx := continuation.WithSession(t.Context(), name)
			_, err := carryonasynq.NewClient(tasks, client).Enqueue(ctx, "job", "work", []byte(name), asynq.MaxRetry(c.retries))
			require.NoError(t, err)
			assert.Equal(t, asynctask.Failed, end(t, tasks, name).State, name)
			mu.Lock()
			assert.Equal(t, c.runs, runs[name], name)
			mu.Unlock()
		}
	})
}

func TestCancelledJobIsStoppedOrNotRun(t *testing.T) {
	t.Parallel()
	redises(t, func(t *testing.T, at string) {
		starter, worker := process(t, at), process(t, at)
		client := connect(t, at)
		ctx := continuation.WithSession(t.Context(), "a")
		_, err := carryonasynq.NewClient(starter, client).Enqueue(ctx, "early", "work", []byte("early"))
		require.NoError(t, err)
		cancelAll(ctx, t, starter)

		running, stopped := make(chan string, 2), make(chan error, 2)
		works(t, at, worker, func(ctx context.Context, task *asynq.Task) error {
			running <- string(task.Payload())
			<-ctx.Done()
			stopped <- context.Cause(ctx)
			return context.Cause(ctx)
		})
		_, err = carryonasynq.NewClient(starter, client).Enqueue(ctx, "late", "work", []byte("late"))
		require.NoError(t, err)
		assert.Equal(t, "late", <-running, "the other is not run")
		cancelAll(ctx, t, starter)
		require.ErrorIs(t, <-stopped, asynctask.ErrCancelled)

		inspector := asynq.NewInspector(server(t, at))
		defer func() { _ = inspector.Close() }()
		require.Eventually(t, func() bool {
			archived, err := inspector.ListArchivedTasks("default")
			return err == nil && len(archived) == 2
		}, time.Minute, 20*time.Millisecond)
	})
}

func TestOtherJobsPass(t *testing.T) {
	t.Parallel()
	at := mini(t)
	ran := make(chan struct{}, 1)
	works(t, at, process(t, at), func(context.Context, *asynq.Task) error {
		ran <- struct{}{}
		return nil
	})
	client := connect(t, at)
	_, err := client.Enqueue(asynq.NewTaskWithHeaders("work", nil, map[string]string{"Carryon-Ticket": "no ticket"}))
	require.NoError(t, err)
	_, err = client.Enqueue(asynq.NewTask("work", nil))
	require.NoError(t, err)
	<-ran
	assert.Empty(t, ran)
}

func TestJobThatCannotBeEnqueuedLeavesNoTask(t *testing.T) {
	t.Parallel()
	at := mini(t)
	tasks, client := process(t, at), connect(t, at)
	ctx := continuation.WithSession(t.Context(), "a")
	once := asynq.TaskID("one")
	_, err := carryonasynq.NewClient(tasks, client).Enqueue(ctx, "job", "work", nil, once)
	require.NoError(t, err)
	_, err = carryonasynq.NewClient(tasks, client).Enqueue(ctx, "job", "work", nil, once)
	require.ErrorIs(t, err, asynq.ErrTaskIDConflict)
	pending, err := tasks.Deliveries().Pending(t.Context(), "a", 0)
	require.NoError(t, err)
	assert.Equal(t, 1, pending.Unfinished)
	_, err = carryonasynq.NewClient(tasks, client).Enqueue(ctx, "", "work", nil)
	require.ErrorIs(t, err, asynctask.ErrInvalid)
	assert.Panics(t, func() { carryonasynq.Middleware(nil) })
	assert.Panics(t, func() { carryonasynq.NewClient(nil, client) })
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
