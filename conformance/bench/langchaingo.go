package main

import (
	"context"
	"testing"

	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
)

// canned is a model that gives the same answer at once, in that many chunks.
type canned struct {
	answer *llms.ContentResponse
	chunks int
}

func (c canned) GenerateContent(ctx context.Context, _ []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	text := []byte(word)
	for range c.chunks {
		if err := o.StreamingFunc(ctx, text); err != nil {
			return nil, err
		}
	}
	return c.answer, nil
}

func (c canned) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

// acting is an answer that ends in a tool call.
func acting() *llms.ContentResponse {
	call := llms.ToolCall{ID: "c1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "search", Arguments: "{}"}}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		StopReason: "tool_calls", ToolCalls: []llms.ToolCall{call},
		GenerationInfo: map[string]any{"PromptTokens": 10, "CompletionTokens": 5, "TotalTokens": 15},
	}}}
}

// langchaingoPromises are about the wrapper of langchaingo's models.
func langchaingoPromises() []promise {
	tools := llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "search"}}})
	return []promise{
		{"langchaingo, call with nothing to do", "<= 0.5 chunks", func(pairs int) result {
			const calls = 1000 // of each, in one pair
			_, added := modelPair(canned{answer: acting()}, calls, tools).compare(pairs)
			return atMost(0.5, added.over(calls))
		}},
		{"langchaingo, allocations out of scope", "<= 3", func(int) result { return addedAllocations(3, modelPair(canned{answer: acting()}, 1)) }},
		{"langchaingo, allocations in scope", "<= 8", func(int) result { return addedAllocations(8, modelPair(canned{answer: acting()}, 1, tools)) }},
	}
}

// modelPair calls the model that many times, bare and wrapped.
func modelPair(model llms.Model, times int, options ...llms.CallOption) pair {
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Look it up.")}
	generate := func(m llms.Model) func() {
		return func() {
			for range times {
				_, err := m.GenerateContent(context.Background(), messages, options...)
				must(err)
			}
		}
	}
	return pair{generate(model), generate(carrylangchain.Wrap(model, openTodos()))}
}

// addedAllocations is the result of counting what carryon allocates in a call.
func addedAllocations(limit float64, p pair) result {
	added := testing.AllocsPerRun(100, p.carried) - testing.AllocsPerRun(100, p.bare)
	return count(limit, added)
}
