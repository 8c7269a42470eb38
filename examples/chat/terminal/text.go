package terminal

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// maxSequence bounds how much of a text one escape sequence can swallow.
const maxSequence = 256

// cleaner makes text fit to be printed, whatever a model or a file says: escape
// sequences, control and format characters are removed, and bytes that are not
// UTF-8 replaced. A sequence may come in pieces. The zero value is ready.
type cleaner struct {
	state cleanerState
	left  int // of the sequence under way
}

type cleanerState uint8

const (
	inText   cleanerState = iota
	inEscape              // after ESC
	inCSI                 // ESC [, up to a letter
	inString              // ESC ] and the like, up to BEL or ESC \
)

// clean returns what of the next piece may be printed: lines of text, in which
// newline is the only control character.
func (c *cleaner) clean(piece string) string {
	var b strings.Builder
	for _, r := range piece { // yields U+FFFD for bytes that are not UTF-8
		if c.swallow(r) {
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

// swallow reports whether r belongs to an escape sequence. None goes beyond its
// line, so that a broken one cannot hide what follows.
func (c *cleaner) swallow(r rune) bool {
	if c.left--; r == '\n' || c.state != inText && c.left < 0 {
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

// begins returns the state that r leads to if it begins or opens a sequence.
func (c *cleaner) begins(r rune) cleanerState {
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

func clean(text string) string { return (&cleaner{}).clean(text) }

// OneLine returns text as one line that is fit to be printed.
func OneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// Width is how many columns a text takes.
func Width(text string) int { return uniseg.StringWidth(text) }

// wrap breaks a line into lines of at most that many columns, between words
// where it can. Spaces at the end of the last one are kept, for what may follow.
func wrap(text string, columns int) []string {
	var lines []string
	for {
		used, space, cut := 0, 0, -1
		for rest, state, at := text, -1, 0; rest != "" && cut < 0; {
			var cluster string
			var width int
			cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
			if cluster == " " {
				space = at
			}
			if used += width; used > columns && cluster != " " && at > 0 {
				cut = at
			}
			at += len(cluster)
		}
		if cut < 0 {
			return append(lines, text)
		}
		if strings.TrimLeft(text[:space], " ") != "" {
			cut = space
		}
		lines = append(lines, strings.TrimRight(text[:cut], " "))
		text = strings.TrimLeft(text[cut:], " ")
	}
}

// Fit returns the text, or as much of it as goes into that many columns.
func Fit(text string, columns int) string {
	if uniseg.StringWidth(text) <= columns {
		return text
	}
	used, end := 2, 0 // for what says that something is missing
	for rest, state := text, -1; rest != ""; {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += width; used > columns {
			break
		}
		end += len(cluster)
	}
	return strings.TrimRight(text[:end], " ") + ".."
}
