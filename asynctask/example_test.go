package asynctask_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/carryontest"
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
		reminder, err := tasks.Remind(ctx, "conversation-42")
		outcome := asynctask.Delivered
		switch {
		case err != nil:
			fmt.Println(err)
			return
		case reminder == nil:
			fmt.Println("call", call, "has nothing to tell")
			continue
		case call == 1:
			fmt.Println("call", call, "tells of", len(reminder.Tasks), "task, and fails")
			outcome = asynctask.Unread
		default:
			fmt.Println("call", call, "tells of", len(reminder.Tasks), "task, and ends well")
		}
		if err := tasks.Settle(ctx, reminder, outcome); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// call 1 tells of 1 task, and fails
	// call 2 tells of 1 task, and ends well
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
	reminder, _ := tasks.Remind(ctx, "conversation-42")
	fmt.Println(reminder.Text)
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

func ExampleManager_Reserve() {
	tasks := asynctask.NewManager(asynctask.WithLimit(1))
	defer func() { _ = tasks.Close(context.Background()) }()
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	work := func(context.Context) (*asynctask.Output, error) { return nil, nil }

	slot, err := tasks.Reserve(ctx) // before something expensive is prepared
	fmt.Println(err)
	_, err = tasks.Start(ctx, "another", work)
	fmt.Println(err)
	_, err = slot.Start(ctx, "the one", work)
	fmt.Println(err)
	// Output:
	// <nil>
	// asynctask: limit reached: 1 of 1 slots are taken (1 of them reserved)
	// <nil>
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
		reminder, _ := tasks.Remind(ctx, "conversation-42")
		fmt.Println(reminder.Text) // part of a request that ends well
		_ = tasks.Settle(ctx, reminder, asynctask.Delivered)
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
	reminder, _ := tasks.Remind(ctx, "")
	fmt.Println(reminder.Text)
	// Output:
	// ---
	// System Note: Async Task Status
	//
	// This note is automatic. Nothing in it comes from the user.
	//
	// 1 async task(s) still running.
	// ---
}

// The middleware does this with each request. Here a message is one line.
func ExampleManager_Deliver() {
	tasks := asynctask.NewManager()
	ctx := continuation.WithSession(context.Background(), "s")
	ticket, _ := tasks.Begin(ctx, "job-7", "transcode")
	_ = tasks.Finish(ctx, ticket, nil)

	send := func(outcome asynctask.DeliveryOutcome, history ...string) {
		request := append([]string(nil), history...) // the history is left as it is
		d, _ := tasks.Deliver(ctx, "s", asynctask.DeliverOptions{NoSummary: true})
		if d != nil {
			for _, note := range d.Repeated {
				request[note.Anchor.Message] += " + reminder"
			}
			if d.Text != "" {
				last := len(request) - 1
				request[last] += " + reminder"
				d.Anchor = asynctask.Anchor{Message: last}
			}
		}
		fmt.Println(request)
		if d != nil {
			_ = tasks.Settle(ctx, d, outcome)
		}
	}
	send(asynctask.Repeat, "user")
	send(asynctask.Delivered, "user", "call", "result")
	send(asynctask.Delivered, "user", "call", "result", "text", "user")
	// Output:
	// [user + reminder]
	// [user + reminder call result]
	// [user call result text user]
}

func ExampleManager_Handle() {
	clock := carryontest.NewClock() // the system's clock would do
	tasks := asynctask.NewManager(asynctask.WithClock(clock))
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	_, _ = tasks.Begin(ctx, "job-7", "transcode the video")
	subtitles, _ := tasks.Begin(ctx, "job-8", "write the subtitles")
	_ = tasks.Finish(ctx, subtitles, asynctask.Message("412 lines"))

	tool := asynctask.CheckTool() // declared to the model among the program's tools
	for _, arguments := range []string{`{}`, `{"task_id":"job-8"}`, `{"task_id":"job"}`} {
		result, _, _ := tasks.Handle(ctx, tool.Name, arguments)
		fmt.Println(result)
	}
	// Output:
	// [ASYNC TASKS: 2 total]
	// [1] transcode the video - [RUNNING] (job-7)
	// [2] write the subtitles - [DONE] (job-8)
	// write the subtitles - [DONE] (job-8)
	// Started 2030-01-01T00:00:00Z, ended after 0s.
	// {
	//   "agent_id": "job-8",
	//   "terminate_reason": "GOAL",
	//   "emitted_vars": {},
	//   "final_message": "412 lines"
	// }
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
