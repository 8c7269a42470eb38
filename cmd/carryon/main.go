// Command carryon puts carryon between an agent and its model, whatever language
// the agent is written in.
//
//	carryon proxy -upstream https://api.openai.com/v1
//
// The agent changes its base URL and nothing else. carryon reads the todo list
// from the conversation itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(execute(ctx, os.Args, os.Stdout, os.Stderr))
}

// execute runs a command line and returns the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := newCommand(stdout, stderr).Run(ctx, args)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(stderr, "carryon:", err) // there is nowhere else to say it
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}
