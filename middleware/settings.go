package middleware

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/lru"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/session"
)

// Settings holds the settings of sessions. A session has the default for a value that
// it has not set; the defaults are those of the session "". A change takes effect at
// the next decision. Settings is safe for concurrent use and starts no goroutine.
//
// Without [WithRecords], the settings are lost when the process ends, and at most
// [continuation.Limits].MaxSessions sessions have values of their own: beyond that, the
// least recently used session falls back to the defaults. With [WithRecords], the
// values of a session are kept forever and apply in all processes that share the
// store. The defaults always belong to one process.
type Settings struct {
	store session.Store // nil: sessions are kept here
	limit int           // of the sessions kept here

	mu       sync.Mutex
	defaults continuation.Values
	sessions *lru.Table[decision.Overrides]
}

// newSettings returns settings with these defaults, which are kept in memory for at
// most as many sessions as the limit says.
func newSettings(defaults continuation.Values, limit int) *Settings {
	return &Settings{defaults: defaults, limit: limit, sessions: lru.New[decision.Overrides]()}
}

// Load returns the values that apply to the session. It returns an error only if the
// store of [WithRecords] does.
func (s *Settings) Load(ctx context.Context, session string) (continuation.Values, error) {
	var own decision.Overrides
	if s.store != nil && session != "" {
		err := s.store.Update(ctx, scope.Name(session), func(state decision.State) decision.State {
			own = state.Overrides
			return state
		})
		if err != nil {
			return continuation.Values{}, err
		}
	}
	return s.withOverrides(session, own), nil
}

// withOverrides returns the values in force for a session whose state has these
// overrides. It asks no store. If there is none, own is ignored, and what this
// process keeps counts.
func (s *Settings) withOverrides(session string, own decision.Overrides) continuation.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		own = s.kept(session)
	}
	values := continuation.Values{
		TodoContinuation: isOn(own.TodoContinuation, s.defaults.TodoContinuation), ApprovalMode: continuation.ApprovalDefault,
	}
	if isOn(own.YOLO, s.defaults.ApprovalMode == continuation.ApprovalYOLO) {
		values.ApprovalMode = continuation.ApprovalYOLO
	}
	return values
}

// isOn reports whether the switch is on.
func isOn(s decision.Switch, byDefault bool) bool {
	if s == decision.Unchanged {
		return byDefault
	}
	return s == decision.SwitchedOn
}

func switchTo(on bool) decision.Switch {
	if on {
		return decision.SwitchedOn
	}
	return decision.SwitchedOff
}

// kept returns what this process keeps of a session; nothing for the session "".
func (s *Settings) kept(session string) decision.Overrides {
	if session == "" {
		return decision.Overrides{}
	}
	own := s.sessions.Get(scope.Name(session))
	if own == nil {
		return decision.Overrides{}
	}
	return *own
}

// SetTodoContinuation turns continuation on or off for the session or, if session is
// "", by default. It returns an error only if the store of [WithRecords] does.
func (s *Settings) SetTodoContinuation(ctx context.Context, session string, on bool) error {
	if session == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.defaults.TodoContinuation = on
		return nil
	}
	return s.change(ctx, session, func(own *decision.Overrides) { own.TodoContinuation = switchTo(on) })
}

// SetApprovalMode sets the approval mode of the session or, if session is "", the
// default. It returns an error if the mode is unknown or the store of [WithRecords]
// fails.
func (s *Settings) SetApprovalMode(ctx context.Context, session string, mode continuation.ApprovalMode) error {
	if err := mode.Check(); err != nil {
		return err
	}
	if session == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.defaults.ApprovalMode = mode
		return nil
	}
	return s.change(ctx, session, func(own *decision.Overrides) { own.YOLO = switchTo(mode == continuation.ApprovalYOLO) })
}

// Reset removes the session's own values, so that the defaults apply again. It returns
// an error only if the store of [WithRecords] does.
func (s *Settings) Reset(ctx context.Context, session string) error {
	return s.change(ctx, session, func(own *decision.Overrides) { *own = decision.Overrides{} })
}

// change changes the session's own values. In memory, a session beyond the limit
// drops the least recently used one.
func (s *Settings) change(ctx context.Context, session string, f func(*decision.Overrides)) error {
	if s.store != nil && session != "" {
		return s.store.Update(ctx, scope.Name(session), func(state decision.State) decision.State {
			f(&state.Overrides)
			return state
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.sessions.Put(scope.Name(session))
	f(own)
	if *own == (decision.Overrides{}) {
		s.sessions.Remove(scope.Name(session))
	}
	s.sessions.Trim(s.limit)
	return nil
}

// Errors of [Settings.Command] and [Settings.CommandFor].
var (
	errNotCommand     = errors.New("middleware: not a /set command")
	errUnknownSetting = errors.New("middleware: unknown setting")
	errSettingValue   = errors.New("middleware: invalid value of a setting")
)

// Command runs a /set command that a user has typed. It shows and changes the defaults,
// which apply to every session without a value of its own. If the program serves
// several users, use [Settings.CommandFor].
//
//	/set                           lists the settings
//	/set todo-continuation         shows one
//	/set todo-continuation false   changes one
//
// todo-continuation can be true or false (also on or off, yes or no), and approval-mode
// can be default or yolo. Case and extra white space do not matter; "_" may stand for
// "-", and "=" may precede the value.
//
// The answer is one line of printable characters to show to the user. If the command
// is invalid, there is an error too; nothing has changed then, and the answer lists what
// is valid. The answer is empty only if the line is not a /set command, so a chat program
// can ignore the error:
//
//	if answer, _ := settings.Command(line); answer != "" {
//		fmt.Println(answer)
//		continue
//	}
//
// A change takes effect at the next decision, even for a turn that is being continued,
// and is lost when the process ends.
func (s *Settings) Command(line string) (answer string, err error) {
	return s.CommandFor(context.Background(), "", line) // the defaults are kept in this process
}

// CommandFor is [Settings.Command] for one session; it does not affect others. The
// session "" stands for the defaults. If the store of [WithRecords] fails, the answer
// says that the settings cannot be reached, and err is the store's error.
func (s *Settings) CommandFor(ctx context.Context, session, line string) (answer string, err error) {
	command, rest := cutAt(line, unicode.IsSpace)
	if !strings.EqualFold(command, "/set") {
		return "", errNotCommand
	}
	name, value := cutAt(rest, func(r rune) bool { return r == '=' || unicode.IsSpace(r) })
	value = strings.TrimSpace(strings.TrimPrefix(value, "=")) // the whole rest: an extra word makes it invalid
	values, err := s.Load(ctx, session)
	if err != nil {
		return unreachable, err
	}
	if name == "" && value == "" {
		return listSettings(values), nil
	}
	known, ok := findSetting(name)
	switch {
	case !ok:
		return fmt.Sprintf("There is no setting %.64q. The settings are %s.", name, joined("and", settingNames())),
			fmt.Errorf("%w: %.64q", errUnknownSetting, name)
	case value == "":
		return fmt.Sprintf("%s is %s. It can be %s.", known.name, known.show(values), joined("or", known.valid)), nil
	}
	change, shown := known.parse(strings.ToLower(value))
	if change == nil {
		return fmt.Sprintf("%s cannot be %.64q. It can be %s.", known.name, value, joined("or", known.valid)),
			fmt.Errorf("%w: %s cannot be %.64q (valid: %s)", errSettingValue, known.name, value, strings.Join(known.valid, ", "))
	}
	if err := change(ctx, s, session); err != nil {
		return unreachable, err
	}
	return fmt.Sprintf("%s is now %s.", known.name, shown), nil
}

// unreachable is the answer to a command if the store fails.
const unreachable = "The settings cannot be reached right now. A change may not have been saved."

// setting is one setting as a command sees it.
type setting struct {
	name  string
	valid []string
	show  func(continuation.Values) string
	// parse takes a value in lower case. It returns the change that sets it, and the
	// value as show would print it. The change is nil if the value is invalid.
	parse func(value string) (change settingChange, shown string)
}

// settingChange changes one setting of a session.
type settingChange func(ctx context.Context, s *Settings, session string) error

func knownSettings() []setting {
	return []setting{
		{
			name:  "todo-continuation",
			valid: []string{"true", "false"},
			show:  func(v continuation.Values) string { return strconv.FormatBool(v.TodoContinuation) },
			parse: func(value string) (settingChange, string) {
				on, ok := map[string]bool{
					"true": true, "on": true, "yes": true,
					"false": false, "off": false, "no": false,
				}[value]
				if !ok {
					return nil, ""
				}
				return func(ctx context.Context, s *Settings, session string) error {
					return s.SetTodoContinuation(ctx, session, on)
				}, strconv.FormatBool(on)
			},
		},
		{
			name:  "approval-mode",
			valid: []string{string(continuation.ApprovalDefault), string(continuation.ApprovalYOLO)},
			show:  func(v continuation.Values) string { return string(v.ApprovalMode) },
			parse: func(value string) (settingChange, string) {
				mode := continuation.ApprovalMode(value)
				if value == "standard" { // as the documents call it
					mode = continuation.ApprovalDefault
				}
				if mode.Check() != nil {
					return nil, ""
				}
				return func(ctx context.Context, s *Settings, session string) error {
					return s.SetApprovalMode(ctx, session, mode)
				}, string(mode)
			},
		},
	}
}

// findSetting finds a setting by its name, in any spelling that people use.
func findSetting(name string) (setting, bool) {
	name = strings.ReplaceAll(name, "_", "-")
	for _, known := range knownSettings() {
		if strings.EqualFold(known.name, name) {
			return known, true
		}
	}
	return setting{}, false
}

func settingNames() []string {
	settings := knownSettings()
	names := make([]string, len(settings))
	for i := range settings {
		names[i] = settings[i].name
	}
	return names
}

func listSettings(values continuation.Values) string {
	settings := knownSettings()
	pairs := make([]string, len(settings))
	for i, known := range settings {
		pairs[i] = known.name + " is " + known.show(values)
	}
	return "Settings: " + strings.Join(pairs, ", ") + ". Change one with /set NAME VALUE."
}

// cutAt splits text before the first rune that ends its first word.
func cutAt(text string, endsWord func(rune) bool) (word, rest string) {
	text = strings.TrimSpace(text)
	if end := strings.IndexFunc(text, endsWord); end >= 0 {
		return text[:end], strings.TrimSpace(text[end:])
	}
	return text, ""
}

// joined returns words as a list in a sentence.
func joined(conjunction string, words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}
