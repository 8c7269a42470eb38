package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// Config says what a proxy stands in front of and what carryon may do there. Its
// zero value lacks what [Config.Flags] sets by default.
type Config struct {
	Listen        string   // address
	Upstream      *url.URL // base URL of the endpoint
	Anthropic     *url.URL // base URL for requests of Anthropic's API; nil if that is the Upstream too
	YOLO          bool     // tell the model to act without asking for confirmation
	MaxAttempts   int      // continuations in a row without progress, or [continuation.Off]
	MinInterval   time.Duration
	DryRun        bool             // decide and report, but continue nothing
	Content       bool             // show texts on the page
	Verbose       bool             // log every request and decision
	LogFormat     string           // "text" or "json"
	TodoTools     []string         // more tools that write the list
	Usage         string           // which usage a joined answer reports: "one", "sum" or "last"
	SessionHeader string           // names the session, before the headers of agents
	CORS          []string         // origins of websites that may use the proxy
	Hosts         []string         // more names that clients may reach the proxy by
	MaxWait       time.Duration    // how long clients wait for an answer; 0 if they say it themselves, or wait for ever
	State         string           // URL of what several proxies keep their state in; "" is memory
	Metrics       bool             // count for Prometheus
	Clock         middleware.Clock // nil is the system's

	upstream  string        // as it was given
	anthropic string        // likewise
	patience  time.Duration // how long a stopping proxy waits for unfinished answers; no flag sets it
}

// SetUpstreams sets the base URLs of two providers, for a program that may speak
// to either, in place of the flag. [Config.Check] refuses what is none.
func (c *Config) SetUpstreams(openAI, anthropic string) {
	c.upstream, c.anthropic = openAI, anthropic
}

// Check sets the upstreams from what the flags have read, and refuses values that
// cannot be used.
func (c *Config) Check() error {
	var err error
	if c.Upstream, err = parseBaseURL(c.upstream); err != nil {
		return err
	}
	if c.anthropic != "" {
		if c.Anthropic, err = parseBaseURL(c.anthropic); err != nil {
			return err
		}
	}
	return c.checkValues()
}

// parseBaseURL reads the base URL of an endpoint.
func parseBaseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("-upstream is not a URL such as https://api.openai.com/v1")
	case u.User != nil:
		return nil, errors.New("-upstream must not contain a user name: clients send their own keys")
	case endpointOf(u.Path) != "":
		return nil, fmt.Errorf("-upstream is a base URL: leave %s out", endpointOf(u.Path))
	}
	return u, nil
}

// upstreamOf returns the base URL of the endpoint that a request is for.
func (c *Config) upstreamOf(r *http.Request) *url.URL {
	if c.Anthropic != nil && r.Header.Get("Anthropic-Version") != "" { // its SDKs always send it
		return c.Anthropic
	}
	return c.Upstream
}

func (c *Config) checkValues() error {
	switch {
	case c.MaxAttempts < 1 && c.MaxAttempts != continuation.Off:
		return fmt.Errorf("-max-attempts must be at least 1, or -1 for no limit, and not %d (to continue nothing, use -dry-run)", c.MaxAttempts)
	case c.MinInterval < 0:
		return fmt.Errorf("-min-interval %v is negative", c.MinInterval)
	case c.MaxWait < 0:
		return fmt.Errorf("-max-wait %v is negative", c.MaxWait)
	case c.Usage != "one" && c.Usage != "sum" && c.Usage != "last":
		return fmt.Errorf("-usage must be one, sum or last, and not %q", c.Usage)
	case c.LogFormat != "text" && c.LogFormat != "json":
		return fmt.Errorf("-log must be text or json, and not %q", c.LogFormat)
	}
	return nil
}

// endpointOf returns the endpoint that a path ends in, if it is not a base URL's.
func endpointOf(path string) string {
	for _, endpoint := range endpoints() {
		if strings.HasSuffix(strings.TrimRight(path, "/"), endpoint) {
			return endpoint
		}
	}
	return ""
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

// limits returns the limits for carryon. An interval of 0 means none here, but
// the default there.
func (c *Config) limits() continuation.Limits {
	limits := continuation.Limits{MaxAttempts: c.MaxAttempts, MinInterval: c.MinInterval}
	if c.MinInterval == 0 {
		limits.MinInterval = continuation.Off
	}
	return limits
}
