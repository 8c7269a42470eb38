package openai

import (
	"cmp"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
)

// usageTotals sums the usage of a call's turns.
type usageTotals = adapter.UsageTotals[openai.Usage]

func newUsageTotals() usageTotals { return usageTotals{Add: add, Extend: addTurn} }

// counts converts a usage to the engine's type.
func counts(u *openai.Usage) adapter.Usage {
	counted := adapter.Usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.TotalTokens}
	if d := u.PromptTokensDetails; d != nil {
		counted.Cached = d.CachedTokens
	}
	if d := u.CompletionTokensDetails; d != nil {
		counted.Reasoning = d.ReasoningTokens
	}
	return counted
}

// add returns the sum of two usages. Details that only one of them has are kept
// as they are.
func add(a, b openai.Usage) openai.Usage {
	a.TotalTokens, b.TotalTokens = totalOf(&a), totalOf(&b)
	return openai.Usage{
		PromptTokens:            a.PromptTokens + b.PromptTokens,
		CompletionTokens:        a.CompletionTokens + b.CompletionTokens,
		TotalTokens:             a.TotalTokens + b.TotalTokens,
		PromptTokensDetails:     addPrompt(a.PromptTokensDetails, b.PromptTokensDetails),
		CompletionTokensDetails: addCompletion(a.CompletionTokensDetails, b.CompletionTokensDetails),
	}
}

// totalOf returns the total of a usage: of one that does not report it, the sum of its
// parts.
func totalOf(u *openai.Usage) int {
	if u.TotalTokens > 0 {
		return u.TotalTokens
	}
	return u.PromptTokens + u.CompletionTokens
}

// addTurn returns the usage of an answer after a turn was added to it. A prompt
// counts once: the turn adds only its output.
func addTurn(answer, turn openai.Usage) openai.Usage {
	if answer.PromptTokens > 0 {
		turn.TotalTokens = max(0, totalOf(&turn)-turn.PromptTokens)
		turn.PromptTokens, turn.PromptTokensDetails = 0, nil
	}
	return add(answer, turn)
}

func addPrompt(a, b *openai.PromptTokensDetails) *openai.PromptTokensDetails {
	if a == nil || b == nil {
		return cmp.Or(a, b) // the one that there is
	}
	return &openai.PromptTokensDetails{
		AudioTokens:  a.AudioTokens + b.AudioTokens,
		CachedTokens: a.CachedTokens + b.CachedTokens,
	}
}

func addCompletion(a, b *openai.CompletionTokensDetails) *openai.CompletionTokensDetails {
	if a == nil || b == nil {
		return cmp.Or(a, b) // the one that there is
	}
	return &openai.CompletionTokensDetails{
		AudioTokens:              a.AudioTokens + b.AudioTokens,
		ReasoningTokens:          a.ReasoningTokens + b.ReasoningTokens,
		AcceptedPredictionTokens: a.AcceptedPredictionTokens + b.AcceptedPredictionTokens,
		RejectedPredictionTokens: a.RejectedPredictionTokens + b.RejectedPredictionTokens,
	}
}
