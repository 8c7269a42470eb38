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
