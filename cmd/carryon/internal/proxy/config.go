package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/wire/protocols"
	"github.com/carryon-go/carryon/middleware"
)

// Config is the configuration of a proxy. The zero value is not usable:
// [Config.Flags] sets the defaults.
type Config struct {
	Listen        string   // address
	Upstream      *url.URL // base URL of the endpoint
	Routes        []Route  // requests with another endpoint; the first that matches counts
	Mode          string   // who is there: "standard", "yolo", or "" for standard
	YOLO          bool     // short for the mode "yolo"
	Questions     string   // what follows a turn that asks the user something: "mode", "wait" or "continue"
	Untouched     string   // the same for a user turn in which the list was not written
	MaxAttempts   int      // continuations in a row without progress, or [continuation.Off]
	TokenBudget   int      // tokens that continuations may use in a user turn; 0 for no limit
	MinInterval   time.Duration
	Ask           bool             // ask at the end of a user turn without a list whether anything is open
	DryRun        bool             // decide and report, but send no continuations
	Holdout       string           // share of the sessions that is never continued, from 0 to 1; "" for none
	Price         string           // of a million tokens: new input, cached input, output; "" if it is not known
	Content       bool             // show texts on the page
	Verbose       bool             // log every request and decision
	LogFormat     string           // "text" or "json"
	TodoTools     []string         // additional tools that write the list
	Usage         string           // which usage a joined answer reports: "one", "sum" or "last"
	SessionHeader string           // header that names the session; it overrides the headers of agents
	CORS          []string         // origins of websites that may use the proxy
	Hosts         []string         // additional host names that clients may use for the proxy
	MaxWait       time.Duration    // time after which clients give up; 0 if they send it themselves, or never give up
	State         string           // URL of the database for the shared state; "" for memory
	Stats         string           // file in which the figures of the page are kept; "" for the shared state, if there is one
	Metrics       bool             // serve metrics for Prometheus
	Clock         middleware.Clock // nil is the system's

	upstream     string        // the unparsed URL of Upstream
	source       string        // what sets upstream, in errors
	listener     net.Listener  // of Bind
	patience     time.Duration // how long a stopping proxy waits for open answers; no flag sets it
	bodyPatience time.Duration // how long a client may pause within a request body; no flag sets it
}

// SetUpstream sets the base URL of the endpoint in place of the flag -upstream.
// source is what it comes from, in errors. [Config.Check] parses the URL.
func (c *Config) SetUpstream(upstream, source string) {
	c.upstream, c.source = upstream, source
}

// NamedUpstream returns the base URL that the flag -upstream sets, or its default.
func (c *Config) NamedUpstream() string { return c.upstream }

// Check parses the base URLs, and returns an error that names the flag, or the
// source, if a value is invalid.
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

// The modes say who is there. In standard mode a person is, and a turn that the model
// hands back is the person's. In YOLO mode nobody is, and carryon goes on.
const (
	ModeStandard = "standard"
	ModeYOLO     = "yolo"
)

// isYOLO reports whether nobody is there.
func (c *Config) isYOLO() bool { return c.YOLO || c.Mode == ModeYOLO }

// handback returns which turns that the model hands back are continued.
func (c *Config) handback() (continuation.Handback, error) {
	questions, err := continuation.ParseHandbackRule(cmp.Or(c.Questions, continuation.ByMode.String()))
	if err != nil {
		return continuation.Handback{}, fmt.Errorf("-questions must be mode, wait or continue, not %q", c.Questions)
	}
	untouched, err := continuation.ParseHandbackRule(cmp.Or(c.Untouched, continuation.ByMode.String()))
	if err != nil {
		return continuation.Handback{}, fmt.Errorf("-untouched must be mode, wait or continue, not %q", c.Untouched)
	}
	return continuation.Handback{Questions: questions, Untouched: untouched}, nil
}

// holdout returns the share of the sessions that is never continued.
func (c *Config) holdout() (float64, error) {
	share, err := strconv.ParseFloat(cmp.Or(c.Holdout, "0"), 64)
	if err != nil || !(share >= 0 && share <= 1) { // NaN is neither
		return 0, fmt.Errorf("-holdout must be a share from 0 to 1, such as 0.5, not %q", c.Holdout)
	}
	return share, nil
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

// price returns what a million tokens cost; nothing if that is not known.
func (c *Config) price() (price, error) {
	p, err := parsePrice(cmp.Or(c.Price, "0,0,0"))
	if err != nil {
		return price{}, fmt.Errorf("-price must be three prices of a million tokens (new input, cached input, output), such as 3,0.30,15, not %q", c.Price)
	}
	return p, nil
}

func (c *Config) checkValues() error {
	switch {
	case c.MaxAttempts < 1 && c.MaxAttempts != continuation.Off:
		return fmt.Errorf("-max-attempts must be at least 1, or -1 for no limit, not %d (to send no continuations, use -dry-run)", c.MaxAttempts)
	case c.TokenBudget < 0:
		return fmt.Errorf("-token-budget %d is negative", c.TokenBudget)
	case c.MinInterval < 0:
		return fmt.Errorf("-min-interval %v is negative", c.MinInterval)
	case c.MaxWait < 0:
		return fmt.Errorf("-max-wait %v is negative", c.MaxWait)
	case c.Usage != "one" && c.Usage != "sum" && c.Usage != "last":
		return fmt.Errorf("-usage must be one, sum or last, not %q", c.Usage)
	case c.LogFormat != "text" && c.LogFormat != "json":
		return fmt.Errorf("-log must be text or json, not %q", c.LogFormat)
	case c.SessionHeader != "" && !headerName.MatchString(c.SessionHeader):
		return fmt.Errorf("-session-header must be the name of a header, not %q", c.SessionHeader)
	}
	_, badRule := c.handback()
	_, badShare := c.holdout()
	_, badPrice := c.price()
	return cmp.Or(c.checkMode(), badRule, badShare, badPrice, c.checkHosts(), c.checkOrigins(), c.checkState())
}

// checkMode lets no mode pass that does not exist, nor two that contradict each other.
func (c *Config) checkMode() error {
	switch {
	case c.Mode != "" && c.Mode != ModeStandard && c.Mode != ModeYOLO:
		return fmt.Errorf("-mode must be standard or yolo, not %q", c.Mode)
	case c.YOLO && c.Mode == ModeStandard:
		return errors.New("-yolo and -mode standard contradict each other")
	}
	return nil
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// checkHosts lets no host name pass that no request can have.
func (c *Config) checkHosts() error {
	for i, host := range c.Hosts {
		if host == "" || strings.ContainsAny(host, ":/*") {
			return fmt.Errorf("-allow-host must be a host name alone, such as box.example, not %q", host)
		}
		c.Hosts[i] = strings.ToLower(host)
	}
	return nil
}

// checkOrigins lets no origin pass that no browser sends.
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

func (c *Config) checkState() error {
	if c.State == "" {
		return nil
	}
	if _, err := stateKind(c.State); err != nil {
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

// now returns the time.
func (c *Config) now() time.Time {
	if c.Clock != nil {
		return c.Clock.Now()
	}
	return time.Now()
}

// limits returns the limits of the middleware. An interval of 0 means no interval
// here, but the default in [continuation.Limits].
func (c *Config) limits() continuation.Limits {
	limits := continuation.Limits{MaxAttempts: c.MaxAttempts, MinInterval: c.MinInterval, TokenBudget: c.TokenBudget}
	if c.MinInterval == 0 {
		limits.MinInterval = continuation.Off
	}
	return limits
}
