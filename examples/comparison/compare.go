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

// result is what the report needs to know about a run.
type result struct {
	exchanges []exchange
	todos     []todo.Todo
	files     int
	history   []openai.ChatCompletionMessage
	outcome   middleware.Outcome // of the last call; zero without carryon
}

// theLine is the difference between the two runs.
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

// run has the agent do the task once.
func (s setup) run(ctx context.Context, carryOn bool, seen func(exchange)) (result, error) {
	at := s.dial()
	defer at.close()
	recorder := &recorder{next: at.transport, seen: seen}
	config := openai.DefaultConfig(at.key)
	config.BaseURL, config.HTTPClient = at.url, &http.Client{Transport: recorder}

	todos := todo.NewMemory()
	client := openai.NewClientWithConfig(config)
	worker := &agent{client: client, model: s.model, todos: todos, files: map[string]string{}}
	if carryOn {
		worker.client = carryopenai.Wrap(client, middleware.New(todos))
	}

	ctx, outcomes := middleware.Capture(continuation.WithSession(ctx, "comparison"))
	err := worker.work(ctx, s.task)
	return result{
		exchanges: recorder.exchanges,
		todos:     todos.Read(ctx),
		files:     len(worker.files),
		history:   worker.history,
		outcome:   outcomes.Last(),
	}, err
}
