package quirks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// The text before the members of a joined chunk.
const envelope = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000001,"model":"model-one",`

// wellJoined is a valid pause between two calls, after the separator.
const wellJoined = envelope + `"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":` +
	`{"name":"edit_file","arguments":"{\"path\":\"a.go\"}"}}]},"finish_reason":null}]}` + "\n\n" +
	envelope + `"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":` +
	`{"name":"run_tests","arguments":"{\"path\":\"b.go\"}"}}]},"finish_reason":null}]}` + "\n\n" +
	envelope + `"choices":[{"index":0,"delta":{"content":"\n\nTask paused: The grammar file grammar.ebnf is missing"},` +
	`"finish_reason":null}]}` + "\n\n" +
	envelope + `"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n" +
	envelope + `"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":12,"total_tokens":23}}` + "\n\n" +
	"data: [DONE]\n\n"

func TestJudgeWireOfStreams(t *testing.T) {
	t.Parallel()
	q := row(t, "Q18 pause between two calls")
	require.NoError(t, q.JudgeWire(q.First.Head+wellJoined))
	last := strings.LastIndex(wellJoined, envelope)
	for name, joined := range map[string]string{
		"head changed":            strings.Replace(q.First.Head, `"content":""`, `"content": ""`, 1) + wellJoined,
		"another id":              strings.Replace(wellJoined, "chatcmpl-1", "chatcmpl-2", 1),
		"id of the usage":         wellJoined[:last] + strings.Replace(wellJoined[last:], "chatcmpl-1", "", 1),
		"another model":           strings.Replace(wellJoined, "model-one", "model-two", 1),
		"another created":         strings.Replace(wellJoined, "1700000001", "1.700000001e9", 1),
		"another object":          strings.Replace(wellJoined, "chat.completion.chunk", "chunk", 1),
		"role":                    strings.Replace(wellJoined, `"delta":{`, `"delta":{"role":"assistant",`, 1),
		"error null":              strings.Replace(wellJoined, `"choices"`, `"error":null,"choices"`, 1),
		"obfuscation":             strings.Replace(wellJoined, `"choices"`, `"obfuscation":"","choices"`, 1),
		"a finish too early":      strings.Replace(wellJoined, `"finish_reason":null`, `"finish_reason":"stop"`, 1),
		"no finish":               strings.Replace(wellJoined, `"finish_reason":"tool_calls"`, `"finish_reason":null`, 1),
		"another finish":          strings.Replace(wellJoined, `"finish_reason":"tool_calls"`, `"finish_reason":"stop"`, 1),
		"a chunk after the end":   strings.Replace(wellJoined, `"choices":[],`, `"choices":[{"index":0,"delta":{},"finish_reason":null}],`, 1),
		"no usage":                wellJoined[:last] + "data: [DONE]\n\n",
		"usage twice":             wellJoined[:last] + wellJoined[last:strings.LastIndex(wellJoined, "data: ")] + wellJoined[last:],
		"usage that was paid":     strings.Replace(wellJoined, `:11,`, `:24,`, 1),
		"usage as a fraction":     strings.Replace(wellJoined, `:11,`, `:11.0,`, 1),
		"usage and more":          strings.Replace(wellJoined, `:23}`, `:23,"more":1}`, 1),
		"a chunk of nothing":      wellJoined[:last] + envelope + "\"choices\":[]}\n\n" + wellJoined[last:],
		"no separator":            strings.Replace(wellJoined, `\n\nTask`, `Task`, 1),
		"no text":                 strings.Replace(wellJoined, `"content":"\n\nTask paused: The grammar file grammar.ebnf is missing"`, "", 1),
		"a gap in the indexes":    strings.Replace(wellJoined, `{"index":1`, `{"index":2`, 1),
		"indexes as they came":    strings.Replace(wellJoined, `{"index":0,"id":"call_a"`, `{"index":1,"id":"call_a"`, 1),
		"no type":                 strings.Replace(wellJoined, `"id":"call_b","type":"function"`, `"id":"call_b"`, 1),
		"an empty fragment":       strings.Replace(wellJoined, `}}]},"finish`, `}},{"index":1,"function":{"arguments":""}}]},"finish`, 2),
		"a comment":               ": hello\n\n" + wellJoined,
		"an event line":           "event: message\n" + wellJoined,
		"no space":                strings.Replace(wellJoined, "data: ", "data:", 1),
		"CRLF":                    strings.Replace(wellJoined, "\n\n", "\r\n\r\n", 1),
		"one newline":             strings.Replace(wellJoined, "\n\n", "\n", 1),
		"a blank line":            "\n" + wellJoined,
		"no JSON":                 strings.Replace(wellJoined, `"choices"`, `choices`, 1),
		"no DONE":                 strings.TrimSuffix(wellJoined, "data: [DONE]\n\n"),
		"DONE twice":              wellJoined + "data: [DONE]\n\n",
		"the ending of turn 1":    q.First.Tail + wellJoined,
		"nothing of the second":   q.First.Tail,
		"nothing after the first": "",
	} {
		if name != "head changed" {
			joined = q.First.Head + joined
		}
		require.NotEqual(t, q.First.Head+wellJoined, joined, name)
		assert.Error(t, q.JudgeWire(joined), name)
	}
}

func TestJudgeWireOfStreamsThatFail(t *testing.T) {
	t.Parallel()
	finish := envelope + `"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	call := envelope + `"choices":[{"index":0,"delta":{"tool_calls":[{"index":0}]}}]}` + "\n\n"
	text := envelope + `"choices":[{"index":0,"delta":{"content":"\n\nThe file"},"finish_reason":null}]}` + "\n\n"
	cases := func(q quirks.Quirk, right string, wrong map[string]string) {
		require.NoError(t, q.JudgeWire(right), q.Name)
		for name, joined := range wrong {
			assert.Error(t, q.JudgeWire(joined), "%s: %s", q.Name, name)
		}
	}
	q := row(t, "Q77 error object at once, turn 2")
	cases(q, q.First.Body(), map[string]string{
		"one byte less": strings.TrimSuffix(q.First.Body(), "\n"),
		"text made up":  q.First.Head + text + q.First.Tail,
	})
	q = row(t, "Q77 error object, turn 2")
	cases(q, q.First.Head+text+q.First.Tail, map[string]string{
		"text lost":         q.First.Body(),
		"ending changed":    q.First.Head + text + strings.Replace(q.First.Tail, `{},`, `{ },`, 1),
		"ending lost":       q.First.Head + text,
		"the error":         q.First.Head + text + "data: {\"error\":{}}\n\n" + q.First.Tail,
		"a second finish":   q.First.Head + text + finish + q.First.Tail,
		"a part of a pause": q.First.Head + text + call + q.First.Tail,
	})
	q = row(t, "Q36 finish length, turn 1")
	cases(q, q.First.Body(), map[string]string{"something more": q.First.Body() + "\n"})
	q = row(t, "Q34 finish with the last words, turn 1")
	assert.Error(t, q.JudgeWire(q.First.Body()))
}

func TestJudgeWireMindsWhatIsNotCarryonsToChange(t *testing.T) {
	t.Parallel()
	q := row(t, "Q64 members of the provider's own, turn 2")
	const own = `,"provider":"Venice","moderation":{"flagged":false},"timings":{"predicted_ms":1.50},"x_groq":{"id":"req_9"}}` + "\n\n"
	joined := q.First.Head +
		envelope + `"choices":[{"index":0,"delta":{"content":"\n\nThe file"},"finish_reason":null}]` + own +
		envelope + `"choices":[{"index":0,"delta":{"content":" is edited."},"finish_reason":null,"native_finish_reason":null}]` + own +
		envelope + `"choices":[{"index":0,"delta":{},"finish_reason":"stop","native_finish_reason":"end_turn"}]` + own +
		envelope + `"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":12,"total_tokens":23}}` + "\n\ndata: [DONE]\n\n"
	require.NoError(t, q.JudgeWire(joined))
	require.Error(t, q.JudgeWire(strings.ReplaceAll(joined, `"predicted_ms":1.50`, `"predicted_ms":1.5`)))
	require.Error(t, q.JudgeWire(strings.ReplaceAll(joined, `,"provider":"Venice"`, ``)))
	require.Error(t, q.JudgeWire(strings.Replace(joined, `,"native_finish_reason":null`, ``, 1)))
}

func TestJudgeWireOfAnswers(t *testing.T) {
	t.Parallel()
	q := row(t, "Q18 pause between two calls, unary")
	const right = `{"id":"chatcmpl-1","object":"chat.completion","created":1700000001,"model":"model-one","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"I will edit the file next.\n\nTask paused: The grammar file grammar.ebnf is missing",` +
		`"tool_calls":[{"id":"call_a","type":"function","function":{"name":"edit_file","arguments":"{}"}},` +
		`{"id":"call_b","type":"function","function":{"name":"run_tests","arguments":"{}"}}]},"finish_reason":"tool_calls"}],` +
		`"usage":{"prompt_tokens":11,"completion_tokens":12,"total_tokens":23}}`
	require.NoError(t, q.JudgeWire(right))
	for name, wrong := range map[string]string{
		"another id":       strings.Replace(right, "chatcmpl-1", "chatcmpl-2", 1),
		"another model":    strings.Replace(right, "model-one", "model-two", 1),
		"no separator":     strings.Replace(right, `\n\n`, ` `, 1),
		"another finish":   strings.Replace(right, `"finish_reason":"tool_calls"`, `"finish_reason":"stop"`, 1),
		"the pause":        strings.Replace(right, "run_tests", "todo_pause", 1),
		"a call less":      strings.Replace(right, `{"id":"call_b","type":"function","function":{"name":"run_tests","arguments":"{}"}}`, "", 1),
		"no usage":         strings.Replace(right, `"usage"`, `"used"`, 1),
		"another usage":    strings.Replace(right, `:23`, `:22`, 1),
		"a role lost":      strings.Replace(right, `"role":"assistant",`, "", 1),
		"a member made up": strings.Replace(right, `"index":0,`, `"index":0,"logprobs":null,`, 1),
		"no JSON":          right[1:],
		"no choices":       `{"choices":[]}`,
	} {
		require.NotEqual(t, right, wrong, name)
		assert.Error(t, q.JudgeWire(wrong), name)
	}
}
