package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/cmd/carryon/internal/atwork"
	"github.com/carryon-go/carryon/cmd/carryon/internal/proxy"
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitError is an exit code. Its cause was reported: by the agent whose code it is, or
// by whoever returned it.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// plain returns an error of the command line in the command's own words where those of
// the library speak of Go or of its internals. Otherwise it returns nil.
func plain(err error) error {
	text := err.Error()
	for _, bad := range []*regexp.Regexp{badValue, badVariable} {
		if found := bad.FindStringSubmatch(text); found != nil {
			return usageError{fmt.Errorf("%s must be %s, not %s", found[2], kindOf(found[3]), found[1])}
		}
	}
	if found := badTopic.FindStringSubmatch(text); found != nil {
		return noCommand(found[1])
	}
	return nil
}

var (
	badValue    = regexp.MustCompile(`(?s)^invalid value (".*") for flag (-\S+): (.*)$`)
	badVariable = regexp.MustCompile(`(?s)^could not parse (".*") as \S+ value from environment variable "(\w+)" for flag \S+: (.*)$`)
	badTopic    = regexp.MustCompile(`(?s)^No help topic for '(.*)'`)
)

// kindOf says what a value must be that failed to parse with an error.
func kindOf(problem string) string {
	switch {
	case strings.HasPrefix(problem, "strconv."):
		return "a whole number"
	case strings.HasPrefix(problem, "time: "):
		return "a time such as 10s or 1m30s"
	}
	return "true or false"
}

func noCommand(name string) error {
	return usageError{fmt.Errorf("there is no command %q (see carryon help)", name)}
}

func unexpected(argument string) error {
	return usageError{fmt.Errorf("unexpected argument %q", argument)}
}

// newCommand returns the root command with its subcommands.
func newCommand(stdout, stderr io.Writer) *cli.Command {
	root := &cli.Command{
		Name:  "carryon",
		Usage: "keeps an LLM agent working until its todo list is done",
		Description: "carryon run -list -- qwen -p \"Build a small web page about tea.\"\n" +
			"  runs an agent with carryon between it and its model.\n\n" +
			"carryon proxy -upstream https://api.openai.com/v1\n" +
			"  runs a proxy in front of a model endpoint. Programs change only their base URL.\n\n" +
			"Each flag of run and proxy can also be set by the environment variable that its help shows.\n" +
			"carryon completion bash (or zsh, fish, pwsh) prints a completion script for that shell.",
		Commands: []*cli.Command{runCommand(stderr), proxyCommand(stderr), auditCommand(stdout, stderr), versionCommand(stdout)},
		Flags:    []cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version of this program", Local: true}},
		Before: func(ctx context.Context, c *cli.Command) (context.Context, error) {
			if c.Bool("version") && c.Args().Present() {
				return ctx, unexpected(c.Args().First())
			}
			return ctx, nil
		},
		Action:                rootAction,
		EnableShellCompletion: true,
		HideVersion:           true, // the flag above prints it as the command does
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
	if known := plain(err); known != nil {
		return known
	}
	text := strings.Replace(err.Error(), "flag provided but not defined:", "there is no flag", 1)
	return usageError{fmt.Errorf("%s (see %s -help)", text, c.FullName())}
}

func rootAction(_ context.Context, c *cli.Command) error {
	switch {
	case c.Args().Present():
		return noCommand(c.Args().First())
	case c.Bool("version"):
		return printVersion(c.Root().Writer)
	}
	return cli.ShowRootCommandHelp(c)
}

// heapFloor is the size of an allocation that makes the garbage collector run less
// often. The live heap of a proxy is so small that the collector would otherwise
// run every hundred requests and take a tenth of their time. With a much larger one,
// requests would use memory that is no longer in the processor's caches. The
// allocation is never touched, so it takes no physical memory.
const heapFloor = 16 << 20

func proxyCommand(stderr io.Writer) *cli.Command {
	var c proxy.Config
	return &cli.Command{
		Name:  "proxy",
		Usage: "run a proxy in front of a model endpoint, for programs in any language",
		Description: "Clients change only their base URL, to http://127.0.0.1:8787/v1. carryon forwards their API keys.\n" +
			"The page http://127.0.0.1:8787/debug/carryon shows what carryon did with the latest requests.\n" +
			"Without -mode, the proxy is in standard mode.",
		Flags:           append([]cli.Flag{c.ListenFlag(proxy.DefaultAddress), c.UpstreamFlag(""), c.SettingsFlag()}, c.Flags()...),
		HideHelpCommand: true,
		Action: func(ctx context.Context, command *cli.Command) error {
			if command.Args().Present() {
				return unexpected(command.Args().First())
			}
			if err := c.Check(); err != nil {
				return inLog(&c, stderr, usageError{err})
			}
			proxy.RouteLogs(c.Logger(stderr))
			c.AtWork = recordOfWork()
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
			floor := make([]byte, heapFloor)
			defer runtime.KeepAlive(floor)
			if err := checkAuthorities(os.Getenv); err != nil {
				return inLog(&c, stderr, err)
			}
			return inLog(&c, stderr, proxy.Serve(ctx, &c, stderr))
		},
	}
}

// recordOfWork returns the file in which carryon remembers what it has continued.
func recordOfWork() string {
	home, _ := os.UserHomeDir() // without one, there are no transcripts either
	return atwork.File(os.Getenv, home)
}

// inLog reports an error as a line of the log where the user has asked for JSON only. It returns
// the error that says what is left to do.
func inLog(c *proxy.Config, stderr io.Writer, err error) error {
	if err == nil || c.LogFormat != "json" {
		return err
	}
	c.Logger(stderr).Error(err.Error())
	return exitError(exitCode(err))
}
