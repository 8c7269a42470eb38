package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/cmd/carryon/internal/agent"
	"github.com/carryon-go/carryon/cmd/carryon/internal/proxy"
)

// runConfig holds the flags of the command run.
type runConfig struct {
	proxy   proxy.Config
	list    bool
	page    bool
	logFile string
	stderr  io.Writer
}

func runCommand(stderr io.Writer) *cli.Command {
	c := runConfig{stderr: stderr}
	afterCommand := 1 // what follows COMMAND is its own
	return &cli.Command{
		Name:      "run",
		Usage:     "run an agent with carryon between it and its model",
		UsageText: "carryon run [options] -- COMMAND [arguments]",
		Description: "Starts a proxy on a free port and runs COMMAND with its base URLs set to that proxy. When COMMAND ends,\n" +
			"it prints what carryon did. Without -upstream, requests go to the endpoints that COMMAND would use alone.\n" +
			"Without -mode, carryon chooses the mode and prints why.",
		Flags: append([]cli.Flag{
			c.proxy.ListenFlag("127.0.0.1:0"), c.proxy.UpstreamFlag("the endpoint that the agent would use alone"),
			&cli.BoolFlag{
				Name: "list", Destination: &c.list, Sources: cli.EnvVars("CARRYON_LIST"),
				Usage: "for this run, turn on the agent's todo list if it is off by default",
			},
			&cli.BoolFlag{
				Name: "page", Destination: &c.page, Sources: cli.EnvVars("CARRYON_PAGE"),
				Usage: "print the address of the page that shows what carryon does",
			},
			&cli.StringFlag{
				Name: "log-file", Destination: &c.logFile, Sources: cli.EnvVars("CARRYON_LOG_FILE"),
				Usage: "`file` to append the log to; without it, -v, -log and -log-level have no effect, because the agent uses the terminal",
			},
		}, c.proxy.Flags()...),
		HideHelpCommand: true,
		StopOnNthArg:    &afterCommand,
		Action: func(ctx context.Context, command *cli.Command) error {
			if !command.Args().Present() {
				return usageError{errors.New("there is no command to run: carryon run [options] -- COMMAND [arguments]")}
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
	c.chooseMode(program.Mode(command, position), agent.HasTerminal())
	launch := program.Launch(command, position, root, userOf(), c.list)
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
	logger := c.proxy.Logger(log)
	proxy.RouteLogs(logger)
	server, err := proxy.Start(ctx, &c.proxy, logger)
	if err != nil {
		return err
	}
	if upstream { // the agent may never call an endpoint that the user did not name
		c.say(c.proxy.Probe(ctx))
	}
	if c.page {
		c.say("recent activity: " + server.Page())
	}
	for _, note := range launch.Notes {
		c.say(note)
	}
	code, err := launch.Run(os.Environ())
	stopped := server.Stop(ctx)
	if err != nil {
		return cmp.Or(c.refused(command[0], err), err)
	}
	c.report(server, stopped, program)
	if s := server.Summary(); s.Unused() {
		logger.Warn("the agent asked no model through carryon", slog.Int("requests", s.Requests), slog.Int("web_sockets_refused", s.Handshakes))
	}
	if code != 0 {
		return exitError(code)
	}
	return nil
}

// chooseMode chooses who is there unless a flag says so, and tells the user why.
func (c *runConfig) chooseMode(how agent.Mode, terminal bool) {
	if c.proxy.Mode != "" || c.proxy.YOLO {
		return
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
	c.say(fmt.Sprintf("%s mode, because %s (-mode overrules it)%s", mode, why, need))
}

// userOf returns where the user's settings are.
func userOf() agent.User {
	home, _ := os.UserHomeDir() // without one, there are no settings to find
	dir, _ := os.Getwd()        // likewise
	return agent.User{Getenv: os.Getenv, Home: home, Dir: dir}
}

// route gives the proxy the endpoints that the agent would use alone. With -upstream,
// that one takes their place.
func (c *runConfig) route(launch *agent.Launch, upstream bool) {
	named := c.proxy.NamedUpstream()
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

// report says what was probably wrong, and what carryon has done. stopped is the error
// of stopping the server.
func (c *runConfig) report(server *proxy.Server, stopped error, program agent.Agent) {
	for _, hint := range server.Hints() {
		c.say(hint)
	}
	if stopped != nil {
		c.say(stopped.Error())
	}
	s := server.Summary()
	line := s.String()
	switch {
	case s.Requests == 0 && s.Handshakes > 0:
		line = "the agent never used carryon: it asked for a WebSocket, which carryon does not read, and posted no request"
	case s.Requests == 0:
		line = "the agent never used carryon: 0 requests"
	}
	if s.Unused() {
		line += fmt.Sprintf(" (to point it there, %s)", program.Hint())
	}
	if s.NoList && program.HasListSetting() && !c.list {
		line += fmt.Sprintf(" (%s has its list turned off by default: %s)", program.Name, program.ListAdvice())
	}
	c.say(line)
	for _, sentence := range s.Sentences() {
		c.say(sentence)
	}
}

// say prints a line for the user, unless it is empty.
func (c *runConfig) say(line string) {
	if line != "" {
		_, _ = fmt.Fprintln(c.stderr, "carryon:", proxy.Printable(line)) // the reader may be gone
	}
}

// openLog opens the log file. Without -log-file, the log is discarded.
func (c *runConfig) openLog() (io.WriteCloser, error) {
	if c.logFile == "" {
		return discard{}, nil
	}
	return os.OpenFile(c.logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
