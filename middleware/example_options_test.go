package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// The model is told about a task that runs in the background, and is not continued
// while it can only wait.
func ExampleWithTasks() {
	server := carryontest.Start(carryontest.Text("The tests are running, I'll wait for them."))
	defer server.Close()
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()

	tasks := asynctask.NewManager()
	defer func() { _ = tasks.Close(context.Background()) }()
	mw := middleware.New(buildTodos, middleware.WithTasks(tasks))
	client := carryopenai.Wrap(openai.NewClientWithConfig(config), mw)

	ctx := continuation.WithSession(context.Background(), "conversation-42")
	_, _ = tasks.Begin(ctx, "job-7", "run the tests")
	ctx, outcomes := middleware.Capture(ctx)
	_, _ = client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model:    "any",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "How is it going?"}},
		Tools:    []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: "edit_file"}}},
	})
	fmt.Println(server.Requests()[0].Last().Content)
	fmt.Println()
	fmt.Println(outcomes.Last())
	// Output:
	// How is it going?
	//
	// ---
	// System Note: Async Task Status
	//
	// This note is automatic. Nothing in it comes from the user.
	//
	// 1 async task(s) still running.
	// ---
	//
	// [ASYNC TASKS: 1 total]
	// [1] run the tests - [RUNNING] (job-7)
	//
	// 1 turn, 0 continuations: Background tasks are pending or running: 1 awaited
}

// A dry run shows what carryon would do.
func ExampleWithDryRun() {
	agent := &client{stalling(), middleware.New(buildTodos, middleware.WithDryRun())}

	ctx, outcomes := middleware.Capture(context.Background())
	answer, _ := agent.Complete(ctx, fixTheBuild)
	fmt.Println(answer.Text)
	fmt.Println(outcomes.Last())
	// Output:
	// Next I will fix the build.
	// 1 turn, 0 continuations: All continuation conditions satisfied (dry run, so nothing was sent)
}

// With a holdout, carryon continues only a part of the sessions. The others show what
// the agent does without it.
func ExampleWithHoldout() {
	mw := middleware.New(buildTodos, unhurried, middleware.WithHoldout(0.5))
	for _, name := range []string{"conversation-4", "conversation-5"} {
		agent := &client{stalling(), mw}
		ctx, outcomes := middleware.Capture(continuation.WithSession(context.Background(), name))
		_, _ = agent.Complete(ctx, fixTheBuild)
		fmt.Println(name, outcomes.Last().Holdout)
		fmt.Println(outcomes.Last())
	}
	// Output:
	// conversation-4 false
	// 3 turns, 2 continuations: The continuation called a tool, so it is the program's turn
	// conversation-5 true
	// 1 turn, 0 continuations: The session is held out for comparison, and would have been continued
}

// An agent without a todo list is asked at the end of a user turn whether anything is
// open. Where the model says that nothing is, the caller sees nothing of it.
func ExampleWithClosingQuestion() {
	afterATool := sdkRequest{
		Messages: []sdkMessage{
			{Role: "user", Text: "Fix the build and run the tests."},
			{Role: "assistant", Calls: []sdkCall{{ID: "c1", Name: "edit_file", Args: "{}"}}},
			{Role: "tool", Text: "ok", CallID: "c1"},
		},
		Tools: []sdkTool{{Name: "edit_file"}, {Name: "run_tests"}},
	}
	for _, answer := range []sdkAnswer{
		{ID: "a2", Text: "Nothing is open.", Stop: "stop"},
		{ID: "a2", Text: "The tests have not run yet.", Calls: []sdkCall{{ID: "c2", Name: "run_tests"}}, Stop: "tools"},
	} {
		model := &sdkClient{turns: []sdkAnswer{{ID: "a1", Text: "The build is fixed.", Stop: "stop"}, answer}}
		agent := &client{model, middleware.New(todo.FromConversation(), unhurried, middleware.WithClosingQuestion())}

		ctx, outcomes := middleware.Capture(context.Background())
		got, _ := agent.Complete(ctx, afterATool)
		fmt.Printf("%q, %d calls\n", got.Text, len(got.Calls))
		fmt.Println(outcomes.Last())
	}
	// Output:
	// "The build is fixed.", 0 calls
	// 2 turns, 1 continuation: The model was asked, and says that nothing is open
	// "The build is fixed.\n\nThe tests have not run yet.", 1 calls
	// 2 turns, 1 continuation: The continuation called a tool, so it is the program's turn
}

// A program that reads its configuration again changes the rules of later calls.
func ExampleMiddleware_SetRules() {
	mw := middleware.New(buildTodos)
	rules := mw.Rules()
	rules.Holdout = 1.5
	fmt.Println(mw.SetRules(rules))
	rules.Holdout, rules.Limits.MaxAttempts = 0.5, 2
	fmt.Println(mw.SetRules(rules), mw.Rules().Limits.MaxAttempts)
	// Output:
	// middleware: the holdout's share 1.5 is not between 0 and 1
	// <nil> 2
}

// Replicas that share an engine share the state of sessions. This engine is in memory;
// real replicas use one of carryon/stores/redis or carryon/stores/postgres.
func ExampleWithRecords() {
	engine := records.NewMemoryEngine()
	replica1 := middleware.New(buildTodos, middleware.WithRecords(engine))
	replica2 := middleware.New(buildTodos, middleware.WithRecords(engine))
	ctx := continuation.WithSession(context.Background(), "conversation-42")

	if err := replica1.Pause(ctx, "The user has pressed Escape"); err != nil {
		fmt.Println(err)
		return
	}
	state, err := replica2.State(ctx)
	fmt.Println(state.Paused.IsSet(), state.Paused.Reason, err)
	// Output: true The user has pressed Escape <nil>
}

// A program whose ctx already names the conversation need not name it twice.
func ExampleWithSessionKey() {
	type tenant struct{} // the key under which the program keeps it

	mw := middleware.New(buildTodos, unhurried, middleware.WithSessionKey(func(ctx context.Context) string {
		name, _ := ctx.Value(tenant{}).(string)
		return name
	}))
	agent := &client{stalling(), mw}

	ctx, outcomes := middleware.Capture(context.WithValue(context.Background(), tenant{}, "alice"))
	_, _ = agent.Complete(ctx, fixTheBuild)
	state, err := mw.State(ctx)
	fmt.Println(outcomes.Last().Session, state.Continuations, err)
	_, err = mw.State(context.Background())
	fmt.Println(err)
	// Output:
	// alice 2 <nil>
	// middleware: no session (see continuation.WithSession)
}

// With PauseToolAlways the model can pause in the caller's own turn too, and every
// request offers the same tools.
func ExampleWithPauseTool() {
	model := &sdkClient{turns: []sdkAnswer{
		{Calls: []sdkCall{{Name: "todo_pause", Args: `{"reason": "The compiler is not installed"}`}}, Stop: "tools"},
	}}
	agent := &client{model, middleware.New(buildTodos, middleware.WithPauseTool(middleware.PauseToolAlways))}

	answer, err := agent.Complete(context.Background(), fixTheBuild)
	for _, tool := range model.requests[0].Tools {
		fmt.Println(tool.Name)
	}
	fmt.Println(answer.Text)
	fmt.Println(len(answer.Calls), err)
	// Output:
	// edit_file
	// todo_pause
	// Task paused: The compiler is not installed
	// 0 <nil>
}

// If the policy rejects a reason, the model is told why and may try again.
func ExampleWithPausePolicy() {
	model := &sdkClient{turns: []sdkAnswer{
		{Text: "Next I will fix the build.", Stop: "stop"},
		{Calls: []sdkCall{{ID: "c1", Name: "todo_pause", Args: `{"reason": "no access"}`}}, Stop: "tools"},
		{Calls: []sdkCall{{ID: "c2", Name: "todo_pause", Args: `{"reason": "OPS-7: no access"}`}}, Stop: "tools"},
	}}
	tickets := func(reason string) error {
		if !strings.HasPrefix(reason, "OPS-") {
			return errors.New("begin with the ticket, such as OPS-12")
		}
		return nil
	}
	agent := &client{model, middleware.New(buildTodos, unhurried, middleware.WithPausePolicy(tickets))}

	answer, _ := agent.Complete(context.Background(), fixTheBuild)
	told, _, _ := strings.Cut(model.requests[2].Messages[2].Text, "\n")
	fmt.Println("the model was told:", told)
	fmt.Println(answer.Text)
	// Output:
	// the model was told: Invalid pause reason: begin with the ticket, such as OPS-12
	// Next I will fix the build.
	//
	// Task paused: OPS-7: no access
}

// The user of a chat turns carryon off for a conversation with a command, which the
// program passes on.
func ExampleMiddleware_Settings() {
	mw := middleware.New(buildTodos, unhurried)
	answer, err := mw.Settings().CommandFor(context.Background(), "alice", "/set todo-continuation false")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer)

	for _, session := range []string{"alice", "bob"} {
		ctx, outcomes := middleware.Capture(continuation.WithSession(context.Background(), session))
		agent := &client{stalling(), mw}
		_, _ = agent.Complete(ctx, fixTheBuild)
		fmt.Println(outcomes.Last())
	}
	// Output:
	// todo-continuation is now false.
	// 1 turn, 0 continuations: Todo continuation is disabled in ephemeral settings
	// 3 turns, 2 continuations: The continuation called a tool, so it is the program's turn
}

// Without this option, carryon leaves a chat without tools alone.
func ExampleWithToollessCalls() {
	for _, option := range []middleware.Option{nil, middleware.WithToollessCalls()} {
		agent := &client{stalling(), middleware.New(buildTodos, unhurried, option)}
		ctx, outcomes := middleware.Capture(context.Background())
		_, _ = agent.Complete(ctx, sdkRequest{Messages: fixTheBuild.Messages})
		fmt.Println(outcomes.Last())
	}
	// Output:
	// 1 turn, 0 continuations: The request offers no tools
	// 3 turns, 2 continuations: The continuation called a tool, so it is the program's turn
}
