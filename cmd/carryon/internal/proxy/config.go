package proxy

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/cmd/carryon/internal/price"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/wire/protocols"
	"github.com/carryon-go/carryon/middleware"
)

// Config is the configuration of a proxy. The zero value is not usable:
// [Config.Flags] sets the defaults.
type Config struct {
	Listen        string        // address
	Upstream      *url.URL      // base URL of the endpoint
	Routes        []Route       // requests with another endpoint; the first that matches counts
	Rules                       // as the flags set them; [Config.rules] returns those in force
	Settings      string        // file that replaces some of the rules; "" for none
	YOLO          bool          // short for the mode "yolo"
	Ask           bool          // ask at the end of a user turn without a list whether anything is open
	Price         string        // of a million tokens: new input, cached input, output; "" if it is not known
	Content       bool          // show texts on the page
	Verbose       bool          // short for the log level "debug"
	LogFormat     string        // "text" or "json"
	TodoTools     []string      // additional tools that write the list
	Usage         string        // which usage a joined answer reports: "one", "sum" or "last"
	SessionHeader string        // header that names the session; it overrides the headers of agents
	CORS          []string      // origins of websites that may use the proxy
	Hosts         []string      // additional host names that clients may use for the proxy
	SwitchSecret  string        // whoever switches continuing must know it; "" for one that is made up
	DrainTimeout  time.Duration // how long a stopping proxy waits for open answers
	MaxWait       time.Duration // time after which clients give up; 0 if they send it themselves, or never give up
	State         string        // URL of the database for the shared state; "" for memory
	Stats         string        // file in which the figures of the page are kept; "" for the shared state, if there is one
	AtWork        string        // file that remembers which sessions were continued, see package atwork; "" for none; no flag sets it
	Metrics       bool          // serve metrics for Prometheus
	Clock         clock.Clock   // nil is the system's
	Redirect      bool          // requests of [Server.Answer] to a model go to Upstream

	// Via names the proxy for a URL, and Roots are who may vouch for an upstream. Without
	// them, the environment and the system say so.
	Via   func(*url.URL) (*url.URL, error)
	Roots *x509.CertPool

	upstream     string        // the unparsed URL of Upstream
	source       string        // what sets upstream, in errors
	listener     net.Listener  // of Bind
	bodyPatience time.Duration // how long a client may pause within a request body; no flag sets it

	level   slog.LevelVar // of the log
	current atomic.Pointer[inForce]
}

// SetUpstream sets the base URL of the endpoint in place of the flag -upstream.
// source is what it comes from, in errors. [Config.Check] parses the URL.
func (c *Config) SetUpstream(upstream, source string) {
	c.upstream, c.source = upstream, source
}

// NamedUpstream returns the base URL that the flag -upstream sets, or its default.
func (c *Config) NamedUpstream() string { return c.upstream }

// Check parses the base URLs, reads the file of settings and puts its rules in force. It
// returns an error that names the flag, or the source, if a value is invalid.
func (c *Config) Check() error {
	var err error
	if c.Upstream, err = parseBaseURL(cmp.Or(c.source, "-upstream"), c.upstream); err != nil {
		return err
	}
	for i := range c.Routes {
		if c.Routes[i].url, err = parseBaseURL(c.Routes[i].Source, c.Routes[i].Base); err != nil {
			return err
		}
	}
	return c.checkValues()
}

// parseBaseURL reads the base URL of an endpoint, which has that name in errors.
func parseBaseURL(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%s must be a URL such as https://api.openai.com/v1", name)
	case u.User != nil:
		return nil, fmt.Errorf("%s must not contain a user name: clients send their own API keys", name)
	}
	if endpoint := protocols.Endpoint(strings.TrimRight(u.Path, "/")); endpoint != "" {
		return nil, fmt.Errorf("%s must be a base URL: leave out %s", name, endpoint)
	}
	return u, nil
}

// kept returns where the figures are kept: in a "file", in the shared "state", or
// nowhere.
func (c *Config) kept() string {
	switch {
	case c.Stats != "":
		return "file"
	case c.State != "":
		return "state"
	}
	return ""
}

// price returns what a million tokens cost, or nil if that is not known. Check has looked
// at it.
func (c *Config) price() *price.Price {
	p, _ := price.Parse(c.Price)
	return p
}

func (c *Config) checkValues() error {
	switch {
	case c.MaxWait < 0:
		return fmt.Errorf("-max-wait %v is negative", c.MaxWait)
	case c.DrainTimeout < 0:
		return fmt.Errorf("-drain-timeout %v is negative", c.DrainTimeout)
	case c.Usage != "one" && c.Usage != "sum" && c.Usage != "last":
		return fmt.Errorf("-usage must be one, sum or last, not %q", c.Usage)
	case c.LogFormat != "text" && c.LogFormat != "json":
		return fmt.Errorf("-log must be text or json, not %q", c.LogFormat)
	case c.SessionHeader != "" && !headerName.MatchString(c.SessionHeader):
		return fmt.Errorf("-session-header must be the name of a header, not %q", c.SessionHeader)
	}
	_, badPrice := price.Parse(c.Price)
	return cmp.Or(c.checkRules(), badPrice, c.checkHosts(), c.checkOrigins(), c.checkSecret(), c.checkState())
}

// checkRules checks the rules of the flags, and puts those of the file in force.
func (c *Config) checkRules() error {
	switch {
	case c.YOLO && c.Mode == ModeStandard:
		return errors.New("-yolo and -mode standard contradict each other")
	case c.Verbose && c.LogLevel != "" && c.LogLevel != "debug":
		return fmt.Errorf("-v and -log-level %s contradict each other", c.LogLevel)
	}
	if c.YOLO {
		c.Mode = ModeYOLO
	}
	if c.Verbose {
		c.LogLevel = "debug"
	}
	if err := c.wrongValue(); err != nil {
		return err
	}
	if c.Settings == "" {
		return nil
	}
	rules, err := c.fromFile(c.Settings)
	if err != nil {
		return err
	}
	c.current.Store(&inForce{Rules: rules})
	return nil
}

// inForce is what a [control] changes. It is replaced as a whole.
type inForce struct {
	Rules

	offSince time.Time // when continuing was switched off; zero while it is on
}

// rules returns the rules in force: those of the flags, until a control or the file has
// set others. They must not be changed.
func (c *Config) rules() *Rules {
	if current := c.current.Load(); current != nil {
		return &current.Rules
	}
	return &c.Rules
}

// offSince returns since when continuing is off, zero if it is on.
func (c *Config) offSince() time.Time {
	if current := c.current.Load(); current != nil {
		return current.offSince
	}
	return time.Time{}
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// checkHosts refuses names that the Host header of a request cannot hold.
func (c *Config) checkHosts() error {
	for i, host := range c.Hosts {
		if host == "" || strings.ContainsAny(host, ":/*") {
			return fmt.Errorf("-allow-host must be a host name alone, such as box.example, not %q", host)
		}
		c.Hosts[i] = strings.ToLower(host)
	}
	return nil
}

// checkOrigins refuses origins that a browser never sends.
func (c *Config) checkOrigins() error {
	for _, origin := range c.CORS {
		if origin == "*" {
			continue
		}
		if err := http.NewCrossOriginProtection().AddTrustedOrigin(origin); err != nil || strings.Contains(origin, "*") {
			return fmt.Errorf("-cors must be an origin such as https://app.example, or * for all, not %q", origin)
		}
	}
	return nil
}

// leastSwitchSecret is how many characters the secret of the switch has at least.
const leastSwitchSecret = 8

// checkSecret refuses a secret that can be guessed. It never quotes it.
func (c *Config) checkSecret() error {
	if c.SwitchSecret != "" && len(c.SwitchSecret) < leastSwitchSecret {
		return fmt.Errorf("-switch-secret (%s) must have at least %d characters", secretVariable, leastSwitchSecret)
	}
	return nil
}

func (c *Config) checkState() error {
	if c.State == "" {
		return nil
	}
	if _, err := opener(c.State); err != nil {
		return fmt.Errorf("-state: %w", err)
	}
	return nil
}

// usage returns which usage joined answers report.
func (c *Config) usage() middleware.UsageMode {
	switch c.Usage {
	case "sum":
		return middleware.UsageSum
	case "last":
		return middleware.UsageLastTurn
	}
	return middleware.UsageOneAnswer
}

// balancerWait is how long a client behind a balancer waits, unless -max-wait says it.
// Balancers give up after 50 or 60 seconds of silence, and the client then loses the whole
// answer.
const balancerWait = 45 * time.Second

// maxWait returns how long the client of a request waits, or 0 if it does not give up.
func (c *Config) maxWait(r *http.Request) time.Duration {
	if c.MaxWait == 0 && cameThroughBalancer(r) {
		return balancerWait
	}
	return c.MaxWait
}

// cameThroughBalancer reports whether somebody has passed a request on. nginx says so by
// an old version of HTTP, which no program that calls a model speaks.
func cameThroughBalancer(r *http.Request) bool {
	for _, passedOn := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-Ip"} {
		if r.Header[passedOn] != nil {
			return true
		}
	}
	return r.ProtoMajor == 1 && r.ProtoMinor == 0
}

// now returns the time.
func (c *Config) now() time.Time {
	if c.Clock != nil {
		return c.Clock.Now()
	}
	return time.Now()
}

// DefaultAddress is where "carryon proxy" listens by default.
const DefaultAddress = "127.0.0.1:8787"

// ListenFlag returns the flag that sets the address to listen on.
func (c *Config) ListenFlag(byDefault string) cli.Flag {
	return &cli.StringFlag{
		Name: "listen", Category: GroupEndpoint, Destination: &c.Listen, Value: byDefault, Sources: variable("listen"),
		Usage: "`address` to listen on",
	}
}

// UpstreamFlag returns the flag that sets the base URL of c's endpoint. The help shows
// defaultText as its default, unless that is "".
func (c *Config) UpstreamFlag(defaultText string) cli.Flag {
	return &cli.StringFlag{
		Name: "upstream", Category: GroupEndpoint, Destination: &c.upstream, Value: "https://api.openai.com/v1", DefaultText: defaultText, Sources: variable("upstream"),
		Usage: "base `URL` of the endpoint",
	}
}

// SettingsFlag returns the flag that names the file of settings.
func (c *Config) SettingsFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "settings", Category: GroupOperators, Destination: &c.Settings, Sources: variable("settings"),
		Usage: "TOML `file` whose settings replace those of flags; SIGHUP makes the proxy read it again",
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

// The groups of flags in the help.
const (
	GroupContinuing = "Continuing"
	GroupEndpoint   = "The endpoint"
	GroupFigures    = "Figures"
	GroupOperators  = "For operators"
)

// grouped puts flags into a group.
func grouped(group string, flags ...cli.Flag) []cli.Flag {
	for _, f := range flags {
		if in, ok := f.(cli.CategorizableFlag); ok {
			in.SetCategory(group)
		}
	}
	return flags
}

// Flags returns the flags of "carryon proxy" and "carryon run" but those for which each
// has a default of its own. It sets the defaults that no flag has. Call [Config.Check]
// after parsing.
func (c *Config) Flags() []cli.Flag {
	c.TodoContinuation, c.bodyPatience = true, bodyPatience
	return slices.Concat(c.continuingFlags(), grouped(GroupContinuing, c.untilFlags()...), c.endpointFlags(), c.figureFlags(), c.operatorFlags())
}

func (c *Config) continuingFlags() []cli.Flag {
	return grouped(GroupContinuing,
		textFlag("mode", &c.Mode, "", "`mode`: standard (somebody is watching: when in doubt, wait for them) or yolo (nobody is: when in doubt, go on)"),
		boolFlag("yolo", &c.YOLO, "short for -mode yolo"),
		textFlag("questions", &c.Questions, "mode", "`rule` for turns that ask the user something: mode (as -mode says), wait or continue"),
		textFlag("untouched", &c.Untouched, "mode", "`rule` for user turns in which the model did not update the list: mode (as -mode says), wait or continue"),
		boolFlag("ask", &c.Ask, "where there is no todo list, ask the model at the end of a user turn whether anything is open"),
		listFlag("todo-tools", &c.TodoTools, "`names` of additional tools that write a todo list, separated by commas"),
		&cli.IntFlag{
			Name: "max-attempts", Destination: &c.MaxAttempts, Value: continuation.DefaultLimits().MaxAttempts, Sources: variable("max-attempts"),
			Usage: fmt.Sprintf("maximum `number` of continuations in a row without a tool call or progress, -1 for no limit; carryon always stops after %d without progress",
				continuation.DefaultLimits().MaxWithoutProgress),
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
			Usage: "`time` that clients wait for an answer; continuations end before that. 0: 45s behind a balancer, else no limit; a shorter timeout of the SDK's counts too",
		},
		boolFlag("dry-run", &c.DryRun, "decide and report, but send no continuations"),
	)
}

func (c *Config) endpointFlags() []cli.Flag {
	return grouped(GroupEndpoint,
		textFlag("usage", &c.Usage, "one", "`kind` of token usage that a continued answer reports: one (as if it were one answer), sum (all its turns) or last (the last turn)"),
		textFlag("session-header", &c.SessionHeader, "", "`name` of an additional header that identifies the conversation; carryon knows the headers of common agents"),
		listFlag("cors", &c.CORS, "`origins` of websites that may use the proxy, * for all"),
		listFlag("allow-host", &c.Hosts, "additional host `names` that clients may use for the proxy; localhost and IP addresses always work"),
	)
}

func (c *Config) figureFlags() []cli.Flag {
	return grouped(GroupFigures,
		textFlag("holdout", (*string)(&c.Holdout), "", "`share` (0 to 1) of sessions with a name that carryon counts but never continues, for comparison"),
		textFlag("price", &c.Price, "", "`dollars` per million tokens, to show what continuations cost: "+price.Usage),
		boolFlag("content", &c.Content, "show the texts of todos, pauses and errors at "+pagePath),
		textFlag("stats", &c.Stats, "", "`file` that keeps the page's figures across restarts; several processes may use it; default: the -state database, if any"),
		boolFlag("metrics", &c.Metrics, "serve metrics for Prometheus at "+metricsPath),
	)
}

func (c *Config) operatorFlags() []cli.Flag {
	return grouped(GroupOperators,
		textFlag("state", &c.State, "", "`URL` of a database in which several proxies share their state, redis://… or postgres://…; without this flag, state is in memory"),
		&cli.DurationFlag{
			Name: "drain-timeout", Destination: &c.DrainTimeout, Value: defaultDrain, Sources: variable("drain-timeout"),
			Usage: "`time` for open answers to finish when the proxy stops",
		},
		textFlag("switch-secret", &c.SwitchSecret, "", "`secret` of the off switch, better set by the variable: others can read flags; made up and printed by default"),
		textFlag("log", &c.LogFormat, "text", "`format` of the log: text or json"),
		&cli.StringFlag{
			Name: "log-level", Destination: &c.LogLevel, DefaultText: "info", Sources: variable("log-level"),
			Usage: "lowest `level` that is logged: debug, info (what carryon adds, and what is wrong), warn or error",
		},
		boolFlag("v", &c.Verbose, "short for -log-level debug: log every request and decision, without message texts"),
	)
}

func boolFlag(name string, value *bool, usage string) cli.Flag {
	return &cli.BoolFlag{Name: name, Destination: value, Sources: variable(name), Usage: usage}
}

func textFlag(name string, value *string, otherwise, usage string) cli.Flag {
	return &cli.StringFlag{Name: name, Destination: value, Value: otherwise, Sources: variable(name), Usage: usage}
}

func listFlag(name string, values *[]string, usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: name, Destination: values, Sources: variable(name), Usage: usage}
}

// secretVariable is the environment variable of -switch-secret.
const secretVariable = "CARRYON_SWITCH_SECRET" //nolint:gosec // its name

// variable returns the environment variable of a flag: CARRYON_MAX_ATTEMPTS for
// -max-attempts.
func variable(flag string) cli.ValueSourceChain {
	name := flag
	if name == "v" {
		name = "verbose"
	}
	return cli.EnvVars("CARRYON_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
}
