package asynq_test

import (
	"context"
	"fmt"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/job"
	"github.com/carryon-go/carryon/continuation"
	carryonasynq "github.com/carryon-go/carryon/queues/asynq"
	"github.com/carryon-go/carryon/stores/redis"
)

func Example() {
	server := miniredis.NewMiniRedis() // stands for your Redis
	if err := server.Start(); err != nil {
		panic(err)
	}
	defer server.Close()
	engine, err := redis.Open("redis://" + server.Addr())
	if err != nil {
		panic(err)
	}
	tasks := asynctask.NewManager(asynctask.WithRecords(engine))
	defer func() { _ = tasks.Close(context.Background()) }()

	// The worker.
	mux := asynq.NewServeMux()
	mux.Use(carryonasynq.Middleware(tasks))
	mux.HandleFunc("transcode", func(ctx context.Context, t *asynq.Task) error {
		job.SetOutput(ctx, asynctask.Message("Transcoded "+string(t.Payload())))
		return nil
	})
	worker := asynq.NewServer(asynq.RedisClientOpt{Addr: server.Addr()}, asynq.Config{LogLevel: asynq.FatalLevel})
	if err := worker.Start(mux); err != nil {
		panic(err)
	}
	defer worker.Shutdown()

	// Where the conversation is.
	client := asynq.NewClient(asynq.RedisClientOpt{Addr: server.Addr()})
	defer func() { _ = client.Close() }()
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	if _, err := carryonasynq.NewClient(tasks, client).Enqueue(ctx, "transcode the video", "transcode", []byte("cats.mov")); err != nil {
		panic(err)
	}
	all, _ := tasks.Tasks(ctx, "conversation-42")
	task, _ := tasks.Wait(ctx, all[0].Ticket())
	fmt.Println(task.Name, task.State, *task.Output.FinalMessage)
	// Output: transcode the video completed Transcoded cats.mov
}
