package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/cmd/carryon/internal/agent"
	"github.com/carryon-go/carryon/cmd/carryon/internal/proxy"
)

// runConfig holds the flags of the command run.
type runConfig struct {
	proxy   proxy.Config
	list    bool
	page    bool
	hosts   []string // more hosts of models
	logFile string
	stderr  io.Writer

	name string // of the agent, in messages
}

func runCommand(stderr io.Writer) *cli.Command {
	c := runConfig{stderr: stderr}
	afterCommand := 1 // what follows COMMAND is its own
	return &cli.Command{
		Name:      "run",
		Usage:     "run an agent with carryon between it and its model",
		UsageText: "carryon run [flags] -- COMMAND [arguments]",
		Description: "Runs COMMAND behind a proxy and a certificate authority that exist for this run alone. carryon answers the\n" +
			"requests to hosts of models, and asks those hosts itself; everything else passes unread. When COMMAND ends,\n" +
			"it prints what carryon did. Without -mode, carryon chooses the mode and prints why.",
		Flags: append([]cli.Flag{
			c.proxy.ListenFlag("127.0.0.1:0"), c.proxy.UpstreamFlag("the endpoint that the agent would use alone"),
			&cli.BoolFlag{
				Name: "list", Category: proxy.GroupContinuing, Destination: &c.list, Sources: cli.EnvVars("CARRYON_LIST"),
				Usage: "for this run, turn on the agent's todo list if it is off by default",
			},
			&cli.StringSliceFlag{
				Name: "model-host", Category: proxy.GroupEndpoint, Destination: &c.hosts, Sources: cli.EnvVars("CARRYON_MODEL_HOST"),
				Usage: "a `host` of models that carryon does not know, such as llm.example.com or *.example.com:8443",
			},
			&cli.BoolFlag{
				Name: "page", Category: proxy.GroupFigures, Destination: &c.page, Sources: cli.EnvVars("CARRYON_PAGE"),
				Usage: "print the address of the page that shows what carryon does",
			},
			&cli.StringFlag{
				Name: "log-file", Category: proxy.GroupOperators, Destination: &c.logFile, Sources: cli.EnvVars("CARRYON_LOG_FILE"),
				Usage: "`file` to append the log to; without it, -v, -log and -log-level have no effect, because the agent uses the terminal",
			},
		}, c.proxy.Flags()...),
		HideHelpCommand: true,
		StopOnNthArg:    &afterCommand,
		Action: func(ctx context.Context, command *cli.Command) error {
			if !command.Args().Present() {
				return usageError{errors.New("there is no command to run: carryon run [flags] -- COMMAND [arguments]")}
			}
			if c.logFile == "" && (command.IsSet("v") || command.IsSet("log") || command.IsSet("log-level")) {
				c.say("-v, -log and -log-level have no effect without -log-file, because the agent uses the terminal")
			}
			return c.run(ctx, command.Args().Slice(), command.IsSet("upstream"))
		},
	}
}

// The exit codes of shells for a command that they cannot run.
const (
	codeNotRun   = 126
	codeNotFound = 127
)

// refused reports why a command cannot be run. It returns nil if err is of another
// kind.
func (c *runConfig) refused(command string, err error) error {
	var path *fs.PathError
	var lookup *exec.Error
	var cause error
	switch {
	case errors.As(err, &lookup):
		cause = lookup.Err
	case !errors.As(err, &path) || path.Op != "fork/exec":
		return nil
	case errors.Is(err, fs.ErrNotExist): // the command itself was found
		cause = errors.New("the interpreter in its first line was not found")
	default:
		cause = path.Err
	}
	if errors.Is(cause, exec.ErrNotFound) || errors.Is(cause, fs.ErrNotExist) {
		c.say(fmt.Sprintf("command %q not found", command))
		return exitError(codeNotFound)
	}
	c.say(fmt.Sprintf("command %q cannot be run: %v", command, cause))
	return exitError(codeNotRun)
}

// run runs an agent's command. It returns an [exitError] if the exit code is not 0.
func (c *runConfig) run(ctx context.Context, command []string, upstream bool) error {
	program, position := agent.Of(command)
	root, err := c.proxy.Bind(ctx)
	if err != nil {
		return err
	}
	launch := program.Launch(command, position, root, os.Getenv, c.list)
	hosts, err := c.modelHosts(launch.Hosts)
	if err != nil {
		return err
	}
	c.name = nameOf(program, command)
	how := program.Mode(command, position)
	reach, mode := c.reach(program, &launch), c.chooseMode(how, agent.HasTerminal())
	c.route(&launch, upstream)
	if err := c.proxy.Check(); err != nil {
		return usageError{err}
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return cmp.Or(c.refused(command[0], err), err)
	}
	log, err := c.openLog()
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // nothing is buffered
	c.proxy.AtWork = recordOfWork()
	s := session{config: c, program: program, command: command, launch: &launch, logger: c.proxy.Logger(log)}
	if err := s.start(ctx, hosts); err != nil {
		return err
	}
	if program.Unreached != "" {
		mode = "" // there is nothing to decide
	}
	for _, note := range append([]string{reach, mode}, launch.Notes...) {
		c.say(note)
	}
	if upstream { // the agent may never call an endpoint that the user did not name
		c.say(c.proxy.Probe(ctx))
	}
	if c.page {
		c.say("recent activity: " + s.server.Page())
		c.say("off switch: " + s.server.SwitchOff())
	}
	return s.run(ctx, !how.OneShot && agent.HasTerminal())
}

// chooseMode chooses who is there unless a flag says so, and returns why.
func (c *runConfig) chooseMode(how agent.Mode, terminal bool) string {
	if c.proxy.Mode != "" || c.proxy.YOLO {
		return ""
	}
	mode := proxy.ModeYOLO
	var why, need string
	switch {
	case how.Unattended:
		why = "the agent was told to act without asking"
	case how.OneShot:
		why = "nobody can answer the agent in a run of one prompt"
	case !terminal:
		why = "standard input is no terminal, so nobody can answer the agent"
	default:
		mode, why = proxy.ModeStandard, "somebody at the terminal can answer the agent"
		need = "; a strong model seldom needs carryon then"
	}
	c.proxy.Mode = mode
	return fmt.Sprintf("%s mode, because %s (-mode overrules it)%s", mode, why, need)
}

// route gives the proxy the endpoints that the agent would use alone. With -upstream,
// that one takes their place.
func (c *runConfig) route(launch *agent.Launch, upstream bool) {
	named := c.proxy.NamedUpstream()
	c.proxy.Redirect = upstream
	if !upstream {
		c.proxy.SetUpstream(launch.Main.Base, launch.Main.Source)
	}
	for _, r := range launch.Routes {
		route := proxy.Route{Prefix: r.Prefix, Header: r.Header, Base: r.Base, Source: r.Source}
		switch {
		case !upstream:
		case r.Prefix == "" || r.Header != "":
			continue
		default:
			route.Base, route.Source = named, "-upstream"
		}
		c.proxy.Routes = append(c.proxy.Routes, route)
	}
}

// say prints a line for the user, unless it is empty.
func (c *runConfig) say(line string) {
	if line != "" {
		_, _ = fmt.Fprintln(c.stderr, "carryon:", proxy.Printable(line)) // the reader may be gone
	}
}

// openLog opens the log file. Without -log-file, the log is discarded. A named pipe that
// nobody reads is an error: to wait for a reader would keep the agent from starting.
func (c *runConfig) openLog() (io.WriteCloser, error) {
	if c.logFile == "" {
		return discard{}, nil
	}
	return os.OpenFile(c.logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
