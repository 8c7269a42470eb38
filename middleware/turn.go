package middleware

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/pause"
)

// turn is one turn of a call. When the next one begins, another value replaces
// it.
type turn struct {
	continuation.TurnID

	reader    turnReader
	from      int // where its text begins in the transcript
	previous  int // where the text of the turn before it begins
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
		from:   length, previous: t.from,
		reader: turnReader{
			first: t.Turn == 0, chunk: added{calls: t.reader.chunk.calls[:0]}, calls: tracker{unwatched: !watched},
			text: turnText{transcript: text, separator: separator, printable: printable, reasoned: text.reasoned},
		},
	}
}

// textEnd returns how the text of the turn ends. It reads the text once.
func (t *turn) textEnd() continuation.TurnEnd {
	r := &t.reader
	if !r.endingRead {
		r.endingRead, r.ending = true, endOf(t.text())
	}
	return r.ending
}

func endOf(text []byte) continuation.TurnEnd {
	if len(bytes.TrimSpace(text)) == 0 {
		return continuation.EndNone
	}
	switch handback.Of(rawjson.View(text)) {
	case handback.Announces:
		return continuation.EndAnnounces
	case handback.Asks:
		return continuation.EndAsks
	case handback.Unclear:
	}
	return continuation.EndUnclear
}

// text returns the text of the turn.
func (t *turn) text() []byte { return t.reader.text.transcript.bytes()[t.from:] }

// facts describes the turn for the decision.
func (t *turn) facts() continuation.EndedTurn {
	r := &t.reader
	facts := continuation.EndedTurn{
		ToolCalls:   r.showedCall(),
		ManyChoices: r.manyChoices,
		Refused:     r.refused,
		Unknown:     r.unknown,
		Finish:      r.finish,
		TooLong:     r.text.transcript.long,
		Rejected:    t.rejection != nil,
	}
	if r.late {
		facts.Finish = "" // the finish was not the end
	}
	return facts
}

// repeats reports whether the turn has the same words as the one before it.
func (t *turn) repeats() bool {
	if t.Turn == 1 {
		return false
	}
	text := t.reader.text.transcript.bytes()
	return sameWords(text[t.from:], text[t.previous:t.from])
}

// pauseReason returns the reason of the turn's pause, what is wrong with it, and
// whether there is a pause.
func (t *turn) pauseReason(policy pause.Policy) (reason string, err error, ok bool) { //nolint:revive // err is a result among others
	if call := t.reader.calls.pause(); call != nil {
		reason, err = pause.Parse(string(call.arguments), policy)
		return reason, err, true
	}
	if printed := t.reader.pause; printed != nil {
		reason, err = pause.Judge(*printed, policy)
		return reason, err, true
	}
	return "", nil, false
}

// pauseAnswer returns the call of todo_pause that a continuation answers, or nil if
// the model printed it.
func (t *turn) pauseAnswer() *adapter.PauseAnswer {
	call := t.reader.calls.pause()
	if call == nil {
		return nil
	}
	answer := &adapter.PauseAnswer{ID: call.id, Name: call.name, Arguments: string(call.arguments)}
	if answer.ID == "" {
		answer.ID = newID()
	}
	if trimmed := strings.TrimSpace(answer.Arguments); !strings.HasPrefix(trimmed, "{") || !json.Valid(call.arguments) {
		answer.Arguments = "{}" // providers refuse a history with broken arguments
	}
	return answer
}

// newID returns nine alphanumeric characters, the only form of an id that every
// provider accepts.
func newID() string {
	const digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var id [9]byte
	for i := range id {
		id[i] = digits[rand.IntN(len(digits))] //nolint:gosec // names a call, guards nothing
	}
	return string(id[:])
}

// sameWords reports whether two texts have the same letters and digits, in any
// case. Texts without any are compared as they are.
func sameWords(a, b []byte) bool {
	x, y := bytes.Map(foldWord, a), bytes.Map(foldWord, b)
	if len(x) == 0 {
		return len(y) == 0 && bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b))
	}
	return bytes.Equal(x, y)
}

// foldWord returns a letter or digit in lower case, and drops anything else.
func foldWord(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsNumber(r) {
		return unicode.ToLower(unicode.ToUpper(r))
	}
	return -1
}

// Sizes of a transcript's blocks. A text shorter than a small one is in a single
// block, which is moved when it is full.
const (
	minBlock   = 64
	smallBlock = 256
	maxBlock   = 64 << 10
)

// maxText is roughly how many bytes of text, and of reasoning, are kept of a streamed
// call. A longer answer is shown as it comes and not continued.
const maxText = 32 << 20

// transcript is the text of all turns of a call, in the only copy that is kept. It
// grows in blocks, so that a long text is not copied again and again while it streams
// by. The blocks are put together only when the text is read.
type transcript struct {
	blocks    [][]byte // full ones
	last      []byte   // the block that is filled
	reasoning *[]byte  // nil if it is not kept
	bounded   bool     // maxText applies
	long      bool     // the text exceeded maxText; the rest is not kept
	reasoned  adapter.ReasoningEnd
}

// add adds text.
func (t *transcript) add(text string) {
	if len(text) > cap(t.last)-len(t.last) && !t.grow(len(text)) {
		return
	}
	t.last = append(t.last, text...)
}

// grow makes room for n bytes or more, unless the text would become too long. Blocks
// grow with the text, so that there are few of them and the last one wastes little.
func (t *transcript) grow(n int) bool {
	length := t.len()
	if t.bounded && length+n > maxText {
		t.long, t.last = true, slices.Clip(t.last) // nothing fits any more
		return false
	}
	size := max(n, min(max(length, minBlock), max(length/4, smallBlock), maxBlock))
	if length < smallBlock { // all of it is in the last one
		t.last = append(make([]byte, 0, length+size), t.last...)
		return true
	}
	t.blocks = append(t.blocks, t.last)
	t.last = make([]byte, 0, size)
	return true
}

func (t *transcript) len() int {
	length := len(t.last)
	for _, block := range t.blocks {
		length += len(block)
	}
	return length
}

// bytes returns the text in one piece. The caller must not change it; text that is
// added later does not change it either.
func (t *transcript) bytes() []byte {
	if len(t.blocks) == 0 {
		return t.last
	}
	whole := make([]byte, 0, t.len())
	for _, block := range t.blocks {
		whole = append(whole, block...)
	}
	t.blocks, t.last = nil, append(whole, t.last...)
	return t.last
}

// separator returns what stands between the text and the text of another turn.
func (t *transcript) separator() string {
	if t.len() == 0 {
		return ""
	}
	return adapter.SeparatorAfter(rawjson.View(t.bytes()))
}

// cut forgets what comes after the first n bytes.
func (t *transcript) cut(n int) {
	t.last = t.bytes()[:n]
}

// addReasoning adds reasoning of the model, if it is kept.
func (t *transcript) addReasoning(text string) {
	t.reasoned.Add(text)
	if t.reasoning == nil {
		return
	}
	t.long = t.long || t.bounded && len(*t.reasoning)+len(text) > maxText
	if !t.long {
		*t.reasoning = append(*t.reasoning, text...)
	}
}

// cutReasoning forgets the reasoning after the first n bytes.
func (t *transcript) cutReasoning(n int) {
	if t.reasoning != nil {
		*t.reasoning = (*t.reasoning)[:n]
	}
}

// reasoningLen returns the length of the reasoning.
func (t *transcript) reasoningLen() int {
	if t.reasoning == nil {
		return 0
	}
	return len(*t.reasoning)
}

// reasoningText returns the reasoning.
func (t *transcript) reasoningText() string {
	if t.reasoning == nil {
		return ""
	}
	return string(*t.reasoning)
}
