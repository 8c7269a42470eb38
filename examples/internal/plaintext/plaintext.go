// Package plaintext makes text from models and files safe to print.
package plaintext

import (
	"strings"
	"unicode"
)

// maxSequence is how many characters one escape sequence can remove at most.
const maxSequence = 256

// Cleaner removes escape sequences, control and format characters from a text
// that comes in pieces, and replaces bytes that are not UTF-8. The zero value is
// ready for one text.
type Cleaner struct {
	state state
	left  int // characters that the current sequence may still have
}

type state uint8

const (
	inText   state = iota
	inEscape       // after ESC
	inCSI          // ESC [, up to a letter
	inString       // ESC ] and the like, up to BEL or ESC \
)

// Clean returns the printable part of the next piece. A newline is the only control character in it.
func (c *Cleaner) Clean(piece string) string {
	var b strings.Builder
	for _, r := range piece { // yields U+FFFD for bytes that are not UTF-8
		if c.inSequence(r) {
			continue
		}
		switch {
		case r == '\n', r == '\u2028', r == '\u2029':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteString("    ")
		case r == '\u200c', r == '\u200d': // join letters and emoji
			b.WriteRune(r)
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// inSequence reports whether r belongs to an escape sequence. A sequence ends with its line, so that a broken one
// cannot hide the rest of the text.
func (c *Cleaner) inSequence(r rune) bool {
	c.left--
	if r == '\n' || c.state != inText && c.left < 0 {
		c.state = inText
		return false
	}
	if begun := c.begins(r); begun != inText {
		c.state, c.left = begun, maxSequence
		return true
	}
	before := c.state
	if before == inEscape && (r < ' ' || r > '/') || before == inCSI && r >= '@' ||
		before == inString && (r == '\a' || r == '\u009c') {
		c.state = inText
	}
	return before != inText
}

// begins returns the state after r if r begins or continues the opening of a
// sequence, and inText otherwise.
func (c *Cleaner) begins(r rune) state {
	switch {
	case r == '\x1b':
		return inEscape
	case r == '\u009b', c.state == inEscape && r == '[':
		return inCSI
	case r == '\u0090', r == '\u0098', r >= '\u009d' && r <= '\u009f',
		c.state == inEscape && strings.ContainsRune("]PX^_", r):
		return inString
	}
	return inText
}

// Clean returns what a Cleaner leaves of a whole text.
func Clean(text string) string { return new(Cleaner).Clean(text) }

// OneLine returns the cleaned text as one line, with single spaces in it.
func OneLine(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }
