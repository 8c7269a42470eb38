package middleware

import (
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reading"
)

// turn is one turn of a call. When the next one begins, another value replaces it.
type turn struct {
	continuation.TurnID

	read      reading.Turn
	rejection *rejection
}

// rejection is a pause whose reason was not accepted.
type rejection struct {
	reason         string
	err            error
	asksPermission bool                 // the reason only asked for permission to go on
	answer         *adapter.PauseAnswer // nil if the call was printed
}

// asRead describes the turn for the decision.
func (t *turn) asRead() decision.Turn {
	r := &t.read
	as := decision.Turn{
		ToolCalls:      r.ShowedCall(),
		ManyChoices:    r.ManyChoices,
		Refused:        r.Refused,
		Unknown:        r.HasUnknown,
		Finish:         r.FinishReason,
		Rejected:       t.rejection != nil,
		AsksPermission: t.rejection != nil && t.rejection.asksPermission,
		NothingOpen:    r.SaysNothingOpen(),
	}
	if r.Late {
		as.Finish = "" // the finish was not the end
	}
	return as
}

// retryPoint is what a call keeps from its first continuation on: above all, the point
// it returns to if a continuation fails before anything of it was shown.
type retryPoint struct {
	ends []int // the length of the text at the end of each turn that ended well

	from            turn // the turn before the current continuation
	before          int  // where its text begins in the transcript; a turn that was left out has none
	text, reasoning int  // lengths of the transcript at its end
	failed          int  // tries of it that have failed

	failure   error     // of the last try, until the next is sent
	notBefore time.Time // when the next may be sent; zero for any time
}

// begin notes that a continuation is about to be sent, after this turn.
func (n *retryPoint) begin(from *turn, text *reading.Transcript) {
	if !n.hasFailed() {
		n.failed = 0
	}
	n.failure = nil
	if !from.read.IsLeftOut() {
		n.before = from.read.From()
	}
	n.from, n.text, n.reasoning = *from, text.Len(), text.ReasoningLen()
}

// hasFailed reports whether the last try has failed and another may follow it.
func (n *retryPoint) hasFailed() bool { return n != nil && n.failure != nil }
