package continuation

import "fmt"

// ApprovalMode says whether the model may act without asking. It determines the wording
// of the prompt, and what carryon does with a turn that the model seems to hand back; see
// [Handback].
type ApprovalMode string

// The approval modes.
const (
	ApprovalDefault ApprovalMode = "default"
	ApprovalYOLO    ApprovalMode = "yolo" // act without asking for confirmation
)

// Check returns an error if m is none of the constants.
func (m ApprovalMode) Check() error {
	if m == ApprovalDefault || m == ApprovalYOLO {
		return nil
	}
	return fmt.Errorf("continuation: unknown approval mode %q (valid: %s, %s)", string(m), ApprovalDefault, ApprovalYOLO)
}

// Values are the settings that apply to one decision.
type Values struct {
	TodoContinuation bool         `json:"todo_continuation"` // whether turns are continued at all
	ApprovalMode     ApprovalMode `json:"approval_mode"`     // whether the model may act without asking
}

// DefaultValues returns the built-in settings: continuation on, default
// approval.
func DefaultValues() Values {
	return Values{TodoContinuation: true, ApprovalMode: ApprovalDefault}
}
