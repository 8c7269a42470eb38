package middleware

import (
	"bytes"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// turn is one turn of a call. When the next one begins, another value replaces
// it.
type turn struct {
	continuation.TurnID

	reader    turnReader
	rejection *rejection
}

// rejection is a pause whose reason was not accepted.
type rejection struct {
	reason    string
	err       error
	asksLeave bool                 // the reason only asked for leave to go on
	answer    *adapter.PauseAnswer // nil if the call was printed
}

// next returns the turn that follows, with this attempt. If watched, calls of
// todo_pause in it are carryon's own; if printable, the model may also print them as
// text.
func (t *turn) next(attempt int, watched, printable bool) turn {
	text := t.reader.text.transcript
	length, separator := text.len(), text.separator()
	return turn{
		TurnID: continuation.TurnID{Session: t.Session, Call: t.Call, Turn: t.Turn + 1, Attempt: attempt},
		reader: turnReader{
			first: t.Turn == 0, chunk: added{calls: t.reader.chunk.calls[:0]}, calls: tracker{unwatched: !watched},
			text: turnText{
				transcript: text, separator: separator, printable: printable, reasoned: text.reasoned,
				from: int32(length), //nolint:gosec // see from
			},
		},
	}
}

// textEnd returns how the text of the turn ends. It reads the text once.
func (t *turn) textEnd() handback.End {
	r := &t.reader
	if !r.textEndKnown {
		r.textEndKnown, r.textEnd = true, handback.Of(rawjson.View(t.text()))
	}
	return r.textEnd
}

// breaksOff reports whether the text of the turn ends in the middle of something.
func (t *turn) breaksOff() bool {
	return t.textEnd() == handback.Announces && handback.BreaksOff(rawjson.View(t.text()))
}

// text returns the text of the turn.
func (t *turn) text() []byte { return t.reader.text.transcript.bytes()[t.reader.text.from:] }

// facts describes the turn for the decision.
func (t *turn) facts() decision.Turn {
	r := &t.reader
	facts := decision.Turn{
		ToolCalls:   r.showedCall(),
		ManyChoices: r.manyChoices,
		Refused:     r.refused,
		Unknown:     r.unknown,
		Finish:      r.finish,
		TooLong:     r.text.transcript.long,
		Rejected:    t.rejection != nil,
		AsksLeave:   t.rejection != nil && t.rejection.asksLeave,
		NothingOpen: r.saysNothingOpen(),
	}
	if r.late {
		facts.Finish = "" // the finish was not the end
	}
	return facts
}

// repeats reports whether the turn has the same words as the one before it.
func (c *Call) repeats() bool {
	if c.turn.reader.repeat.isWhole() {
		return true // its text may have been left out
	}
	return c.decider.continued != nil && sameWords(c.turn.text(), c.textBefore())
}

// textBefore returns the text of the turn before the current continuation.
func (c *Call) textBefore() []byte {
	return c.text.bytes()[c.decider.continued.before:c.turn.reader.text.from]
}

// textLen returns the length of the current turn's text, or of the same answer before it
// if the text was left out.
func (c *Call) textLen() int {
	if c.turn.reader.repeat.isWhole() {
		return len(c.textBefore())
	}
	return len(c.turn.text())
}

// sameWords reports whether two texts have the same letters and digits, in any
// case. Texts without any are compared as they are.
func sameWords(a, b []byte) bool {
	if r := newRepetition(b); r != nil {
		return r.add(rawjson.View(a)) && r.isWhole()
	}
	return bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b))
}

// continued is what a call keeps from its first continuation on: above all, the point
// it returns to if a continuation fails before anything of it was shown.
type continued struct {
	ends []int // the length of the text at the end of each turn that ended well

	from            turn // the turn before the current continuation
	before          int  // where its text begins in the transcript; a turn that was left out has none
	text, reasoning int  // lengths of the transcript at its end
	shown           bool // the consumer was shown something of the continuation
	failed          int  // tries of it that have failed

	failure   error     // of the last try, until the next is sent
	notBefore time.Time // when the next may be sent; zero for any time
}

// begin notes that a continuation is about to be sent, after this turn.
func (n *continued) begin(from *turn) {
	if !n.hasFailed() {
		n.failed = 0
	}
	text := from.reader.text.transcript
	n.failure, n.shown = nil, false
	if !from.reader.isLeftOut() {
		n.before = int(from.reader.text.from)
	}
	n.from, n.text, n.reasoning = *from, text.len(), text.reasoningLen()
}

// hasFailed reports whether the last try has failed and another may follow it.
func (n *continued) hasFailed() bool { return n != nil && n.failure != nil }
