package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/cmd/carryon/internal/proxy"
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitError is the exit code of the agent, which has reported its own error.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// newCommand returns the root command with its subcommands.
func newCommand(stdout, stderr io.Writer) *cli.Command {
	root := &cli.Command{
		Name:  "carryon",
		Usage: "keeps an LLM agent working until its todo list is done",
		Description: "carryon run -list -- qwen -p \"Build a small web page about tea.\"\n" +
			"  runs an agent with carryon between it and its model.\n\n" +
			"carryon proxy -upstream https://api.openai.com/v1\n" +
			"  runs a proxy in front of a model endpoint. Programs change only their base URL.\n\n" +
			"Each flag can also be set by the environment variable shown in its description.\n" +
			"carryon completion bash (or zsh, fish, pwsh) prints a completion script for that shell.",
		Commands:              []*cli.Command{runCommand(stderr), proxyCommand(stderr), auditCommand(stdout, stderr), versionCommand(stdout)},
		Action:                unknownCommand,
		EnableShellCompletion: true,
		HideVersion:           true, // "carryon version" prints it
		Suggest:               true,
		Writer:                stdout,
		ErrWriter:             stderr,
		ExitErrHandler:        func(context.Context, *cli.Command, error) {}, // execute knows the exit codes
	}
	for _, c := range append(root.Commands, root) {
		c.OnUsageError = explain
	}
	return root
}

// explain adds the help command to an error in the command line.
func explain(_ context.Context, c *cli.Command, err error, _ bool) error {
	return usageError{fmt.Errorf("%w (see %s -help)", err, c.FullName())}
}

func unknownCommand(_ context.Context, c *cli.Command) error {
	if c.Args().Present() {
		return usageError{fmt.Errorf("there is no command %q (see carryon help)", c.Args().First())}
	}
	return cli.ShowRootCommandHelp(c)
}

// heapFloor is the size of an allocation that makes the garbage collector run less
// often. The live heap of a proxy is so small that the collector would otherwise
// run every hundred requests and take a tenth of their time. With a much larger one,
// requests would use memory that is no longer in the processor's caches. The
// allocation is never touched, so it takes no physical memory.
const heapFloor = 4 << 20

func proxyCommand(stderr io.Writer) *cli.Command {
	var c proxy.Config
	return &cli.Command{
		Name:  "proxy",
		Usage: "run a proxy in front of a model endpoint, for programs in any language",
		Description: "Clients change only their base URL, to http://127.0.0.1:8787/v1. carryon forwards their API keys.\n" +
			"The page http://127.0.0.1:8787/debug/carryon shows what carryon did with the latest requests.",
		Flags:           append([]cli.Flag{c.ListenFlag(proxy.DefaultAddress), c.UpstreamFlag("")}, c.Flags()...),
		HideHelpCommand: true,
		Action: func(ctx context.Context, command *cli.Command) error {
			if command.Args().Present() {
				return usageError{fmt.Errorf("unexpected argument %q", command.Args().First())}
			}
			if err := c.Check(); err != nil {
				return usageError{err}
			}
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
			floor := make([]byte, heapFloor)
			defer runtime.KeepAlive(floor)
			return proxy.Serve(ctx, &c, stderr)
		},
	}
}
