package adapter

import "math"

// Usage is the number of tokens that a turn used, as the provider reported it.
// A count that was not reported is 0.
type Usage struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
	Total      int `json:"total"`
	// Cached is how many of the prompt tokens came from the provider's cache, and
	// Reasoning how many of the completion tokens the model spent on reasoning.
	Cached    int `json:"cached,omitzero"`
	Reasoning int `json:"reasoning,omitzero"`
}

// Tokens returns Total, or Prompt plus Completion if that is more or the provider
// leaves the total out.
func (u Usage) Tokens() int {
	prompt, completion := max(u.Prompt, 0), max(u.Completion, 0)
	if prompt > math.MaxInt-completion {
		return math.MaxInt
	}
	return max(u.Total, prompt+completion)
}

// UsageTotals keeps the usage of a call in an SDK's own type U. A [Dialect] embeds it
// and so gets its EndTurn. Both functions must be set, and must not change their
// arguments.
type UsageTotals[U any] struct {
	// Add returns the sum of two usages.
	Add func(a, b U) U
	// Extend returns the usage of an answer after a turn was added: the prompt of the
	// answer, or of the turn if the answer has none, and the output of both.
	Extend func(answer, turn U) U

	turn, last *U // of the current turn, of the last one kept
	sum, one   *U // of all kept turns: their sum, and their usage as one answer
}

// SetTurn sets the usage of the current turn. The last one set counts.
func (t *UsageTotals[U]) SetTurn(u U) { t.turn = &u }

// EndTurn implements [Dialect].EndTurn.
func (t *UsageTotals[U]) EndTurn(keep bool) {
	if keep && t.turn != nil {
		if t.last = t.turn; t.sum == nil {
			t.sum, t.one = t.turn, t.turn
		} else {
			sum, one := t.Add(*t.sum, *t.turn), t.Extend(*t.one, *t.turn)
			t.sum, t.one = &sum, &one
		}
	}
	t.turn = nil
}

// Shown returns the usage that an edit asks for, or nil for none. own is the chunk's
// own usage.
func (t *UsageTotals[U]) Shown(which UsageShown, own *U) *U {
	switch which {
	case UsageOwn:
		return own
	case UsageOneAnswer:
		return t.one
	case UsageSum:
		return t.sum
	case UsageLast:
		return t.last
	case UsageHidden:
	}
	return nil
}
