package gemini_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire/gemini"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		studio + ":generateContent": true, studio + ":streamGenerateContent": true, "/v1/models/m:generateContent": true,
		vertex + ":streamGenerateContent": true, "/v1/projects/p/locations/l/endpoints/e:generateContent": true,
		"/gateway/gemini/v1beta/tunedModels/t:generateContent": true, assist + ":streamGenerateContent": true,
		studio + ":countTokens": false, studio + ":embedContent": false, studio + ":batchGenerateContent": false,
		vertex + ":streamRawPredict": false, assist + ":loadCodeAssist": false, "/v1beta/interactions": false,
		"/v1beta/openai/chat/completions": false, "/v1beta/models": false, "/generateContent": false,
	} {
		assert.Equal(t, want, gemini.Protocol{}.Match(&url.URL{Path: path}), path)
	}
}

func parse(t *testing.T, address, b string) adapter.Request {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	facts, _, ok := gemini.Protocol{}.Parse(u, []byte(b), wiretest.Body(b))
	require.True(t, ok, b)
	return facts
}

// What the URL says: the model, the provider, and whether the answer is streamed.
func TestFactsOfTheURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]adapter.Request{
		studio + ":generateContent?key=k":         {Model: "gemini-2.5-pro", Provider: "gcp.gemini"},
		studio + ":streamGenerateContent?alt=sse": {Model: "gemini-2.5-pro", Provider: "gcp.gemini", Streamed: true},
		vertex + ":streamGenerateContent?alt=sse": {Model: "gemini-2.5-pro", Provider: "gcp.vertex_ai", Streamed: true},
		assist + ":generateContent":               {Model: "in the body", Provider: "gcp.gen_ai"},
		studio + ":streamGenerateContent":         {Model: "gemini-2.5-pro", Provider: "gcp.gemini", Streamed: true, LeaveAlone: reasons.Framing},
		studio + ":streamGenerateContent?$alt=json%3Benum-encoding%3Dint": {
			Model: "gemini-2.5-pro", Provider: "gcp.gemini", Streamed: true, LeaveAlone: reasons.Framing,
		},
	} {
		request := `{"model":"models/in the body","request":{"contents":[` + hello + `]},"contents":[` + hello + `]}`
		got := parse(t, "http://gemini.test"+address, request)
		assert.Equal(t, want, adapter.Request{Model: got.Model, Provider: got.Provider, Streamed: got.Streamed, LeaveAlone: got.LeaveAlone}, address)
		assert.Equal(t, 1, got.Users, address)
	}
}

// What is left alone passes as it is, for a reason that is reported.
func TestScope(t *testing.T) {
	t.Parallel()
	none := reasons.None
	for name, test := range map[string]struct {
		ask
		reason continuation.Reason
	}{
		"AUTO":                    {ask{members: `"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},`}, none},
		"VALIDATED":               {ask{members: `"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}},`}, none},
		"no mode":                 {ask{members: `"toolConfig":{},`}, none},
		"a number":                {ask{members: `"tool_config":{"function_calling_config":{"mode":1}},`}, none},
		"ANY":                     {ask{members: `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},`}, reasons.ToolChoice},
		"any, in snake case":      {ask{members: `"tool_config":{"function_calling_config":{"mode":"any"}},`}, reasons.ToolChoice},
		"NONE":                    {ask{members: `"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},`}, reasons.ToolChoice},
		"NONE as a number":        {ask{members: `"toolConfig":{"functionCallingConfig":{"mode":3}},`}, reasons.ToolChoice},
		"an unknown mode":         {ask{members: `"toolConfig":{"functionCallingConfig":{"mode":"NEW"}},`}, reasons.ToolChoice},
		"no functions":            {ask{tools: `[{"googleSearch":{}}]`}, reasons.NoTools},
		"search beside functions": {ask{tools: `[{"googleSearch":{}},{"functionDeclarations":[` + editFile + `]},{"codeExecution":{}}]`}, none},
		"stop sequences":          {ask{members: `"generationConfig":{"stopSequences":["END"]},`}, reasons.StopSequences},
		"no stop sequences":       {ask{members: `"generationConfig":{"stopSequences":[ ]},`}, none},
		"two candidates":          {ask{members: `"generationConfig":{"candidateCount":2},`}, reasons.ManyChoices},
		"one candidate":           {ask{members: `"generation_config":{"candidate_count":1},`}, none},
		"JSON":                    {ask{members: `"generationConfig":{"responseMimeType":"application/json"},`}, reasons.JSON},
		"no type":                 {ask{members: `"generationConfig":{"responseMimeType":""},`}, none},
		"a schema":                {ask{members: `"generation_config":{"response_json_schema":{}},`}, reasons.JSON},
		"text":                    {ask{members: `"generationConfig":{"responseMimeType":"text/plain","responseSchema":null,"responseModalities":["TEXT"]},`}, none},
		"images":                  {ask{members: `"generationConfig":{"responseModalities":["TEXT","IMAGE"]},`}, reasons.Modalities},
		"cached content":          {ask{members: `"cachedContent":"cachedContents/a",`, tools: `[]`}, reasons.CachedContent},
		"cached content, tools":   {ask{members: `"cached_content":"cachedContents/a",`}, reasons.CachedContent},
		"a resumption":            {ask{members: `"continuationToken":"abc",`}, reasons.Resumption},
		"a prefill":               {ask{contents: hello + `,{"role":"model","parts":[{"text":"So"}]}`}, reasons.Prefill},
		"no contents":             {ask{contents: ` `}, none},
		"the array framing":       {ask{query: "key=k"}, reasons.Framing},
		"snake case":              {ask{tools: `[{"function_declarations":[{"name":"edit_file","parameters_json_schema":{}}]}]`}, none},
		"128 functions":           {ask{tools: `[{"functionDeclarations":[` + strings.TrimSuffix(strings.Repeat(editFile+",", 128), ",") + `]}]`}, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "128 functions" || strings.Contains(name, "prefill") || name == "no contents" {
				facts := parse(t, test.url(true), test.body())
				assert.Equal(t, test.reason == reasons.Prefill, facts.LeaveAlone == reasons.Prefill)
				return
			}
			test.turns = []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Call("edit_file", "{}")}
			got := test.exchange(t, true, 0)
			require.NoError(t, got.err)
			if test.reason != none {
				assert.Equal(t, test.reason, got.outcome.Reason)
				assert.Len(t, got.requests, 1)
				return
			}
			assert.Len(t, got.requests, 2)
			assert.Equal(t, reasons.ToolCalls, got.outcome.Reason)
		})
	}
}

// Turns that are not continued are shown as they came.
func TestTurnsThatAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		chunks []string
		reason continuation.Reason
	}{
		"a call":              {[]string{of(edits, stop)}, reasons.ToolCalls},
		"text, then a call":   {[]string{of(says("One.")), of(edits), of(says(""), stop)}, reasons.ToolCalls},
		"a call in pieces":    {[]string{of(`{"functionCall":{"name":"edit_file","willContinue":true}}`), of(`{"functionCall":{}}`, stop)}, reasons.ToolCalls},
		"a call without name": {[]string{of(`{"functionCall":{}}`, stop)}, reasons.ToolCalls},
		"MAX_TOKENS":          {[]string{of(says("One."), `"finishReason":"MAX_TOKENS"`)}, reasons.NotEnded},
		"SAFETY":              {[]string{of(says("One."), `"finishReason":"SAFETY"`)}, reasons.NotEnded},
		"MALFORMED":           {[]string{of(says("One."), `"finishReason":"MALFORMED_FUNCTION_CALL"`)}, reasons.NotEnded},
		"CONTINUATION":        {[]string{of(says("One."), `"finishReason":"CONTINUATION"`, `"continuationToken":"t"`)}, reasons.NotEnded},
		"an unknown finish":   {[]string{of(says("One."), `"finishReason":"COMPLETE"`)}, reasons.NotEnded},
		"another number":      {[]string{of(says("One."), `"finishReason":5`)}, reasons.NotEnded},
		"no finish":           {[]string{of(says("One."))}, reasons.NotEnded},
		"an error":            {[]string{of(says("One.")), `{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}`}, reasons.BrokeOff},
		"a blocked prompt":    {[]string{`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{}}`}, reasons.Refused},
		"two candidates":      {[]string{strings.Replace(of(says("One."), stop), `}],"usage`, `},{"index":1}],"usage`, 1)}, reasons.ManyChoices},
		"another index":       {[]string{strings.Replace(of(says("One."), stop), `"index":0`, `"index":1`, 1)}, reasons.ManyChoices},
		"an image":            {[]string{of(says("One.")+`,{"inlineData":{}}`, stop)}, reasons.UnknownContent},
		"an unknown part":     {[]string{of(says("One.")+`,{"novelty":{}}`, stop)}, reasons.UnknownContent},
		"an unknown thought":  {[]string{of(says("One.")+`,{"novelty":{},"thought":true}`, stop)}, reasons.UnknownContent},
		"an unknown line":     {[]string{of(says("One.")), "[DONE]", of(says(""), stop)}, reasons.UnknownContent},
		"a tool that runs":    {[]string{of(`{"toolCall":{"id":"1"}},`+says("One."), stop)}, reasons.UnknownContent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask{turns: []fakellm.Turn{raw(test.chunks...)}}.exchange(t, true, 0)
			require.NoError(t, got.err)
			assert.Equal(t, whole(test.chunks), got.raw)
			assert.Equal(t, test.reason.Code(), got.outcome.Reason.Code())
		})
	}
}

// Who wrote a content, and what belongs to a tool loop.
func TestConversation(t *testing.T) {
	t.Parallel()
	call := `{"role":"model","parts":[{"functionCall":{"name":"edit_file","args":{"n":1}}}]}`
	result := `{"role":"user","parts":[{"functionResponse":{"name":"edit_file","response":{"output":"ok"}}}]}`
	facts := func(contents string) adapter.Request {
		return parse(t, "http://gemini.test"+studio+":generateContent", ask{contents: contents}.body())
	}
	first := facts(hello)
	assert.Equal(t, 1, first.Users)
	assert.Equal(t, "Write and test the parser.", first.User)
	assert.True(t, first.Unanswered)
	assert.Nil(t, first.Loop)

	later := facts(hello + "," + call + "," + strings.Replace(result, "functionResponse", "function_response", 1))
	assert.Equal(t, 1, later.Users)
	assert.False(t, later.Unanswered)
	require.NotNil(t, later.Loop)

	answered := facts(hello + "," + call + "," + strings.Replace(result, `"user"`, `"function"`, 1) + `,{"role":"model","parts":[{"text":"Done."}]},{"parts":[{"text":"More."}]}`)
	assert.Equal(t, 2, answered.Users)
	assert.Equal(t, "More.", answered.User)
	assert.Equal(t, "Done.", answered.Previous)

	nudged := facts(hello + `,{"role":"model","parts":[{"text":"Done."}]},{"role":"user","parts":[{"text":"Please continue."}]}`)
	assert.Equal(t, 1, nudged.Users, "gemini-cli wrote it")
	assert.Equal(t, "Write and test the parser.", nudged.User)

	var loop []string
	later.Loop(func(text string) { loop = append(loop, text) })
	assert.Equal(t, []string{"user", "Write and test the parser.", "model", `{"functionCall":{"name":"edit_file","args":{"n":1}}}`}, loop)
}

// Calls with and without ids find their results, newest first.
func TestHistory(t *testing.T) {
	t.Parallel()
	contents := hello +
		`,{"role":"model","parts":[{"functionCall":{"name":"a","args":{"n":1}}},{"functionCall":{"name":"a","args":{"n":2}}},{"function_call":{"id":"x","name":"b"}}]}` +
		`,{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"one"}}},{"functionResponse":{"name":"a","response":{"result":"two"}}},` +
		`{"function_response":{"name":"b","response":{"error":"no such file"}}}]}` +
		`,{"role":"model","parts":[{"functionCall":{"name":"c","args":{}}}]}`
	facts := parse(t, "http://gemini.test"+studio+":generateContent", ask{contents: contents}.body())
	assert.Equal(t, []todo.Call{
		{Name: "c", Arguments: "{}"},
		{ID: "x", Name: "b", Arguments: "{}", Result: "Error: no such file", Answered: true},
		{Name: "a", Arguments: `{"n":2}`, Result: "two", Answered: true},
		{Name: "a", Arguments: `{"n":1}`, Result: "one", Answered: true},
	}, slices.Collect(reading.CallsOf(facts.History)))
	assert.Equal(t, []string{"edit_file"}, slices.Collect(facts.ToolNames.ToolNames))
}

// The todo tools of gemini-cli are read from the parts of the conversation.
func TestTodosOfGeminiCLI(t *testing.T) {
	t.Parallel()
	exchange := func(name, args, output string) string {
		return `,{"role":"model","parts":[{"functionCall":{"name":"` + name + `","args":` + args + `}}]}` +
			`,{"role":"user","parts":[{"functionResponse":{"name":"` + name + `","response":{"output":"` + output + `"}}}]}`
	}
	for name, test := range map[string]struct{ tools, contents, open string }{
		"write_todos": {
			"write_todos",
			exchange("write_todos", `{"todos":[{"description":"Read","status":"completed"},{"description":"Write","status":"in_progress"},{"description":"Skip","status":"cancelled"}]}`,
				`Successfully updated the todo list. The current list is now:\n1. [completed] Read`),
			"Write",
		},
		"the task tracker": {
			"tracker_create_task",
			exchange("tracker_create_task", `{"title":"Read","description":"","type":"task"}`, "Created task a1b2c3: Read") +
				exchange("tracker_create_task", `{"title":"Write","description":"","type":"task"}`, "Created task d4e5f6: Write") +
				exchange("tracker_update_task", `{"id":"a1b2c3","status":"closed"}`, "Updated task a1b2c3. Status: closed"),
			"Write",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask{
				contents: hello + test.contents, todos: todo.FromConversation(), turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Done.")}, attempts: 1,
				tools: `[{"functionDeclarations":[{"name":"` + test.tools + `"},{"name":"tracker_update_task"}]}]`,
			}
			got := a.exchange(t, true, 0)
			require.NoError(t, got.err)
			require.Len(t, got.requests, 2, got.outcome.Reason.String())
			assert.Contains(t, got.requests[1].Last().Content, "'"+test.open+"'")
		})
	}
}

// A tool that the provider runs has ended with its result. Without one, it still runs.
func TestToolsThatTheProviderRuns(t *testing.T) {
	t.Parallel()
	const asked, result = `{"toolCall":{"id":"s1","toolType":"GOOGLE_SEARCH_WEB","args":{}}}`, `{"toolResponse":{"id":"s1","toolType":"GOOGLE_SEARCH_WEB","response":{}}}`
	for parts, want := range map[string]int{asked + "," + result: 2, asked: 1} {
		got := ask{turns: []fakellm.Turn{raw(of(parts+","+says(wiretest.Plan), stop)), raw(of(edits, stop))}}.exchange(t, true, 0)
		require.NoError(t, got.err)
		assert.Len(t, got.requests, want, parts)
	}
}

// The API refuses an empty text, also before the answer to a rejected pause.
func TestRejectedPauseWithoutText(t *testing.T) {
	t.Parallel()
	a := ask{options: []middleware.Option{middleware.WithPauseTool(middleware.PauseToolAlways)}, turns: []fakellm.Turn{fakellm.Pause("no"), wiretest.Edit()}}
	a.both(t, func(t *testing.T, got answer) {
		t.Helper()
		require.Len(t, got.requests, 2)
		assert.Contains(t, string(got.requests[1].Body), `{"role":"model","parts":[{"text":"(no answer)"}]}`)
	})
}
