package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/carryon-go/carryon/continuation"
)

// config holds the settings from the command line.
type config struct {
	listen      string
	upstream    *url.URL
	yolo        bool
	maxAttempts int
	minInterval time.Duration
	dryRun      bool
	content     bool
	verbose     bool
	patience    time.Duration // how long a stopping proxy waits for unfinished answers; no flag sets it
}

const usage = `Puts carryon in front of an OpenAI-compatible endpoint. Clients change their base URL
to http://127.0.0.1:8787/v1 and nothing else; their keys pass through.
`

// parse reads the command line. It writes the error, if any, to w.
func parse(args []string, w io.Writer) (config, error) {
	c := config{patience: 10 * time.Second}
	f := flag.NewFlagSet("proxy", flag.ContinueOnError)
	f.SetOutput(w)
	f.Usage = func() {
		say(w, usage)
		f.PrintDefaults()
	}
	f.StringVar(&c.listen, "listen", "127.0.0.1:8787", "`address` to listen on")
	upstream := f.String("upstream", "https://api.openai.com/v1", "base `URL` of the endpoint")
	f.BoolVar(&c.yolo, "yolo", false, "tell the model to act without asking for confirmation")
	f.IntVar(&c.maxAttempts, "max-attempts", continuation.DefaultMaxAttempts,
		"continuations in a row without progress, -1 for any `number`")
	f.DurationVar(&c.minInterval, "min-interval", continuation.DefaultMinInterval,
		"`time` between two continuations of a session, 0 for none")
	f.BoolVar(&c.dryRun, "dry-run", false, "decide and report, but continue nothing")
	f.BoolVar(&c.content, "content", false, "show texts of todos, pauses and errors at "+pagePath)
	f.BoolVar(&c.verbose, "v", false, "log every request and decision, without texts")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	err := c.check(*upstream, f.Args())
	if err != nil {
		say(w, "proxy: %v", err)
	}
	return c, err
}

// check sets the upstream and validates the flags.
func (c *config) check(upstream string, rest []string) error {
	u, err := url.Parse(upstream)
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("-upstream is not a URL such as https://api.openai.com/v1")
	case u.User != nil:
		return errors.New("-upstream has a user name in it, but keys are for clients to send")
	case c.maxAttempts < 1 && c.maxAttempts != continuation.Off:
		return fmt.Errorf("-max-attempts %d is neither 1 or more nor -1 (-dry-run continues nothing)", c.maxAttempts)
	case c.minInterval < 0:
		return fmt.Errorf("-min-interval %v is negative", c.minInterval)
	}
	c.upstream = u
	return nil
}

// limits returns the limits for carryon. An interval of 0 means none here, but
// the default there.
func (c *config) limits() continuation.Limits {
	limits := continuation.Limits{MaxAttempts: c.maxAttempts, MinInterval: c.minInterval}
	if c.minInterval == 0 {
		limits.MinInterval = continuation.Off
	}
	return limits
}
