package langchaingo_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// exampleModel returns an openai client whose model is scripted.
func exampleModel(script ...carryontest.Turn) (llm *openai.LLM, server *carryontest.Server) {
	server = carryontest.Start(script...)
	llm, err := openai.New(openai.WithToken("none"), openai.WithBaseURL(server.URL()))
	if err != nil {
		panic(err)
	}
	return llm, server
}

// A model announces the next step and stops, with work left on the list.
func ExampleWrap() {
	llm, server := exampleModel(
		carryontest.Text("Next I will write the parser."),
		carryontest.Call("edit_file", `{"path":"parser.go"}`))
	defer server.Close()

	todos := todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress})
	model := carrylangchain.Wrap(llm, middleware.New(todos))

	ctx := continuation.WithSession(context.Background(), "conversation-42")
	answer, err := model.GenerateContent(ctx,
		[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Write the parser.")},
		llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "edit_file"}}}))

	fmt.Println(err)
	fmt.Println(answer.Choices[0].Content)
	fmt.Println(answer.Choices[0].ToolCalls[0].FunctionCall.Name, answer.Choices[0].GenerationInfo["TotalTokens"])
	fmt.Println(len(server.Requests()), "requests")
	// Output:
	// <nil>
	// Next I will write the parser.
	// edit_file 20
	// 2 requests
}

// The streaming function gets one answer, too.
func ExampleModel_GenerateContent_streaming() {
	llm, server := exampleModel(
		carryontest.Text("Next I will write the parser."),
		carryontest.Pause("The grammar file grammar.ebnf is missing"))
	defer server.Close()

	todos := todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress})
	model := carrylangchain.Wrap(llm, middleware.New(todos))
	_, err := model.GenerateContent(context.Background(),
		[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Write the parser.")},
		llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "edit_file"}}}),
		llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
			fmt.Print(string(chunk))
			return nil
		}))
	fmt.Println()
	fmt.Println(err)
	// Output:
	// Next I will write the parser.
	//
	// Task paused: The grammar file grammar.ebnf is missing
	// <nil>
}

// A chat in which every answer is for the user.
func ExampleWithPlainChains() {
	llm, server := exampleModel(
		carryontest.Text("The first verse is done."), carryontest.Text("And here is the second."))
	defer server.Close()

	todos := todo.Static(todo.Todo{ID: "1", Content: "Write the second verse", Status: todo.Pending})
	model := carrylangchain.Wrap(llm, middleware.New(todos), carrylangchain.WithPlainChains())
	poem, err := llms.GenerateFromSinglePrompt(context.Background(), model, "Write a poem.")
	fmt.Println(poem)
	fmt.Println(err)
	// Output:
	// The first verse is done.
	//
	// And here is the second.
	// <nil>
}

// A custom agent whose model writes "CALL tool" for a call, or "FINAL:" and an
// answer.
func ExampleWithTextAgent() {
	read := func(answer string) carrylangchain.Reading {
		if tool, ok := strings.CutPrefix(answer, "CALL "); ok {
			return carrylangchain.Reading{Kind: carrylangchain.Action, Tool: tool}
		}
		if said, ok := strings.CutPrefix(answer, "FINAL: "); ok {
			return carrylangchain.Reading{Kind: carrylangchain.Finish, Answer: said}
		}
		return carrylangchain.Reading{} // the agent can't read it
	}
	llm, server := exampleModel(carryontest.Text("FINAL: One verse is done."), carryontest.Text("FINAL: Two are."))
	defer server.Close()

	todos := todo.Static(todo.Todo{ID: "1", Content: "Write the second verse", Status: todo.Pending})
	model := carrylangchain.Wrap(llm, middleware.New(todos), carrylangchain.WithTextAgent(read))
	answer, err := llms.GenerateFromSinglePrompt(context.Background(), model, "Write a poem.",
		chains.GetLLMCallOptions(chains.WithStopWords([]string{"\nObservation:"}))...)
	fmt.Printf("%q\n", answer)
	fmt.Println(err)
	// Output:
	// "FINAL: One verse is done.\n\nTwo are."
	// <nil>
}
