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
	Unchanged  Switch = iota // as by default
	SwitchedOn               // whatever the default is
	SwitchedOff
)

// or returns whether the switch is on.
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

// Settings holds settings that may change while the program runs, per session. A
// session that has not set a value has the default, which is kept under the
// session "". A change counts from the next decision on.
//
// With [NewSettings], they are gone when the process ends, and at most what
// [DefaultMaxSessions] sessions have set is kept. Beyond that, the session that
// was set or asked for longest ago falls back to the defaults. With
// [NewSharedSettings], what a session sets is part of its [State]: it is kept, and
// obeyed by all processes that share the store. The defaults are each process's
// own in either case.
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

// NewSharedSettings is [NewSettings] for processes that share the store: give the
// Middleware the same one. Package middleware does so by itself where no Settings
// is given to it. It panics where [TryNewSharedSettings] fails.
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
// them without asking a store. With [NewSharedSettings] those are the defaults: use
// [Settings.Load] there.
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
// overrides. It asks no store. Settings of [NewSettings] keep the session's own
// values themselves, and ignore own.
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

// kept returns what is kept here of a session. Under "" are the defaults alone.
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

// Reset drops what the session has set. It leaves the default alone. It fails only
// if the store of [NewSharedSettings] does.
func (s *Settings) Reset(ctx context.Context, session string) error {
	return s.change(ctx, session, func(own *Overrides) { *own = Overrides{} })
}

// change changes what the session has set. In memory, a session beyond the limit
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
