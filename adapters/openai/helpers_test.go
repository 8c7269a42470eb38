package openai_test

import (
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// The list that most tests work on.
var twoTodos = todo.Static(
	todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress},
	todo.Todo{ID: "2", Content: "Test the parser", Status: todo.Pending},
)

// unhurried has no interval between prompts, so that no test waits.
var unhurried = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})

// ask is a request in scope.
func ask() openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model: "test-model",
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: "You write code."},
			{Role: openai.ChatMessageRoleUser, Content: "Write and test the parser."},
		},
		Tools: []openai.Tool{tool("edit_file")},
	}
}

func tool(name string) openai.Tool {
	return openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
		Name: name, Parameters: map[string]any{"type": "object", "properties": map[string]any{}},
	}}
}

// answer is what a caller reads from one call, streamed or not.
type answer struct {
	ID, Text, Reasoning, Refusal, Finish string

	Calls   []openai.ToolCall // without index
	Usage   *openai.Usage
	Err     error
	Outcome middleware.Outcome
	Chunks  []openai.ChatCompletionStreamResponse
}

// add puts a chunk to what was read, by the index of its calls.
func (a *answer) add(chunk openai.ChatCompletionStreamResponse) {
	a.Chunks = append(a.Chunks, chunk)
	if a.ID == "" {
		a.ID = chunk.ID
	}
	if chunk.Usage != nil {
		a.Usage = chunk.Usage
	}
	for _, choice := range chunk.Choices {
		a.Text += choice.Delta.Content
		a.Reasoning += choice.Delta.ReasoningContent
		a.Refusal += choice.Delta.Refusal
		if choice.FinishReason != "" {
			a.Finish = string(choice.FinishReason)
		}
		for _, part := range choice.Delta.ToolCalls {
			at := 0
			if part.Index != nil {
				at = max(*part.Index, 0) // some send -1
			}
			for len(a.Calls) <= at {
				a.Calls = append(a.Calls, openai.ToolCall{})
			}
			call := &a.Calls[at]
			if part.ID != "" {
				call.ID = part.ID
			}
			if part.Type != "" {
				call.Type = part.Type
			}
			call.Function.Name += part.Function.Name
			call.Function.Arguments += part.Function.Arguments
		}
	}
}

// requireWellFormed checks what no client may find wanting in a stream: one
// id, one role, one finish in the last chunk with choices, and one usage after
// it.
func requireWellFormed(t *testing.T, a answer) {
	t.Helper()
	finishes, usages, roles := 0, 0, 0
	for i, chunk := range a.Chunks {
		assert.Equal(t, a.Chunks[0].ID, chunk.ID, "id of chunk %d", i)
		assert.Equal(t, a.Chunks[0].Model, chunk.Model, "model of chunk %d", i)
		assert.Equal(t, a.Chunks[0].Created, chunk.Created, "created of chunk %d", i)
		for _, choice := range chunk.Choices {
			assert.Zero(t, finishes, "choice after the finish in chunk %d", i)
			if choice.FinishReason != "" {
				finishes++
			}
			if choice.Delta.Role != "" {
				roles++
			}
		}
		if chunk.Usage != nil {
			usages++
		}
	}
	require.Equal(t, 1, finishes, "finishes")
	require.LessOrEqual(t, usages, 1, "usages")
	require.LessOrEqual(t, roles, 1, "roles")
}
