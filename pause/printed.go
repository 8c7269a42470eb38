package pause

import (
	"unicode"
	"unicode/utf8"
)

// maxHeld is how many bytes of text are held back for a printed call. A call
// with a reason as long as it may be fits in; a longer text is shown.
const maxHeld = 600

// Printed finds a call of the tool that a model printed as text at the end of a
// turn, as in "I am blocked. todo_pause('the API key is missing')", while the
// text streams by. The zero value is ready for a turn.
//
// The call is todo_pause in any case, then in parentheses nothing or a quoted
// reason, with or without "reason =" or "reason:" before it. It may stand in
// one to three backticks or in a fenced block. After it only white space,
// backticks and full stops may follow to the end of the turn; of several calls
// the last one counts. The name must not be the end of a longer word.
//
// How the text is cut into pieces makes no difference, between the bytes of a
// character included. A Printed must not be used concurrently.
type Printed struct {
	// held is the text from the first byte that may begin a call.
	held string

	// before is the end of what was shown, enough for its last rune.
	before [utf8.UTFMax]byte
}

// Write takes the next piece of the turn's text and returns what of the text
// may be shown now: all of it, but for an end that may begin a call. That end
// is held, and shown first by a later Write once it cannot become a call, or is
// over 600 bytes long. Write returns text itself, and allocates nothing, if
// nothing was held and nothing is.
func (p *Printed) Write(text string) (show string) {
	all := text
	if p.held != "" {
		all = p.held + text
	}
	start := p.find(all, max(0, len(all)-maxHeld), possible)
	show, p.held = all[:start], all[start:]
	if n := len(show); n >= len(p.before) {
		copy(p.before[:], show[n-len(p.before):])
	} else {
		copy(p.before[:], p.before[n:])
		copy(p.before[len(p.before)-n:], show)
	}
	return show
}

// Held reports whether text is held back.
func (p *Printed) Held() bool { return p.held != "" }

// End ends the turn. If the held text is a complete call, ok is true and reason
// is what it quotes, "" included, for [JudgePrinted]; the call is not shown.
//
// Rest is what of the held text is still to be shown, whether ok or not: all of
// it if there is no call, and otherwise what stands before the call, or the
// backticks after it, if they belong to the text around, such as the end of a
// code block. Most often it is "" beside a call.
//
// End makes p ready for another turn.
func (p *Printed) End() (reason string, ok bool, rest string) {
	held := p.held
	start := p.find(held, 0, complete)
	*p = Printed{}
	if start == len(held) {
		return "", false, held
	}
	found, _ := readCall(held[start:])
	return found.reason, true, held[:start] + found.around()
}

// Release gives up on finding a call in the turn, as when the model has called
// a tool, and returns the held text, which is to be shown.
func (p *Printed) Release() string {
	held := p.held
	*p = Printed{}
	return held
}

// find returns the first index of text, from an index on, at which a call
// starts that is at least as certain as asked; len(text) if there is none.
func (p *Printed) find(text string, from int, certain verdict) int {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case 't', 'T':
			if p.inWord(text, i) {
				continue
			}
		case '`':
		default:
			continue
		}
		if _, v := readCall(text[i:]); v >= certain {
			return i
		}
	}
	return len(text)
}

// inWord reports whether the rune before text[i] is part of a word that goes on
// at i.
func (p *Printed) inWord(text string, i int) bool {
	if i > 0 && text[i-1] < utf8.RuneSelf {
		return isWord(rune(text[i-1]))
	}
	var end [2 * utf8.UTFMax]byte
	n := copy(end[:], p.before[:])
	n += copy(end[n:], text[max(0, i-utf8.UTFMax):i])
	r, _ := utf8.DecodeLastRune(end[:n])
	return isWord(r)
}

// isWord reports whether r is part of a word that a name may be the end of.
// Scripts without spaces between words are not: there a name follows a letter
// as elsewhere it follows a space.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
	}
	const longVowel = '\u30fc' // of both Japanese syllabaries, so in neither table
	if r == longVowel || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
