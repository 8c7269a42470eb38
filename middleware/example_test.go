package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// The todos of the examples, and what the user asks for.
var (
	buildTodos = todo.Static(
		todo.Todo{ID: "1", Content: "Fix the build", Status: todo.InProgress},
		todo.Todo{ID: "2", Content: "Run the tests", Status: todo.Pending},
	)
	fixTheBuild = sdkRequest{
		Messages: []sdkMessage{{Role: "user", Text: "Fix the build."}},
		Tools:    []sdkTool{{Name: "edit_file"}},
	}
)

// stalling returns a model that says twice what it is going to do, and then does it.
func stalling() *sdkClient {
	return &sdkClient{turns: []sdkAnswer{
		{ID: "a1", Text: "Next I will fix the build.", Stop: "stop"},
		{ID: "a2", Text: "On to it.", Stop: "stop"},
		{ID: "a3", Calls: []sdkCall{{ID: "c1", Name: "edit_file"}}, Stop: "tools"},
	}}
}

// unhurried switches the interval between prompts off, so that no example waits.
var unhurried = middleware.WithLimits(continuation.Limits{MaxAttempts: 3, MinInterval: continuation.Off})

func Example() {
	model := stalling()
	agent := &client{model, middleware.New(buildTodos, unhurried)}

	answer, err := agent.Complete(context.Background(), fixTheBuild)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text)
	fmt.Println(answer.Calls[0].Name)
	fmt.Println()
	fmt.Println(model.requests[1].Messages[2].Text)
	// Output:
	// Next I will fix the build.
	//
	// On to it.
	// edit_file
	//
	// (Automatic message: no new message has come from the user.)
	//
	// You have an active task that needs completion:
	// 'Fix the build'
	//
	// Continue working on this task. If already done, mark it and take the next.
	// You announced a step but called no tool. 2 of 2 todos are open, next 'Run the tests'.
	// Call todo_pause only for errors you cannot mend, something started that must finish, or what the user must decide or do.
}

func ExampleCapture() {
	agent := &client{stalling(), middleware.New(buildTodos, unhurried)}

	ctx, outcomes := middleware.Capture(context.Background())
	_, _ = agent.Complete(ctx, fixTheBuild)
	fmt.Println(outcomes.Last())
	// Output: 3 turns, 2 continuations: The continuation called a tool, so it is the program's turn
}

// Explain on a request with a todo tool that carryon does not know.
func ExampleExplain() {
	agent := &client{stalling(), middleware.New(todo.FromConversation(), unhurried)}

	request := sdkRequest{
		Tools: []sdkTool{{Name: "edit_file"}, {Name: "note_work"}},
		Messages: []sdkMessage{
			{Role: "user", Text: "Fix the build."},
			{Role: "assistant", Calls: []sdkCall{{
				ID: "c1", Name: "note_work", Args: `{"todos":[{"content":"Fix the build","status":"in_progress"}]}`,
			}}},
			{Role: "tool", CallID: "c1", Text: "noted"},
		},
	}
	ctx := middleware.Explain(context.Background(), os.Stdout)
	_, _ = agent.Complete(ctx, request)

	// The same with the name of the tool.
	agent.mw = middleware.New(todo.FromConversation(todo.WithToolNames("note_work")), unhurried)
	_, _ = agent.Complete(continuation.WithSession(ctx, "alice"), request)
	// Output:
	// carryon sees this request:
	//   session  none (see continuation.WithSession): budgets count within one tool loop, and pauses are not kept
	//   tools    2 offered: edit_file, note_work
	//   called   note_work, newest first
	//   list     no list: note_work looks like a todo tool and is not known: name it with todo.WithToolNames
	//   decision if the model stops now: do nothing: No todo list found: note_work looks like a todo tool and is not known: name it with todo.WithToolNames
	// carryon sees this request:
	//   session  "alice"
	//   tools    2 offered: edit_file, note_work
	//   called   note_work, newest first
	//   list     1 todo, 1 active (from the last call of note_work)
	//            > in_progress Fix the build
	//   decision if the model stops now: carry on with "Fix the build", attempt 1
}

func ExampleWithGate() {
	overBudget := errors.New("the budget of today is used up")
	agent := &client{stalling(), middleware.New(buildTodos, unhurried,
		middleware.WithGate(func(_ context.Context, turn middleware.NextTurn) error {
			if turn.Attempt > 1 {
				return overBudget
			}
			return nil
		}))}

	ctx, outcomes := middleware.Capture(context.Background())
	_, _ = agent.Complete(ctx, fixTheBuild)
	fmt.Println(outcomes.Last())
	fmt.Println(errors.Is(outcomes.Last().Err, overBudget))
	// Output:
	// 2 turns, 1 continuation: The gate vetoed the continuation (the budget of today is used up)
	// true
}

func ExampleWithObserver() {
	agent := &client{stalling(), middleware.New(buildTodos, unhurried,
		middleware.WithObserver(middleware.Observer{
			ContinuationStarted: func(_ context.Context, e middleware.ContinuationStarted) {
				fmt.Printf("continuation %d: %s\n", e.Attempt, e.Todo.Content)
			},
			TurnEnded: func(_ context.Context, e middleware.TurnEnded) {
				fmt.Printf("turn %d: %s\n", e.Turn, e.Finish)
			},
		}))}

	_, _ = agent.Complete(context.Background(), fixTheBuild)
	// Output:
	// turn 1: stop
	// continuation 1: Fix the build
	// turn 2: stop
	// continuation 2: Fix the build
	// turn 3: tools
}

func ExampleWithLimits() {
	agent := &client{stalling(), middleware.New(buildTodos,
		middleware.WithLimits(continuation.Limits{
			MaxAttempts: 1,                // in a row without progress
			TokenBudget: continuation.Off, // which is the default
		}))}

	ctx, outcomes := middleware.Capture(context.Background())
	_, _ = agent.Complete(ctx, fixTheBuild)
	fmt.Println(outcomes.Last())
	// Output: 2 turns, 1 continuation: Maximum continuation attempts exceeded: the limit is 1
}

func ExampleMiddleware_Pause() {
	mw := middleware.New(buildTodos, unhurried)
	agent := &client{stalling(), mw}
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	ctx = continuation.WithUserTurn(ctx, "turn-1")
	ctx, outcomes := middleware.Capture(ctx)

	// A call of the user turn is what Pause belongs to: the next one ends it.
	_, _ = agent.Complete(ctx, fixTheBuild)
	if err := mw.Pause(ctx, "The user has pressed Escape"); err != nil {
		fmt.Println(err)
	}
	agent.sdkClient = stalling()
	_, _ = agent.Complete(ctx, fixTheBuild)

	for _, outcome := range outcomes.All() {
		fmt.Println(outcome)
	}
	// Output:
	// 3 turns, 2 continuations: The continuation called a tool, so it is the program's turn
	// 1 turn, 0 continuations: The session is paused
}
