// Package reasons names the values of [continuation.Reason]. Programs know them by their
// codes, which package continuation has, in the same order.
package reasons

import "github.com/carryon-go/carryon/continuation"

// The reasons, in groups. The decision checks the groups in about this order, and the
// first reason that applies is its result.
const (
	// None is the zero value: no decision was taken.
	None continuation.Reason = iota
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
