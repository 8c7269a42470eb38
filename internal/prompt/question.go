package prompt

import (
	"unicode"

	"github.com/carryon-go/carryon/continuation"
)

// NothingOpen is the line with which the model answers the question if nothing is open.
const NothingOpen = "Nothing is open."

// questionText is the prompt for a user turn without a list, behind what was seen of it.
const questionText = `Is anything of what was asked still open? If so, go on with it now, with a tool call. ` +
	`If an error keeps you from it, or it needs a decision that only the user can make, call todo_pause with the reason.

If nothing is open, reply with exactly this line, and nothing else:
` + NothingOpen

// Question returns the message that asks the model whether anything of what the user
// asked for is still open. Its first line is [continuation.PromptPreamble]. If the turn has
// not come to an end of its own, it says so. With InWords it says how to pause without the
// tool. Of in, only End, BreaksOff and InWords count.
func Question(in Input) string {
	text := continuation.PromptPreamble + "\n\n"
	if happened := in.happened(); happened != happenedNoTool {
		text += happened + "\n\n"
	}
	text += questionText
	if in.InWords {
		text += "\n\n" + inWords
	}
	return text
}

// nothingOpen is [NothingOpen] without what does not count.
const nothingOpen = "nothing is open"

// Reply reads the answer to a [Question] piece by piece. It tells whether the answer is
// the line [NothingOpen] and nothing else. Case, white space around the words,
// punctuation and the marks of Markdown do not count. The zero value stands for a turn
// that answers no question. It is small, because every open stream has one.
type Reply struct {
	matched uint8 // bytes of nothingOpen that were read
	spaced  bool  // white space was read since the last letter
	pending bool  // the answer may be the line
}

// NewReply returns a Reply that has read nothing.
func NewReply() Reply { return Reply{pending: true} }

// Add reads the next piece of the answer.
func (r *Reply) Add(text string) {
	if !r.pending {
		return
	}
	for _, c := range text {
		switch {
		case unicode.IsSpace(c):
			r.spaced = r.matched > 0
		case !unicode.In(c, unicode.P, unicode.Sm, unicode.Sk):
			r.letter(unicode.ToLower(c))
		}
	}
}

// letter reads a character that counts.
func (r *Reply) letter(c rune) {
	rest := nothingOpen[r.matched:]
	space := len(rest) > 0 && rest[0] == ' '
	if space {
		rest = rest[1:]
	}
	if len(rest) == 0 || space != r.spaced || rune(rest[0]) != c {
		r.pending = false
		return
	}
	r.matched, r.spaced = uint8(len(nothingOpen)-len(rest)+1), false //nolint:gosec // the line is short
}

// Release notes that the answer holds something else than the line.
func (r *Reply) Release() { r.pending = false }

// IsPending reports whether the answer may be the line: what was read of it is the
// beginning of the line, or all of it.
func (r *Reply) IsPending() bool { return r.pending }

// SaysNothingOpen reports whether what was read is the line and nothing else.
func (r *Reply) SaysNothingOpen() bool { return r.pending && int(r.matched) == len(nothingOpen) }
