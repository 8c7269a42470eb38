package continuation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/carryon-go/carryon/internal/lru"
	"github.com/carryon-go/carryon/internal/scope"
)

// ApprovalMode says how far the model may go without asking. It chooses the
// wording of the prompt.
type ApprovalMode string

// The approval modes.
const (
	ApprovalDefault ApprovalMode = "default"
	ApprovalYOLO    ApprovalMode = "yolo" // act without asking for confirmation
)

// Values are the settings in force for one decision.
type Values struct {
	TodoContinuation bool         `json:"todo_continuation"` // whether turns are continued at all
	ApprovalMode     ApprovalMode `json:"approval_mode"`     // which wording the prompt has
}

// DefaultValues returns the built-in settings: continuation on, default
// approval.
func DefaultValues() Values {
	return Values{TodoContinuation: true, ApprovalMode: ApprovalDefault}
}

// Switch is a setting that a session has turned on or off, or left alone.
type Switch uint8

// The switches.
const (
	Unchanged  Switch = iota // the default applies
	SwitchedOn               // whatever the default is
	SwitchedOff
)

// or reports whether the switch is on.
func (s Switch) or(byDefault bool) bool {
	if s == Unchanged {
		return byDefault
	}
	return s == SwitchedOn
}

func switchTo(on bool) Switch {
	if on {
		return SwitchedOn
	}
	return SwitchedOff
}

// Overrides are the settings that a session has changed. The zero value is none.
type Overrides struct {
	TodoContinuation Switch `json:"todo_continuation,omitzero"` // of [Values].TodoContinuation
	YOLO             Switch `json:"yolo,omitzero"`              // of [Values].ApprovalMode: [ApprovalYOLO] or [ApprovalDefault]
}

// Settings holds the settings of sessions, which may change while the program runs. A
// session that has not set a value has the default, which is set under the session
// "". A change takes effect at the next decision.
//
// Settings of [NewSettings] are lost when the process ends. They hold the values of
// at most [DefaultMaxSessions] sessions; beyond that, the least recently used session
// falls back to the defaults. Settings of [NewSharedSettings] keep a session's values
// in its [State], so they last, and all processes that share the store obey them. The
// defaults always belong to one process.
//
// A Settings is safe for concurrent use and starts no goroutine. The zero value is
// not ready.
type Settings struct {
	store Store // nil: sessions are kept here

	mu       sync.Mutex
	defaults Values
	sessions *lru.Table[Overrides]
}

// NewSettings returns settings with these defaults. An empty approval mode means
// [ApprovalDefault]; an unknown one panics.
func NewSettings(defaults Values) *Settings {
	return must(TryNewSettings(defaults))
}

// TryNewSettings is [NewSettings] for defaults that come from a configuration:
// it returns an error for an unknown approval mode.
func TryNewSettings(defaults Values) (*Settings, error) {
	defaults.ApprovalMode = cmp.Or(defaults.ApprovalMode, ApprovalDefault)
	if err := defaults.ApprovalMode.check(); err != nil {
		return nil, err
	}
	return &Settings{defaults: defaults, sessions: lru.New[Overrides]()}, nil
}

// NewSharedSettings is [NewSettings] for processes that share the store. The
// Middleware must have the same store. A Middleware with a store and without
// middleware.WithSettings makes such Settings itself. NewSharedSettings panics where
// [TryNewSharedSettings] fails.
func NewSharedSettings(defaults Values, store Store) *Settings {
	return must(TryNewSharedSettings(defaults, store))
}

// TryNewSharedSettings is [NewSharedSettings] for defaults that come from a
// configuration: it returns an error for an unknown approval mode, and for a nil
// store.
func TryNewSharedSettings(defaults Values, store Store) (*Settings, error) {
	if store == nil {
		return nil, errors.New("continuation: NewSharedSettings: nil Store")
	}
	s, err := TryNewSettings(defaults)
	if err != nil {
		return nil, err
	}
	s.store = store
	return s, nil
}

// Local returns the values in force for the session, as far as this process knows
// them without asking a store. With [NewSharedSettings] they are the defaults: use
// [Settings.Load].
func (s *Settings) Local(session string) Values { return s.WithOverrides(session, Overrides{}) }

// Load returns the values in force for the session. It fails only if the store of
// [NewSharedSettings] does.
func (s *Settings) Load(ctx context.Context, session string) (Values, error) {
	var own Overrides
	if s.store != nil && session != "" {
		err := s.store.Update(ctx, scope.Name(session), func(state State) State {
			own = state.Overrides
			return state
		})
		if err != nil {
			return Values{}, err
		}
	}
	return s.WithOverrides(session, own), nil
}

// WithOverrides returns the values in force for a session whose [State] has these
// overrides. It asks no store. Settings of [NewSettings] hold the session's values
// themselves and ignore own.
func (s *Settings) WithOverrides(session string, own Overrides) Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		own = s.kept(session)
	}
	values := Values{TodoContinuation: own.TodoContinuation.or(s.defaults.TodoContinuation), ApprovalMode: ApprovalDefault}
	if own.YOLO.or(s.defaults.ApprovalMode == ApprovalYOLO) {
		values.ApprovalMode = ApprovalYOLO
	}
	return values
}

// kept returns what this process keeps of a session; nothing for the session "".
func (s *Settings) kept(session string) Overrides {
	if session == "" {
		return Overrides{}
	}
	own := s.sessions.Get(scope.Name(session))
	if own == nil {
		return Overrides{}
	}
	return *own
}

// SetTodoContinuation turns continuation on or off for the session, or for
// all sessions without a value of their own if session is "". It fails only if the
// store of [NewSharedSettings] does.
func (s *Settings) SetTodoContinuation(ctx context.Context, session string, on bool) error {
	if session == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.defaults.TodoContinuation = on
		return nil
	}
	return s.change(ctx, session, func(own *Overrides) { own.TodoContinuation = switchTo(on) })
}

// SetApprovalMode sets the approval mode of the session, or of all sessions
// without a value of their own if session is "". It fails on an unknown mode, and
// if the store of [NewSharedSettings] does.
func (s *Settings) SetApprovalMode(ctx context.Context, session string, mode ApprovalMode) error {
	if err := mode.check(); err != nil {
		return err
	}
	if session == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.defaults.ApprovalMode = mode
		return nil
	}
	return s.change(ctx, session, func(own *Overrides) { own.YOLO = switchTo(mode == ApprovalYOLO) })
}

// Reset drops the session's own values, so that the defaults apply again. It fails
// only if the store of [NewSharedSettings] does.
func (s *Settings) Reset(ctx context.Context, session string) error {
	return s.change(ctx, session, func(own *Overrides) { *own = Overrides{} })
}

// change changes the session's own values. In memory, a session beyond the limit
// drops the least recently used one.
func (s *Settings) change(ctx context.Context, session string, f func(*Overrides)) error {
	if s.store != nil && session != "" {
		return s.store.Update(ctx, scope.Name(session), func(state State) State {
			f(&state.Overrides)
			return state
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.sessions.Put(scope.Name(session))
	f(own)
	if *own == (Overrides{}) {
		s.sessions.Remove(scope.Name(session))
	}
	s.sessions.Trim(DefaultMaxSessions)
	return nil
}

func (m ApprovalMode) check() error {
	if m == ApprovalDefault || m == ApprovalYOLO {
		return nil
	}
	return fmt.Errorf("continuation: unknown approval mode %q (valid: %s, %s)", string(m), ApprovalDefault, ApprovalYOLO)
}
