package continuation

import "fmt"

// Handback says whether turns that the model seems to hand back to the user are
// continued. A turn that ends in text while todos are open is a stall, which carryon
// continues, or it was handed back on purpose. The zero value lets the approval mode
// decide who is there: in [ApprovalDefault] a person is, and in doubt the turn is
// theirs; in [ApprovalYOLO] nobody is, and in doubt carryon goes on.
type Handback struct {
	// Questions is for turns that end with a question to the user, or with a statement
	// such as "Please confirm".
	Questions HandbackRule
	// Untouched is for turns of a user turn in which the todo list was not written, such
	// as the answer to a question beside the work. It does not apply where the user's
	// message is short and asks nothing, such as "continue", nor to a list whose source
	// does not know who writes it.
	Untouched HandbackRule
}

// HandbackRule says what happens to a turn that the model seems to hand back.
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

// ParseHandbackRule reads what [HandbackRule.String] writes.
func ParseHandbackRule(name string) (HandbackRule, error) {
	for rule := ByMode; rule <= GoOn; rule++ {
		if rule.String() == name {
			return rule, nil
		}
	}
	return ByMode, fmt.Errorf("continuation: unknown rule %q: it is one of %v, %v and %v", name, ByMode, Wait, GoOn)
}

// Check returns an error that names a rule that does not exist.
func (h Handback) Check() error {
	for _, rule := range [...]HandbackRule{h.Questions, h.Untouched} {
		if rule > GoOn {
			return fmt.Errorf("continuation: unknown rule %v", rule)
		}
	}
	return nil
}

// waits reports whether the rule leaves a turn to the user in that mode.
func (r HandbackRule) waits(mode ApprovalMode) bool {
	return r == Wait || r == ByMode && mode != ApprovalYOLO
}

// TurnEnd says how the text of a turn ends.
type TurnEnd uint8

// The ends of a turn's text.
const (
	EndNone      TurnEnd = iota // there is no text but white space, or nothing is known of it
	EndUnclear                  // none of the following, such as a report of what was done
	EndAnnounces                // the model says what it does next, or the text breaks off
	EndAsks                     // the model asks the user something, or waits for the user
)
