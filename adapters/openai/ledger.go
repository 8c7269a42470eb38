package openai

import (
	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/middleware"
)

// ledger keeps the usage of a call in the SDK's own type.
type ledger struct {
	turn, last *openai.Usage // of the turn at hand, and of the last one kept
	sum        *openai.Usage
}

// read takes note of a usage of the turn at hand; the last one counts.
func (l *ledger) read(u openai.Usage) middleware.Usage {
	l.turn = &u
	return middleware.Usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.TotalTokens}
}

// EndTurn implements [middleware.Dialect].
func (l *ledger) EndTurn(keep bool) {
	if keep && l.turn != nil {
		l.last = l.turn
		l.sum = add(l.sum, l.turn)
	}
	l.turn = nil
}

// show returns the usage that an edit asks for.
func (l *ledger) show(which middleware.UsageEdit, own *openai.Usage) *openai.Usage {
	switch which {
	case middleware.ShowOwn:
		return own
	case middleware.ShowSum:
		return l.sum
	case middleware.ShowLast:
		return l.last
	case middleware.HideUsage:
	}
	return nil
}

// add returns the sum of two usages, of which the first may be nil. Details
// that only one of them has are kept as they are.
func add(a, b *openai.Usage) *openai.Usage {
	sum := *b
	if a == nil {
		return &sum
	}
	sum.PromptTokens += a.PromptTokens
	sum.CompletionTokens += a.CompletionTokens
	sum.TotalTokens += a.TotalTokens
	sum.PromptTokensDetails = addPrompt(a.PromptTokensDetails, b.PromptTokensDetails)
	sum.CompletionTokensDetails = addCompletion(a.CompletionTokensDetails, b.CompletionTokensDetails)
	return &sum
}

func addPrompt(a, b *openai.PromptTokensDetails) *openai.PromptTokensDetails {
	if a == nil || b == nil {
		return either(a, b)
	}
	return &openai.PromptTokensDetails{
		AudioTokens:  a.AudioTokens + b.AudioTokens,
		CachedTokens: a.CachedTokens + b.CachedTokens,
	}
}

func addCompletion(a, b *openai.CompletionTokensDetails) *openai.CompletionTokensDetails {
	if a == nil || b == nil {
		return either(a, b)
	}
	return &openai.CompletionTokensDetails{
		AudioTokens:              a.AudioTokens + b.AudioTokens,
		ReasoningTokens:          a.ReasoningTokens + b.ReasoningTokens,
		AcceptedPredictionTokens: a.AcceptedPredictionTokens + b.AcceptedPredictionTokens,
		RejectedPredictionTokens: a.RejectedPredictionTokens + b.RejectedPredictionTokens,
	}
}

// either returns the one that there is.
func either[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}
