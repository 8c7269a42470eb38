// Package terminal takes what is meant for a terminal out of texts: colours, titles,
// control characters.
package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns a text as a person would read it on a terminal: without escape sequences,
// control characters and format characters, such as those that change the direction of
// text. Tabs and line breaks stay. A carriage return begins its line again, as progress
// bars do. Bytes that are not UTF-8 become U+FFFD. Plain is idempotent.
func Plain(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	out := make([]byte, 0, len(text))
	line := 0 // where the line begins in out
	for e := (Escapes{}); len(text) > 0; {
		if n := e.Length(text); n > 0 {
			text = text[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == '\r':
			if rest := strings.TrimLeft(text, "\r"); rest != "" && rest[0] != '\n' {
				out = out[:line]
			}
		case r == '\n', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			out = append(out, '\n')
			line = len(out)
		case r == '\t':
			out = append(out, '\t')
		case unicode.IsSpace(r):
			out = append(out, ' ')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// Escapes measures the terminal escape sequences of one text, which is read from
// start to end. The zero value is ready for use.
type Escapes struct {
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

// Length returns how many bytes at the start of text are an escape sequence,
// complete or truncated; 0 if no sequence starts there.
func (e *Escapes) Length(text string) int {
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
func (e *Escapes) string(text string) int {
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
