package faults

import (
	"fmt"
	"strconv"
	"strings"
)

// blocker is the reason that the model gives when it pauses.
const blocker = "The grammar file grammar.ebnf is missing"

// script is an answer of the model, as a stream and in one piece.
type script struct {
	name   string
	deltas []string
	finish string
	whole  string // members of the message
}

// draft is the model's first answer: it says that it will do something, and
// does not do it.
func draft() script {
	return script{"draft", words("I will edit", " the file next."), "stop", `"content":"I will edit the file next."`}
}

// scripts are the model's answers to a continuation.
func scripts() []script {
	return append([]script{
		{"text", words("The file", " is", " edited."), "stop", `"content":"The file is edited."`},
		{
			"text that may be a pause", words("I stop: ", "todo_", "pause(", "at all."), "stop",
			`"content":"I stop: todo_pause(at all."`,
		},
		calls(),
		{
			"a name in two parts", append(words(), header(0, "call_w", "todo_"), fragment(0, "write", `{"todos":[]}`)),
			"tool_calls", `"content":null,` + message(call("call_w", "todo_write", `{"todos":[]}`)),
		},
	}, pauses()...)
}

func calls() script {
	return script{
		"calls", append(words("I edit it."),
			header(0, "call_a", "edit_file"), fragment(0, "", `{"path":`), fragment(0, "", `"parser.go"}`),
			header(1, "call_b", "run_tests"), fragment(1, "", "{}")), "tool_calls",
		`"content":"I edit it.",` + message(call("call_a", "edit_file", `{"path":"parser.go"}`), call("call_b", "run_tests", "{}")),
	}
}

func pauses() []script {
	pause := []string{header(0, "call_p", "todo_pause"), fragment(0, "", `{"reason":"`), fragment(0, "", blocker+`"}`)}
	whole := call("call_p", "todo_pause", `{"reason":"`+blocker+`"}`)
	return []script{
		{"a pause", append(words("I can't."), pause...), "tool_calls", `"content":"I can't.",` + message(whole)},
		{
			"a pause and a call", append(append(words(), pause...), header(1, "call_a", "edit_file"), fragment(1, "", "{}")),
			"tool_calls", `"content":"",` + message(whole, call("call_a", "edit_file", "{}")),
		},
	}
}

// words returns a delta for the role, and one for each text.
func words(texts ...string) []string {
	deltas := make([]string, 0, 1+len(texts))
	deltas = append(deltas, `{"role":"assistant","content":""}`)
	for _, text := range texts {
		deltas = append(deltas, `{"content":`+strconv.Quote(text)+`}`)
	}
	return deltas
}

// header returns the delta that a tool call begins with.
func header(index int, id, name string) string {
	return fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`, index, id, name)
}

// fragment returns the delta with a part of a tool call.
func fragment(index int, name, arguments string) string {
	if name != "" {
		name = `"name":` + strconv.Quote(name) + `,`
	}
	return fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{%s"arguments":%q}}]}`, index, name, arguments)
}

// message returns the member of a message with tool calls.
func message(calls ...string) string { return `"tool_calls":[` + strings.Join(calls, ",") + `]` }

func call(id, name, arguments string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, id, name, arguments)
}

// payloads returns the script as the answer of a turn.
func (s script) payloads(f Framing, turn int) []string {
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, 10+turn, 5*turn, 10+6*turn)
	if f.Whole {
		return []string{fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","created":170000000%d,"model":"m",`+
			`"choices":[{"index":0,"message":{"role":"assistant",%s},"finish_reason":%q}],"usage":%s}`, turn, turn, s.whole, s.finish, usage)}
	}
	head := fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion.chunk","created":170000000%d,"model":"m","choices":[`, turn, turn)
	var payloads []string
	for _, delta := range s.deltas {
		payloads = append(payloads, head+`{"index":0,"delta":`+delta+`,"finish_reason":null}]}`)
	}
	return append(payloads, head+`{"index":0,"delta":{},"finish_reason":"`+s.finish+`"}]}`, head+`],"usage":`+usage+`}`, "[DONE]")
}
