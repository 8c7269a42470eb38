package carryontest

import (
	"encoding/json"
	"strings"
)

// chunk is one data event of a stream, or the body of an answer in one piece.
type chunk struct {
	ID           string          `json:"id"`
	Object       string          `json:"object"`
	Created      int64           `json:"created"`
	Model        string          `json:"model"`
	Choices      []choice        `json:"choices"`
	Usage        json.RawMessage `json:"usage,omitempty"`
	PromptFilter json.RawMessage `json:"prompt_filter_results,omitempty"`
}

type choice struct {
	Index        int      `json:"index"`
	Delta        *message `json:"delta,omitempty"`
	Message      *message `json:"message,omitempty"`
	FinishReason *string  `json:"finish_reason"`
}

// message is a whole message, or what a chunk adds to one.
type message struct {
	Role             string          `json:"role,omitempty"`
	Content          json.RawMessage `json:"content,omitempty"`
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	Refusal          string          `json:"refusal,omitempty"`
	ToolCalls        []fragment      `json:"tool_calls,omitempty"`
	FunctionCall     *function       `json:"function_call,omitempty"`
}

// fragment is a tool call, or a part of one.
type fragment struct {
	Index    *int     `json:"index,omitempty"`
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// failure is the body of an HTTP error, and of an error in the middle of a stream.
type failure struct {
	Error failureDetail `json:"error"`
}

type failureDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func failureJSON(kind, text string) string {
	return marshal(failure{failureDetail{Message: text, Type: kind}})
}

// marshal encodes values of this package, which cannot fail.
func marshal(v any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("carryontest: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func quoted(text string) json.RawMessage { return json.RawMessage(marshal(text)) }
