// Package check has a check for middleware.WithCheck that runs commands, such as the
// tests of the project on which an agent works.
package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/carryon-go/carryon/middleware"
)

// Option is an option of [Command] and [Commands].
type Option func(*commands)

// Folder sets the folder in which the commands run. The default is the working folder of
// the program when the check is made.
func Folder(path string) Option { return func(c *commands) { c.folder = path } }

// Timeout sets how long each command may take. The default is [DefaultTimeout].
func Timeout(d time.Duration) Option { return func(c *commands) { c.timeout = d } }

// Environment sets the environment of the commands, in the form of [os.Environ], which is
// the default. Variables that begin with CARRYON_ are left out.
func Environment(env []string) Option { return func(c *commands) { c.env = slices.Clone(env) } }

// DefaultTimeout is how long a command may take by default: not quite as long as agents
// bear to receive nothing.
const DefaultTimeout = 4 * time.Minute

// Command returns a check that runs a command line in the user's shell. If it exits with
// 0, the work is done. With another code it is not, and the model is told the end of the
// output. A command that is not found, takes too long or is ended by a signal says nothing
// about the work, and the check fails with an error that is no *[middleware.Unmet].
//
// The command gets no input and no terminal. It is the leader of a process group of its
// own, which is ended as a whole: when the command has exited, when its time is over, and
// when ctx ends. Of its output, the beginning and the end are kept.
//
// The command never runs twice at once. A call of the check while it runs waits, and takes
// its result if no model has called a tool in between; otherwise it runs the command again.
// The command is ended when nobody waits for it any more.
//
// Command panics if the line is blank or an option is invalid.
func Command(line string, opts ...Option) middleware.Check { return Commands([]string{line}, opts...) }

// Commands is [Command] for several lines. They run in order, and each must pass: the first
// that does not decides.
func Commands(lines []string, opts ...Option) middleware.Check {
	c := &commands{lines: slices.Clone(lines), timeout: DefaultTimeout, env: os.Environ()} //nolint:forbidigo // the commands are the user's, and run as if they were typed
	c.folder, _ = os.Getwd()                                                               // "" is the same folder, as long as nobody changes it
	for _, option := range opts {
		option(c)
	}
	if err := c.check(); err != nil {
		panic("carryon/check: " + err.Error())
	}
	c.env = slices.DeleteFunc(c.env, func(variable string) bool { return strings.HasPrefix(variable, "CARRYON_") })
	f := &sharedRuns{run: c.run}
	return func(ctx context.Context, _ middleware.NextTurn) error { return f.join(ctx) }
}

// commands are the commands of a check.
type commands struct {
	lines   []string
	folder  string
	timeout time.Duration
	env     []string
}

func (c *commands) check() error {
	switch {
	case len(c.lines) == 0:
		return errors.New("no command")
	case slices.ContainsFunc(c.lines, func(line string) bool { return strings.TrimSpace(line) == "" }):
		return errors.New("a blank command")
	case c.timeout <= 0:
		return fmt.Errorf("the timeout %v is not positive", c.timeout)
	}
	return nil
}

// run runs the commands until one does not pass.
func (c *commands) run(ctx context.Context) error {
	for _, line := range c.lines {
		if err := c.runOne(ctx, line); err != nil {
			return err
		}
	}
	return nil
}

// runOne runs one command.
func (c *commands) runOne(ctx context.Context, line string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, errTimeout)
	defer cancel()
	p := process{command: shell(line, c.env), output: new(output)}
	p.command.Dir, p.command.Env = c.folder, c.env
	err := p.run(ctx)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout):
		return fmt.Errorf("check: %q was ended after %v", line, c.timeout)
	case cause != nil:
		return fmt.Errorf("check: %q was ended: %w", line, cause)
	case err != nil:
		return fmt.Errorf("check: %q: %w", line, err)
	}
	return verdict(line, p.command.ProcessState, p.output)
}

var errTimeout = errors.New("check: the command took too long")

// Exit codes of shells.
const (
	notExecutable = 126
	notFound      = 127
	signalled     = 128 // and the number of a signal
	lastSignal    = 64
)

// verdict returns what the end of a command says.
func verdict(line string, state *os.ProcessState, out *output) error {
	switch code := state.ExitCode(); {
	case code == 0:
		return nil
	case code < 0 || code > signalled && code <= signalled+lastSignal: // the shell, or what it ran
		return fmt.Errorf("check: %q was ended by a signal (%v)", line, state)
	case code == notFound, code == notExecutable:
		return fmt.Errorf("check: %q cannot be run (%v): %s", line, state, out.lastLine())
	}
	return &middleware.Unmet{Name: line, Text: strings.TrimSpace(out.String() + "\n" + state.String())}
}
