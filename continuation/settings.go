package continuation

import (
	"fmt"
	"sync"
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
// process ends. What a session has not set is as the default, which is kept
// under the session "". A Settings is safe for concurrent use, and a change
// counts from the next decision on.
type Settings struct {
	mu       sync.RWMutex
	defaults Values
	sessions map[string]overrides
}

// overrides are the settings that a session has changed; nil is unchanged.
type overrides struct {
	todoContinuation *bool
	approvalMode     *ApprovalMode
}

// NewSettings returns settings with the defaults given.
func NewSettings(defaults Values) *Settings {
	return &Settings{defaults: defaults}
}

// For returns the values in force for the session.
func (s *Settings) For(session string) Values {
	s.mu.RLock()
	defer s.mu.RUnlock()
	values := s.defaults
	own := s.sessions[session]
	if own.todoContinuation != nil {
		values.TodoContinuation = *own.todoContinuation
	}
	if own.approvalMode != nil {
		values.ApprovalMode = *own.approvalMode
	}
	return values
}

// SetTodoContinuation turns continuation on or off for the session, or for
// all sessions without a value of their own if session is "".
func (s *Settings) SetTodoContinuation(session string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == "" {
		s.defaults.TodoContinuation = on
		return
	}
	own := s.sessions[session]
	own.todoContinuation = &on
	s.set(session, own)
}

// SetApprovalMode sets the approval mode of the session, or of all sessions
// without a value of their own if session is "". It fails on an unknown mode.
func (s *Settings) SetApprovalMode(session string, mode ApprovalMode) error {
	if mode != ApprovalDefault && mode != ApprovalYOLO {
		return fmt.Errorf("continuation: unknown approval mode %q (valid: %s, %s)", mode, ApprovalDefault, ApprovalYOLO)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == "" {
		s.defaults.ApprovalMode = mode
		return nil
	}
	own := s.sessions[session]
	own.approvalMode = &mode
	s.set(session, own)
	return nil
}

// Reset drops what the session has set.
func (s *Settings) Reset(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, session)
}

func (s *Settings) set(session string, own overrides) {
	if s.sessions == nil {
		s.sessions = make(map[string]overrides)
	}
	s.sessions[session] = own
}
