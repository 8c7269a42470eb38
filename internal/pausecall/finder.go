// Package pausecall recognizes calls of todo_pause while an answer streams: the
// tool's name in fragments, and calls that a model printed as text.
package pausecall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carryon-go/carryon/pause"
)

// IsPrefix reports whether name is a proper prefix of [pause.Name] in any case,
// so that further fragments may complete it. "" is one; the whole name is not.
func IsPrefix(name string) bool {
	return len(name) < len(pause.Name) && strings.EqualFold(name, pause.Name[:len(name)])
}

// maxHeld is how many bytes of text a Finder holds back. A call with the longest
// ASCII reason fits in; a longer text is shown.
const maxHeld = 600

// Finder finds a call that a model printed as text at the end of a turn, as in
// "I am blocked. todo_pause('the API key is missing')", while the text streams.
// The zero value is ready for a turn.
//
// A printed call is todo_pause in any case, followed by parentheses that hold
// nothing or a quoted reason, which "reason =" or "reason:" may precede. It may
// be enclosed in one to three backticks or in a fenced block. Only white space,
// backticks and full stops may follow it in the turn; of several calls the last
// one counts. The name must not be the end of a longer word.
//
// The boundaries of the pieces make no difference, even inside a character. A
// Finder must not be used concurrently.
type Finder struct {
	// held is the text from the first byte that may begin a call.
	held string

	// before is the end of the text that was shown, long enough for one rune.
	before [utf8.UTFMax]byte
}

// Write takes the next piece of the turn's text and returns the text to show
// now: everything except an end that may begin a call. Write holds that end
// until it can no longer become a call or exceeds 600 bytes, and then returns
// it with a later piece. If nothing was held and nothing has to be, Write
// returns text itself and does not allocate.
func (f *Finder) Write(text string) (show string) {
	all := text
	if f.held != "" {
		all = f.held + text
	}
	start := f.find(all, max(0, len(all)-maxHeld), possible)
	show, f.held = all[:start], all[start:]
	n := min(len(show), len(f.before))
	copy(f.before[:], f.before[n:])
	copy(f.before[len(f.before)-n:], show[len(show)-n:])
	return show
}

// Held reports whether text is held back.
func (f *Finder) Held() bool { return f.held != "" }

// End ends the turn. If the held text is a complete call, ok is true and reason
// is the text that it quotes, which may be "".
//
// Rest is the part of the held text to show in either case: all of it if there
// is no call, and otherwise the text before the call and any backticks that
// belong to the text around it, such as the end of a code block. With a call it
// is usually "".
//
// End leaves f ready for another turn.
func (f *Finder) End() (reason string, ok bool, rest string) {
	held := f.held
	start := f.find(held, 0, complete)
	*f = Finder{}
	if start == len(held) {
		return "", false, held
	}
	found, _ := readCall(held[start:])
	return found.reason, true, held[:start] + found.around()
}

// Release returns the held text, to be shown, without looking for a call in it:
// for a turn in which the model called a tool. It leaves f ready for more text.
func (f *Finder) Release() string {
	held := f.held
	*f = Finder{}
	return held
}

// find returns the first index of text, not before from, where a call begins
// whose verdict is at least least; len(text) if there is none.
func (f *Finder) find(text string, from int, least verdict) int {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case 't', 'T':
			if f.inWord(text, i) {
				continue
			}
		case '`':
		default:
			continue
		}
		if _, v := readCall(text[i:]); v >= least {
			return i
		}
	}
	return len(text)
}

// inWord reports whether the rune before text[i] is part of a word, which then
// continues at i.
func (f *Finder) inWord(text string, i int) bool {
	if i > 0 && text[i-1] < utf8.RuneSelf {
		return isWord(rune(text[i-1]))
	}
	var end [2 * utf8.UTFMax]byte
	n := copy(end[:], f.before[:])
	n += copy(end[n:], text[max(0, i-utf8.UTFMax):i])
	r, _ := utf8.DecodeLastRune(end[:n])
	return isWord(r)
}

// isWord reports whether r is part of a word that a name may be the end of. It
// is false for the letters of scripts without spaces between words, where a
// name may directly follow a letter.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
	}
	const longVowel = '\u30fc' // used in both Japanese syllabaries, so in neither table
	if r == longVowel || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
