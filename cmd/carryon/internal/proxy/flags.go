package proxy

import (
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/continuation"
)

// DefaultAddress is where a proxy listens that others have to find.
const DefaultAddress = "127.0.0.1:8787"

// ListenFlag returns the flag that sets the address of c.
func (c *Config) ListenFlag(otherwise string) cli.Flag {
	return &cli.StringFlag{
		Name: "listen", Destination: &c.Listen, Value: otherwise, Sources: variable("listen"),
		Usage: "`address` to listen on",
	}
}

// UpstreamFlag returns the flag that sets the base URL of c's endpoint. Help says
// what it is by default.
func (c *Config) UpstreamFlag(help string) cli.Flag {
	return &cli.StringFlag{
		Name: "upstream", Destination: &c.upstream, Value: "https://api.openai.com/v1", DefaultText: help, Sources: variable("upstream"),
		Usage: "base `URL` of the endpoint",
	}
}

// Flags returns the other flags that set c. Whoever has parsed them calls
// [Config.Check].
func (c *Config) Flags() []cli.Flag {
	c.patience = 10 * time.Second
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
			Name: "max-attempts", Destination: &c.MaxAttempts, Value: continuation.DefaultMaxAttempts, Sources: variable("max-attempts"),
			Usage: "`number` of continuations in a row without progress, -1 for no limit",
		},
		&cli.DurationFlag{
			Name: "min-interval", Destination: &c.MinInterval, Value: continuation.DefaultMinInterval, Sources: variable("min-interval"),
			Usage: "least `time` between two continuations of a session, 0 for none",
		},
		&cli.DurationFlag{
			Name: "max-wait", Destination: &c.MaxWait, Sources: variable("max-wait"),
			Usage: "`time` that clients wait for an answer if they do not say so themselves, 0 for no limit: continuations end before",
		},
		on("yolo", &c.YOLO, "tell the model to act without asking for confirmation"),
		on("dry-run", &c.DryRun, "decide and report, but continue nothing"),
		on("content", &c.Content, "show texts of todos, pauses and errors at "+pagePath),
		list("todo-tools", &c.TodoTools, "`names` of more tools that write a todo list, separated by commas"),
		text("usage", &c.Usage, "one", "`kind` of usage that a continued answer reports: one (as if it were one answer), sum (what you pay) or last (the last turn)"),
		text("session-header", &c.SessionHeader, "", "`name` of one more header that identifies the conversation; those of known agents need no flag"),
		list("cors", &c.CORS, "`origins` of websites that may use the proxy, * for all"),
		list("allow-host", &c.Hosts, "more host `names` by which clients may reach the proxy; localhost and IP addresses always work"),
		text("state", &c.State, "", "`URL` of the database in which several proxies share their state, redis://… or postgres://…; without it, state is in memory"),
		on("metrics", &c.Metrics, "count what carryon does, for Prometheus at "+metricsPath),
		text("log", &c.LogFormat, "text", "`format` of the log: text or json"),
		on("v", &c.Verbose, "log every request and decision, without texts"),
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
