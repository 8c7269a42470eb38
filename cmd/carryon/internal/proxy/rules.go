package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/carryon-go/carryon/cmd/carryon/internal/files"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// Rules are the settings that can be changed while the proxy runs. The flags set them,
// and the file of -settings replaces some.
type Rules struct {
	TodoContinuation bool          `toml:"todo-continuation"` // whether calls are continued; no flag turns it off
	Mode             string        `toml:"mode"`              // who is there: "standard", "yolo", or "" for standard
	Questions        string        `toml:"questions"`         // what follows a turn that asks the user something: "mode", "wait" or "continue"
	Untouched        string        `toml:"untouched"`         // the same for a user turn in which the list was not written
	MaxAttempts      int           `toml:"max-attempts"`      // continuations in a row without progress, or [continuation.Off]
	TokenBudget      int           `toml:"token-budget"`      // tokens that continuations may use in a user turn; 0 for no limit
	MinInterval      time.Duration `toml:"min-interval"`
	DryRun           bool          `toml:"dry-run"` // decide and report, but send no continuations
	Holdout          Share         `toml:"holdout"` // part of the sessions that is never continued; "" for none
	Until            []string      `toml:"until"`   // commands that must pass before a user turn ends
	UntilTimeout     time.Duration `toml:"until-timeout"`
	LogLevel         string        `toml:"log-level"` // "debug", "info", "warn", "error", or "" for info
}

// Share is a number from 0 to 1, as text.
type Share string

// UnmarshalText lets a share be a number or a text in a file.
func (s *Share) UnmarshalText(text []byte) error {
	*s = Share(text)
	return nil
}

// The modes say who is there. In standard mode a person is, and a turn that the model
// hands back is the person's. In YOLO mode nobody is, and carryon goes on.
const (
	ModeStandard = "standard"
	ModeYOLO     = "yolo"
)

// valueError is a wrong value of a setting.
type valueError struct{ name, problem string }

// Error names the flag of the setting.
func (e *valueError) Error() string { return "-" + e.name + " " + e.problem }

func wrong(name, problem string, args ...any) error {
	return &valueError{name, fmt.Sprintf(problem, args...)}
}

// wrongValue returns an error that names the first wrong value.
func (r *Rules) wrongValue() error {
	_, badRule := r.handback()
	_, badShare := r.share()
	_, badLevel := r.level()
	switch {
	case r.MaxAttempts < 1 && r.MaxAttempts != continuation.Off:
		return wrong("max-attempts", "must be at least 1, or -1 for no limit, not %d (to send no continuations, use -dry-run)", r.MaxAttempts)
	case r.TokenBudget < 0:
		return wrong("token-budget", "%d is negative", r.TokenBudget)
	case r.MinInterval < 0:
		return wrong("min-interval", "%v is negative", r.MinInterval)
	case slices.ContainsFunc(r.Until, func(line string) bool { return strings.TrimSpace(line) == "" }):
		return wrong("until", "must be a command, not blank")
	case r.UntilTimeout <= 0 || r.UntilTimeout > maxUntil:
		return wrong("until-timeout", "must be more than 0 and at most %v, not %v: agents do not wait longer", maxUntil, r.UntilTimeout)
	case r.Mode != "" && r.Mode != ModeStandard && r.Mode != ModeYOLO:
		return wrong("mode", "must be standard or yolo, not %q", r.Mode)
	}
	return cmp.Or(badRule, badShare, badLevel)
}

// handback returns which turns that the model hands back are continued.
func (r *Rules) handback() (continuation.Handback, error) {
	questions, err := continuation.ParseHandbackRule(cmp.Or(r.Questions, continuation.ByMode.String()))
	if err != nil {
		return continuation.Handback{}, wrong("questions", "must be mode, wait or continue, not %q", r.Questions)
	}
	untouched, err := continuation.ParseHandbackRule(cmp.Or(r.Untouched, continuation.ByMode.String()))
	if err != nil {
		return continuation.Handback{}, wrong("untouched", "must be mode, wait or continue, not %q", r.Untouched)
	}
	return continuation.Handback{Questions: questions, Untouched: untouched}, nil
}

// share returns the part of the sessions that is never continued.
func (r *Rules) share() (float64, error) {
	share, err := strconv.ParseFloat(cmp.Or(string(r.Holdout), "0"), 64)
	if err != nil || !(share >= 0 && share <= 1) { // NaN is neither
		return 0, wrong("holdout", "must be a share from 0 to 1, such as 0.5, not %q", string(r.Holdout))
	}
	return share, nil
}

// level returns the level of the log.
func (r *Rules) level() (level slog.Level, err error) {
	for _, known := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(known.String(), cmp.Or(r.LogLevel, "info")) {
			return known, nil
		}
	}
	return 0, wrong("log-level", "must be debug, info, warn or error, not %q", r.LogLevel)
}

func (r *Rules) approval() continuation.ApprovalMode {
	if r.Mode == ModeYOLO {
		return continuation.ApprovalYOLO
	}
	return continuation.ApprovalDefault
}

// limits returns the limits of the middleware. An interval of 0 means no interval
// here, but the default in [continuation.Limits].
func (r *Rules) limits() continuation.Limits {
	limits := continuation.Limits{MaxAttempts: r.MaxAttempts, MinInterval: r.MinInterval, TokenBudget: r.TokenBudget}
	if r.MinInterval == 0 {
		limits.MinInterval = continuation.Off
	}
	return limits
}

// ofCalls returns the rules of the middleware. wrongValue must have found nothing.
func (r *Rules) ofCalls() middleware.Rules {
	handback, _ := r.handback()
	share, _ := r.share()
	return middleware.Rules{Limits: r.limits(), Handback: handback, DryRun: r.DryRun, Holdout: share}
}

// setting is a value by the name of its flag.
type setting struct {
	name  string
	value any
}

// all returns the settings, as a file may set them.
func (r *Rules) all() []setting {
	return []setting{
		{"todo-continuation", r.TodoContinuation},
		{"mode", cmp.Or(r.Mode, ModeStandard)},
		{"questions", r.Questions},
		{"untouched", r.Untouched},
		{"max-attempts", r.MaxAttempts},
		{"token-budget", r.TokenBudget},
		{"min-interval", r.MinInterval},
		{"dry-run", r.DryRun},
		{"holdout", cmp.Or(r.Holdout, "0")},
		{"until", strings.Join(r.Until, "; ")},
		{"until-timeout", r.UntilTimeout},
		{"log-level", cmp.Or(r.LogLevel, "info")},
	}
}

// maxRulesFile is the size in bytes of a file of settings that is read.
const maxRulesFile = 1 << 20

// fromFile returns the rules that are in force with the file of -settings: its values, and
// those of the flags for what it leaves out. An error names the line.
func (r Rules) fromFile(path string) (Rules, error) {
	if path == "" {
		return r, nil
	}
	r.Until = slices.Clone(r.Until) // decoding would change the flags' own
	text, err := files.Read(path, maxRulesFile)
	if err != nil {
		return Rules{}, fmt.Errorf("-settings: %w", err)
	}
	if line, err := r.decode(string(text)); err != nil {
		return Rules{}, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	return r, nil
}

// decode replaces the rules that a text in TOML sets. An error comes with its line.
func (r *Rules) decode(text string) (line int, err error) {
	decoded, err := toml.Decode(text, r)
	if err != nil {
		return explained(text, err)
	}
	for _, name := range timeNames {
		if decoded.Type(name) == "Integer" { // it would count as nanoseconds
			return lineOf(text, name), noTime(name)
		}
	}
	for _, key := range decoded.Undecoded() {
		return lineOf(text, key[0]), r.unknown(key[0])
	}
	var value *valueError
	if err := r.wrongValue(); errors.As(err, &value) {
		return lineOf(text, value.name), errors.New(value.name + " " + value.problem)
	}
	return 0, nil
}

// timeNames are the names of settings that are times.
var timeNames = []string{"min-interval", "until-timeout"} //nolint:gochecknoglobals // constant

func noTime(name string) error { return errors.New(name + ` must be a time such as "1m30s"`) }

// wrongType is how the library says that a value is of the wrong type.
var wrongType = regexp.MustCompile(`last key "([^"]+)"\): incompatible types: TOML value has type (\w+); destination has type (\w+)`)

// explained returns an error of decoding a text in the command's own words, with its
// line.
func explained(text string, err error) (line int, _ error) {
	var syntax toml.ParseError
	found := wrongType.FindStringSubmatch(err.Error())
	isSyntax := errors.As(err, &syntax)
	switch {
	case isSyntax && slices.Contains(timeNames, syntax.LastKey):
		return lineOf(text, syntax.LastKey), noTime(syntax.LastKey)
	case found != nil && slices.Contains(timeNames, found[1]):
		return lineOf(text, found[1]), noTime(found[1])
	case isSyntax:
		return syntax.Position.Line, errors.New(cmp.Or(syntax.Message, "this is no TOML"))
	case found != nil:
		return lineOf(text, found[1]), fmt.Errorf("%s must be of the type %s, not %s", found[1], found[3], found[2])
	}
	return 1, err
}

// unknown says what is wrong with a name that the file may not set.
func (r *Rules) unknown(name string) error {
	all := r.all()
	names := make([]string, 0, len(all))
	for _, s := range all {
		names = append(names, s.name)
	}
	if slices.Contains(flagNames(), name) {
		return fmt.Errorf("%s cannot be changed while the proxy runs: use the flag -%s", name, name)
	}
	return fmt.Errorf("there is no setting %q (the settings are %s)", name, strings.Join(names, ", "))
}

// lineOf returns the number of the line in which a text in TOML sets a name.
func lineOf(text, name string) int {
	at := regexp.MustCompile(`(?m)^[ \t]*\[?[ \t]*["']?` + regexp.QuoteMeta(name) + `\b`).FindStringIndex(text)
	if at == nil {
		return 1
	}
	return 1 + strings.Count(text[:at[0]], "\n")
}
