package proxy

import (
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/continuation"
)

// DefaultAddress is where "carryon proxy" listens by default.
const DefaultAddress = "127.0.0.1:8787"

// ListenFlag returns the flag that sets c.Listen, which is otherwise by default.
func (c *Config) ListenFlag(otherwise string) cli.Flag {
	return &cli.StringFlag{
		Name: "listen", Destination: &c.Listen, Value: otherwise, Sources: variable("listen"),
		Usage: "`address` to listen on",
	}
}

// UpstreamFlag returns the flag that sets the base URL of c's endpoint. The help
// text shows help as its default, unless help is "".
func (c *Config) UpstreamFlag(help string) cli.Flag {
	return &cli.StringFlag{
		Name: "upstream", Destination: &c.upstream, Value: "https://api.openai.com/v1", DefaultText: help, Sources: variable("upstream"),
		Usage: "base `URL` of the endpoint",
	}
}

// SettingsFlag returns the flag that names the file of settings.
func (c *Config) SettingsFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "settings", Destination: &c.Settings, Sources: variable("settings"),
		Usage: "`file` of settings in TOML that replace those of flags; it is read again on SIGHUP, while the proxy runs",
	}
}

// defaultDrain is how long open answers have to finish by default.
const defaultDrain = 10 * time.Second

// flagNames returns the names of all flags.
func flagNames() (names []string) {
	c := new(Config)
	for _, f := range append(c.Flags(), c.ListenFlag(""), c.UpstreamFlag(""), c.SettingsFlag()) {
		names = append(names, f.Names()...)
	}
	return names
}

// Flags returns the remaining flags of c. Call [Config.Check] after parsing them.
func (c *Config) Flags() []cli.Flag {
	c.TodoContinuation, c.bodyPatience = true, bodyPatience
	on := func(name string, value *bool, usage string) cli.Flag {
		return &cli.BoolFlag{Name: name, Destination: value, Sources: variable(name), Usage: usage}
	}
	text := func(name string, value *string, otherwise, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Destination: value, Value: otherwise, Sources: variable(name), Usage: usage}
	}
	list := func(name string, values *[]string, usage string) cli.Flag {
		return &cli.StringSliceFlag{Name: name, Destination: values, Sources: variable(name), Usage: usage}
	}
	return []cli.Flag{
		&cli.IntFlag{
			Name: "max-attempts", Destination: &c.MaxAttempts, Value: continuation.DefaultLimits().MaxAttempts, Sources: variable("max-attempts"),
			Usage: "maximum `number` of continuations in a row without progress, -1 for no limit",
		},
		&cli.IntFlag{
			Name: "token-budget", Destination: &c.TokenBudget, Sources: variable("token-budget"),
			Usage: "maximum `number` of tokens that continuations may use until the user writes again, 0 for no limit",
		},
		&cli.DurationFlag{
			Name: "min-interval", Destination: &c.MinInterval, Value: continuation.DefaultLimits().MinInterval, Sources: variable("min-interval"),
			Usage: "minimum `time` between two continuations of a session, 0 for none",
		},
		&cli.DurationFlag{
			Name: "max-wait", Destination: &c.MaxWait, Sources: variable("max-wait"),
			Usage: "`time` after which clients give up; continuations end earlier. Official SDKs send it themselves. 0 for no limit",
		},
		&cli.DurationFlag{
			Name: "drain-timeout", Destination: &c.DrainTimeout, Value: defaultDrain, Sources: variable("drain-timeout"),
			Usage: "`time` that open answers have to finish when the proxy stops",
		},
		text("mode", &c.Mode, "", "`mode`: standard (somebody is watching: when in doubt, wait for them) or yolo (nobody is: when in doubt, go on)"),
		on("yolo", &c.YOLO, "short for -mode yolo"),
		text("questions", &c.Questions, "mode", "`rule` for turns that ask the user something: mode (as -mode says), wait or continue"),
		text("untouched", &c.Untouched, "mode", "`rule` for user turns in which the list was not written: mode (as -mode says), wait or continue"),
		on("ask", &c.Ask, "where there is no todo list, ask the model at the end of a user turn whether anything is open"),
		on("dry-run", &c.DryRun, "decide and report, but send no continuations"),
		text("holdout", (*string)(&c.Holdout), "", "`share` of the named sessions, from 0 to 1, that is decided and counted but never continued, for comparison"),
		text("price", &c.Price, "", "`prices` of a million tokens in dollars, to show what continuations cost: new input, cached input and output, as in 3,0.30,15"),
		on("content", &c.Content, "show the texts of todos, pauses and errors at "+pagePath),
		list("todo-tools", &c.TodoTools, "`names` of additional tools that write a todo list, separated by commas"),
		text("usage", &c.Usage, "one", "`kind` of token usage that a continued answer reports: one (as if it were one answer), sum (all turns, as billed) or last (the last turn)"),
		text("session-header", &c.SessionHeader, "", "`name` of an additional header that identifies the conversation; carryon knows the headers of common agents"),
		list("cors", &c.CORS, "`origins` of websites that may use the proxy, * for all"),
		list("allow-host", &c.Hosts, "additional host `names` that clients may use for the proxy; localhost and IP addresses always work"),
		text("state", &c.State, "", "`URL` of a database in which several proxies share their state, redis://… or postgres://…; without this flag, state is in memory"),
		text("stats", &c.Stats, "", "`file` in which the figures of the page are kept, so that they survive a restart; several processes may use it; without this flag, the state of -state has them"),
		on("metrics", &c.Metrics, "serve metrics for Prometheus at "+metricsPath),
		text("log", &c.LogFormat, "text", "`format` of the log: text or json"),
		text("log-level", &c.LogLevel, "", "lowest `level` of what is logged: debug, info (what carryon adds, and what is wrong), warn or error"),
		on("v", &c.Verbose, "short for -log-level debug: log every request and decision, without message texts"),
	}
}

// variable returns the environment variable of a flag: CARRYON_MAX_ATTEMPTS for
// -max-attempts.
func variable(flag string) cli.ValueSourceChain {
	name := flag
	if name == "v" {
		name = "verbose"
	}
	return cli.EnvVars("CARRYON_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
}
