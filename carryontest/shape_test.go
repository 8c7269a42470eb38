package carryontest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// lines is what a stream of the turn says, chunk by chunk: the choice, then the usage if there is one.
// What all chunks have in common is cut off.
func lines(t *testing.T, turn Turn, usage bool) []string {
	t.Helper()
	e := envelope{number: 1, id: "id", created: 1, model: "m", usage: usage}
	const common = `{"id":"id","object":"chat.completion.chunk","created":1,"model":"m","choices":`
	var list []string
	for _, payload := range turn.chunks(e) {
		payload = strings.TrimPrefix(payload, common)
		payload = strings.ReplaceAll(payload, `[{"index":0,"delta":`, "")
		payload = strings.ReplaceAll(payload, `,"finish_reason":null}]`, "")
		list = append(list, strings.TrimSuffix(payload, "}"))
	}
	return list
}

const role = `{"role":"assistant","content":""}`

func TestShapesOfCalls(t *testing.T) {
	one := Call("edit_file", `{"path":"a"}`)
	two := Call("a", `{}`).AndCall("b", `[]`)
	tests := []struct {
		name string
		turn Turn
		want []string
	}{
		{"fragments", one, []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]}`,
		}},
		{"whole", one.WholeCalls(), []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":"{\"path\":\"a\"}"}}]}`,
		}},
		{"whole without index and type", one.WholeCalls().NoIndex().NoType(), []string{
			`{"tool_calls":[{"id":"call_1_1","function":{"name":"edit_file","arguments":"{\"path\":\"a\"}"}}]}`,
		}},
		{"repeats", one.RepeatType().RepeatID().RepeatName().StartIndex(1), []string{
			`{"tool_calls":[{"index":1,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":""}}]}`,
			`{"tool_calls":[{"index":1,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":"{\"path\":"}}]}`,
			`{"tool_calls":[{"index":1,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":"\"a\"}"}}]}`,
		}},
		{"split name and empty fragments", Call("todo_pause", `{}`).SplitName().EmptyFragments(), []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"todo_","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"name":"pause","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`,
		}},
		{"interleaved", two.Interleaved(), []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"a","arguments":""}}]}`,
			`{"tool_calls":[{"index":1,"id":"call_1_2","type":"function","function":{"name":"b","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":"[]"}}]}`,
		}},
		{"batched with the same index", two.Batched().SameIndex(), []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"a","arguments":""}},` +
				`{"index":0,"id":"call_1_2","type":"function","function":{"name":"b","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}},{"index":0,"function":{"arguments":"[]"}}]}`,
		}},
		{"text last", one.WholeCalls().AndText("Done.").TextLast(), []string{
			`{"tool_calls":[{"index":0,"id":"call_1_1","type":"function","function":{"name":"edit_file","arguments":"{\"path\":\"a\"}"}}]}`,
			`{"content":"Done."}`,
		}},
		{"legacy", two.Legacy().Batched().Finish("tool_calls"), []string{
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
	turn := Text("Hi").Usage(9, 6)
	tests := []struct {
		name  string
		turn  Turn
		usage bool
		want  []string
	}{
		{"plain", turn, false, []string{role, hi, stop}},
		{"usage", turn, true, []string{role + null, hi + null, stop + null, `[],` + spent}},
		{"no usage", turn.NoUsage(), true, []string{role, hi, stop}},
		{"usage on finish", turn.UsageOnFinish(), true, []string{role, hi, stop + "," + spent}},
		{"usage twice", turn.UsageTwice(), false, []string{role, hi, stop + "," + spent, `[],` + spent}},
		{"usage in each chunk", turn.UsageEveryChunk(), false, []string{
			role + `,"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}`,
			hi + `,"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}`,
			stop + "," + spent,
		}},
		{"usage of other members", turn.UsageOnFinish().UsageJSON(`{"cost":1.5e-2,"deep":{"n":null}}`), false, []string{
			role, hi, stop + `,"usage":{"cost":1.5e-2,"deep":{"n":null}}`,
		}},
		{"no finish", turn.NoFinish(), false, []string{role, hi}},
		{"finish with text", turn.FinishWithText(), false, []string{role, hi + `,"finish_reason":"stop"}]`}},
		{"finish twice", turn.FinishTwice().UsageOnFinish(), false, []string{
			role, hi, stop, `{"content":""},"finish_reason":"stop"}],` + spent,
		}},
		{"null finish last", turn.NullFinishLast(), false, []string{role, hi, stop, `{"content":""}`}},
		{"one chunk", turn.OneChunk().AndCall("f", "{}").Reasoning("hm").Refusal("no"), false, []string{
			`{"role":"assistant","content":"Hi","reasoning_content":"hm","refusal":"no","tool_calls":[{"index":0,"id":"call_1_1",` +
				`"type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],` + spent,
		}},
		{"one legacy chunk", Call("f", "{}").NoUsage().OneChunk().Legacy(), true, []string{
			`{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]`,
		}},
		{"role in each chunk", turn.RoleEveryChunk(), false, []string{
			role, `{"role":"assistant","content":"Hi"}`, `{"role":"assistant"},"finish_reason":"stop"}]`,
		}},
		{"azure", turn.AzureFirst(), false, []string{
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
	payloads := Text("Hi").ChangeID().chunks(envelope{id: "a"})
	assert.Contains(t, payloads[0], `{"id":"a",`)
	assert.Contains(t, payloads[1], `{"id":"a-changed",`)
	assert.Contains(t, payloads[2], `{"id":"a-changed",`)
}

func TestShapesOfAnAnswerInOnePiece(t *testing.T) {
	e := envelope{number: 4, id: "id", created: 1, model: "m"}
	const begin = `{"id":"id","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",`
	const spent = `"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
	tests := []struct {
		turn Turn
		want string
	}{
		{Turn{}, `"content":""},"finish_reason":"stop"}],` + spent},
		{Text("Hi").NoFinish(), `"content":"Hi"},"finish_reason":null}],` + spent},
		{
			Call("f", "{}").NoType().NoUsage(),
			`"content":null,"tool_calls":[{"id":"call_4_1","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
		},
		{
			Call("f", "{}").Legacy().NoUsage(),
			`"content":null,"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]}`,
		},
	}
	for _, tt := range tests {
		assert.Equal(t, begin+tt.want, tt.turn.completion(e))
	}
}

func TestFraming(t *testing.T) {
	payloads := []string{"{}", "{\n}"}
	assert.Equal(t, []string{"data: {}\n\n", "data: {\ndata: }\n\n", "data: [DONE]\n\n"}, framing{}.stream(payloads))
	assert.Equal(t,
		[]string{": keep-alive\r\n\r\ndata: {}\r\n\r\n"},
		Turn{}.NoDone().Comments().CRLF().framing.stream(payloads[:1]))
}

func TestArgumentsAreCutBetweenCharacters(t *testing.T) {
	for _, text := range []string{"", "{}", strings.Repeat("漢", 9), strings.Repeat("x", 1000), strings.Repeat("\x80", 20)} {
		pieces := cut(text)
		assert.Equal(t, text, strings.Join(pieces, ""))
		assert.LessOrEqual(t, len(pieces), maxFragments)
		for _, piece := range pieces {
			assert.Equal(t, utf8.ValidString(text), utf8.ValidString(piece))
		}
	}
}

func TestTurnsAreValues(t *testing.T) {
	base := Text("a").AndCall("f", "{}").Header("X", "1").GateAfter(1, nil)
	_ = base.AndText("b")
	_ = base.AndCall("g", "{}").ID("changed")
	_ = base.ID("changed")
	_ = base.Header("X", "2").Header("Y", "1")
	_ = base.GateAfter(2, nil)
	_ = base.OneChunk().NoDone().CutAfter(1).Delay(1)

	assert.Equal(t, Text("a").AndCall("f", "{}").Header("X", "1").GateAfter(1, nil), base)

	left, right := base.AndCall("left", ""), base.AndCall("right", "")
	assert.Equal(t, "left", left.answer.calls[1].name)
	assert.Equal(t, "right", right.answer.calls[1].name)
}

func TestPlaceOfAnEvent(t *testing.T) {
	tests := []struct{ after, total, want int }{
		{0, 5, 0}, {3, 5, 3}, {9, 5, 5}, {-1, 5, 4}, {-9, 5, 0}, {0, 0, 0}, {-1, 0, 0}, {beforeHeaders, 5, beforeHeaders},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, place(tt.after, tt.total))
	}
}
