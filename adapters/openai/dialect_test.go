package openai

import (
	"testing"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest/adaptertest"
)

func TestChunks(t *testing.T) {
	t.Parallel()
	adaptertest.TestDialect(t, adaptertest.Kit[openai.ChatCompletionStreamResponse]{
		New:  func() adapter.Dialect[openai.ChatCompletionStreamResponse] { return newChunks() },
		Make: makeChunk,
		View: viewChunk,
		Stops: map[string]openai.ChatCompletionStreamResponse{
			"a refusal":       chunkWith(openai.ChatCompletionStreamChoiceDelta{Refusal: "I won't."}),
			"a function call": chunkWith(openai.ChatCompletionStreamChoiceDelta{FunctionCall: &openai.FunctionCall{Name: "f"}}),
			"a second choice": {Choices: []openai.ChatCompletionStreamChoice{{
				Index: 1, Delta: openai.ChatCompletionStreamChoiceDelta{Content: "Or else."},
			}}},
		},
	})
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	adaptertest.TestDialect(t, adaptertest.Kit[openai.ChatCompletionResponse]{
		New:  func() adapter.Dialect[openai.ChatCompletionResponse] { return newAnswers() },
		Make: makeAnswer,
		View: viewAnswer,
		Kind: adaptertest.Answers,
		Stops: map[string]openai.ChatCompletionResponse{
			"a refusal":       answerWith(openai.ChatCompletionMessage{Content: "No.", Refusal: "I won't."}),
			"a function call": answerWith(openai.ChatCompletionMessage{Content: "So:", FunctionCall: &openai.FunctionCall{Name: "f"}}),
			"a second choice": answerWith(
				openai.ChatCompletionMessage{Content: "Either."}, openai.ChatCompletionMessage{Content: "Or."}),
		},
	})
}

func makeChunk(v adaptertest.View) openai.ChatCompletionStreamResponse {
	chunk := openai.ChatCompletionStreamResponse{ID: v.ID, Usage: makeUsage(v.Usage)}
	if v.Bare {
		return chunk
	}
	chunk.Choices = []openai.ChatCompletionStreamChoice{{
		Delta: openai.ChatCompletionStreamChoiceDelta{
			Role: v.Role, Content: v.Text, ToolCalls: makeCalls(v.Calls),
		},
		FinishReason: openai.FinishReason(v.Finish),
	}}
	return chunk
}

func viewChunk(c openai.ChatCompletionStreamResponse) adaptertest.View {
	v := adaptertest.View{ID: c.ID, Usage: viewUsage(c.Usage), Bare: len(c.Choices) == 0}
	for _, choice := range c.Choices {
		v.Role, v.Text = choice.Delta.Role, choice.Delta.Content
		v.Calls, v.Finish = viewCalls(choice.Delta.ToolCalls), string(choice.FinishReason)
	}
	return v
}

func chunkWith(delta openai.ChatCompletionStreamChoiceDelta) openai.ChatCompletionStreamResponse {
	return openai.ChatCompletionStreamResponse{
		ID: "first", Choices: []openai.ChatCompletionStreamChoice{{Delta: delta}},
	}
}

func makeAnswer(v adaptertest.View) openai.ChatCompletionResponse {
	answer := answerWith(openai.ChatCompletionMessage{
		Role: v.Role, Content: v.Text, ToolCalls: makeCalls(v.Calls),
	})
	answer.ID, answer.Choices[0].FinishReason = v.ID, openai.FinishReason(v.Finish)
	if usage := makeUsage(v.Usage); usage != nil {
		answer.Usage = *usage
	}
	return answer
}

func viewAnswer(a openai.ChatCompletionResponse) adaptertest.View {
	v := adaptertest.View{ID: a.ID}
	if a.Usage != (openai.Usage{}) {
		v.Usage = viewUsage(&a.Usage)
	}
	for _, choice := range a.Choices {
		v.Role, v.Text = choice.Message.Role, choice.Message.Content
		v.Calls, v.Finish = viewCalls(choice.Message.ToolCalls), string(choice.FinishReason)
	}
	return v
}

// answerWith returns a stopped answer with a choice for each message.
func answerWith(messages ...openai.ChatCompletionMessage) openai.ChatCompletionResponse {
	answer := openai.ChatCompletionResponse{ID: "first"}
	for i, message := range messages {
		answer.Choices = append(answer.Choices, openai.ChatCompletionChoice{
			Index: i, Message: message, FinishReason: openai.FinishReasonStop,
		})
	}
	return answer
}

func makeCalls(views []adaptertest.Call) []openai.ToolCall {
	var calls []openai.ToolCall
	for _, v := range views {
		call := openai.ToolCall{
			ID: v.ID, Type: openai.ToolType(v.Type),
			Function: openai.FunctionCall{Name: v.Name, Arguments: v.Arguments},
		}
		if index := v.Index; index != adapter.NoIndex {
			call.Index = &index
		}
		calls = append(calls, call)
	}
	return calls
}

func viewCalls(calls []openai.ToolCall) []adaptertest.Call {
	var views []adaptertest.Call
	for _, call := range calls {
		v := adaptertest.Call{
			Index: adapter.NoIndex, ID: call.ID, Type: string(call.Type),
			Name: call.Function.Name, Arguments: call.Function.Arguments,
		}
		if call.Index != nil {
			v.Index = *call.Index
		}
		views = append(views, v)
	}
	return views
}

func makeUsage(u *adapter.Usage) *openai.Usage {
	if u == nil {
		return nil
	}
	return &openai.Usage{PromptTokens: u.Prompt, CompletionTokens: u.Completion, TotalTokens: u.Total}
}

func viewUsage(u *openai.Usage) *adapter.Usage {
	if u == nil {
		return nil
	}
	return &adapter.Usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.TotalTokens}
}
