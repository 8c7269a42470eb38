package gemini_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
)

// The chunk with the finish of a turn that goes on is shown if it has more than the finish, and the next text begins two
// lines below.
func TestEndOfATurnThatGoesOn(t *testing.T) {
	t.Parallel()
	const ends = `"finishMessage":"Ended.","groundingMetadata":{"webSearchQueries":["a"]},"citationMetadata":{}`
	for name, test := range map[string]struct {
		first, shown []string
		grounded     bool
	}{
		"text":                  {[]string{of(says("So."), stop)}, []string{"So.", "\n\nOne."}, false},
		"a line end":            {[]string{of(says(`So.\n`), stop)}, []string{"So.\n", "\nOne."}, false},
		"an empty line":         {[]string{of(says(`So.\n\n`), stop)}, []string{"So.\n\n", "One."}, false},
		"nothing":               {[]string{of(says("So.")), of(says(""), stop)}, []string{"So.", "\n\nOne."}, false},
		"a signature":           {[]string{of(says("So.")), of(signed(says(""), "s"), stop)}, []string{"So.", "!s", "\n\nOne."}, false},
		"citations":             {[]string{of(says("So.")), of(says(""), stop, ends)}, []string{"So.", "\n\nOne."}, true},
		"code that the API ran": {[]string{of(`{"executableCode":{}},{"codeExecutionResult":{}},`+says("So."), stop)}, []string{`<{"executableCode":{}}>`, `<{"codeExecutionResult":{}}>`, "So.", "\n\nOne."}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask{path: newest, attempts: 1, turns: []fakellm.Turn{raw(test.first...), raw(of(says("One."), stop))}}.play(t, true)
			assert.Equal(t, test.shown, got.shown(t))
			assert.NotContains(t, got.raw, "Ended.")
			assert.Equal(t, test.grounded, strings.Contains(got.raw, "webSearchQueries"))
		})
	}
}

// Later turns have the first one's time, or none if it has none, and keep what else they say.
func TestMembersOfLaterTurns(t *testing.T) {
	t.Parallel()
	timed := func(chunk, at string) string { return strings.TrimSuffix(chunk, "}") + `,"createTime":"` + at + `"}` }
	second := timed(of(says("One.")), "later")
	last := strings.TrimSuffix(timed(of(says(" Two."), stop), "later"), "}") + `,"modelStatus":{"modelStage":"STABLE"}}`
	plan := of(says(wiretest.Plan), stop)
	for first, want := range map[string]int{plan: 0, strings.Replace(plan, `,"responseId":"r"`, "", 1): 0, timed(plan, "now"): 4} {
		got := ask{turns: []fakellm.Turn{raw(first), raw(second, last)}}.play(t, true)
		assert.Equal(t, want, strings.Count(got.raw, `"createTime":"now"`))
		assert.NotContains(t, got.raw, "later")
		assert.Contains(t, got.raw, `"modelStatus":{"modelStage":"STABLE"}`)
	}
}

// A chunk without usage gets none: clients that add differences would count the last one again.
func TestChunkWithoutUsage(t *testing.T) {
	t.Parallel()
	bare := strings.Replace(of(says("One.")), `"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15},`, "", 1)
	got := ask{turns: []fakellm.Turn{raw(of(says(wiretest.Plan), stop)), raw(bare, of(says(" Two."), stop))}}.exchange(t, true, 0)
	require.NoError(t, got.err)
	events := eventsOf(t, got.raw)
	require.Len(t, events, 4, "the last one has the finish")
	assert.NotContains(t, events[1], "usageMetadata")
	assert.Contains(t, events[2], `"candidatesTokenCount":10`)
}

// On a path whose chunks are wrapped, a bare one can only be an error: it is not continued, and no part of a later turn.
func TestChunkThatIsNotWrapped(t *testing.T) {
	t.Parallel()
	bare, wrapped := of(`{"executableCode":{}},`+says("One."), stop), `{"response":`+of(says(wiretest.Plan), stop)+`}`
	got := ask{path: assist, turns: []fakellm.Turn{raw(bare)}}.exchange(t, true, 0)
	require.NoError(t, got.err)
	assert.Len(t, got.requests, 1)
	got = ask{path: assist, attempts: 1, turns: []fakellm.Turn{raw(wrapped), raw(bare), raw(bare), raw(bare)}}.exchange(t, true, 0)
	require.NoError(t, got.err)
	assert.NotContains(t, got.raw, "executableCode")
}

// The ids of calls, by which clients pair their results, are the provider's.
func TestIDsOfCalls(t *testing.T) {
	t.Parallel()
	call := func(id string) string {
		return `{"functionCall":{"id":"` + id + `","name":"edit_file","args":{}},"thoughtSignature":"s"}`
	}
	got := ask{path: newest, turns: []fakellm.Turn{raw(of(says(wiretest.Plan), stop)), raw(of(call("8hd01vsf")+","+call("b")), of(says(""), stop))}}.play(t, true)
	assert.Contains(t, got.raw, call("8hd01vsf")+","+call("b"))
}

// A third turn follows a second one that ends in text, with both texts as the model's.
func TestThreeTurns(t *testing.T) {
	t.Parallel()
	ask{turns: []fakellm.Turn{
		fakellm.Text(wiretest.Plan), fakellm.Text("Then I will test it."), fakellm.Call("edit_file", "{}"),
	}}.both(t, func(t *testing.T, got answer) {
		const texts = wiretest.Plan + "\n\nThen I will test it."
		assert.Equal(t, texts, got.text(t))
		require.Len(t, got.requests, 3)
		messages := got.requests[2].Messages
		assert.Equal(t, texts, messages[len(messages)-2].Content)
		assert.Len(t, messages, 4, "system, user, model, and one prompt")
		assert.JSONEq(t, `{"promptTokenCount":10,"candidatesTokenCount":15,"totalTokenCount":25,"promptTokensDetails":[{"modality":"TEXT","tokenCount":10}]}`, got.usage(t))
	})
}

// A todo_pause of the caller's own is neither declared a second time nor taken out.
func TestOwnPause(t *testing.T) {
	t.Parallel()
	tools := `[{"functionDeclarations":[` + editFile + `,{"name":"todo_pause","parameters":{"type":"OBJECT"}}]}]`
	for name, turns := range map[string][]fakellm.Turn{
		"in the first turn": {raw(of(says("I stop.")+","+pauses, stop))},
		"in a later turn":   {raw(of(says(wiretest.Plan), stop)), raw(of(pauses, stop))},
	} {
		got := ask{tools: tools, turns: turns}.play(t, true)
		assert.Contains(t, got.raw, pauses, name)
		assert.NotContains(t, got.raw, "Task paused", name)
		for _, r := range got.requests {
			assert.Equal(t, []string{"edit_file", "todo_pause"}, r.Tools, name)
		}
	}
}

// Where no function may be added, the model is asked to pause in words.
func TestNoMoreThan128Functions(t *testing.T) {
	t.Parallel()
	functions := make([]string, 128)
	for i := range functions {
		functions[i] = strings.Replace(editFile, "edit_file", "edit_file_"+strings.Repeat("x", i), 1)
	}
	got := ask{
		tools: `[{"functionDeclarations":[` + strings.Join(functions, ",") + `]}]`,
		turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("I stop. todo_pause('" + wiretest.Blocked + "')")},
	}.play(t, true)
	require.Len(t, got.requests, 2)
	assert.Len(t, got.requests[1].Tools, 128)
	assert.Contains(t, got.text(t), "Task paused: "+wiretest.Blocked)
	assert.Equal(t, reasons.Paused, got.outcome.Reason)
}

// A request with cached content is left alone: the API takes no function beside it, and its tools are not in the request.
func TestCachedContent(t *testing.T) {
	t.Parallel()
	loop := hello + `,{"role":"model","parts":[` + edits + `]},{"role":"user","parts":[{"functionResponse":{"name":"edit_file","response":{"output":"ok"}}}]}`
	got := ask{members: `"cachedContent":"cachedContents/a",`, tools: `[]`, contents: loop, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan)}}.exchange(t, true, 0)
	require.NoError(t, got.err)
	assert.Len(t, got.requests, 1)
	assert.Equal(t, reasons.CachedContent.Code(), got.outcome.Reason.Code())
}

// An error that stands in a stream without an event, as some servers write it, passes as it came.
func TestBareError(t *testing.T) {
	t.Parallel()
	stream := whole([]string{of(says("One."))}) + "{\n  \"error\": {\n    \"code\": 503,\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n"
	got := ask{turns: []fakellm.Turn{fakellm.Raw(stream)}}.exchange(t, true, 0)
	require.NoError(t, got.err)
	assert.Equal(t, stream, got.raw)
	assert.Len(t, got.requests, 1)
	assert.Equal(t, reasons.BrokeOff.Code(), got.outcome.Reason.Code())
}

// A refusal that would come again is not asked for twice.
func TestRefusedSignature(t *testing.T) {
	t.Parallel()
	refused := fakellm.Status(http.StatusBadRequest, `{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}`)
	got := ask{turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), refused, fakellm.Text("never asked for")}}.play(t, true)
	assert.Len(t, got.requests, 2)
	assert.Equal(t, wiretest.Plan, got.text(t))
}

// Continuations go where the caller's request went, with its headers, and add none.
func TestWhereContinuationsGo(t *testing.T) {
	t.Parallel()
	got := ask{query: "key=k&alt=sse", turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Call("edit_file", "{}")}}.play(t, true)
	require.Len(t, got.requests, 2)
	assert.Equal(t, got.requests[0].Path, got.requests[1].Path)
	own, added := got.requests[0].Header.Clone(), got.requests[1].Header.Clone()
	own.Del("Content-Length")
	added.Del("Content-Length")
	assert.Equal(t, own, added)
}

// Code that the provider runs is shown, also beside a text that was said before.
func TestCodeOfATurnThatRepeatsItself(t *testing.T) {
	t.Parallel()
	second := of(says(wiretest.Plan)+`,{"executableCode":{"language":"PYTHON","code":"1"}}`, stop)
	got := ask{turns: []fakellm.Turn{raw(of(says(wiretest.Plan), stop)), raw(second)}}.play(t, true)
	assert.Contains(t, got.raw, `"executableCode"`)
	assert.Equal(t, 2, strings.Count(got.text(t), wiretest.Plan))
}

// A count that is no number is none, whatever way its chunk takes.
func TestCountsThatAreNoNumbers(t *testing.T) {
	t.Parallel()
	for _, count := range []string{`"5"`, "null", "true", "-5", "[5]"} {
		usage := `{"promptTokenCount":10,"candidatesTokenCount":` + count + `,"totalTokenCount":15}`
		first := raw(withUsage(of(says(wiretest.Plan)), usage), withUsage(of(says(" So."), stop), usage))
		got := ask{turns: []fakellm.Turn{first, raw(of(edits, stop))}}.play(t, true)
		assert.Zero(t, max(got.outcome.Usage[0].Completion, 0), count)
	}
}
