package continuation

import "fmt"

// CheckResult is what the program's check says of a turn; see middleware.WithCheck.
type CheckResult uint8

// The results.
const (
	NoCheck      CheckResult = iota // there is no check, or it does not apply to the turn
	CheckDue                        // it applies, and was not asked yet
	CheckPassed                     // the work is done
	CheckFailed                     // something is missing
	CheckUnknown                    // it could not tell
)

var checkResults = [...]string{ //nolint:gochecknoglobals // constant
	NoCheck: "none", CheckDue: "due", CheckPassed: "passed", CheckFailed: "failed", CheckUnknown: "unknown",
}

// String returns "none", "due", "passed", "failed" or "unknown".
func (r CheckResult) String() string {
	if int(r) < len(checkResults) {
		return checkResults[r]
	}
	return fmt.Sprintf("continuation.CheckResult(%d)", uint8(r))
}

// MarshalText returns what String returns.
func (r CheckResult) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (r *CheckResult) UnmarshalText(text []byte) error {
	for known, name := range checkResults {
		if name == string(text) {
			*r = CheckResult(known) //nolint:gosec // there are five
			return nil
		}
	}
	return fmt.Errorf("continuation: unknown result of a check %q", text)
}

// maxFailedChecks is how often the check may fail in a user turn. A check that never
// passes must not cost more, whatever changes from failure to failure.
const maxFailedChecks = 10

const ruleFailedChecks = "a check that fails gets ten continuations until the user writes again"

// judgeCheck looks at what the program's check says, if that decides.
func (ev *Evaluation) judgeCheck(in *Input) bool {
	otherwise := ReasonCheckUnknown
	switch in.Check {
	case CheckDue:
		otherwise = ReasonCheckDue
	case CheckPassed:
		otherwise = ReasonCheckPassed
	case NoCheck, CheckFailed, CheckUnknown:
	}
	return ev.check(conditionCheckAllows, !ev.Checks || in.Check == CheckFailed, otherwise)
}

// noteProgress gives the attempts back if the check has failed in another way than before.
func (ev *Evaluation) noteProgress(in *Input) {
	s := &ev.State
	if last := s.Check.Last; in.Check == CheckFailed && last != 0 && last != in.CheckDigest {
		s.Attempts, s.Continuations, s.Repeats = 0, 0, 0
		ev.Attempt = 1
	}
}
