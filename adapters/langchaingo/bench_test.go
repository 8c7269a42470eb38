package langchaingo_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// canned is a model that always gives the same answer, at once, and streams it
// in that many chunks.
type canned struct {
	answer *llms.ContentResponse
	chunks int
}

func (c canned) GenerateContent(
	ctx context.Context, _ []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	var text []byte
	if c.chunks > 0 {
		text = []byte(" some words")
	}
	for range c.chunks {
		if o.StreamingFunc != nil {
			if err := o.StreamingFunc(ctx, text); err != nil {
				return nil, err
			}
		}
		if o.StreamingReasoningFunc != nil {
			if err := o.StreamingReasoningFunc(ctx, text, text); err != nil {
				return nil, err
			}
		}
	}
	return c.answer, nil
}

func (c canned) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

// acts is an answer that ends in a tool call, so that there is nothing to do.
func acts() *llms.ContentResponse {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		StopReason: "tool_calls", ToolCalls: []llms.ToolCall{toolCall("c1", "search", "{}")},
		GenerationInfo: map[string]any{"PromptTokens": 10, "CompletionTokens": 5, "TotalTokens": 15},
	}}}
}

// BenchmarkPass is a call with nothing to do, bare and wrapped: out of scope, in
// scope, and in scope with a session.
func BenchmarkPass(b *testing.B) {
	bare := canned{answer: acts()}
	tools := []llms.CallOption{withTools("search")}
	for _, scope := range []struct {
		name    string
		ctx     context.Context
		options []llms.CallOption
	}{
		{"out", b.Context(), nil},
		{"in", b.Context(), tools},
		{"session", continuation.WithSession(b.Context(), "s"), tools},
	} {
		for name, model := range map[string]llms.Model{
			"bare": bare, "wrapped": carrylangchain.Wrap(bare, middleware.New(twoTodos)),
		} {
			b.Run(fmt.Sprintf("scope=%s/%s", scope.name, name), func(b *testing.B) {
				messages := question()
				b.ReportAllocs()
				for b.Loop() {
					if _, err := model.GenerateContent(scope.ctx, messages, scope.options...); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkStream is a call that streams, bare and wrapped, with few chunks and
// with many: the difference is the cost of a chunk.
func BenchmarkStream(b *testing.B) {
	for _, chunks := range []int{1, 1001} {
		bare := canned{answer: acts(), chunks: chunks}
		for name, model := range map[string]llms.Model{
			"bare": bare, "wrapped": carrylangchain.Wrap(bare, middleware.New(twoTodos)),
		} {
			b.Run(fmt.Sprintf("chunks=%d/%s", chunks, name), func(b *testing.B) {
				messages := question()
				options := []llms.CallOption{
					withTools("search"), llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }),
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := model.GenerateContent(b.Context(), messages, options...); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
