// Command carryon puts carryon between an agent and its model, whatever language
// the agent is written in.
//
//	carryon run -list -- qwen -p "Build a small web page about tea."
//	carryon proxy -upstream https://api.openai.com/v1
//
// Only the agent's base URL changes. carryon reads the todo list from the
// conversation.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/cmd/carryon/internal/proxy"
)

func main() {
	cli.HelpPrinter = printHelp
	cli.UsageCommandHelp = "show a list of commands, or help for one"
	os.Exit(execute(context.Background(), os.Args, os.Stdout, os.Stderr))
}

// execute runs a command line and returns the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := newCommand(stdout, stderr).Run(ctx, args)
	if err == nil {
		return 0
	}
	err = cmp.Or(plain(err), err)
	if !errors.As(err, new(exitError)) {
		_, _ = fmt.Fprintln(stderr, "carryon:", proxy.Printable(err.Error())) // there is nowhere else to report it
	}
	return exitCode(err)
}

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	var exit exitError
	switch {
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, new(usageError)):
		return 2
	}
	return 1
}
