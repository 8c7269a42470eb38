package fakellm

import (
	"encoding/json"
	"strings"
)

// chatChunk is one data event of a stream, or the body of an answer in one piece.
type chatChunk struct {
	ID           string          `json:"id"`
	Object       string          `json:"object"`
	Created      int64           `json:"created"`
	Model        string          `json:"model"`
	Choices      []chatChoice    `json:"choices"`
	Usage        json.RawMessage `json:"usage,omitempty"`
	PromptFilter json.RawMessage `json:"prompt_filter_results,omitempty"`
}

type chatChoice struct {
	Index        int          `json:"index"`
	Delta        *chatMessage `json:"delta,omitempty"`
	Message      *chatMessage `json:"message,omitempty"`
	FinishReason *string      `json:"finish_reason"`
}

// chatMessage is a whole message, or what a chunk adds to one.
type chatMessage struct {
	Role             string          `json:"role,omitempty"`
	Content          json.RawMessage `json:"content,omitempty"`
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	Refusal          string          `json:"refusal,omitempty"`
	ToolCalls        []chatCall      `json:"tool_calls,omitempty"`
	FunctionCall     *chatFunction   `json:"function_call,omitempty"`
}

// chatCall is a tool call, or a fragment of one.
type chatCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// chatFailure is the body of an HTTP error, and of an error in the middle of a stream.
type chatFailure struct {
	Error chatError `json:"error"`
}

type chatError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// marshal encodes values of this package, which cannot fail.
func marshal(v any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("carryon/carryontest: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func quoted(text string) json.RawMessage { return json.RawMessage(marshal(text)) }
