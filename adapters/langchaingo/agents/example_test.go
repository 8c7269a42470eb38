package agents_test

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/tools"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	carryagents "github.com/carryon-go/carryon/adapters/langchaingo/agents"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// An agent gives its final answer with work left on the list. carryon asks it
// to go on, and it does the work.
func ExampleOneShot() {
	server := carryontest.Start(
		carryontest.Text("Thought: I know where to begin.\nFinal Answer: I will measure the roof."),
		carryontest.Text("Thought: I need the length.\nAction: calculator\nAction Input: 6 * 7"),
		carryontest.Text("Thought: I now know the final answer\nFinal Answer: The roof has 42 square metres."))
	defer server.Close()
	llm, err := openai.New(openai.WithToken("none"), openai.WithBaseURL(server.URL()))
	if err != nil {
		fmt.Println(err)
		return
	}

	todos := todo.Static(todo.Todo{ID: "1", Content: "Measure the roof", Status: todo.InProgress})
	model := carrylangchain.Wrap(llm, middleware.New(todos), carryagents.OneShot())
	executor := agents.NewExecutor(agents.NewOneShotAgent(model, []tools.Tool{tools.Calculator{}}))

	ctx := continuation.WithSession(context.Background(), "conversation-42")
	answer, err := chains.Run(ctx, executor, "How large is the roof, at 6 by 7 metres?")
	fmt.Println(answer)
	fmt.Println(err)
	// Output:
	// The roof has 42 square metres.
	// <nil>
}

// In a conversation, the text before the continuation is part of the agent's
// answer.
func ExampleConversational() {
	server := carryontest.Start(
		carryontest.Text("Thought: Do I need to use a tool? No\nAI: One wall is painted. Now I will paint the other one."),
		carryontest.Text("Thought: Do I need to use a tool? No\nAI: It is painted, too."))
	defer server.Close()
	llm, err := openai.New(openai.WithToken("none"), openai.WithBaseURL(server.URL()))
	if err != nil {
		fmt.Println(err)
		return
	}

	todos := todo.Static(todo.Todo{ID: "1", Content: "Paint the other wall", Status: todo.Pending})
	model := carrylangchain.Wrap(llm, middleware.New(todos), carryagents.Conversational())
	agent := agents.NewConversationalAgent(model, []tools.Tool{tools.Calculator{}})
	executor := agents.NewExecutor(agent, agents.WithMemory(memory.NewConversationBuffer()))

	ctx := continuation.WithSession(context.Background(), "conversation-42")
	answer, err := chains.Run(ctx, executor, "Paint both walls.")
	fmt.Println(answer)
	fmt.Println(err)
	// Output:
	// One wall is painted. Now I will paint the other one.
	//
	// It is painted, too.
	// <nil>
}
