package pause

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const noReason = "no reason given"

// Sanitize returns reason as one line that is safe to print: whole terminal
// escape sequences, control and format characters (among them those that turn
// the direction of text, and those of no width) are removed, every run of white
// space is one space, with none at the ends, and bytes that are not UTF-8
// become U+FFFD. Sanitizing twice changes nothing.
func Sanitize(reason string) string {
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

// Shown returns what is shown of reason: [Sanitize] of it, cut to its first
// [MaxReason] characters, or "no reason given" if nothing is left.
func Shown(reason string) string {
	reason = Sanitize(reason)
	runes := 0
	for i := range reason {
		if runes == MaxReason {
			reason = strings.TrimSpace(reason[:i])
			break
		}
		runes++
	}
	if reason == "" {
		return noReason
	}
	return reason
}

// escapes measures terminal escape sequences. The zero value is for one text,
// read from its start to its end.
type escapes struct {
	// unended is set once a search for the end of a string sequence reached the
	// end of the text, so that no later one searches again: without it, a text
	// of openings alone would take quadratic time.
	unended bool
}

const (
	escape     = '\x1b'
	bell       = '\a'
	terminator = '\u009c'
)

// length returns how many bytes at the start of text are an escape sequence,
// complete or cut short; 0 if none starts there.
func (e *escapes) length(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	if r == escape {
		rest := text[n:]
		// Intermediate bytes, as in the choice of a character set.
		n += run(rest, ' ', '/')
		if n == len(text) || text[n] < '0' || text[n] > '~' {
			return n
		}
		// ESC and a byte from @ to _ is the short form of a C1 control.
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

// string returns the length of the rest of a string sequence, up to and with
// its end; 0 if it has none, because then the text is worth more than the rule.
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
		return i // another sequence cuts this one short
	}
	return i + 1
}

// run returns how many bytes at the start of text lie between low and high.
func run(text string, low, high byte) int {
	n := 0
	for n < len(text) && text[n] >= low && text[n] <= high {
		n++
	}
	return n
}
