package gemini_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// withUsage is a chunk with a usage.
func withUsage(chunk, usage string) string {
	before, _, _ := strings.Cut(chunk, `"usageMetadata":`)
	_, after, _ := strings.Cut(chunk, `,"modelVersion"`)
	return before + `"usageMetadata":` + usage + `,"modelVersion"` + after
}

// Each chunk of a later turn has the usage of the answer so far: the prompt of the first turn, and the output of all.
func TestUsageSoFar(t *testing.T) {
	t.Parallel()
	first := []string{
		withUsage(of(says(wiretest.Plan)), `{"trafficType":"ON_DEMAND"}`),
		withUsage(of(says(" So."), stop), `{"promptTokenCount":646,"cachedContentTokenCount":600,"candidatesTokenCount":19,"totalTokenCount":685,"thoughtsTokenCount":20,`+
			`"promptTokensDetails":[{"modality":"TEXT","tokenCount":646}],"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":19}]}`),
	}
	second := []string{
		withUsage(of(says("One.")), `{"promptTokenCount":700,"candidatesTokenCount":1,"totalTokenCount":701,"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":1}]}`),
		withUsage(of(edits, stop), `{"promptTokenCount":700,"candidatesTokenCount":5,"thoughtsTokenCount":3,"totalTokenCount":715,"toolUsePromptTokenCount":7,`+
			`"promptTokensDetails":[{"modality":"TEXT","tokenCount":690},{"modality":"IMAGE","tokenCount":10}],"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":4},{"modality":"AUDIO","tokenCount":1}],"trafficType":"PROVISIONED"}`),
	}
	for mode, test := range map[middleware.UsageMode][2]string{
		middleware.UsageOneAnswer: {
			`{"promptTokenCount":646,"cachedContentTokenCount":600,"candidatesTokenCount":20,"totalTokenCount":686,"thoughtsTokenCount":20,"promptTokensDetails":[{"modality":"TEXT","tokenCount":646}],` +
				`"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":20}],"trafficType":"ON_DEMAND"}`,
			`{"promptTokenCount":646,"cachedContentTokenCount":600,"candidatesTokenCount":24,"totalTokenCount":700,"thoughtsTokenCount":23,"toolUsePromptTokenCount":7,` +
				`"promptTokensDetails":[{"modality":"TEXT","tokenCount":646}],"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":23},{"modality":"AUDIO","tokenCount":1}],"trafficType":"PROVISIONED"}`,
		},
		middleware.UsageSum: {
			`{"promptTokenCount":1346,"cachedContentTokenCount":600,"candidatesTokenCount":20,"totalTokenCount":1386,"thoughtsTokenCount":20,"promptTokensDetails":[{"modality":"TEXT","tokenCount":646}],` +
				`"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":20}],"trafficType":"ON_DEMAND"}`,
			`{"promptTokenCount":1346,"cachedContentTokenCount":600,"candidatesTokenCount":24,"totalTokenCount":1400,"thoughtsTokenCount":23,"toolUsePromptTokenCount":7,` +
				`"promptTokensDetails":[{"modality":"TEXT","tokenCount":1336},{"modality":"IMAGE","tokenCount":10}],"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":23},{"modality":"AUDIO","tokenCount":1}],"trafficType":"PROVISIONED"}`,
		},
		middleware.UsageLastTurn: {
			`{"promptTokenCount":700,"candidatesTokenCount":1,"totalTokenCount":701,"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":1}]}`,
			strings.TrimSuffix(second[1][strings.Index(second[1], `"usageMetadata":`)+len(`"usageMetadata":`):], `,"modelVersion":"m","responseId":"r"}`),
		},
	} {
		got := ask{turns: []fakellm.Turn{raw(first...), raw(second...)}, options: []middleware.Option{middleware.WithUsage(mode)}}.play(t, true)
		require.Len(t, got.chunks, 4)
		one := got
		one.chunks = got.chunks[:3]
		lastOfTurn := test[1]
		if mode == middleware.UsageLastTurn { // the last value of each member counts
			lastOfTurn = strings.TrimSuffix(lastOfTurn, "}") + "}"
		}
		assert.JSONEq(t, test[0], one.usage(t))
		assert.JSONEq(t, lastOfTurn, got.usage(t))
		assert.Equal(t, adapter.Usage{Prompt: 707, Completion: 8, Total: 715, Reasoning: 3}, got.outcome.Usage[1])
	}
}

// A turn that counts no prompt leaves it to the next.
func TestUsageWithoutAPrompt(t *testing.T) {
	t.Parallel()
	first := withUsage(of(says(wiretest.Plan), stop), `{"promptTokenCount":0,"candidatesTokenCount":5}`)
	got := ask{turns: []fakellm.Turn{raw(first), raw(withUsage(of(edits, stop), `{"promptTokenCount":7,"candidatesTokenCount":2}`))}}.play(t, true)
	assert.JSONEq(t, `{"promptTokenCount":7,"candidatesTokenCount":7}`, got.usage(t))
}

// An answer without usage stays without it.
func TestNoUsage(t *testing.T) {
	t.Parallel()
	ask{turns: []fakellm.Turn{fakellm.Text(wiretest.Plan).NoUsage(), fakellm.Call("edit_file", "{}").NoUsage()}}.both(t, func(t *testing.T, got answer) {
		assert.NotContains(t, got.raw, "usageMetadata")
	})
}

// Whole answers: the first one's members, the parts of all, and the end of the last.
func TestWholeAnswers(t *testing.T) {
	t.Parallel()
	grounded := `"groundingMetadata":{"webSearchQueries":["a"],"groundingSupports":[{"segment":{"partIndex":0}}]},"citationMetadata":{"citationSources":[{"startIndex":1,"endIndex":2,"uri":"u"}]}`
	for name, test := range map[string]struct {
		first, second string
		joined        string // the candidate
	}{
		"a call": {
			of(signed(says(wiretest.Plan), "s"), stop, `"avgLogprobs":-0.5`), of(says("One.")+","+signed(edits, "t"), stop, `"finishMessage":"Model generated function call(s)."`, `"avgLogprobs":-0.7`),
			`{"content":{"parts":[` + signed(says(wiretest.Plan), "s") + `,{"text":"\n\nOne."},` + signed(edits, "t") + `],"role":"model"},"finishReason":"STOP","avgLogprobs":-0.5,"index":0,"finishMessage":"Model generated function call(s)."}`,
		},
		"a pause": {
			of(says(wiretest.Plan), stop), of(pauses, stop, `"finishMessage":"Model generated function call(s)."`),
			`{"content":{"parts":[` + says(wiretest.Plan) + `,{"text":"\n\nTask paused: ` + wiretest.Blocked + `"}],"role":"model"},"finishReason":"STOP","index":0}`,
		},
		"numbers for enums": {
			of(says(wiretest.Plan), `"finishReason":1`), of(says("One."), `"finishReason":2`),
			`{"content":{"parts":[` + says(wiretest.Plan) + `,{"text":"\n\nOne."}],"role":"model"},"finishReason":2,"index":0}`,
		},
		"citations": {
			of(says(wiretest.Plan), stop), of(says("One."), stop, grounded),
			`{"content":{"parts":[` + says(wiretest.Plan) + `,{"text":"\n\nOne."}],"role":"model"},"finishReason":"STOP","index":0,"groundingMetadata":{"webSearchQueries":["a"]},"citationMetadata":{"citationSources":[{"uri":"u"}]}}`,
		},
		"citations of the first turn": {
			of(says(wiretest.Plan), stop, grounded), of(says("One."), stop, `"groundingMetadata":{"webSearchQueries":["b"]}`, `"safetyRatings":[]`),
			`{"content":{"parts":[` + says(wiretest.Plan) + `,{"text":"\n\nOne."}],"role":"model"},"finishReason":"STOP",` + grounded + `,"index":0,"safetyRatings":[]}`,
		},
		"blank, then a call": {
			of(signed(says(""), "s"), stop), of(signed(edits, "t"), stop),
			`{"content":{"parts":[` + signed(edits, "t") + `],"role":"model"},"finishReason":"STOP","index":0}`,
		},
		"a printed pause": {
			of(says(wiretest.Plan), stop), of(signed(says("todo_pause('"+wiretest.Blocked+"')"), "s"), stop),
			`{"content":{"parts":[` + says(wiretest.Plan) + `,{"text":"\n\nTask paused: ` + wiretest.Blocked + `"}],"role":"model"},"finishReason":"STOP","index":0}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{studio, assist} {
				first, second := test.first, strings.Replace(test.second, `"r"`, `"other"`, 1)
				if path == assist {
					first, second = `{"response":`+first+`,"traceId":"a"}`, `{"response":`+second+`,"traceId":"b"}`
				}
				got := ask{path: path, attempts: 1, turns: []fakellm.Turn{fakellm.Status(200, first), fakellm.Status(200, second)}}.exchange(t, false, 0)
				require.NoError(t, got.err)
				want := `{"candidates":[` + test.joined + `],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":10,"totalTokenCount":20},"modelVersion":"m","responseId":"r"}`
				if path == assist {
					want = `{"response":` + want + `,"traceId":"a"}`
				}
				assert.JSONEq(t, want, got.raw)
			}
		})
	}
}

// A continuation's request is the caller's own, with two contents and one function more.
func TestRequestOfAContinuation(t *testing.T) {
	t.Parallel()
	openAPI := `"parameters":{"type":"OBJECT","properties":{"reason":{"type":"STRING","description":`
	jsonSchema := `JsonSchema":{"type":"object","properties":{"reason":{"type":"string","description":`
	long := strings.Repeat(hello+",", 99) + hello
	extended := `"contents":[` + long + `,{"role":"model",`
	for name, test := range map[string]struct {
		ask
		has []string
	}{
		"JSON Schema": {ask{}, []string{`,{"name":"todo_pause","description":`, `"parameters` + jsonSchema, `}]}]}`}},
		"OpenAPI": {
			ask{tools: `[{"functionDeclarations":[{"name":"edit_file","parameters":{"type":"OBJECT"}}]}]`}, []string{openAPI, `"required":["reason"]}}]}]}`},
		},
		"no parameters": {ask{tools: `[{"functionDeclarations":[{"name":"edit_file"}]}]`}, []string{openAPI}},
		"snake case": {
			ask{tools: `[{"function_declarations":[{"name":"edit_file","parameters_json_schema":{}}]}]`}, []string{`"parameters_json_schema":{"type":"object","properties":{"reason":{"type":"string"`},
		},
		"several tools": {
			ask{tools: `[{"functionDeclarations":[{"name":"edit_file"}],"googleSearch":{}},{"functionDeclarations":[]},{"codeExecution":{}}]`},
			[]string{`"required":["reason"]}}],"googleSearch":{}},{"functionDeclarations":[]},{"codeExecution":{}}]`},
		},
		"allowed functions": {
			ask{members: `"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["edit_file"]}},`}, []string{`"allowedFunctionNames":["edit_file","todo_pause"]`},
		},
		"allowed functions, snake case": {
			ask{members: `"tool_config":{"function_calling_config":{"allowed_function_names":["edit_file"]}},`}, []string{`"allowed_function_names":["edit_file","todo_pause"]`},
		},
		"Code Assist":                 {ask{path: assist}, []string{`{"model":"gemini-2.5-pro","project":"p","user_prompt_id":"s########0","request":{"systemInstruction"`, `"todo_pause"`, `]}]}}`}},
		"a long list":                 {ask{contents: long}, []string{extended}},
		"a long list, of Code Assist": {ask{path: assist, contents: long}, []string{extended, `"todo_pause"`, `]}]}}`}},
		"numbers":                     {ask{members: `"generationConfig":{"temperature":1.0e0,"stopSequences":[]}, "labels" : {"a":"\u0062"},`}, []string{`"temperature":1.0e0,"stopSequences":[]}, "labels" : {"a":"\u0062"},`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.turns = []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Call("edit_file", "{}")}
			got := test.exchange(t, true, 0)
			require.NoError(t, got.err)
			require.Len(t, got.requests, 2)
			body := string(got.requests[1].Body)
			for _, has := range append(test.has, hello+`,{"role":"model","parts":[{"text":"`+wiretest.Plan+`"}]},{"role":"user","parts":[{"text":"`+continuation.PromptPreamble) {
				assert.Contains(t, body, has)
			}
			assert.NotContains(t, body, "additionalProperties")
			assert.Equal(t, test.body(), string(got.requests[0].Body))
		})
	}
}

// A note of a background task stands behind the results of calls, as a part of its own, and makes nobody's turn of them.
func TestNotes(t *testing.T) {
	t.Parallel()
	results := hello + `,{"role":"model","parts":[` + edits + `]},{"role":"user","parts":[{"functionResponse":{"name":"edit_file","response":{"output":"ok"}}}]}`
	for name, contents := range map[string]string{"a text": hello, "a result": results} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tasks := asynctask.NewManager()
			ctx := continuation.WithSession(t.Context(), "s")
			ticket, err := tasks.Begin(ctx, "job-7", "transcode")
			require.NoError(t, err)
			require.NoError(t, tasks.Finish(ctx, ticket, nil))
			got := ask{contents: contents, options: []middleware.Option{middleware.WithTasks(tasks)}, turns: []fakellm.Turn{fakellm.Call("edit_file", "{}")}}.exchange(t, true, 0)
			require.NoError(t, got.err)
			assert.Contains(t, got.requests[0].Last().Content, "job-7")
			body := string(got.requests[0].Body)
			assert.True(t, strings.HasPrefix(body, ask{contents: strings.TrimSuffix(contents, "]}")}.body()[:len(contents)]))
			assert.Contains(t, body, strings.TrimSuffix(contents, "]}")+`,{"text":"`)
		})
	}
}

// What the provider says about a refusal is in the outcome, and its pause is kept.
func TestRefusal(t *testing.T) {
	t.Parallel()
	refused := `{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}`
	for _, body := range []string{refused, "[" + refused + "]"} {
		got := ask{attempts: 1, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Status(429, body)}}.play(t, true)
		var provider *transport.ProviderError
		require.ErrorAs(t, got.outcome.Err, &provider)
		assert.Equal(t, &transport.ProviderError{Type: "RESOURCE_EXHAUSTED", Code: "429", Message: "Quota exceeded", RetryAfter: 17 * time.Second}, provider)
		assert.Equal(t, wiretest.Plan, got.text(t))
	}
}

// A turn whose last chunk leaves out what it has counted before has a total all the same.
func TestTotalOfATurnIsNoLessThanItsParts(t *testing.T) {
	t.Parallel()
	first := withUsage(of(says(wiretest.Plan), stop), `{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}`)
	second := []string{
		withUsage(of(says("One.")), `{"promptTokenCount":20,"candidatesTokenCount":1,"totalTokenCount":21}`),
		withUsage(of(edits, stop), `{"candidatesTokenCount":4,"totalTokenCount":4}`),
	}
	got := ask{turns: []fakellm.Turn{raw(first), raw(second...)}, options: []middleware.Option{middleware.WithUsage(middleware.UsageSum)}}.play(t, true)
	assert.JSONEq(t, `{"promptTokenCount":30,"candidatesTokenCount":9,"totalTokenCount":39}`, got.usage(t))
}

// Counts that are too large for a sum do not become negative, and of details in another form the last ones are shown.
func TestCountsThatHaveNoSum(t *testing.T) {
	t.Parallel()
	first := withUsage(of(says(wiretest.Plan), stop), `{"promptTokenCount":10,"candidatesTokenCount":9223372036854775807,"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":5}]}`)
	second := withUsage(of(edits, stop), `{"promptTokenCount":10,"candidatesTokenCount":5,"candidatesTokensDetails":{"text":5}}`)
	got := ask{
		turns: []fakellm.Turn{fakellm.Status(200, first), fakellm.Status(200, second)}, options: []middleware.Option{middleware.WithUsage(middleware.UsageSum)},
	}.exchange(t, false, 0)
	require.NoError(t, got.err)
	assert.NotContains(t, got.raw, `Count":-`)
	assert.Contains(t, got.raw, `"candidatesTokensDetails":{"text":5}`)
}
