package proxy

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/check"
	"github.com/carryon-go/carryon/cmd/carryon/internal/numbers"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
)

// maxUntil is the longest time for a command of -until: some agents give up after ten
// minutes of nothing but signs of life.
const maxUntil = 10 * time.Minute

// untilFlags returns the flags for commands that decide when the work is done.
func (c *Config) untilFlags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{
			Name: "until", Value: (*commandLines)(&c.Until), Sources: variable("until"),
			Usage: "shell `command` that must pass before the agent's turn ends, such as 'make test'; may be repeated",
		},
		&cli.DurationFlag{
			Name: "until-timeout", Destination: &c.UntilTimeout, Value: check.DefaultTimeout, Sources: variable("until-timeout"),
			Usage: "maximum `time` for each command of -until",
		},
	}
}

// commandLines is the value of -until. Each use of the flag adds a command; a variable
// has one on each line.
type commandLines []string

// Set implements [cli.Value].
func (c *commandLines) Set(text string) error {
	added := false
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			*c, added = append(*c, line), true
		}
	}
	if !added {
		return errors.New("the command is blank")
	}
	return nil
}

// String implements [cli.Value].
func (c *commandLines) String() string { return strings.Join(*c, "\n") }

// Get implements [cli.Value].
func (c *commandLines) Get() any { return []string(*c) }

// until makes the check of the commands of -until.
type until struct {
	lines   []string
	timeout time.Duration
	current middleware.Check
}

// check returns the check that the rules ask for, or nil. It is the same one as long as
// the rules are the same, so that no command runs twice at once.
func (u *until) check(r *Rules) middleware.Check {
	if !slices.Equal(u.lines, r.Until) || u.timeout != r.UntilTimeout {
		u.lines, u.timeout, u.current = slices.Clone(r.Until), r.UntilTimeout, nil
		if len(r.Until) > 0 {
			u.current = check.Commands(r.Until, check.Timeout(r.UntilTimeout))
		}
	}
	return u.current
}

// lastCheck is what the commands of -until said when they were asked last.
type lastCheck struct {
	result    continuation.CheckResult
	problem   string // why they could not tell
	exhausted bool   // no attempt was left after that
}

func (c *lastCheck) take(o *middleware.Outcome) {
	switch {
	case o.Check != continuation.NoCheck:
		*c = lastCheck{result: o.Check, exhausted: o.Reason == reasons.CheckExhausted}
		if o.Check == continuation.CheckUnknown && o.Err != nil {
			c.problem = short(strings.TrimPrefix(o.Err.Error(), "check: "), maxText)
		}
	case o.Reason == reasons.CheckExhausted:
		c.exhausted = true
	}
}

// checks says what the commands of -until have said, in all and at last; "" if they were
// not asked.
func (f *figures) checks(lines []string, last *lastCheck) string {
	failed, passed := f.Worth.ChecksFailed, f.Counts.Passed
	what := "the check"
	switch {
	case len(lines) == 1:
		what = "`" + short(lines[0], maxName) + "`"
	case len(lines) > 1:
		what = "the commands of -until"
	}
	said := what + " failed " + times(failed)
	switch {
	case last.result == continuation.NoCheck:
		return ""
	case last.result == continuation.CheckUnknown:
		return "nobody knows whether the work is done: " + last.problem
	case failed == 0 && passed == 1:
		return what + " passed"
	case failed == 0:
		return what + " passed " + times(passed)
	case last.result == continuation.CheckPassed && passed == 1 && f.Worth.ChecksMended == 1:
		return said + ", then passed"
	case last.result == continuation.CheckPassed:
		return said + ", passed " + times(passed) + ", and passed at the end"
	case last.exhausted:
		return said + ", and had not passed when no attempt was left"
	}
	return said + ", and had not passed at the end"
}

// times says how often, in words.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return numbers.Of(n, "time")
}
