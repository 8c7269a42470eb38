package continuation_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// chat is a program whose model only talks. Carryon asks the model to go on once per
// user turn.
type chat struct {
	*middleware.Middleware

	server *carryontest.Server
	client *carryopenai.Client
}

func newChat(opts ...middleware.Option) *chat {
	server := carryontest.Start()
	for range 10 {
		server.Append(carryontest.Text("Next I will fix the build."))
	}
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()
	config.HTTPClient = &http.Client{Transport: tracer{}}
	todos := todo.Static(todo.Todo{Content: "Fix the build", Status: todo.InProgress})
	limits := continuation.Limits{MaxAttempts: 1, MinInterval: continuation.Off}
	mw := middleware.New(todos, append(opts, middleware.WithLimits(limits))...)
	return &chat{mw, server, carryopenai.Wrap(openai.NewClientWithConfig(config), mw)}
}

// ask sends a message to the model and prints the outcome of the call.
func (c *chat) ask(ctx context.Context, message string) {
	ctx, outcomes := middleware.Capture(ctx)
	_, err := c.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model:    "any",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: message}},
		Tools:    []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: "edit_file"}}},
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(outcomes.Last())
}

// tracer sits below carryon and sees every call, including those that carryon adds.
type tracer struct{}

func (tracer) RoundTrip(r *http.Request) (*http.Response, error) {
	if id, ok := continuation.FromContext(r.Context()); ok && id.Session == "traced" {
		fmt.Printf("a continuation: turn %d, attempt %d\n", id.Turn, id.Attempt)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A tracer or logger below carryon tells the calls that carryon added from
// those of the program:
//
//	func (tracer) RoundTrip(r *http.Request) (*http.Response, error) {
//		if id, ok := continuation.FromContext(r.Context()); ok {
//			fmt.Printf("a continuation: turn %d, attempt %d\n", id.Turn, id.Attempt)
//		}
//		return http.DefaultTransport.RoundTrip(r)
//	}
func ExampleFromContext() {
	chat := newChat()
	defer chat.server.Close()

	chat.ask(continuation.WithSession(context.Background(), "traced"), "Fix the build.")
	// Output:
	// a continuation: turn 2, attempt 1
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded: the limit is 1
}

// printPrompts prints every message that asks the model to go on.
func printPrompts() middleware.Option {
	return middleware.WithObserver(middleware.Observer{
		ContinuationStarted: func(_ context.Context, e middleware.ContinuationStarted) { fmt.Println(e.Prompt) },
	})
}

// A shorter prompt.
func ExampleOneLineTemplates() {
	chat := newChat(middleware.WithTemplates(continuation.OneLineTemplates()), printPrompts())
	defer chat.server.Close()

	chat.ask(context.Background(), "Fix the build.")
	// Output:
	// (Automatic message: no new message has come from the user.)
	//
	// You have an active task: 'Fix the build'. Continue working on this task. Call todo_pause('reason') ONLY if there's an error preventing you from continuing.
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded: the limit is 1
}

// Your own text replaces a built-in one; the others stay.
func ExampleTemplates() {
	var texts continuation.Templates
	texts.Standard.Base = "{whatHappened} {openTodos} Carry on with '{taskDescription}'. {whenToPause}"
	chat := newChat(middleware.WithTemplates(texts), printPrompts())
	defer chat.server.Close()

	chat.ask(context.Background(), "Fix the build.")
	// Output:
	// (Automatic message: no new message has come from the user.)
	//
	// You announced a step but called no tool. 1 of 1 todo is open. Carry on with 'Fix the build'. Call todo_pause only for errors you cannot mend, something started that must finish, or what the user must decide or do.
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded: the limit is 1
}

// A side call goes through the same client as the agent's calls and is left alone.
func ExampleSuppress() {
	chat := newChat()
	defer chat.server.Close()
	ctx := continuation.WithSession(context.Background(), "conversation-42")

	chat.ask(ctx, "Fix the build.")
	chat.ask(continuation.Suppress(ctx), "Find a title for this conversation.")
	// Output:
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded: the limit is 1
	// 1 turn, 0 continuations: Continuation is suppressed for this call
}

// A program that rewrites its history says where a user turn begins. Otherwise
// carryon would take the summary below for a new message from the user, with a new
// budget.
func ExampleWithUserTurn() {
	chat := newChat()
	defer chat.server.Close()
	ctx := continuation.WithSession(context.Background(), "conversation-42")

	first := continuation.WithUserTurn(ctx, "message-1")
	chat.ask(first, "Fix the build.")
	chat.ask(first, "Summary of what was said: the user wants the build fixed.")
	chat.ask(continuation.WithUserTurn(ctx, "message-2"), "Fix it now!")
	// Output:
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded: the limit is 1
	// 1 turn, 0 continuations: Maximum continuation attempts exceeded: the limit is 1
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded: the limit is 1
}

// A call made by a timer does not end a pause; the user's next message does.
func ExampleAutomatic() {
	chat := newChat()
	defer chat.server.Close()
	ctx := continuation.WithSession(context.Background(), "conversation-42")

	chat.ask(ctx, "Fix the build.")
	if err := chat.Pause(ctx, "The user has pressed Escape"); err != nil {
		fmt.Println(err)
	}
	chat.ask(continuation.Automatic(ctx), "It is 9 o'clock.")
	chat.ask(ctx, "Go on.")
	// Output:
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded: the limit is 1
	// 1 turn, 0 continuations: The session is paused
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded: the limit is 1
}
