// Command comparison runs a small agent twice, without carryon and with it, and
// shows the difference:
//
//	go run ./examples/comparison
//
// The model is scripted and has a habit of real ones: it announces the next step
// and stops. If OPENAI_API_KEY is set (and OPENAI_BASE_URL and OPENAI_MODEL,
// where needed), the same agent asks a real model instead.
//
// The agent is in agent.go. Adding carryon takes one line of compare.go.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/carryon-go/carryon/examples/internal/upstream"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, upstream.Explain(err))
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	setup, err := setupFromEnv(os.Getenv)
	if err != nil {
		return err
	}
	return setup.compare(ctx, os.Stdout)
}
