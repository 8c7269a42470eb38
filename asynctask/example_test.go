package asynctask_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/records"
)

// A task finishes in the background, and the model is told once.
func Example() {
	tasks := asynctask.NewManager()
	defer func() { _ = tasks.Close(context.Background()) }()
	ctx := continuation.WithSession(context.Background(), "conversation-42")

	ticket, err := tasks.Start(ctx, "run the tests", func(context.Context) (*asynctask.Output, error) {
		return asynctask.Message("All 214 tests pass."), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := tasks.Wait(ctx, ticket); err != nil { // a program would do something else meanwhile
		fmt.Println(err)
		return
	}

	for call := 1; call <= 4; call++ {
		reminder, settle, err := tasks.Remind(ctx, "conversation-42")
		switch {
		case err != nil:
			fmt.Println(err)
			return
		case reminder == "":
			fmt.Println("call", call, "has nothing to tell")
			continue
		}
		told := call > 1
		fmt.Println("call", call, "tells of a task, and ends well:", told)
		if err := settle(ctx, told); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// call 1 tells of a task, and ends well: false
	// call 2 tells of a task, and ends well: true
	// call 3 has nothing to tell
	// call 4 has nothing to tell
}

func ExampleManager_Begin() {
	tasks := asynctask.NewManager()
	ctx := continuation.WithSession(context.Background(), "conversation-42")

	// A job of another system, known to it as job-7.
	ticket, err := tasks.Begin(ctx, "job-7", "transcode the video")
	fmt.Println(err, ticket)
	_, err = tasks.Begin(ctx, "job-7", "transcode the video")
	fmt.Println(err, errors.Is(err, asynctask.ErrDuplicate))

	fmt.Println(tasks.Fail(ctx, ticket, errors.New("codec not supported")))
	fmt.Println(tasks.Finish(ctx, ticket, nil))
	reminder, _, _ := tasks.Remind(ctx, "conversation-42")
	fmt.Println(reminder)
	// Output:
	// <nil> job-7@conversation-42
	// asynctask: a task with this id exists: job-7 true
	// <nil>
	// asynctask: the task has ended already: job-7 is failed
	// ---
	// System Note: Async Task Status
	//
	// This note is automatic. Nothing in it comes from the user.
	//
	// 1 async task(s) completed:
	//
	// {
	//   "agent_id": "job-7",
	//   "status": "failed",
	//   "error": "codec not supported"
	// }
	// ---
}

// A program that calls its model without the middleware asks for a reminder before
// each request, and reports afterwards whether the model has read it.
func ExampleManager_Remind() {
	tasks := asynctask.NewManager()
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	_, _ = tasks.Begin(ctx, "job-7", "transcode the video")
	subtitles, _ := tasks.Begin(ctx, "job-8", "write the subtitles")
	_ = tasks.Finish(ctx, subtitles, asynctask.Message("412 lines"))

	for range 2 {
		reminder, settle, _ := tasks.Remind(ctx, "conversation-42")
		fmt.Println(reminder) // part of a request that ends well
		_ = settle(ctx, true)
	}
	// Output:
	// ---
	// System Note: Async Task Status
	//
	// This note is automatic. Nothing in it comes from the user.
	//
	// 1 async task(s) completed:
	//
	// {
	//   "agent_id": "job-8",
	//   "terminate_reason": "GOAL",
	//   "emitted_vars": {},
	//   "final_message": "412 lines"
	// }
	//
	// 1 async task(s) still running.
	// ---
	// ---
	// System Note: Async Task Status
	//
	// This note is automatic. Nothing in it comes from the user.
	//
	// 1 async task(s) still running.
	// ---
}

// A status line for people: the end of every task, in every session.
func ExampleManager_Subscribe() {
	tasks := asynctask.NewManager()
	cancel := tasks.Subscribe(func(t asynctask.Task) {
		fmt.Printf("%s: %s is %s\n", t.Session, t.Name, t.State)
	})
	ctx := context.Background()
	alice, _ := tasks.Begin(continuation.WithSession(ctx, "alice"), "job-1", "transcode the video")
	bob, _ := tasks.Begin(continuation.WithSession(ctx, "bob"), "job-1", "transcode the video")
	_ = tasks.Finish(ctx, alice, nil)
	_ = tasks.Cancel(ctx, bob)
	cancel()
	// Output:
	// alice: transcode the video is completed
	// bob: transcode the video is cancelled
}

// Close leaves nothing of the tasks behind at the end of the program.
func ExampleManager_Close() {
	tasks := asynctask.NewManager()
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	ticket, err := tasks.Start(ctx, "watch the build", func(ctx context.Context) (*asynctask.Output, error) {
		<-ctx.Done() // a task looks at its ctx
		return nil, ctx.Err()
	})
	fmt.Println(err)

	fmt.Println(tasks.Close(context.Background()))
	task, _ := tasks.Get(ctx, ticket)
	fmt.Println(task.State)
	_, err = tasks.Begin(ctx, "job-7", "too late")
	fmt.Println(err)
	// Output:
	// <nil>
	// <nil>
	// cancelled
	// asynctask: manager closed
}

// A program with one conversation needs no sessions.
func ExampleWithOneConversation() {
	tasks := asynctask.NewManager(asynctask.WithOneConversation())
	ctx := context.Background()
	_, _ = tasks.Begin(ctx, "job-7", "transcode the video")
	reminder, _, _ := tasks.Remind(ctx, "")
	fmt.Println(reminder)
	// Output:
	// ---
	// System Note: Async Task Status
	//
	// This note is automatic. Nothing in it comes from the user.
	//
	// 1 async task(s) still running.
	// ---
}

func ExampleManager_Handle() {
	tasks := asynctask.NewManager()
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	_, _ = tasks.Begin(ctx, "job-7", "transcode the video")
	subtitles, _ := tasks.Begin(ctx, "job-8", "write the subtitles")
	_ = tasks.Finish(ctx, subtitles, asynctask.Message("412 lines"))

	tool := asynctask.CheckTool() // declared to the model among the program's tools
	for _, arguments := range []string{`{}`, `{"task_id":"job"}`} {
		result, _, _ := tasks.Handle(ctx, tool.Name, arguments)
		fmt.Println(result)
	}
	// Output:
	// [ASYNC TASKS: 2 total]
	// [1] transcode the video - [RUNNING] (job-7)
	// [2] write the subtitles - [DONE] (job-8)
	// Error: 2 tasks begin with "job". Use more of the id:
	// transcode the video - [RUNNING] (job-7)
	// write the subtitles - [DONE] (job-8)
}

// The ticket travels in the job, and the worker that has done the job finishes the task.
func ExampleParseTicket() {
	engine := records.NewMemoryEngine() // or one that processes share, of carryon/stores
	starter := asynctask.NewManager(asynctask.WithRecords(engine))
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	ticket, _ := starter.Begin(ctx, "job-7", "transcode the video")
	header := ticket.String()

	worker := asynctask.NewManager(asynctask.WithRecords(engine))
	received, err := asynctask.ParseTicket(header)
	fmt.Println(received.ID, received.Session, err)
	fmt.Println(worker.Finish(context.Background(), received, asynctask.Message("Done.")))

	task, _ := starter.Get(ctx, ticket)
	fmt.Println(task.Name, "is", task.State)
	// Output:
	// job-7 conversation-42 <nil>
	// <nil>
	// transcode the video is completed
}
