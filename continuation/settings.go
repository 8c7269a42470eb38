package continuation

import (
	"fmt"
)

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

// Handback says whether carryon continues a turn that the model seems to hand back to the
// user. A turn that ends in text while todos are open may be a stall, or the model may
// have ended it on purpose. With the zero value, the approval mode decides: in
// [ApprovalDefault] a person is there, and a doubtful turn is left to them; in
// [ApprovalYOLO] nobody is there, and carryon continues it.
type Handback struct {
	// Questions applies to turns that end with a question to the user, or with a
	// request such as "Please confirm"; in [ApprovalDefault] also to those that leave
	// the rest to the user without a request, or say what keeps the model from going on.
	Questions HandbackRule
	// Untouched applies if the model has not written the todo list in this user turn,
	// for example because it answered an unrelated question. It does not apply if the
	// user's message is short and is no question, such as "continue", if the turn is
	// blank, breaks off or announces a step, or if the source of the list does not know
	// who writes it.
	Untouched HandbackRule
}

// HandbackRule says what carryon does with a turn that the model seems to hand back.
type HandbackRule uint8

// The rules.
const (
	ByMode HandbackRule = iota // Wait in ApprovalDefault, GoOn in ApprovalYOLO
	Wait                       // the turn is the user's, in every mode
	GoOn                       // the turn is continued, in every mode
)

// String returns "mode", "wait" or "continue".
func (r HandbackRule) String() string {
	switch r {
	case ByMode:
		return "mode"
	case Wait:
		return "wait"
	case GoOn:
		return "continue"
	}
	return fmt.Sprintf("continuation.HandbackRule(%d)", uint8(r))
}

// ParseHandbackRule parses the names that [HandbackRule.String] returns.
func ParseHandbackRule(name string) (HandbackRule, error) {
	for rule := ByMode; rule <= GoOn; rule++ {
		if rule.String() == name {
			return rule, nil
		}
	}
	return ByMode, fmt.Errorf("continuation: unknown rule %q: it is one of %v, %v and %v", name, ByMode, Wait, GoOn)
}

// Check returns an error if a rule is none of the constants.
func (h Handback) Check() error {
	for _, rule := range [...]HandbackRule{h.Questions, h.Untouched} {
		if rule > GoOn {
			return fmt.Errorf("continuation: unknown rule %v", rule)
		}
	}
	return nil
}
