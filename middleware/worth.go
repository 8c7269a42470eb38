package middleware

import (
	"math"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/session"
)

// Worth says what continuations were worth, and what they cost.
//
// carryon judges a continuation when it next reads the todo list in that user turn,
// which may be in a later call. So the counts of an [Outcome] may be about a
// continuation of an earlier call. A continuation that failed, or after which the
// user wrote before the list was read, is not judged.
type Worth struct {
	// Resumed counts the stalls after whose continuation the list made progress in the
	// same user turn. That a tool was called is not enough.
	Resumed  int `json:"resumed,omitzero"`
	Finished int `json:"finished,omitzero"` // todos completed after those continuations

	// Paused, Repeated and NoProgress count the unwanted continuations: the model paused
	// or wanted to, repeated its answer, or did something else without progress.
	Paused     int `json:"paused,omitzero"`
	Repeated   int `json:"repeated,omitzero"`
	NoProgress int `json:"no_progress,omitzero"`

	Tokens Tokens `json:"tokens,omitzero"` // that the provider reported for continuations

	// Unsent counts the continuations that were not sent because of [WithDryRun] or
	// [WithHoldout], and Estimate says roughly what they would have used. In a dry run
	// these are first continuations only: nobody knows what would have followed.
	Unsent   int    `json:"unsent,omitzero"`
	Estimate Tokens `json:"estimate,omitzero"`
}

// Unwanted returns the number of unwanted continuations.
func (w Worth) Unwanted() int { return w.Paused + w.Repeated + w.NoProgress }

// Plus returns the sum of both.
func (w Worth) Plus(other Worth) Worth {
	return Worth{
		Resumed: w.Resumed + other.Resumed, Finished: w.Finished + other.Finished,
		Paused: w.Paused + other.Paused, Repeated: w.Repeated + other.Repeated, NoProgress: w.NoProgress + other.NoProgress,
		Tokens: w.Tokens.Plus(other.Tokens),
		Unsent: w.Unsent + other.Unsent, Estimate: w.Estimate.Plus(other.Estimate),
	}
}

// Tokens counts tokens by what they cost.
type Tokens struct {
	Input  int `json:"input"`  // of the prompt, without the cached ones
	Cached int `json:"cached"` // of the prompt, from the provider's cache
	Output int `json:"output"`
}

// Total returns the number of all tokens.
func (t Tokens) Total() int { return addTokens(addTokens(t.Input, t.Cached), t.Output) }

// Plus returns the sum of both.
func (t Tokens) Plus(other Tokens) Tokens {
	return Tokens{
		Input: addTokens(t.Input, other.Input), Cached: addTokens(t.Cached, other.Cached), Output: addTokens(t.Output, other.Output),
	}
}

// TokensOf returns the tokens of a turn by what they cost. Nothing that a provider reports makes a count
// negative.
func TokensOf(u adapter.Usage) Tokens {
	prompt := max(u.Prompt, 0)
	cached := min(max(u.Cached, 0), prompt)
	return Tokens{Input: prompt - cached, Cached: cached, Output: max(u.Completion, 0)}
}

// addTokens adds counts that are not negative, up to the largest number.
func addTokens(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// judged records the verdict on a continuation, once it is stored.
func (d *decider) judged() {
	v := d.verdict
	if v.Kind == session.NotJudged || d.session.failure != nil {
		return
	}
	d.verdict = session.Verdict{}
	d.record(func(o *Outcome) {
		switch w := &o.Worth; v.Kind {
		case session.Progress:
			w.Resumed++
			w.Finished += int(v.Finished)
		case session.Repeated:
			w.Repeated++
		case session.NoProgress:
			w.NoProgress++
		case session.NotJudged:
		}
	})
}
