package job_test

import (
	"context"
	"fmt"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/job"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/records"
)

// A queue of channels: one process enqueues, another works.
func ExampleWork() {
	engine := records.NewMemoryEngine() // or one that processes share, of carryon/stores
	queue := make(chan string, 1)

	starter := asynctask.NewManager(asynctask.WithRecords(engine))
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	ticket, _ := starter.Begin(ctx, "job-7", "transcode the video")
	queue <- ticket.String()

	worker := asynctask.NewManager(asynctask.WithRecords(engine))
	defer func() { _ = worker.Close(context.Background()) }()
	received, _ := asynctask.ParseTicket(<-queue)
	err := job.Work(context.Background(), worker, received, nil, func(ctx context.Context) error {
		job.SetOutput(ctx, asynctask.Message("12 minutes of video."))
		return nil
	})
	fmt.Println(err)
	task, _ := starter.Get(ctx, ticket)
	fmt.Println(task.State, *task.Output.FinalMessage)
	// Output:
	// <nil>
	// completed 12 minutes of video.
}
