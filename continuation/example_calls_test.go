package continuation_test

import (
	"context"
	"fmt"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// chat is a program whose model only talks. Carryon asks it to go on once per
// user turn.
type chat struct {
	*middleware.Middleware

	server *carryontest.Server
	client *carryopenai.Client
}

func newChat() *chat {
	server := carryontest.Start()
	for range 10 {
		server.Append(carryontest.Text("Next I will fix the build."))
	}
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()
	todos := todo.Static(todo.Todo{Content: "Fix the build", Status: todo.InProgress})
	mw := middleware.New(todos, middleware.WithLimits(continuation.Limits{
		MaxAttempts: 1, MinInterval: continuation.Off,
	}))
	return &chat{mw, server, carryopenai.Wrap(openai.NewClientWithConfig(config), mw)}
}

// ask puts a message to the model and prints what became of the call.
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

// A side call goes through the same client as the agent's and is left alone.
func ExampleSuppress() {
	chat := newChat()
	defer chat.server.Close()
	ctx := continuation.WithSession(context.Background(), "conversation-42")

	chat.ask(ctx, "Fix the build.")
	chat.ask(continuation.Suppress(ctx), "Find a title for this conversation.")
	// Output:
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded
	// 1 turn, 0 continuations: Continuation is suppressed for this call
}

// A program that rewrites its history says itself where a user turn begins.
// Without it, the summary below would be taken for a new message of the user's,
// with a budget of its own.
func ExampleWithUserTurn() {
	chat := newChat()
	defer chat.server.Close()
	ctx := continuation.WithSession(context.Background(), "conversation-42")

	first := continuation.WithUserTurn(ctx, "message-1")
	chat.ask(first, "Fix the build.")
	chat.ask(first, "Summary of what was said: the user wants the build fixed.")
	chat.ask(continuation.WithUserTurn(ctx, "message-2"), "Fix it now!")
	// Output:
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded
	// 1 turn, 0 continuations: Maximum continuation attempts exceeded
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded
}

// A call that a timer makes does not end the pause that the user's next message
// ends.
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
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded
	// 1 turn, 0 continuations: The session is paused
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded
}
