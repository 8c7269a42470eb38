package main

import (
	"context"
	"io"
	"net/http"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// result is what there is to tell of a run.
type result struct {
	exchanges []exchange
	todos     []todo.Todo
	files     int
	history   []openai.ChatCompletionMessage
	outcome   middleware.Outcome // of the last call; the zero Outcome without carryon
}

// theLine is what the two runs differ in.
const theLine = "carryopenai.Wrap(client, middleware.New(todos))"

// compare runs the agent without carryon and with it, and reports to w.
func (s setup) compare(ctx context.Context, w io.Writer) error {
	r := &report{w: w}
	r.title(s)
	r.heading("1. WITHOUT CARRYON")
	without, err := s.run(ctx, false, r.exchange)
	if err != nil {
		return err
	}
	r.end(without)
	r.heading("2. WITH CARRYON: " + theLine)
	with, err := s.run(ctx, true, r.exchange)
	if err != nil {
		return err
	}
	r.end(with)
	r.table(without, with)
	return r.err
}

// run lets the agent do the task once.
func (s setup) run(ctx context.Context, carryOn bool, seen func(exchange)) (result, error) {
	at := s.dial()
	defer at.close()
	wire := &wire{next: at.transport, seen: seen}
	config := openai.DefaultConfig(at.key)
	config.BaseURL, config.HTTPClient = at.url, &http.Client{Transport: wire}

	todos := todo.NewMemory()
	client := openai.NewClientWithConfig(config)
	worker := &agent{client: client, model: s.model, todos: todos, files: map[string]string{}}
	if carryOn {
		worker.client = carryopenai.Wrap(client, middleware.New(todos))
	}

	ctx, outcomes := middleware.Capture(continuation.WithSession(ctx, "quickstart"))
	err := worker.work(ctx, s.task)
	return result{
		exchanges: wire.exchanges,
		todos:     todos.Read(ctx),
		files:     len(worker.files),
		history:   worker.history,
		outcome:   outcomes.Last(),
	}, err
}
