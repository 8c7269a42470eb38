package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/toolchoice"
)

// extend returns the request of a continuation. It copies whatever it changes.
func extend(r openai.ChatCompletionRequest, k *adapter.Continuation) openai.ChatCompletionRequest {
	answer := openai.ChatCompletionMessage{
		Role: openai.ChatMessageRoleAssistant, Content: k.Text, ReasoningContent: k.Reasoning,
	}
	prompt := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: k.Prompt}
	if p := k.Pause; p != nil {
		answer.ToolCalls = []openai.ToolCall{{
			ID: p.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: p.Name, Arguments: p.Arguments},
		}}
		prompt = openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, Content: p.Result, ToolCallID: p.ID}
	}
	r = withAdditions(r, &k.Additions)
	r.Messages = slices.Concat(r.Messages, []openai.ChatCompletionMessage{answer, prompt})
	if r.Store { // metadata is allowed only with store
		r.Store, r.Metadata = false, nil
	}
	r.Prediction = nil
	return r
}

// withAdditions returns the request with carryon's additions, or the same
// request if there are none.
func withAdditions(r openai.ChatCompletionRequest, a *adapter.Additions) openai.ChatCompletionRequest {
	if len(a.Attachments) > 0 {
		r.Messages = slices.Clone(r.Messages)
	}
	for message, texts := range a.ByMessage() {
		m := &r.Messages[message]
		if len(m.MultiContent) == 0 {
			m.Content += strings.Join(texts, "")
			continue
		}
		m.MultiContent = slices.Clone(m.MultiContent)
		for _, text := range texts {
			m.MultiContent = append(m.MultiContent, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: text})
		}
	}
	if tool := a.PauseTool; tool != nil {
		r.Tools = slices.Concat(r.Tools, []openai.Tool{{
			Type: openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{
				Name: tool.Name, Description: tool.Description, Strict: tool.Strict,
				Parameters: json.RawMessage(tool.Schema),
			},
		}})
		r.ToolChoice = toolchoice.Allow(r.ToolChoice, tool.Name)
	}
	return r
}
