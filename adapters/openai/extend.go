package openai

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/middleware"
)

// extend returns the request of a continuation. It shares nothing with the
// caller's that it changes.
func extend(r openai.ChatCompletionRequest, k *middleware.Continuation) openai.ChatCompletionRequest {
	said := openai.ChatCompletionMessage{
		Role: openai.ChatMessageRoleAssistant, Content: k.Text, ReasoningContent: k.Reasoning,
	}
	asked := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: k.Prompt}
	if p := k.Pause; p != nil {
		said.ToolCalls = []openai.ToolCall{{
			ID: p.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: p.Name, Arguments: p.Arguments},
		}}
		asked = openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, Content: p.Result, ToolCallID: p.ID}
	}
	r = withNotes(r, k.Notes)
	r.Messages = slices.Concat(r.Messages, []openai.ChatCompletionMessage{said, asked})
	if k.OffersPause {
		r = withPause(r, middleware.NewPauseTool(k.StrictPause))
	}
	r.Store = false
	r.Prediction = nil
	return r
}

// own returns the caller's own request: the same one, unless there is something
// to tell the model, or todo_pause is to be declared always.
func own(call *middleware.Call, r openai.ChatCompletionRequest) openai.ChatCompletionRequest {
	r = withNotes(r, call.Notes())
	if call.DeclaresPause() {
		r = withPause(r, call.PauseTool())
	}
	return r
}

// withPause returns the request with the tool appended to its tools, and to
// those it allows if it names them.
func withPause(r openai.ChatCompletionRequest, tool middleware.PauseTool) openai.ChatCompletionRequest {
	r.Tools = slices.Concat(r.Tools, []openai.Tool{{
		Type: openai.ToolTypeFunction,
		Function: &openai.FunctionDefinition{
			Name: tool.Name, Description: tool.Description, Strict: tool.Strict,
			Parameters: json.RawMessage(tool.Schema),
		},
	}})
	if _, isWord := r.ToolChoice.(string); r.ToolChoice != nil && !isWord {
		r.ToolChoice = allow(r.ToolChoice, tool.Name)
	}
	return r
}

// allow adds the tool to a choice among allowed tools.
func allow(choice any, name string) any {
	_, fields := choiceFields(choice)
	allowed, _ := fields[allowedTools].(map[string]any)
	if allowed == nil {
		return choice
	}
	tools, _ := allowed["tools"].([]any)
	allowed = maps.Clone(allowed)
	allowed["tools"] = append(slices.Clone(tools), map[string]any{
		"type": "function", "function": map[string]any{"name": name},
	})
	fields[allowedTools] = allowed
	return fields
}
