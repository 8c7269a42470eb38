package langchaingo_test

import (
	"context"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/continuation"
)

// turnsSeen is a handler that records the number of each turn, in order; 0 is
// the caller's own.
type turnsSeen struct {
	callbacks.SimpleHandler

	turns []int
}

func (s *turnsSeen) HandleLLMGenerateContentStart(ctx context.Context, _ []llms.MessageContent) {
	s.note(ctx)
}

func (s *turnsSeen) note(ctx context.Context) {
	marker, _ := continuation.FromContext(ctx)
	s.turns = append(s.turns, marker.Turn)
}
