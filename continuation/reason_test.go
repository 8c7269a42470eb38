package continuation_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// The texts that people match on, written out so that a change shows.
func TestReasonFixedTexts(t *testing.T) {
	t.Parallel()
	for reason, want := range map[continuation.Reason]string{
		continuation.ReasonSatisfied:      "All continuation conditions satisfied",
		continuation.ReasonDisabled:       "Todo continuation is disabled in ephemeral settings",
		continuation.ReasonToolCalls:      "Tool calls were made during stream - no continuation needed",
		continuation.ReasonNoActiveTodos:  "No active todos found (pending or in_progress)",
		continuation.ReasonActive:         "Already in continuation process",
		continuation.ReasonMaxAttempts:    "Maximum continuation attempts exceeded",
		continuation.ReasonNoSuitableTodo: "No suitable active todo found",
		continuation.ReasonTooSoon:        "Too soon since last continuation attempt",
	} {
		assert.Equal(t, want, reason.String())
	}
}

// Every reason with its code and its text, which programs and people match on, and a
// situation in which it is given. Written out, so that a change shows.
func TestReasonTable(t *testing.T) {
	t.Parallel()
	rows := []struct {
		reason                continuation.Reason
		code, text, situation string
	}{
		{continuation.ReasonNone, "none", "No decision was taken", "nothing was decided"},
		{continuation.ReasonSatisfied, "satisfied", "All continuation conditions satisfied", "work is left, and every condition is met"},
		{continuation.ReasonAsk, "ask", "There is no list, so the model is asked whether anything is still open", "middleware.WithClosingQuestion"},
		{continuation.ReasonCheckFailed, "check_failed", "The program's check failed", "the list is done, and the tests fail"},
		{continuation.ReasonDisabled, "disabled", "Todo continuation is disabled in ephemeral settings", "/set todo-continuation false"},
		{continuation.ReasonSuppressed, "suppressed", "Continuation is suppressed for this call", "continuation.Suppress, or a langchaingo call that needs an option"},
		{continuation.ReasonNested, "nested", "The call runs inside another carryon layer", "a wrapped client over a wrapped transport"},
		{continuation.ReasonLegacyFunctions, "legacy_functions", "The request uses legacy functions", "functions in place of tools"},
		{continuation.ReasonNoTools, "no_tools", "The request offers no tools", "a request without tools"},
		{continuation.ReasonNoListTool, "no_list_tool", "No tool of the request can write the todo list", "a side call without the todo tool"},
		{continuation.ReasonNoMessages, "no_messages", "The request has no list of messages", "a request with a single text"},
		{continuation.ReasonToolChoice, "tool_choice", "The request's tool choice rules a continuation out", "tool_choice none, required or a named tool"},
		{continuation.ReasonManyChoices, "several_choices", "More than one choice was asked for", "n of 2"},
		{continuation.ReasonJSON, "json_response", "The request asks for a JSON response", "response_format json_object"},
		{continuation.ReasonPrefill, "prefill", "The request begins the answer itself", "the last message is an assistant's"},
		{continuation.ReasonNoAnswer, "no_answer", "The request asks for no answer", "max_tokens 0"},
		{continuation.ReasonCompaction, "compaction", "The request asks to stop after a compaction", "a request that compacts the conversation"},
		{continuation.ReasonSideCall, "side_call", "An agent asks for something beside its work", "a compaction of Claude Code"},
		{continuation.ReasonPreviousResponse, "previous_response", "The request continues a stored response (previous_response_id) instead of sending its whole input", "previous_response_id"},
		{continuation.ReasonConversation, "conversation", "The request adds to a stored conversation instead of sending its whole input", "conversation"},
		{continuation.ReasonBackgroundResponse, "background_response", "The response is made in the background and fetched later", "background true"},
		{continuation.ReasonStopSequences, "stop_sequences", "The request has stop sequences, and an answer that hits one ends like any other", "stopSequences of Gemini"},
		{continuation.ReasonCachedContent, "cached_content", "The request uses cached content, beside which no tool can be added", "cachedContent of Gemini"},
		{continuation.ReasonResumption, "resumption", "The request resumes an answer that was cut off", "continuationToken of Gemini"},
		{continuation.ReasonModalities, "modalities", "The request asks for more than text", "responseModalities of Gemini"},
		{continuation.ReasonFraming, "framing", "The answer is streamed as a JSON array, not as events (alt=sse)", "streamGenerateContent without alt=sse"},
		{continuation.ReasonPath, "path", "The path is of no protocol that carryon speaks", "a base URL of another API"},
		{continuation.ReasonMethod, "method", "The request is not a POST", "GET"},
		{continuation.ReasonContentType, "content_type", "The content type of the request is not JSON", "text/plain"},
		{continuation.ReasonEncoded, "encoded", "The body of the request is encoded", "gzip"},
		{continuation.ReasonTooLarge, "too_large", "The body of the request is too large", "64 MiB and more"},
		{continuation.ReasonSigned, "signed", "The request carries a signature of its body", "AWS"},
		{continuation.ReasonNoBody, "no_body", "The request has no body", "POST without a body"},
		{continuation.ReasonUnreadable, "unreadable", "The body of the request could not be read", "malformed JSON"},
		{continuation.ReasonBrokeOff, "broke_off", "The call broke off", "HTTP 401, a cancelled ctx, Close"},
		{continuation.ReasonToolCalls, "tool_calls", "Tool calls were made during stream - no continuation needed", "the tool loop goes on"},
		{continuation.ReasonTooLong, "too_long", "The answer is too long to be sent again", "32 MiB of text"},
		{continuation.ReasonRefused, "refused", "The model refused to answer", "a refusal"},
		{continuation.ReasonUnknownContent, "unknown_content", "The turn held content that carryon does not know", "content of an unknown type"},
		{continuation.ReasonNotEnded, "not_ended", "The turn did not end with a plain stop", "max_tokens is small"},
		{continuation.ReasonPaused, "paused", "The session is paused", "todo_pause, or Middleware.Pause"},
		{continuation.ReasonSuperseded, "superseded", "A newer user turn has begun", "the user has written again meanwhile"},
		{continuation.ReasonProviderRefused, "provider_refused", "The provider refused a continuation in this user turn", "HTTP 400 of a continuation, whose context is too long"},
		{continuation.ReasonNoList, "no_list", "No todo list found", "no todo tool was called"},
		{continuation.ReasonNothingOpen, "nothing_open", "The model was asked, and says that nothing is open", "the work is done, and there is no list"},
		{continuation.ReasonAsked, "asked_before", "The model was asked whether anything is open, and has called no tool since", "an answer in words to the question"},
		{continuation.ReasonListUnreadable, "list_unreadable", "The todo list could not be read", "items without a content"},
		{continuation.ReasonNoSession, "no_session", "There is no session, so there is no todo list", "todo.NewMemory without continuation.WithSession"},
		{continuation.ReasonSourceFailed, "source_failed", "The todo source failed", "the database is down"},
		{continuation.ReasonSourceLate, "source_late", "The todo source was late", "the database is slow"},
		{continuation.ReasonEmptyList, "list_empty", "The todo list is empty", "the source was never filled"},
		{continuation.ReasonUnknownStatus, "unknown_status", "No active todos found (pending or in_progress), but unknown statuses", "statuses in another language"},
		{continuation.ReasonNoActiveTodos, "no_active_todos", "No active todos found (pending or in_progress)", "the work is done"},
		{continuation.ReasonAsksUser, "asks_user", "The model asked the user something", "\"Which of the two do you want?\""},
		{continuation.ReasonListUntouched, "list_untouched", "The todo list was not written in this user turn", "a question beside the work"},
		{continuation.ReasonOthersWork, "others_work", "All open todos belong to other agents, or wait for them", "the todos of teammates"},
		{continuation.ReasonBackground, "background", "Background tasks are pending or running", "a task of asynctask runs"},
		{continuation.ReasonActive, "already_active", "Already in continuation process", "two calls of a session end at once"},
		{continuation.ReasonMaxAttempts, "max_attempts", "Maximum continuation attempts exceeded", "four answers without progress"},
		{continuation.ReasonWithoutProgress, "max_without_progress", "Maximum continuations without progress exceeded", "ten tool calls without progress"},
		{continuation.ReasonTokenBudget, "token_budget", "Token budget for continuations exceeded", "Limits.TokenBudget is used up"},
		{continuation.ReasonNoSuitableTodo, "no_suitable_todo", "No suitable active todo found", "todos without a text"},
		{continuation.ReasonTooSoon, "too_soon", "Too soon since last continuation attempt", "within Limits.MinInterval"},
		{continuation.ReasonCheckDue, "check_due", "The program's check is asked whether the work is done", "middleware.WithCheck; a check takes its time"},
		{continuation.ReasonCheckPassed, "check_passed", "The program's check passed", "the list is done, and the tests pass"},
		{continuation.ReasonCheckUnknown, "check_unknown", "The program's check could not tell whether the work is done", "the command was not found"},
		{
			continuation.ReasonCheckExhausted, "check_exhausted", "The program's check failed when it was last asked, and no attempt is left",
			"the tests never pass",
		},
		{continuation.ReasonGate, "gate", "The gate vetoed the continuation", "middleware.WithGate"},
		{continuation.ReasonStore, "store", "The session state is unavailable", "the store is down"},
		{continuation.ReasonStoreSkipped, "store_skipped", "The session state was unavailable before, and is not asked for", "the store was down seconds ago"},
		{continuation.ReasonDeadline, "deadline", "Too little time is left before the caller's deadline", "a time-out of the client"},
		{continuation.ReasonShutdown, "shutdown", "The program is shutting down", "Middleware.Drain"},
		{continuation.ReasonFailed, "failed", "The continuation failed", "HTTP 500 of the continuation"},
		{continuation.ReasonHoldout, "holdout", "The session is held out for comparison, and would have been continued", "middleware.WithHoldout"},
	}
	for i, row := range rows {
		assert.Equal(t, row.reason, continuation.Reason(i), "the rows are in the order of the reasons: %s", row.situation) //nolint:gosec // a small index
		assert.Equal(t, row.code, row.reason.Code(), row.situation)
		assert.Equal(t, row.text, row.reason.String(), row.situation)
		assert.NotEmpty(t, row.situation)
	}
	assert.Len(t, rows, int(continuation.ReasonHoldout)+1)
}

func TestReasonsAllHaveTextsOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]continuation.Reason{}
	for reason := continuation.ReasonNone; reason <= continuation.ReasonHoldout; reason++ {
		text := reason.String()
		assert.NotEmpty(t, text, "reason %d", uint8(reason))
		other, taken := seen[text]
		assert.False(t, taken, "%d and %d: %s", uint8(reason), uint8(other), text)
		seen[text] = reason
	}
	assert.Equal(t, "continuation.Reason(200)", continuation.Reason(200).String())
	assert.Equal(t, fmt.Sprintf("continuation.Reason(%d)", len(seen)), (continuation.ReasonHoldout + 1).String())
}

func TestReasonIsStoredByItsCode(t *testing.T) {
	t.Parallel()
	for reason := continuation.ReasonNone; reason <= continuation.ReasonHoldout; reason++ {
		data, err := json.Marshal(map[string]continuation.Reason{"reason": reason})
		require.NoError(t, err)
		assert.JSONEq(t, `{"reason":"`+reason.Code()+`"}`, string(data))
		var back map[string]continuation.Reason
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, reason, back["reason"])
	}
	var reason continuation.Reason
	require.EqualError(t, reason.UnmarshalText([]byte("of a newer version")), `continuation: unknown reason "of a newer version"`)
}

func TestReasonExhausted(t *testing.T) {
	t.Parallel()
	for reason := continuation.ReasonNone; reason <= continuation.ReasonHoldout; reason++ {
		want := reason == continuation.ReasonMaxAttempts || reason == continuation.ReasonWithoutProgress ||
			reason == continuation.ReasonTokenBudget || reason == continuation.ReasonCheckExhausted
		assert.Equal(t, want, reason.Exhausted(), reason)
	}
}

func TestReasonsAllHaveCodesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]continuation.Reason{}
	for reason := continuation.ReasonNone; reason <= continuation.ReasonHoldout; reason++ {
		code := reason.Code()
		assert.Regexp(t, "^[a-z]+(_[a-z]+)*$", code, reason)
		other, taken := seen[code]
		assert.False(t, taken, "%v and %v: %s", reason, other, code)
		seen[code] = reason
	}
	assert.Equal(t, "unknown", (continuation.ReasonHoldout + 1).Code())
}

func TestReasonsCostNothing(t *testing.T) {
	assert.Zero(t, measure.Allocations(func() {
		for reason := continuation.ReasonNone; reason <= continuation.ReasonHoldout; reason++ {
			_, _ = reason.Code(), reason.String()
		}
	}))
}
