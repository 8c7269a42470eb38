package continuation

import (
	"fmt"

	"github.com/carryon-go/carryon/internal/reasons"
)

// Reason says why a turn is or is not continued. Programs use [Reason.Code], which never
// changes; [Reason.String] is for people. New reasons may be added.
//
// Those that programs most often look for are "tool_calls", if it is the program's turn;
// "no_active_todos", "nothing_open" and "check_passed", if the work is done; "no_list";
// "paused"; "asks_user"; "background", if other work is awaited; "max_attempts" and the
// others for which [Reason.Exhausted] is true; "failed"; and "broke_off".
//
// Code returns the name of the reason for programs, for example as a label of metrics or a
// key of a table: lower-case letters and "_", such as "no_list". Continues reports whether
// a turn with this reason is continued, and Exhausted whether a budget is used up. A Reason
// is stored as its code (MarshalText, UnmarshalText), so that it keeps its meaning in later
// versions; reading fails for a code that this version does not know.
type Reason = reasons.Reason

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
