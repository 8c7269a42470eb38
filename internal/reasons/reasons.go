// Package reasons has the reasons for continuing a turn or not. Programs know them as
// [continuation.Reason], by their codes.
package reasons

import (
	"fmt"
	"strconv"
)

// Reason is [continuation.Reason].
type Reason uint8

// String returns the reason in words, for people. The wording may change.
func (r Reason) String() string {
	if int(r) < len(table) {
		return table[r].text
	}
	return "continuation.Reason(" + strconv.Itoa(int(r)) + ")"
}

// Code returns the name of the reason for programs, for example as a label of metrics or
// a key of a table. It consists of lower-case letters and "_", such as "no_list", and
// does not change.
func (r Reason) Code() string {
	if int(r) < len(table) {
		return table[r].code
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
	for i := range table {
		if table[i].code == string(code) {
			*r = Reason(i) //nolint:gosec // there are fewer than 256
			return nil
		}
	}
	return fmt.Errorf("continuation: unknown reason %q", code)
}

// Exhausted reports whether the reason is that a budget is used up.
func (r Reason) Exhausted() bool { return r.leadsTo(exhausted) }

// Continues reports whether a turn with this reason is continued.
func (r Reason) Continues() bool { return r.leadsTo(continues) }

func (r Reason) leadsTo(k kind) bool { return int(r) < len(table) && table[r].kind == k }

// kind says what a reason leads to, where a program asks for it.
type kind uint8

const (
	ends      kind = iota // the turn is not continued
	continues             // it is
	exhausted             // it is not, because a budget is used up
)

// The reasons, in groups. The decision checks the groups in about this order, and the
// first reason that applies is its result.
const (
	// None is the zero value: no decision was taken.
	None Reason = iota
	// Satisfied and the two after it are the reasons to continue.
	Satisfied
	Ask         // there is no list: the model is asked whether anything is open; see middleware.WithClosingQuestion
	CheckFailed // nothing is open on the list, and the program's check failed; see middleware.WithCheck

	// Disabled and the others of this group are about the call.
	Disabled        // the setting todo-continuation is false
	Suppressed      // by the program, or by an adapter that cannot continue the call
	Nested          // an outer layer continues the call, and reports it
	LegacyFunctions // the request offers "functions", the predecessor of tools
	NoTools         // the request offers no tools; see middleware.WithToollessCalls
	NoListTool      // no tool of the request writes the list, which is read from the conversation
	NoMessages      // the request has no messages to add one to
	ToolChoice      // the request does not let the model choose whether to call a tool
	ManyChoices     // the request asks for several choices, or the answer held a second one
	JSON            // the request asks for a JSON response
	Prefill         // the last message is the beginning of the answer
	NoAnswer        // the request asks for no answer; it fills the provider's cache
	Compaction      // the request asks the provider to stop after shortening the conversation
	SideCall        // an agent asks for something beside its work, but offers the tools of its work

	// PreviousResponse and the others of this group say that the server keeps
	// the history, which carryon must not add to. A call that sends its whole input
	// is continued.
	PreviousResponse
	Conversation
	BackgroundResponse // the response is fetched later, by its id

	// StopSequences and the others of this group are about requests of Google's
	// generateContent API.
	//
	// Experimental: that API still changes, and so may these reasons.
	StopSequences // an answer that hits one cannot be told from any other
	CachedContent // the cached content contains the tools, so that none can be added
	Resumption    // the request resumes an answer that was cut off
	Modalities    // the request asks for more than text
	Framing       // the answer is streamed as a JSON array, without alt=sse

	// Path and the others of this group are about HTTP requests that carryon does
	// not read.
	Path
	Method
	ContentType
	Encoded  // the request has a Content-Encoding
	TooLarge // larger than transport.MaxBody
	Signed   // the request carries a signature, which a continuation would not match
	NoBody
	Unreadable // reading the body failed, or it does not follow the protocol

	// BrokeOff and the others of this group are about the turn.
	BrokeOff  // by an error, a cancellation, a Close, or a callback that failed
	ToolCalls // the model called tools of the program, which goes on itself
	TooLong   // more text than carryon keeps, so it cannot be sent again
	Refused   // the model refused
	// UnknownContent says that the turn had content of a kind that carryon does
	// not know. It might be a tool call.
	UnknownContent
	NotEnded // no finish reason, or one that is not a plain stop

	// Paused and the others of this group are about the session.
	Paused     // by the model, in this call or an earlier one, or by the program
	Superseded // the user has written again since the call began
	// ProviderRefused says that the provider refused a continuation in this
	// user turn, with an HTTP status of 400 or more that a retry would not change.
	ProviderRefused

	// NoList and the others of this group are about the todo list.
	NoList         // the source found no list
	NothingOpen    // no list either; asked, the model answered that nothing is open
	Asked          // no list either; the model was asked, and has called no tool since
	ListUnreadable // the source found something that is no list, or none that carryon understands
	NoSession      // the source keeps a list per session, and the call has none
	SourceFailed   // with an error or a panic
	SourceLate     // see continuation.Limits.TodoTimeout
	EmptyList      // the list has no todos
	UnknownStatus  // no todo is active, and some have an unknown status
	NoActiveTodos  // the work is done: all are completed or cancelled

	// AsksUser and the others of this group say that somebody else has to act: the
	// user or another agent.
	AsksUser      // see Handback.Questions
	LeftToUser    // likewise, without a request
	ListUntouched // see Handback.Untouched
	OthersWork    // every active todo belongs to other agents, or waits for them

	// Background and the others of this group are about other work of the
	// session, and about its budgets.
	Background      // tasks of the session are unfinished and younger than Limits.MaxTaskAge
	Active          // another call of the session is being continued
	MaxAttempts     // see Limits.MaxAttempts
	WithoutProgress // see Limits.MaxWithoutProgress
	TokenBudget     // see Limits.TokenBudget
	NoSuitableTodo  // every active todo is blank
	TooSoon         // Limits.MinInterval has not passed since the last prompt; carryon waits

	// CheckDue and the others of this group are about the program's check; see
	// middleware.WithCheck. CheckDue says that the check is asked next. It is the
	// reason of an outcome only while the call runs.
	CheckDue
	CheckPassed    // the work is done: the program's check says so
	CheckUnknown   // the check neither passed nor failed
	CheckExhausted // the check has failed, and no attempt is left

	// Gate and the others of this group are those of the engine around the decision.
	Gate  // the program's gate vetoed
	Store // the store of session state failed, or the background tasks could not be asked
	// StoreSkipped says that carryon did not ask the store, because the store had
	// failed a few seconds before.
	StoreSkipped
	Deadline // the caller's deadline leaves no more time than the first turn took
	Shutdown // see middleware.Middleware.Drain
	Failed   // the continuation could not be opened, failed, or timed out
	// Holdout says that every condition is met, but that the session belongs to
	// the control group; see middleware.WithHoldout.
	Holdout
)

// table has the code and the text of each reason.
var table = [...]struct { //nolint:gochecknoglobals // constant
	code, text string
	kind       kind
}{
	None:               {"none", "No decision was taken", ends},
	Satisfied:          {"satisfied", "All continuation conditions satisfied", continues},
	Ask:                {"ask", "There is no list, so the model is asked whether anything is still open", continues},
	CheckFailed:        {"check_failed", "The program's check failed", continues},
	Disabled:           {"disabled", "Todo continuation is disabled in ephemeral settings", ends},
	Suppressed:         {"suppressed", "Continuation is suppressed for this call", ends},
	Nested:             {"nested", "The call runs inside another carryon layer", ends},
	LegacyFunctions:    {"legacy_functions", "The request uses legacy functions", ends},
	NoTools:            {"no_tools", "The request offers no tools", ends},
	NoListTool:         {"no_list_tool", "No tool of the request can write the todo list", ends},
	NoMessages:         {"no_messages", "The request has no list of messages", ends},
	ToolChoice:         {"tool_choice", "The request's tool choice rules a continuation out", ends},
	ManyChoices:        {"several_choices", "More than one choice was asked for", ends},
	JSON:               {"json_response", "The request asks for a JSON response", ends},
	Prefill:            {"prefill", "The request begins the answer itself", ends},
	NoAnswer:           {"no_answer", "The request asks for no answer", ends},
	Compaction:         {"compaction", "The request asks to stop after a compaction", ends},
	SideCall:           {"side_call", "An agent asks for something beside its work", ends},
	PreviousResponse:   {"previous_response", "The request continues a stored response (previous_response_id) instead of sending its whole input", ends},
	Conversation:       {"conversation", "The request adds to a stored conversation instead of sending its whole input", ends},
	BackgroundResponse: {"background_response", "The response is made in the background and fetched later", ends},
	StopSequences:      {"stop_sequences", "The request has stop sequences, and an answer that hits one ends like any other", ends},
	CachedContent:      {"cached_content", "The request uses cached content, beside which no tool can be added", ends},
	Resumption:         {"resumption", "The request resumes an answer that was cut off", ends},
	Modalities:         {"modalities", "The request asks for more than text", ends},
	Framing:            {"framing", "The answer is streamed as a JSON array, not as events (alt=sse)", ends},
	Path:               {"path", "The path is of no protocol that carryon speaks", ends},
	Method:             {"method", "The request is not a POST", ends},
	ContentType:        {"content_type", "The content type of the request is not JSON", ends},
	Encoded:            {"encoded", "The body of the request is encoded", ends},
	TooLarge:           {"too_large", "The body of the request is too large", ends},
	Signed:             {"signed", "The request carries a signature of its body", ends},
	NoBody:             {"no_body", "The request has no body", ends},
	Unreadable:         {"unreadable", "The body of the request could not be read", ends},
	BrokeOff:           {"broke_off", "The call broke off", ends},
	ToolCalls:          {"tool_calls", "Tool calls were made during stream - no continuation needed", ends},
	TooLong:            {"too_long", "The answer is too long to be sent again", ends},
	Refused:            {"refused", "The model refused to answer", ends},
	UnknownContent:     {"unknown_content", "The turn held content that carryon does not know", ends},
	NotEnded:           {"not_ended", "The turn did not end with a plain stop", ends},
	Paused:             {"paused", "The session is paused", ends},
	Superseded:         {"superseded", "A newer user turn has begun", ends},
	ProviderRefused:    {"provider_refused", "The provider refused a continuation in this user turn", ends},
	NoList:             {"no_list", "No todo list found", ends},
	NothingOpen:        {"nothing_open", "The model was asked, and says that nothing is open", ends},
	Asked:              {"asked_before", "The model was asked whether anything is open, and has called no tool since", ends},
	ListUnreadable:     {"list_unreadable", "The todo list could not be read", ends},
	NoSession:          {"no_session", "There is no session, so there is no todo list", ends},
	SourceFailed:       {"source_failed", "The todo source failed", ends},
	SourceLate:         {"source_late", "The todo source was late", ends},
	EmptyList:          {"list_empty", "The todo list is empty", ends},
	UnknownStatus:      {"unknown_status", "No active todos found (pending or in_progress), but unknown statuses", ends},
	NoActiveTodos:      {"no_active_todos", "No active todos found (pending or in_progress)", ends},
	AsksUser:           {"asks_user", "The model asked the user something", ends},
	LeftToUser:         {"left_to_user", "The model left the rest to the user, or said what keeps it from going on", ends},
	ListUntouched:      {"list_untouched", "The todo list was not written in this user turn", ends},
	OthersWork:         {"others_work", "All open todos belong to other agents, or wait for them", ends},
	Background:         {"background", "Background tasks are pending or running", ends},
	Active:             {"already_active", "Already in continuation process", ends},
	MaxAttempts:        {"max_attempts", "Maximum continuation attempts exceeded", exhausted},
	WithoutProgress:    {"max_without_progress", "Maximum continuations without progress exceeded", exhausted},
	TokenBudget:        {"token_budget", "Token budget for continuations exceeded", exhausted},
	NoSuitableTodo:     {"no_suitable_todo", "No suitable active todo found", ends},
	TooSoon:            {"too_soon", "Too soon since last continuation attempt", ends},
	CheckDue:           {"check_due", "The program's check is asked whether the work is done", ends},
	CheckPassed:        {"check_passed", "The program's check passed", ends},
	CheckUnknown:       {"check_unknown", "The program's check could not tell whether the work is done", ends},
	CheckExhausted:     {"check_exhausted", "The program's check failed when it was last asked, and no attempt is left", exhausted},
	Gate:               {"gate", "The gate vetoed the continuation", ends},
	Store:              {"store", "The session state is unavailable", ends},
	StoreSkipped:       {"store_skipped", "The session state was unavailable before, and is not asked for", ends},
	Deadline:           {"deadline", "Too little time is left before the caller's deadline", ends},
	Shutdown:           {"shutdown", "The program is shutting down", ends},
	Failed:             {"failed", "The continuation failed", ends},
	Holdout:            {"holdout", "The session is held out for comparison, and would have been continued", ends},
}
