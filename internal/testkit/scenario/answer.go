package scenario

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/middleware"
)

// Answer is the answer that a caller gets from one call, streamed or not.
type Answer struct {
	ID, Text, Reasoning, Refusal, Finish string

	Calls   []openai.ToolCall // without index
	Usage   *openai.Usage
	Err     error
	Outcome middleware.Outcome
	Chunks  []openai.ChatCompletionStreamResponse
}

// complete makes a call whose answer comes in one piece.
func complete(ctx context.Context, c Client, request openai.ChatCompletionRequest) Answer {
	ctx, outcomes := middleware.Capture(ctx)
	response, err := c.Complete(ctx, request)
	a := Answer{ID: response.ID, Err: err, Outcome: outcomes.Last()}
	if response.Usage != (openai.Usage{}) {
		a.Usage = &response.Usage
	}
	if len(response.Choices) > 0 {
		message := &response.Choices[0].Message
		a.Text, a.Reasoning, a.Refusal, a.Calls = message.Content, message.ReasoningContent, message.Refusal, message.ToolCalls
		for _, part := range message.MultiContent {
			a.Text += part.Text
		}
		a.Finish = string(response.Choices[0].FinishReason)
	}
	return a
}

// ReadStream makes a call whose answer is streamed, and asks for its usage.
func ReadStream(ctx context.Context, c Client, request openai.ChatCompletionRequest) Answer {
	request.StreamOptions = usageIncluded()
	s, err := Open(ctx, c, request)
	if err != nil {
		return Answer{Err: err, Outcome: s.Outcomes.Last()}
	}
	chunks, err := ReadAll(s)
	a := Answer{Err: err, Outcome: s.Outcomes.Last()} // it is closed: the SDK may have failed where carryon has not
	for _, c := range chunks {
		a.Add(c)
	}
	return a
}

// Add adds a chunk to what was read. Fragments of calls are joined by index.
func (a *Answer) Add(chunk openai.ChatCompletionStreamResponse) {
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
		for _, fragment := range choice.Delta.ToolCalls {
			a.addCall(fragment)
		}
	}
}

func (a *Answer) addCall(fragment openai.ToolCall) {
	at := 0
	if fragment.Index != nil {
		at = max(*fragment.Index, 0) // some send -1
	}
	for len(a.Calls) <= at {
		a.Calls = append(a.Calls, openai.ToolCall{})
	}
	call := &a.Calls[at]
	if fragment.ID != "" {
		call.ID = fragment.ID
	}
	if fragment.Type != "" {
		call.Type = fragment.Type
	}
	call.Function.Name += fragment.Function.Name
	call.Function.Arguments += fragment.Function.Arguments
}

// RequireComplete checks that an answer has the text and the finish reason, and
// that a streamed one is well-formed.
func RequireComplete(t *testing.T, m Mode, got Answer, text, finish string) {
	t.Helper()
	require.NoError(t, got.Err)
	assert.Equal(t, text, got.Text)
	assert.Equal(t, finish, got.Finish)
	if m.Streamed() {
		RequireWellFormed(t, got)
	}
}

// RequireWellFormed checks what every client relies on in a stream: one id, one
// role, one finish reason in the last chunk with choices, and one usage after it.
func RequireWellFormed(t *testing.T, a Answer) {
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

// RequireSame checks that a caller got the same answer as from the SDK's own
// client. It does not compare outcomes.
func RequireSame(t *testing.T, want, got Answer) {
	t.Helper()
	if want.Err == nil {
		require.NoError(t, got.Err)
	} else {
		require.Error(t, got.Err)
		assert.IsType(t, want.Err, got.Err) //nolint:testifylint // errors of two calls are alike, not the same
		assert.Equal(t, withoutPort(want.Err), withoutPort(got.Err))
	}
	got.Outcome, got.Err, want.Err = middleware.Outcome{}, nil, nil
	assert.Equal(t, want, got)
}

// withoutPort returns the text of an error without the address of the server.
func withoutPort(err error) string {
	words := strings.Fields(err.Error())
	return strings.Join(slices.DeleteFunc(words, func(word string) bool {
		return strings.Contains(word, "127.0.0.1")
	}), " ")
}
