package continuation

import (
	"fmt"
	"strconv"
)

// Reason says why a turn is or is not continued. Programs use [Reason.Code], which never
// changes; [Reason.String] is for people. New reasons may be added.
type Reason uint8

// The reasons, in groups. The decision checks the groups in about this order, and the
// first reason that applies is its result.
const (
	// ReasonNone is the zero value: no decision was taken.
	ReasonNone Reason = iota
	// ReasonSatisfied and the two after it are the reasons to continue.
	ReasonSatisfied
	ReasonAsk         // there is no list: the model is asked whether anything is open; see middleware.WithClosingQuestion
	ReasonCheckFailed // nothing is open on the list, and the program's check failed; see middleware.WithCheck

	// ReasonDisabled and the others of this group are about the call.
	ReasonDisabled        // the setting todo-continuation is false
	ReasonSuppressed      // by the program, or by an adapter that cannot continue the call
	ReasonNested          // an outer layer continues the call, and reports it
	ReasonLegacyFunctions // the request offers "functions", the predecessor of tools
	ReasonNoTools         // the request offers no tools; see middleware.WithToollessCalls
	ReasonNoListTool      // no tool of the request writes the list, which is read from the conversation
	ReasonNoMessages      // the request has no messages to add one to
	ReasonToolChoice      // the request does not let the model choose whether to call a tool
	ReasonManyChoices     // the request asks for several choices, or the answer held a second one
	ReasonJSON            // the request asks for a JSON response
	ReasonPrefill         // the last message is the beginning of the answer
	ReasonNoAnswer        // the request asks for no answer; it fills the provider's cache
	ReasonCompaction      // the request asks the provider to stop after shortening the conversation
	ReasonSideCall        // an agent asks for something beside its work, but offers the tools of its work

	// ReasonPreviousResponse and the others of this group say that the server keeps
	// the history, which carryon must not add to. A call that sends its whole input
	// is continued.
	ReasonPreviousResponse
	ReasonConversation
	ReasonBackgroundResponse // the response is fetched later, by its id

	// ReasonStopSequences and the others of this group are about requests of Google's
	// generateContent API.
	//
	// Experimental: that API still changes, and so may these reasons.
	ReasonStopSequences // an answer that hits one cannot be told from any other
	ReasonCachedContent // the cached content contains the tools, so that none can be added
	ReasonResumption    // the request resumes an answer that was cut off
	ReasonModalities    // the request asks for more than text
	ReasonFraming       // the answer is streamed as a JSON array, without alt=sse

	// ReasonPath and the others of this group are about HTTP requests that carryon does
	// not read.
	ReasonPath
	ReasonMethod
	ReasonContentType
	ReasonEncoded  // the request has a Content-Encoding
	ReasonTooLarge // larger than transport.MaxBody
	ReasonSigned   // the request carries a signature, which a continuation would not match
	ReasonNoBody
	ReasonUnreadable // reading the body failed, or it does not follow the protocol

	// ReasonBrokeOff and the others of this group are about the turn.
	ReasonBrokeOff  // by an error, a cancellation, a Close, or a callback that failed
	ReasonToolCalls // the model called tools of the program, which goes on itself
	ReasonTooLong   // more text than carryon keeps, so it cannot be sent again
	ReasonRefused   // the model refused
	// ReasonUnknownContent says that the turn had content of a kind that carryon does
	// not know. It might be a tool call.
	ReasonUnknownContent
	ReasonNotEnded // no finish reason, or one that is not a plain stop

	// ReasonPaused and the others of this group are about the session.
	ReasonPaused     // by the model, in this call or an earlier one, or by the program
	ReasonSuperseded // the user has written again since the call began
	// ReasonProviderRefused says that the provider refused a continuation in this
	// user turn, with an HTTP status of 400 or more that a retry would not change.
	ReasonProviderRefused

	// ReasonNoList and the others of this group are about the todo list.
	ReasonNoList         // the source found no list
	ReasonNothingOpen    // no list either; asked, the model answered that nothing is open
	ReasonAsked          // no list either; the model was asked, and has called no tool since
	ReasonListUnreadable // the source found something that is no list, or none that carryon understands
	ReasonNoSession      // the source keeps a list per session, and the call has none
	ReasonSourceFailed   // with an error or a panic
	ReasonSourceLate     // see [Limits].TodoTimeout
	ReasonEmptyList      // the list has no todos
	ReasonUnknownStatus  // no todo is active, and some have an unknown status
	ReasonNoActiveTodos  // the work is done: all are completed or cancelled

	// ReasonAsksUser and the others of this group say that somebody else has to act: the
	// user or another agent.
	ReasonAsksUser      // see Handback.Questions
	ReasonListUntouched // see Handback.Untouched
	ReasonOthersWork    // every active todo belongs to other agents, or waits for them

	// ReasonBackground and the others of this group are about other work of the
	// session, and about its budgets.
	ReasonBackground      // tasks of the session are unfinished and younger than Limits.MaxTaskAge
	ReasonActive          // another call of the session is being continued
	ReasonMaxAttempts     // see Limits.MaxAttempts
	ReasonWithoutProgress // see Limits.MaxWithoutProgress
	ReasonTokenBudget     // see Limits.TokenBudget
	ReasonNoSuitableTodo  // every active todo is blank
	ReasonTooSoon         // Limits.MinInterval has not passed since the last prompt; carryon waits

	// ReasonCheckDue and the others of this group are about the program's check; see
	// middleware.WithCheck. ReasonCheckDue says that the check is asked next. It is the
	// reason of an outcome only while the call runs.
	ReasonCheckDue
	ReasonCheckPassed    // the work is done: the program's check says so
	ReasonCheckUnknown   // the check neither passed nor failed
	ReasonCheckExhausted // the check has failed, and no attempt is left

	// ReasonGate and the others of this group are those of the engine around the decision.
	ReasonGate  // the program's gate vetoed
	ReasonStore // the store of session state failed, or the background tasks could not be asked
	// ReasonStoreSkipped says that carryon did not ask the store, because the store had
	// failed a few seconds before.
	ReasonStoreSkipped
	ReasonDeadline // the caller's deadline leaves no more time than the first turn took
	ReasonShutdown // see middleware.Middleware.Drain
	ReasonFailed   // the continuation could not be opened, failed, or timed out
	// ReasonHoldout says that every condition is met, but that the session belongs to
	// the control group; see middleware.WithHoldout.
	ReasonHoldout

	reasonCount
)

// String returns the reason in words, for people. The wording may change.
func (r Reason) String() string {
	if r < reasonCount {
		return reasons[r].text
	}
	return "continuation.Reason(" + strconv.Itoa(int(r)) + ")"
}

// Code returns the name of the reason for programs, for example as a label of metrics or
// a key of a table. It consists of lower-case letters and "_", such as "no_list", and
// does not change.
func (r Reason) Code() string {
	if r < reasonCount {
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
	for known := range reasonCount {
		if reasons[known].code == string(code) {
			*r = known
			return nil
		}
	}
	return fmt.Errorf("continuation: unknown reason %q", code)
}

// Exhausted reports whether the reason is that a budget is used up.
func (r Reason) Exhausted() bool {
	return r == ReasonMaxAttempts || r == ReasonWithoutProgress || r == ReasonTokenBudget || r == ReasonCheckExhausted
}

// Continues reports whether a turn with this reason is continued.
func (r Reason) Continues() bool {
	return r == ReasonSatisfied || r == ReasonAsk || r == ReasonCheckFailed
}

// reasons has the code and the text of each reason.
var reasons = [reasonCount]struct{ code, text string }{ //nolint:gochecknoglobals // constant
	ReasonNone:            {"none", "No decision was taken"},
	ReasonSatisfied:       {"satisfied", "All continuation conditions satisfied"},
	ReasonAsk:             {"ask", "There is no list, so the model is asked whether anything is still open"},
	ReasonCheckFailed:     {"check_failed", "The program's check failed"},
	ReasonDisabled:        {"disabled", "Todo continuation is disabled in ephemeral settings"},
	ReasonSuppressed:      {"suppressed", "Continuation is suppressed for this call"},
	ReasonNested:          {"nested", "The call runs inside another carryon layer"},
	ReasonLegacyFunctions: {"legacy_functions", "The request uses legacy functions"},
	ReasonNoTools:         {"no_tools", "The request offers no tools"},
	ReasonNoListTool:      {"no_list_tool", "No tool of the request can write the todo list"},
	ReasonNoMessages:      {"no_messages", "The request has no list of messages"},
	ReasonToolChoice:      {"tool_choice", "The request's tool choice rules a continuation out"},
	ReasonManyChoices:     {"several_choices", "More than one choice was asked for"},
	ReasonJSON:            {"json_response", "The request asks for a JSON response"},
	ReasonPrefill:         {"prefill", "The request begins the answer itself"},
	ReasonNoAnswer:        {"no_answer", "The request asks for no answer"},
	ReasonCompaction:      {"compaction", "The request asks to stop after a compaction"},
	ReasonSideCall:        {"side_call", "An agent asks for something beside its work"},
	ReasonPreviousResponse: {
		"previous_response", "The request continues a stored response (previous_response_id) instead of sending its whole input",
	},
	ReasonConversation: {
		"conversation", "The request adds to a stored conversation instead of sending its whole input",
	},
	ReasonBackgroundResponse: {
		"background_response", "The response is made in the background and fetched later",
	},
	ReasonStopSequences: {
		"stop_sequences", "The request has stop sequences, and an answer that hits one ends like any other",
	},
	ReasonCachedContent:   {"cached_content", "The request uses cached content, beside which no tool can be added"},
	ReasonResumption:      {"resumption", "The request resumes an answer that was cut off"},
	ReasonModalities:      {"modalities", "The request asks for more than text"},
	ReasonFraming:         {"framing", "The answer is streamed as a JSON array, not as events (alt=sse)"},
	ReasonPath:            {"path", "The path is of no protocol that carryon speaks"},
	ReasonMethod:          {"method", "The request is not a POST"},
	ReasonContentType:     {"content_type", "The content type of the request is not JSON"},
	ReasonEncoded:         {"encoded", "The body of the request is encoded"},
	ReasonTooLarge:        {"too_large", "The body of the request is too large"},
	ReasonSigned:          {"signed", "The request carries a signature of its body"},
	ReasonNoBody:          {"no_body", "The request has no body"},
	ReasonUnreadable:      {"unreadable", "The body of the request could not be read"},
	ReasonBrokeOff:        {"broke_off", "The call broke off"},
	ReasonToolCalls:       {"tool_calls", "Tool calls were made during stream - no continuation needed"},
	ReasonTooLong:         {"too_long", "The answer is too long to be sent again"},
	ReasonRefused:         {"refused", "The model refused to answer"},
	ReasonUnknownContent:  {"unknown_content", "The turn held content that carryon does not know"},
	ReasonNotEnded:        {"not_ended", "The turn did not end with a plain stop"},
	ReasonPaused:          {"paused", "The session is paused"},
	ReasonSuperseded:      {"superseded", "A newer user turn has begun"},
	ReasonProviderRefused: {"provider_refused", "The provider refused a continuation in this user turn"},
	ReasonNoList:          {"no_list", "No todo list found"},
	ReasonNothingOpen:     {"nothing_open", "The model was asked, and says that nothing is open"},
	ReasonAsked:           {"asked_before", "The model was asked whether anything is open, and has called no tool since"},
	ReasonListUnreadable:  {"list_unreadable", "The todo list could not be read"},
	ReasonNoSession:       {"no_session", "There is no session, so there is no todo list"},
	ReasonSourceFailed:    {"source_failed", "The todo source failed"},
	ReasonSourceLate:      {"source_late", "The todo source was late"},
	ReasonEmptyList:       {"list_empty", "The todo list is empty"},
	ReasonUnknownStatus:   {"unknown_status", "No active todos found (pending or in_progress), but unknown statuses"},
	ReasonNoActiveTodos:   {"no_active_todos", "No active todos found (pending or in_progress)"},
	ReasonAsksUser:        {"asks_user", "The model asked the user something"},
	ReasonListUntouched:   {"list_untouched", "The todo list was not written in this user turn"},
	ReasonOthersWork:      {"others_work", "All open todos belong to other agents, or wait for them"},
	ReasonBackground:      {"background", "Background tasks are pending or running"},
	ReasonActive:          {"already_active", "Already in continuation process"},
	ReasonMaxAttempts:     {"max_attempts", "Maximum continuation attempts exceeded"},
	ReasonWithoutProgress: {"max_without_progress", "Maximum continuations without progress exceeded"},
	ReasonTokenBudget:     {"token_budget", "Token budget for continuations exceeded"},
	ReasonNoSuitableTodo:  {"no_suitable_todo", "No suitable active todo found"},
	ReasonTooSoon:         {"too_soon", "Too soon since last continuation attempt"},
	ReasonCheckDue:        {"check_due", "The program's check is asked whether the work is done"},
	ReasonCheckPassed:     {"check_passed", "The program's check passed"},
	ReasonCheckUnknown:    {"check_unknown", "The program's check could not tell whether the work is done"},
	ReasonCheckExhausted:  {"check_exhausted", "The program's check failed when it was last asked, and no attempt is left"},
	ReasonGate:            {"gate", "The gate vetoed the continuation"},
	ReasonStore:           {"store", "The session state is unavailable"},
	ReasonStoreSkipped:    {"store_skipped", "The session state was unavailable before, and is not asked for"},
	ReasonDeadline:        {"deadline", "Too little time is left before the caller's deadline"},
	ReasonShutdown:        {"shutdown", "The program is shutting down"},
	ReasonFailed:          {"failed", "The continuation failed"},
	ReasonHoldout:         {"holdout", "The session is held out for comparison, and would have been continued"},
}
