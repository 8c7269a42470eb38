package main

import (
	"context"
	"io"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/tools"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

const task = "Build a small web page about tea: index.html, style.css and README.md."

const instructions = "You work on files with tools. Before you start, write a todo list with todo_write, one todo " +
	"per file. After each file, write the list again with its todo completed and the next one in_progress. " +
	"Write one file at a time."

// maxIterations is enough for the list, each file, and the list after each: an
// executor that runs out of iterations returns no answer.
const maxIterations = 20

// compare runs the agent without carryon and with it.
func compare(ctx context.Context, w io.Writer, at endpoint) error {
	r := &reporter{w: w}
	r.printf("An agent of langchaingo, run twice: without carryon, and with it.\n%s It is told:\n%q", at.title, task)
	r.printf("\n1. WITHOUT CARRYON")
	if err := run(ctx, r, at, false); err != nil {
		return err
	}
	r.printf("\n2. WITH CARRYON: carrylangchain.Wrap(llm, middleware.New(todos))")
	if err := run(ctx, r, at, true); err != nil {
		return err
	}
	return r.err
}

// run has the agent do the task once.
func run(ctx context.Context, r *reporter, at endpoint, carryOn bool) error {
	llm, stop, err := at.dial()
	if err != nil {
		return err
	}
	defer stop()
	llm.CallbacksHandler = r

	todos := todo.NewMemory()
	ctx = continuation.WithSession(ctx, "langchaingo-agent")
	ctx, outcomes := middleware.Capture(ctx)

	var model llms.Model = llm
	if carryOn {
		model = carrylangchain.Wrap(llm, middleware.New(todos))
	}

	files := &fileTool{written: map[string]string{}}
	executor := agents.NewExecutor(newAgent(model, files, &todoTool{todos}), agents.WithMaxIterations(maxIterations))
	_, err = chains.Run(ctx, executor, task)
	if err != nil {
		return err
	}
	r.end(todos.Read(ctx), len(files.written), outcomes.Last())
	return nil
}

func newAgent(model llms.Model, list ...tools.Tool) agents.Agent {
	return agents.NewOpenAIFunctionsAgent(model, list, agents.NewOpenAIOption().WithSystemMessage(instructions))
}

// endpoint receives the requests of a run.
type endpoint struct {
	title string
	dial  func() (llm *openai.LLM, stop func(), err error)
}
