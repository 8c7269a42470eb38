package continuation

import "time"

// State is what carryon knows about a session; see middleware.Middleware.State.
//
// Experimental: fields may be added.
type State struct {
	UserTurn int   // number of the current user turn; 0 before the first
	Paused   Pause // set while the session is paused
	Active   bool  // whether a call of the session is being continued

	Attempts      int // continuations in a row without progress
	Continuations int // continuations in this user turn since the list last made progress
	Tokens        int // tokens that all continuations of this user turn used

	LastPrompt time.Time // when the last prompt was sent
}

// Pause says why and since when a session is paused.
type Pause struct {
	Reason string    `json:"reason,omitzero"`
	Since  time.Time `json:"since,omitzero"` // zero: not paused
}

// IsSet reports whether the session is paused.
func (p Pause) IsSet() bool { return !p.Since.IsZero() }
