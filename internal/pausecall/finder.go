// Package pausecall recognizes calls of todo_pause while an answer streams: the
// tool's name in fragments, and calls that a model printed as text.
package pausecall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carryon-go/carryon/internal/pausetool"
)

// IsPrefix reports whether name is a proper prefix of [pausetool.Name] in any case,
// so that further fragments may complete it. "" is one; the whole name is not.
func IsPrefix(name string) bool {
	return len(name) < len(pausetool.Name) && strings.EqualFold(name, pausetool.Name[:len(name)])
}

// maxHeld is how many bytes of text a Finder holds back. A call with the longest
// ASCII reason fits in; a longer text is shown.
const maxHeld = 600

// Finder finds a call that a model printed as text at the end of a turn, as in
// "I am blocked. todo_pause('the API key is missing')", while the text streams.
// The zero value is ready for a turn.
//
// A printed call is todo_pause in any case, followed by parentheses with
// nothing, a quoted reason, which "reason =" or "reason:" may precede, or the
// arguments as a JSON object. A text that is nothing but a JSON object with the
// "name" todo_pause, and perhaps its "arguments" or "parameters", is one too.
// Either may be enclosed in one to three backticks or in a fenced block. Only
// white space, backticks and full stops may follow it in the turn; of several
// calls the last one counts.
//
// Within a sentence it is not a call: "I will not call todo_pause('no key')"
// talks about it. A call is within a sentence if other text precedes it on the
// line and does not end in a full stop or the like, a colon, a semicolon or an
// ellipsis.
//
// The boundaries of the pieces make no difference, even inside a character. A
// Finder must not be used concurrently.
type Finder struct {
	// held is the text from the first byte that may begin a call.
	held string

	// before is the end of the text that was shown, long enough for one rune.
	before [utf8.UTFMax]byte

	shown      bool // more was shown than white space
	inSentence bool // what was shown ends within a sentence
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
	start, _ := f.find(all, max(0, len(all)-maxHeld), possible)
	show, f.held = all[:start], all[start:]
	f.inSentence = f.endsInSentence(show)
	f.shown = f.shown || strings.TrimLeft(show, spaces) != ""
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
	start, found := f.find(held, 0, complete)
	*f = Finder{}
	if start == len(held) {
		return "", false, held
	}
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
// that matches at least this well, and the call; len(text) if there is none.
func (f *Finder) find(text string, from int, least match) (int, call) {
	beginning := -1 // of the turn's text, where alone an object may be a call
	if !f.shown {
		beginning = len(text) - len(strings.TrimLeft(text, spaces))
	}
	for i := from; i < len(text); i++ {
		switch text[i] {
		case 't', 'T', '`':
		case '{':
			if i != beginning {
				continue
			}
		default:
			continue
		}
		found, m := readCall(text[i:], readNamed)
		if m == impossible && i == beginning {
			found, m = readCall(text[i:], readObject)
		}
		if m >= least && !f.endsInSentence(text[:i]) {
			return i, found
		}
	}
	return len(text), call{}
}

// endsInSentence reports whether what was shown, followed by text, ends within
// a sentence. Brackets, quotes, commas and dashes leave that as it is.
func (f *Finder) endsInSentence(text string) bool {
	for text != "" {
		r, size := f.lastRune(text)
		switch {
		case isWord(r):
			return true
		case endsSentence(r):
			return false
		}
		text = text[:max(0, len(text)-size)]
	}
	return f.inSentence
}

// lastRune decodes the last rune of text. The rune may begin in text already shown.
func (f *Finder) lastRune(text string) (r rune, size int) {
	if len(text) >= utf8.UTFMax {
		return utf8.DecodeLastRuneInString(text)
	}
	var end [2 * utf8.UTFMax]byte
	n := copy(end[:], f.before[:])
	n += copy(end[n:], text)
	return utf8.DecodeLastRune(end[:n])
}

// isWord reports whether r is part of a word, a number or a name.
func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// endsSentence reports whether r ends a line or a sentence, or announces what
// follows.
func endsSentence(r rune) bool {
	if r < utf8.RuneSelf {
		return strings.IndexByte("\n\r\v\f.!?:;", byte(r)) >= 0
	}
	return unicode.Is(unicode.STerm, r) || strings.ContainsRune("\u0085\u2028\u2029\u2026\uff1a\uff1b", r)
}
