package continuation

import (
	"fmt"
	"strconv"
)

// Reason says why a turn is or is not continued. Programs use [Reason.Code], which never
// changes; [Reason.String] is for people. New reasons may be added.
//
// Those that programs most often look for are "tool_calls", if it is the program's turn;
// "no_active_todos", "nothing_open" and "check_passed", if the work is done; "no_list";
// "paused"; "asks_user"; "background", if other work is awaited; "max_attempts" and the
// others for which [Reason.Exhausted] is true; "failed"; and "broke_off".
type Reason uint8

// String returns the reason in words, for people. The wording may change.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r].text
	}
	return "continuation.Reason(" + strconv.Itoa(int(r)) + ")"
}

// Code returns the name of the reason for programs, for example as a label of metrics or
// a key of a table. It consists of lower-case letters and "_", such as "no_list", and
// does not change.
func (r Reason) Code() string {
	if int(r) < len(reasons) {
		return reasons[r].code
	}
	return "unknown"
}

// MarshalText returns the code, so that a stored reason keeps its meaning in later
// versions.
func (r Reason) MarshalText() ([]byte, error) {
	return []byte(r.Code()), nil
}

// UnmarshalText reads a code. It returns an error for a code that this version does not
// know.
func (r *Reason) UnmarshalText(code []byte) error {
	for i := range reasons {
		if reasons[i].code == string(code) {
			*r = Reason(i) //nolint:gosec // there are fewer than 256
			return nil
		}
	}
	return fmt.Errorf("continuation: unknown reason %q", code)
}

// Exhausted reports whether the reason is that a budget is used up.
func (r Reason) Exhausted() bool { return r.is(exhausted) }

// Continues reports whether a turn with this reason is continued.
func (r Reason) Continues() bool { return r.is(continues) }

func (r Reason) is(k kind) bool { return int(r) < len(reasons) && reasons[r].kind == k }

// kind says what a reason leads to, where a program asks for it.
type kind uint8

const (
	stops     kind = iota // the turn is not continued
	continues             // it is
	exhausted             // it is not, because a budget is used up
)

// reasons has the code and the text of each reason, in the order in which
// internal/reasons names them.
var reasons = [...]struct { //nolint:gochecknoglobals // constant
	code, text string
	kind       kind
}{
	{"none", "No decision was taken", stops},
	{"satisfied", "All continuation conditions satisfied", continues},
	{"ask", "There is no list, so the model is asked whether anything is still open", continues},
	{"check_failed", "The program's check failed", continues},
	{"disabled", "Todo continuation is disabled in ephemeral settings", stops},
	{"suppressed", "Continuation is suppressed for this call", stops},
	{"nested", "The call runs inside another carryon layer", stops},
	{"legacy_functions", "The request uses legacy functions", stops},
	{"no_tools", "The request offers no tools", stops},
	{"no_list_tool", "No tool of the request can write the todo list", stops},
	{"no_messages", "The request has no list of messages", stops},
	{"tool_choice", "The request's tool choice rules a continuation out", stops},
	{"several_choices", "More than one choice was asked for", stops},
	{"json_response", "The request asks for a JSON response", stops},
	{"prefill", "The request begins the answer itself", stops},
	{"no_answer", "The request asks for no answer", stops},
	{"compaction", "The request asks to stop after a compaction", stops},
	{"side_call", "An agent asks for something beside its work", stops},
	{"previous_response", "The request continues a stored response (previous_response_id) instead of sending its whole input", stops},
	{"conversation", "The request adds to a stored conversation instead of sending its whole input", stops},
	{"background_response", "The response is made in the background and fetched later", stops},
	{"stop_sequences", "The request has stop sequences, and an answer that hits one ends like any other", stops},
	{"cached_content", "The request uses cached content, beside which no tool can be added", stops},
	{"resumption", "The request resumes an answer that was cut off", stops},
	{"modalities", "The request asks for more than text", stops},
	{"framing", "The answer is streamed as a JSON array, not as events (alt=sse)", stops},
	{"path", "The path is of no protocol that carryon speaks", stops},
	{"method", "The request is not a POST", stops},
	{"content_type", "The content type of the request is not JSON", stops},
	{"encoded", "The body of the request is encoded", stops},
	{"too_large", "The body of the request is too large", stops},
	{"signed", "The request carries a signature of its body", stops},
	{"no_body", "The request has no body", stops},
	{"unreadable", "The body of the request could not be read", stops},
	{"broke_off", "The call broke off", stops},
	{"tool_calls", "Tool calls were made during stream - no continuation needed", stops},
	{"too_long", "The answer is too long to be sent again", stops},
	{"refused", "The model refused to answer", stops},
	{"unknown_content", "The turn held content that carryon does not know", stops},
	{"not_ended", "The turn did not end with a plain stop", stops},
	{"paused", "The session is paused", stops},
	{"superseded", "A newer user turn has begun", stops},
	{"provider_refused", "The provider refused a continuation in this user turn", stops},
	{"no_list", "No todo list found", stops},
	{"nothing_open", "The model was asked, and says that nothing is open", stops},
	{"asked_before", "The model was asked whether anything is open, and has called no tool since", stops},
	{"list_unreadable", "The todo list could not be read", stops},
	{"no_session", "There is no session, so there is no todo list", stops},
	{"source_failed", "The todo source failed", stops},
	{"source_late", "The todo source was late", stops},
	{"list_empty", "The todo list is empty", stops},
	{"unknown_status", "No active todos found (pending or in_progress), but unknown statuses", stops},
	{"no_active_todos", "No active todos found (pending or in_progress)", stops},
	{"asks_user", "The model asked the user something", stops},
	{"list_untouched", "The todo list was not written in this user turn", stops},
	{"others_work", "All open todos belong to other agents, or wait for them", stops},
	{"background", "Background tasks are pending or running", stops},
	{"already_active", "Already in continuation process", stops},
	{"max_attempts", "Maximum continuation attempts exceeded", exhausted},
	{"max_without_progress", "Maximum continuations without progress exceeded", exhausted},
	{"token_budget", "Token budget for continuations exceeded", exhausted},
	{"no_suitable_todo", "No suitable active todo found", stops},
	{"too_soon", "Too soon since last continuation attempt", stops},
	{"check_due", "The program's check is asked whether the work is done", stops},
	{"check_passed", "The program's check passed", stops},
	{"check_unknown", "The program's check could not tell whether the work is done", stops},
	{"check_exhausted", "The program's check failed when it was last asked, and no attempt is left", exhausted},
	{"gate", "The gate vetoed the continuation", stops},
	{"store", "The session state is unavailable", stops},
	{"store_skipped", "The session state was unavailable before, and is not asked for", stops},
	{"deadline", "Too little time is left before the caller's deadline", stops},
	{"shutdown", "The program is shutting down", stops},
	{"failed", "The continuation failed", stops},
	{"holdout", "The session is held out for comparison, and would have been continued", stops},
}
