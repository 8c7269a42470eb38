// Command chat is an agent that you chat with in a terminal, with carryon:
//
//	make demo DEMO=chat
//
// Its model is scripted and has the habits of real ones: it plans, announces the
// next step and stops, starts work in the background, and pauses when it lacks
// information. If OPENAI_API_KEY is set (and OPENAI_BASE_URL and OPENAI_MODEL,
// where needed), the agent asks a real model instead. The agent can read and
// write files in one folder only. By default that is a new one, which the program
// names at the end, or removes if nothing was written into it. To name one:
//
//	make demo DEMO=chat ARGS='-dir /tmp/tea'
//
// If its input is a pipe, the program exits with 1 if a turn has failed, and with
// 130 after Ctrl-C. Build it to see that: make and go run exit with codes of their own.
//
// The use of carryon is in chat.go and observe.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/carryon-go/carryon/examples/chat/terminal"
	"github.com/carryon-go/carryon/examples/internal/upstream"
)

// sizeChanged is SIGWINCH, the signal for a new size of the terminal, which
// package syscall does not define on every platform.
const sizeChanged = syscall.Signal(28)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, upstream.Explain(err))
		if errors.Is(err, context.Canceled) {
			os.Exit(128 + int(syscall.SIGINT))
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string) error {
	flags := flag.NewFlagSet("chat", flag.ContinueOnError)
	dir := flags.String("dir", "", "the `folder` that the agent works in (default: a new one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	e, err := endpointFromEnv(getenv, 25*time.Millisecond)
	if err != nil {
		return err
	}
	defer e.close()
	files, err := openSandbox(*dir)
	if err != nil {
		return err
	}
	defer files.close()
	v, err := terminal.Open(os.Stdin, os.Stdout, getenv("NO_COLOR") == "" && getenv("TERM") != "dumb", commands()...)
	if err != nil {
		return err
	}
	defer v.Close()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, sizeChanged)
	defer signal.Stop(signals)
	err = newChat(v, files, e, 3*time.Second).talk(ctx, signals)
	v.Say(terminal.Noted, files.leftBehind())
	return err
}
