package fakellm_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// pieces returns the server's writes for an answer with the turn, one by one.
func pieces(t *testing.T, turn fakellm.Turn, body string) []string {
	t.Helper()
	w := &writes{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	fakellm.NewServer(t, turn).Handler().ServeHTTP(w, r)
	return w.pieces
}

// writes records each write.
type writes struct {
	*httptest.ResponseRecorder

	pieces []string
}

func (w *writes) WriteString(text string) (int, error) {
	w.pieces = append(w.pieces, text)
	return len(text), nil
}

// payloads returns the data of the stream that the turn becomes, chunk by chunk.
func payloads(t *testing.T, turn fakellm.Turn, usage bool) []string {
	t.Helper()
	events := pieces(t, turn, fmt.Sprintf(`{"model":"m","stream":true,"stream_options":{"include_usage":%t}}`, usage))
	last := len(events) - 1
	require.Equal(t, "data: [DONE]\n\n", events[last])
	list := make([]string, last)
	for i, event := range events[:last] {
		payload, whole := strings.CutSuffix(strings.TrimPrefix(event, "data: "), "\n\n")
		require.True(t, whole, event)
		list[i] = payload
	}
	return list
}

// lines returns the chunks of a turn's stream: the choice, then the usage if there is one. It cuts off the members that
// all chunks share.
func lines(t *testing.T, turn fakellm.Turn, usage bool) []string {
	t.Helper()
	const common = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1893456001,"model":"m","choices":`
	list := payloads(t, turn, usage)
	for i, payload := range list {
		payload = strings.TrimPrefix(payload, common)
		payload = strings.ReplaceAll(payload, `[{"index":0,"delta":`, "")
		payload = strings.ReplaceAll(payload, `,"finish_reason":null}]`, "")
		list[i] = strings.TrimSuffix(payload, "}")
	}
	return list
}

const role = `{"role":"assistant","content":""}`

func TestShapesOfCalls(t *testing.T) {
	one := fakellm.Call("edit_file", `{"path":"a"}`)
	two := fakellm.Call("a", `{}`).AndCall("b", `[]`)
	tests := []struct {
		name string
		turn fakellm.Turn
		want []string
	}{
		{"fragments", one, []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]}`,
		}},
		{"whole", one.With(fakellm.WholeCalls), []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":"{\"path\":\"a\"}"}}]}`,
		}},
		{"whole without index and type", one.With(fakellm.WholeCalls, fakellm.NoIndex, fakellm.NoType), []string{
			`{"tool_calls":[{"id":"call_1_1","function":{"name":"edit_file","arguments":"{\"path\":\"a\"}"}}]}`,
		}},
		{"repeats", one.With(fakellm.RepeatType, fakellm.RepeatID, fakellm.RepeatName).StartIndex(1), []string{
			`{"tool_calls":[{"index":1,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":""}}]}`,
			`{"tool_calls":[{"index":1,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":"{\"path\":"}}]}`,
			`{"tool_calls":[{"index":1,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":"\"a\"}"}}]}`,
		}},
		{"split name and empty fragments", fakellm.Call("todo_pause", `{}`).With(fakellm.SplitName, fakellm.EmptyFragments), []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"todo_","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"name":"pause","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`,
		}},
		{"interleaved", two.With(fakellm.Interleaved), []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"a","arguments":""}}]}`,
			`{"tool_calls":[{"index":1,"id":"call_1_2","type":"function","function":{"name":"b","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":"[]"}}]}`,
		}},
		{"batched with the same index", two.With(fakellm.Batched, fakellm.SameIndex), []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"a","arguments":""}},` +
				`{"index":0,"id":"call_1_2","type":"function","function":{"name":"b","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}},{"index":0,"function":{"arguments":"[]"}}]}`,
		}},
		{"text last", one.With(fakellm.WholeCalls).AndText("Done.").With(fakellm.TextLast), []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":"{\"path\":\"a\"}"}}]}`,
			`{"content":"Done."}`,
		}},
		{"legacy", two.With(fakellm.Legacy, fakellm.Batched).Finish("tool_calls"), []string{
			`{"function_call":{"name":"a","arguments":""}}`,
			`{"function_call":{"arguments":"{}"}}`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := append([]string{role}, tt.want...)
			want = append(want, `{},"finish_reason":"tool_calls"}]`)
			assert.Equal(t, want, lines(t, tt.turn, false))
		})
	}
}

func TestShapesOfTheEnd(t *testing.T) {
	const (
		hi    = `{"content":"Hi"}`
		stop  = `{},"finish_reason":"stop"}]`
		spent = `"usage":{"prompt_tokens":9,"completion_tokens":6,"total_tokens":15}`
		null  = `,"usage":null`
	)
	turn := fakellm.Text("Hi").Usage(9, 6)
	tests := []struct {
		name  string
		turn  fakellm.Turn
		usage bool
		want  []string
	}{
		{"plain", turn, false, []string{role, hi, stop}},
		{"usage", turn, true, []string{role + null, hi + null, stop + null, `[],` + spent}},
		{"no usage", turn.NoUsage(), true, []string{role, hi, stop}},
		{"usage on finish", turn.With(fakellm.UsageOnFinish), true, []string{role, hi, stop + "," + spent}},
		{"usage twice", turn.With(fakellm.UsageTwice), false, []string{role, hi, stop + "," + spent, `[],` + spent}},
		{"usage in each chunk", turn.With(fakellm.UsageEveryChunk), false, []string{
			role + `,"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}`,
			hi + `,"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}`,
			stop + "," + spent,
		}},
		{"usage of other members", turn.With(fakellm.UsageOnFinish).UsageJSON(`{"cost":1.5e-2,"deep":{"n":null}}`), false, []string{
			role, hi, stop + `,"usage":{"cost":1.5e-2,"deep":{"n":null}}`,
		}},
		{"no finish", turn.With(fakellm.NoFinish), false, []string{role, hi}},
		{"finish with text", turn.With(fakellm.FinishWithText), false, []string{role, hi + `,"finish_reason":"stop"}]`}},
		{"finish twice", turn.With(fakellm.FinishTwice, fakellm.UsageOnFinish), false, []string{
			role, hi, stop, `{"content":""},"finish_reason":"stop"}],` + spent,
		}},
		{"null finish last", turn.With(fakellm.NullFinishLast), false, []string{role, hi, stop, `{"content":""}`}},
		{"one chunk", turn.With(fakellm.OneChunk).AndCall("f", "{}").Reasoning("hm").Refusal("no"), false, []string{
			`{"role":"assistant","content":"Hi","reasoning_content":"hm","refusal":"no","tool_calls":[{"index":0,"id":"call_1_1",` +
				`"type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],` + spent,
		}},
		{"one legacy chunk", fakellm.Call("f", "{}").NoUsage().With(fakellm.OneChunk, fakellm.Legacy), true, []string{
			`{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]`,
		}},
		{"role in each chunk", turn.With(fakellm.RoleEveryChunk), false, []string{
			role, `{"role":"assistant","content":"Hi"}`, `{"role":"assistant"},"finish_reason":"stop"}]`,
		}},
		{"azure", turn.With(fakellm.AzureFirst), false, []string{
			`{"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]`,
			role, hi, stop,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, lines(t, tt.turn, tt.usage))
		})
	}
}

func TestChangeID(t *testing.T) {
	list := payloads(t, fakellm.Text("Hi").ResponseID("a").With(fakellm.ChangeID), false)
	assert.Contains(t, list[0], `{"id":"a",`)
	assert.Contains(t, list[1], `{"id":"a-changed",`)
	assert.Contains(t, list[2], `{"id":"a-changed",`)
}

func TestShapesOfAnAnswerInOnePiece(t *testing.T) {
	const begin = `{"id":"chatcmpl-1","object":"chat.completion","created":1893456001,"model":"m","choices":[{"index":0,"message":{"role":"assistant",`
	const spent = `"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
	tests := []struct {
		turn fakellm.Turn
		want string
	}{
		{fakellm.Turn{}, `"content":""},"finish_reason":"stop"}],` + spent},
		{fakellm.Text("Hi").With(fakellm.NoFinish), `"content":"Hi"},"finish_reason":null}],` + spent},
		{
			fakellm.Call("f", "{}").With(fakellm.NoType).NoUsage(),
			`"content":null,"tool_calls":[{"id":"call_1_1","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
		},
		{
			fakellm.Call("f", "{}").With(fakellm.Legacy).NoUsage(),
			`"content":null,"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]}`,
		},
	}
	for _, tt := range tests {
		assert.Equal(t, begin+tt.want, strings.Join(pieces(t, tt.turn, `{"model":"m"}`), ""))
	}
}

func TestFraming(t *testing.T) {
	assert.Equal(t,
		[]string{"data: {}\n\n", "data: {\ndata: }\n\n", "data: [DONE]\n\n"},
		pieces(t, fakellm.Chunks("{}", "{\n}"), "{}"))
	assert.Equal(t,
		[]string{": keep-alive\r\n\r\ndata: {}\r\n\r\n"},
		pieces(t, fakellm.Chunks("{}").NoDone().Comments().CRLF(), "{}"))
}

func TestArgumentsAreCutBetweenCharacters(t *testing.T) {
	for _, text := range []string{"", "{}", strings.Repeat("漢", 9), strings.Repeat("x", 1000), strings.Repeat("\x80", 20)} {
		pieces := fakellm.CutArguments(text)
		assert.Equal(t, text, strings.Join(pieces, ""))
		assert.LessOrEqual(t, len(pieces), fakellm.MaxFragments)
		for _, piece := range pieces {
			assert.Equal(t, utf8.ValidString(text), utf8.ValidString(piece))
		}
	}
}

func TestTurnsAreValues(t *testing.T) {
	fresh := func() fakellm.Turn {
		return fakellm.Text("a").AndCall("f", "{}").Header("X", "1").GateAfter(1, nil)
	}
	base := fresh()
	_ = base.AndText("b")
	_ = base.AndCall("g", "{}").ID("changed")
	_ = base.ID("changed")
	_ = base.Header("X", "2").Header("Y", "1")
	_ = base.GateAfter(2, nil)
	_ = base.With(fakellm.OneChunk).NoDone().CutAfter(1).Delay(1)

	assert.Equal(t, fresh(), base)

	left, right := base.AndCall("left", ""), base.AndCall("right", "")
	assert.Equal(t, fresh().AndCall("left", ""), left)
	assert.Equal(t, fresh().AndCall("right", ""), right)
}

func TestPositionOfAnEvent(t *testing.T) {
	tests := []struct{ after, total, want int }{
		{0, 5, 0}, {3, 5, 3}, {9, 5, 5}, {-1, 5, 4}, {-9, 5, 0}, {0, 0, 0}, {-1, 0, 0}, {fakellm.BeforeHeaders, 5, fakellm.BeforeHeaders},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, fakellm.Position(tt.after, tt.total))
	}
}
