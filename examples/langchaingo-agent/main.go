// Command langchaingo-agent runs an agent of langchaingo twice, without carryon
// and with it, and shows the difference:
//
//	go run ./examples/langchaingo-agent
//
// The agent is an agents.OpenAIFunctionsAgent in an agents.Executor, with real
// tools. The model is scripted and has a habit of real ones: it announces the
// next step and stops. If OPENAI_API_KEY is set (and OPENAI_BASE_URL and
// OPENAI_MODEL, where needed), the agent asks a real model instead.
//
// Adding carryon takes one line of agent.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	e, err := endpointFromEnv(os.Getenv)
	if err == nil {
		err = compare(ctx, os.Stdout, e)
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		fmt.Fprintln(os.Stderr, "Interrupted.")
	case err != nil:
		fmt.Fprintln(os.Stderr, "The agent failed:", err)
	default:
		return
	}
	os.Exit(1)
}
