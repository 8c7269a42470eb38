package proxy

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/carryon-go/carryon/continuation"
)

// Config says what a proxy stands in front of and what carryon may do there. Its
// zero value lacks what [Config.Flags] sets by default.
type Config struct {
	Listen      string   // address
	Upstream    *url.URL // base URL of the endpoint
	YOLO        bool     // tell the model to act without asking for confirmation
	MaxAttempts int      // continuations in a row without progress, or [continuation.Off]
	MinInterval time.Duration
	DryRun      bool // decide and report, but continue nothing
	Content     bool // show texts on the page
	Verbose     bool // log every request and decision

	upstream string        // as it was given
	patience time.Duration // how long a stopping proxy waits for unfinished answers; no flag sets it
}

// Check sets the upstream from what the flags have read, and refuses values that
// cannot be used.
func (c *Config) Check() error {
	u, err := url.Parse(c.upstream)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("-upstream is not a URL such as https://api.openai.com/v1")
	case u.User != nil:
		return errors.New("-upstream has a user name in it, but keys are for clients to send")
	case c.MaxAttempts < 1 && c.MaxAttempts != continuation.Off:
		return fmt.Errorf("-max-attempts %d is neither 1 or more nor -1 (-dry-run continues nothing)", c.MaxAttempts)
	case c.MinInterval < 0:
		return fmt.Errorf("-min-interval %v is negative", c.MinInterval)
	}
	c.Upstream = u
	return nil
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
