package autotrigger_test

import (
	"context"
	"fmt"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/autotrigger"
	"github.com/carryon-go/carryon/continuation"
)

func ExampleNew() {
	tasks := asynctask.NewManager()
	ctx := continuation.WithSession(context.Background(), "conversation-42")

	turn := make(chan string)
	trigger := autotrigger.New(ctx, tasks, autotrigger.Host{
		Busy: func() bool { return false },
		Trigger: func(_ context.Context, message string) error {
			turn <- message // a turn of the agent, with this as the message
			return nil
		},
	})
	ticket, _ := tasks.Begin(ctx, "job-7", "transcode the video")
	_ = tasks.Finish(ctx, ticket, nil)

	fmt.Println(<-turn)
	fmt.Println(trigger.Stop(ctx))
	reminder, _, _ := tasks.Remind(ctx, "conversation-42")
	fmt.Println(reminder == "")
	// Output:
	// ---
	// System Note: Async Task Status
	//
	// This note is automatic. Nothing in it comes from the user.
	//
	// 1 async task(s) completed:
	//
	// {
	//   "agent_id": "job-7",
	//   "status": "completed"
	// }
	// ---
	// <nil>
	// true
}
