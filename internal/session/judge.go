package session

import (
	"math"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/todolist"
)

// Verdict says what became of the list after a continuation. It is small, because every
// open stream has one.
type Verdict struct {
	Kind     VerdictKind
	Finished uint16 // todos completed since the continuation, with Progress
}

// VerdictKind is what a continuation has led to.
type VerdictKind uint8

// The kinds of verdicts.
const (
	NotJudged  VerdictKind = iota // there is no continuation to judge
	Progress                      // the list has made progress
	Repeated                      // none, and the model repeated its answer
	NoProgress                    // none
)

// Judge judges the last continuation of the user turn, unless that was done before.
// before and after are the state before and after the list was observed. The result is
// after, without the continuation to judge.
//
// The next continuation is sent only after the list was read. So each is judged once,
// by what happened until the next one, even if that took several calls.
func Judge(before, after continuation.State) (continuation.State, Verdict) {
	if !before.Unjudged || !before.Watermarks.Set {
		return after, Verdict{}
	}
	after.Unjudged = false
	switch {
	case todolist.Watermarks(before.Watermarks).Precedes(after.Watermarks.Completed, after.Watermarks.Active):
		finished := min(after.Watermarks.Completed-before.Watermarks.Completed, math.MaxUint16)
		return after, Verdict{Kind: Progress, Finished: uint16(finished)} //nolint:gosec // bounded, and watermarks only rise
	case before.LastResult == continuation.ResultSameAnswer:
		return after, Verdict{Kind: Repeated}
	}
	return after, Verdict{Kind: NoProgress}
}
