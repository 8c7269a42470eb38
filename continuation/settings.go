package continuation

import (
	"cmp"
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
	TodoContinuation bool         // whether turns are continued at all
	ApprovalMode     ApprovalMode // which wording the prompt has
}

// DefaultValues returns the built-in settings: continuation on, default
// approval.
func DefaultValues() Values {
	return Values{TodoContinuation: true, ApprovalMode: ApprovalDefault}
}

// Settings holds ephemeral settings, per session: they are gone when the
// process ends. A session that has not set a value has the default, which is
// kept under the session "". A change counts from the next decision on.
//
// A Settings keeps what [DefaultMaxSessions] sessions have set. Beyond that, the
// session that was set or asked for longest ago falls back to the defaults. It
// is safe for concurrent use and starts no goroutine. Use NewSettings: the zero
// value is not ready.
type Settings struct {
	mu       sync.Mutex
	defaults overrides // all of them set
	sessions *lru.Table[overrides]
}

// overrides are the settings that a session has changed.
type overrides struct {
	todoContinuation *bool        // nil: unchanged
	approvalMode     ApprovalMode // "": unchanged
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
	return &Settings{
		defaults: overrides{&defaults.TodoContinuation, defaults.ApprovalMode},
		sessions: lru.New[overrides](),
	}, nil
}

// For returns the values in force for the session.
func (s *Settings) For(session string) Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	values := Values{*s.defaults.todoContinuation, s.defaults.approvalMode}
	own := s.sessions.Get(scope.Name(session))
	if own == nil {
		return values
	}
	if own.todoContinuation != nil {
		values.TodoContinuation = *own.todoContinuation
	}
	values.ApprovalMode = cmp.Or(own.approvalMode, values.ApprovalMode)
	return values
}

// SetTodoContinuation turns continuation on or off for the session, or for
// all sessions without a value of their own if session is "".
func (s *Settings) SetTodoContinuation(session string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own(session).todoContinuation = &on
}

// SetApprovalMode sets the approval mode of the session, or of all sessions
// without a value of their own if session is "". It fails on an unknown mode.
func (s *Settings) SetApprovalMode(session string, mode ApprovalMode) error {
	if err := mode.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own(session).approvalMode = mode
	return nil
}

// Reset drops what the session has set. It leaves the default alone.
func (s *Settings) Reset(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions.Remove(scope.Name(session))
}

// own returns what the session has set, which counts as a use; for the session ""
// the defaults. A new session drops the least recently used one if there are too
// many.
func (s *Settings) own(session string) *overrides {
	if session == "" {
		return &s.defaults
	}
	own := s.sessions.Put(scope.Name(session))
	s.sessions.Trim(DefaultMaxSessions)
	return own
}

func (m ApprovalMode) check() error {
	if m == ApprovalDefault || m == ApprovalYOLO {
		return nil
	}
	return fmt.Errorf("continuation: unknown approval mode %q (valid: %s, %s)", string(m), ApprovalDefault, ApprovalYOLO)
}
