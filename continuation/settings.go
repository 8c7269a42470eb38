package continuation

import "fmt"

// ApprovalMode says how far the model may go without asking. It chooses the
// wording of the prompt.
type ApprovalMode string

// The approval modes.
const (
	ApprovalDefault ApprovalMode = "default"
	ApprovalYOLO    ApprovalMode = "yolo" // act without asking for confirmation
)

// Check returns an error that names a mode that does not exist.
func (m ApprovalMode) Check() error {
	if m == ApprovalDefault || m == ApprovalYOLO {
		return nil
	}
	return fmt.Errorf("continuation: unknown approval mode %q (valid: %s, %s)", string(m), ApprovalDefault, ApprovalYOLO)
}

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

// Overrides are the settings that a session has changed. The zero value is none.
type Overrides struct {
	TodoContinuation Switch `json:"todo_continuation,omitzero"` // of [Values].TodoContinuation
	YOLO             Switch `json:"yolo,omitzero"`              // of [Values].ApprovalMode: [ApprovalYOLO] or [ApprovalDefault]
}
