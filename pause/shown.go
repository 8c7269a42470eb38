package pause

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const noReason = "no reason given"

// Shown returns reason in a form that is safe to show to a user: one line of at most
// [MaxReason] characters, or "no reason given" if nothing visible is left. It removes
// terminal escape sequences and all control and format characters (such as those that
// change the direction of text or have no width), turns each run of white space into
// one space, and replaces bytes that are not UTF-8 by U+FFFD. Shown is idempotent.
func Shown(reason string) string {
	reason = oneLine(reason)
	if runes := []rune(reason); len(runes) > MaxReason {
		reason = strings.TrimSpace(string(runes[:MaxReason]))
	}
	return cmp.Or(reason, noReason)
}

// oneLine is Shown without the limit on the length and without the text for an empty
// reason.
func oneLine(reason string) string {
	reason = strings.ToValidUTF8(reason, string(utf8.RuneError))
	var b strings.Builder
	b.Grow(len(reason))
	e := escapes{}
	space := false
	for len(reason) > 0 {
		if n := e.length(reason); n > 0 {
			reason = reason[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(reason)
		reason = reason[size:]
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		default:
			if space {
				b.WriteByte(' ')
				space = false
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapes measures the terminal escape sequences of one text, which is read from
// start to end. The zero value is ready for use.
type escapes struct {
	// unended is set once a search for the end of a string sequence has reached the
	// end of the text. Later sequences then do not search: a text of nothing but
	// openings would take quadratic time.
	unended bool
}

const (
	escape     = '\x1b'
	bell       = '\a'
	terminator = '\u009c'
)

// length returns how many bytes at the start of text are an escape sequence,
// complete or truncated; 0 if no sequence starts there.
func (e *escapes) length(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	if r == escape {
		rest := text[n:]
		// Intermediate bytes, for example to choose a character set.
		n += run(rest, ' ', '/')
		if n == len(text) || text[n] < '0' || text[n] > '~' {
			return n
		}
		// ESC and a byte from @ to _ are the short form of a C1 control.
		r = rune(text[n]) + 0x40
		if n > 1 {
			r = 0
		}
		n++
	}
	switch r {
	case '\u009b': // control sequence: parameters, intermediates, final
		n += run(text[n:], '0', '?')
		n += run(text[n:], ' ', '/')
		return n + min(1, run(text[n:], '@', '~'))
	case '\u0090', '\u0098', '\u009d', '\u009e', '\u009f': // strings, such as titles and links
		return n + e.string(text[n:])
	}
	if text[0] == escape {
		return n
	}
	return 0
}

// string returns the length of the rest of a string sequence, including its
// end; 0 if it has no end, because removing it would remove all further text.
func (e *escapes) string(text string) int {
	if e.unended {
		return 0
	}
	i := strings.IndexFunc(text, func(r rune) bool {
		return r == bell || r == escape || r == terminator
	})
	switch {
	case i < 0:
		e.unended = true
		return 0
	case strings.HasPrefix(text[i:], "\x1b\\"), text[i] >= utf8.RuneSelf:
		return i + 2
	case text[i] == escape:
		return i // another sequence interrupts this one
	}
	return i + 1
}

// run returns how many bytes at the start of text are between low and high.
func run(text string, low, high byte) int {
	n := 0
	for n < len(text) && text[n] >= low && text[n] <= high {
		n++
	}
	return n
}
