package continuation_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// The texts that people match on, written out so that a change shows.
func TestReasonFixedTexts(t *testing.T) {
	t.Parallel()
	for reason, want := range map[continuation.Reason]string{
		reasons.Satisfied:      "All continuation conditions satisfied",
		reasons.Disabled:       "Todo continuation is disabled in ephemeral settings",
		reasons.ToolCalls:      "Tool calls were made during stream - no continuation needed",
		reasons.NoActiveTodos:  "No active todos found (pending or in_progress)",
		reasons.Active:         "Already in continuation process",
		reasons.MaxAttempts:    "Maximum continuation attempts exceeded",
		reasons.NoSuitableTodo: "No suitable active todo found",
		reasons.TooSoon:        "Too soon since last continuation attempt",
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
		{reasons.None, "none", "No decision was taken", "nothing was decided"},
		{reasons.Satisfied, "satisfied", "All continuation conditions satisfied", "work is left, and every condition is met"},
		{reasons.Ask, "ask", "There is no list, so the model is asked whether anything is still open", "middleware.WithClosingQuestion"},
		{reasons.CheckFailed, "check_failed", "The program's check failed", "the list is done, and the tests fail"},
		{reasons.Disabled, "disabled", "Todo continuation is disabled in ephemeral settings", "/set todo-continuation false"},
		{reasons.Suppressed, "suppressed", "Continuation is suppressed for this call", "continuation.Suppress, or a langchaingo call that needs an option"},
		{reasons.Nested, "nested", "The call runs inside another carryon layer", "a wrapped client over a wrapped transport"},
		{reasons.LegacyFunctions, "legacy_functions", "The request uses legacy functions", "functions in place of tools"},
		{reasons.NoTools, "no_tools", "The request offers no tools", "a request without tools"},
		{reasons.NoListTool, "no_list_tool", "No tool of the request can write the todo list", "a side call without the todo tool"},
		{reasons.NoMessages, "no_messages", "The request has no list of messages", "a request with a single text"},
		{reasons.ToolChoice, "tool_choice", "The request's tool choice rules a continuation out", "tool_choice none, required or a named tool"},
		{reasons.ManyChoices, "several_choices", "More than one choice was asked for", "n of 2"},
		{reasons.JSON, "json_response", "The request asks for a JSON response", "response_format json_object"},
		{reasons.Prefill, "prefill", "The request begins the answer itself", "the last message is an assistant's"},
		{reasons.NoAnswer, "no_answer", "The request asks for no answer", "max_tokens 0"},
		{reasons.Compaction, "compaction", "The request asks to stop after a compaction", "a request that compacts the conversation"},
		{reasons.SideCall, "side_call", "An agent asks for something beside its work", "a compaction of Claude Code"},
		{reasons.PreviousResponse, "previous_response", "The request continues a stored response (previous_response_id) instead of sending its whole input", "previous_response_id"},
		{reasons.Conversation, "conversation", "The request adds to a stored conversation instead of sending its whole input", "conversation"},
		{reasons.BackgroundResponse, "background_response", "The response is made in the background and fetched later", "background true"},
		{reasons.StopSequences, "stop_sequences", "The request has stop sequences, and an answer that hits one ends like any other", "stopSequences of Gemini"},
		{reasons.CachedContent, "cached_content", "The request uses cached content, beside which no tool can be added", "cachedContent of Gemini"},
		{reasons.Resumption, "resumption", "The request resumes an answer that was cut off", "continuationToken of Gemini"},
		{reasons.Modalities, "modalities", "The request asks for more than text", "responseModalities of Gemini"},
		{reasons.Framing, "framing", "The answer is streamed as a JSON array, not as events (alt=sse)", "streamGenerateContent without alt=sse"},
		{reasons.Path, "path", "The path is of no protocol that carryon speaks", "a base URL of another API"},
		{reasons.Method, "method", "The request is not a POST", "GET"},
		{reasons.ContentType, "content_type", "The content type of the request is not JSON", "text/plain"},
		{reasons.Encoded, "encoded", "The body of the request is encoded", "gzip"},
		{reasons.TooLarge, "too_large", "The body of the request is too large", "64 MiB and more"},
		{reasons.Signed, "signed", "The request carries a signature of its body", "AWS"},
		{reasons.NoBody, "no_body", "The request has no body", "POST without a body"},
		{reasons.Unreadable, "unreadable", "The body of the request could not be read", "malformed JSON"},
		{reasons.BrokeOff, "broke_off", "The call broke off", "HTTP 401, a cancelled ctx, Close"},
		{reasons.ToolCalls, "tool_calls", "Tool calls were made during stream - no continuation needed", "the tool loop goes on"},
		{reasons.TooLong, "too_long", "The answer is too long to be sent again", "32 MiB of text"},
		{reasons.Refused, "refused", "The model refused to answer", "a refusal"},
		{reasons.UnknownContent, "unknown_content", "The turn held content that carryon does not know", "content of an unknown type"},
		{reasons.NotEnded, "not_ended", "The turn did not end with a plain stop", "max_tokens is small"},
		{reasons.Paused, "paused", "The session is paused", "todo_pause, or Middleware.Pause"},
		{reasons.Superseded, "superseded", "A newer user turn has begun", "the user has written again meanwhile"},
		{reasons.ProviderRefused, "provider_refused", "The provider refused a continuation in this user turn", "HTTP 400 of a continuation, whose context is too long"},
		{reasons.NoList, "no_list", "No todo list found", "no todo tool was called"},
		{reasons.NothingOpen, "nothing_open", "The model was asked, and says that nothing is open", "the work is done, and there is no list"},
		{reasons.Asked, "asked_before", "The model was asked whether anything is open, and has called no tool since", "an answer in words to the question"},
		{reasons.ListUnreadable, "list_unreadable", "The todo list could not be read", "items without a content"},
		{reasons.NoSession, "no_session", "There is no session, so there is no todo list", "todo.NewMemory without continuation.WithSession"},
		{reasons.SourceFailed, "source_failed", "The todo source failed", "the database is down"},
		{reasons.SourceLate, "source_late", "The todo source was late", "the database is slow"},
		{reasons.EmptyList, "list_empty", "The todo list is empty", "the source was never filled"},
		{reasons.UnknownStatus, "unknown_status", "No active todos found (pending or in_progress), but unknown statuses", "statuses in another language"},
		{reasons.NoActiveTodos, "no_active_todos", "No active todos found (pending or in_progress)", "the work is done"},
		{reasons.AsksUser, "asks_user", "The model asked the user something", "\"Which of the two do you want?\""},
		{reasons.LeftToUser, "left_to_user", "The model left the rest to the user, or said what keeps it from going on", "\"I cannot reach the server.\""},
		{reasons.ListUntouched, "list_untouched", "The todo list was not written in this user turn", "a question beside the work"},
		{reasons.OthersWork, "others_work", "All open todos belong to other agents, or wait for them", "the todos of teammates"},
		{reasons.Background, "background", "Background tasks are pending or running", "a task of asynctask runs"},
		{reasons.Active, "already_active", "Already in continuation process", "two calls of a session end at once"},
		{reasons.MaxAttempts, "max_attempts", "Maximum continuation attempts exceeded", "four answers without progress"},
		{reasons.WithoutProgress, "max_without_progress", "Maximum continuations without progress exceeded", "ten tool calls without progress"},
		{reasons.TokenBudget, "token_budget", "Token budget for continuations exceeded", "Limits.TokenBudget is used up"},
		{reasons.NoSuitableTodo, "no_suitable_todo", "No suitable active todo found", "todos without a text"},
		{reasons.TooSoon, "too_soon", "Too soon since last continuation attempt", "within Limits.MinInterval"},
		{reasons.CheckDue, "check_due", "The program's check is asked whether the work is done", "middleware.WithCheck; a check takes its time"},
		{reasons.CheckPassed, "check_passed", "The program's check passed", "the list is done, and the tests pass"},
		{reasons.CheckUnknown, "check_unknown", "The program's check could not tell whether the work is done", "the command was not found"},
		{
			reasons.CheckExhausted, "check_exhausted", "The program's check failed when it was last asked, and no attempt is left",
			"the tests never pass",
		},
		{reasons.Gate, "gate", "The gate vetoed the continuation", "middleware.WithGate"},
		{reasons.Store, "store", "The session state is unavailable", "the store is down"},
		{reasons.StoreSkipped, "store_skipped", "The session state was unavailable before, and is not asked for", "the store was down seconds ago"},
		{reasons.Deadline, "deadline", "Too little time is left before the caller's deadline", "a time-out of the client"},
		{reasons.Shutdown, "shutdown", "The program is shutting down", "Middleware.Drain"},
		{reasons.Failed, "failed", "The continuation failed", "HTTP 500 of the continuation"},
		{reasons.Holdout, "holdout", "The session is held out for comparison, and would have been continued", "middleware.WithHoldout"},
	}
	for i, row := range rows {
		assert.Equal(t, row.reason, continuation.Reason(i), "the rows are in the order of the reasons: %s", row.situation) //nolint:gosec // a small index
		assert.Equal(t, row.code, row.reason.Code(), row.situation)
		assert.Equal(t, row.text, row.reason.String(), row.situation)
		assert.NotEmpty(t, row.situation)
	}
	for missing := continuation.Reason(len(rows)); missing <= reasons.Holdout; missing++ { //nolint:gosec // a small index
		assert.Fail(t, "a reason has no row here", missing.Code())
	}
}

func TestReasonsAllHaveTextsOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]continuation.Reason{}
	for reason := reasons.None; reason <= reasons.Holdout; reason++ {
		text := reason.String()
		assert.NotEmpty(t, text, "reason %d", uint8(reason))
		other, taken := seen[text]
		assert.False(t, taken, "%d and %d: %s", uint8(reason), uint8(other), text)
		seen[text] = reason
	}
	assert.Equal(t, "continuation.Reason(200)", continuation.Reason(200).String())
	assert.Equal(t, fmt.Sprintf("continuation.Reason(%d)", len(seen)), (reasons.Holdout + 1).String())
}

func TestReasonIsStoredByItsCode(t *testing.T) {
	t.Parallel()
	for reason := reasons.None; reason <= reasons.Holdout; reason++ {
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
	for reason := reasons.None; reason <= reasons.Holdout; reason++ {
		want := reason == reasons.MaxAttempts || reason == reasons.WithoutProgress ||
			reason == reasons.TokenBudget || reason == reasons.CheckExhausted
		assert.Equal(t, want, reason.Exhausted(), reason)
	}
}

func TestReasonsAllHaveCodesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]continuation.Reason{}
	for reason := reasons.None; reason <= reasons.Holdout; reason++ {
		code := reason.Code()
		assert.Regexp(t, "^[a-z]+(_[a-z]+)*$", code, reason)
		other, taken := seen[code]
		assert.False(t, taken, "%v and %v: %s", reason, other, code)
		seen[code] = reason
	}
	assert.Equal(t, "unknown", (reasons.Holdout + 1).Code())
}

func TestReasonsCostNothing(t *testing.T) {
	assert.Zero(t, measure.Allocations(func() {
		for reason := reasons.None; reason <= reasons.Holdout; reason++ {
			_, _ = reason.Code(), reason.String()
		}
	}))
}
