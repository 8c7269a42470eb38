package adapter

import (
	"math"
	"strings"
)

// Envelope keeps the id, the model and the like of the first turn, under which every
// turn of a call is shown. E is a struct of them, in the SDK's own types. The zero
// value is ready for use.
type Envelope[E any] struct {
	// First is the envelope of the first turn.
	First E

	taken, fixed bool
}

// IsFixed reports whether the envelope can no longer change.
func (e *Envelope[E]) IsFixed() bool { return e.fixed }

// Take offers the envelope of a value that was read. The first envelope with an id
// counts, or else the very first of the first turn: some providers begin with a value
// that has no id.
func (e *Envelope[E]) Take(envelope E, hasID bool) {
	if e.fixed || e.taken && !hasID {
		return
	}
	e.First, e.taken, e.fixed = envelope, true, hasID
}

// Fix ends the first turn. If it had no id, later turns are shown without one too.
func (e *Envelope[E]) Fix() { e.fixed = true }

// KeptReasoning collects the reasoning of the kept turns, for a [Dialect] of whole
// answers to show. The zero value is ready for use.
type KeptReasoning struct {
	turn string
	kept []string
}

// SetTurn sets the reasoning of the current turn. The last one set counts.
func (r *KeptReasoning) SetTurn(text string) { r.turn = text }

// EndTurn is for [Dialect].EndTurn.
func (r *KeptReasoning) EndTurn(keep bool) {
	if keep && r.turn != "" {
		r.kept = append(r.kept, r.turn)
	}
	r.turn = ""
}

// Text returns the reasoning of all kept turns, joined like their texts.
func (r *KeptReasoning) Text() string {
	var text strings.Builder
	var end ReasoningEnd
	for _, turn := range r.kept {
		text.WriteString(end.Separator())
		text.WriteString(turn)
		end.Add(turn)
	}
	return text.String()
}

// ReasoningEnd describes the end of the reasoning streamed so far. The zero value
// means that there was none.
type ReasoningEnd struct {
	some    bool
	missing uint8 // bytes of the Separator that it lacks
}

// Add adds what was streamed next.
func (r *ReasoningEnd) Add(text string) {
	if text == "" {
		return
	}
	missing := len(SeparatorAfter(text))
	if strings.Trim(text, "\r\n") == "" && r.some { // its line breaks add to earlier ones
		missing = max(0, int(r.missing)-(len(Separator)-missing))
	}
	*r = ReasoningEnd{some: true, missing: uint8(missing)} //nolint:gosec // as long as Separator at most
}

// Separator returns the separator before the reasoning of another turn: "" if there
// was no reasoning before.
func (r ReasoningEnd) Separator() string {
	return Separator[len(Separator)-int(r.missing):]
}

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
		t.last = t.turn
		if t.sum == nil {
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
