// Package description turns the content of a todo, or any other text that the
// program did not write, into one short line of a prompt.
package description

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Max is the length in runes that no description exceeds, the ellipsis of a
// shortened one included.
const Max = 200

// MaxBytes is the size of a buffer that holds any line before it is cut, so
// that it need not grow.
const MaxBytes = (Max + markerRunes + 2) * utf8.UTFMax

const (
	ellipsis = "..."
	// apostrophe replaces the straight one, which would end the quotes that a
	// prompt puts around a description.
	apostrophe = '\u2019'
	// markerRunes is the length of the longest list marker, "999. [x] ".
	markerRunes = 9
	// markerBytes is enough of a line to recognise any list marker.
	markerBytes = 16
)

// Of returns the description of a todo's content for a prompt: one line of at
// most [Max] runes.
//
// Every run of white space, control and format characters becomes one space,
// with none at either end. One list marker ("- ", "2. ", "[x] ", "- [ ] " and
// the like) is removed where text follows it. A line that is still too long is
// cut and ends in "...", at a space if there is one in the last fifth, and
// never between a letter and its accents. A straight apostrophe becomes U+2019,
// and a byte that is not UTF-8 becomes U+FFFD, so that the result is valid and
// cannot end its own quotes. Everything else stays as it is.
//
// The result is empty exactly if [Blank] reports true. Content that needs no
// change is returned without a copy. Of long content, Of reads only the part
// that shows.
func Of(content string) string {
	if isDescription(content) {
		return content[markerLength(content):]
	}
	var buf [MaxBytes]byte
	return string(Append(buf[:0], content))
}

// Blank reports whether content has nothing to describe: it is empty, or all
// white space, control and format characters. It reads up to the first rune
// that shows, and never allocates.
func Blank(content string) bool {
	for _, r := range content {
		if !isSpace(r) {
			return false
		}
	}
	return true
}

// Append appends the description of content to dst.
func Append(dst []byte, content string) []byte {
	if isDescription(content) {
		return append(dst, content[markerLength(content):]...)
	}
	start := len(dst)
	dst = appendCollapsed(dst, content, Max+markerRunes+1, apostrophe)
	line := dst[start:]
	head := string(line[:min(len(line), markerBytes)])
	return append(dst[:start], cutLine(line[markerLength(head):])...)
}

// isDescription reports whether content is a description already, apart from a
// list marker. It may miss one, but never takes other content for one.
func isDescription(content string) bool {
	if len(content) > Max*utf8.UTFMax {
		return false
	}
	runes, last := 0, ' '
	for _, r := range content {
		switch {
		case r > ' ' && r < 0x7F && r != '\'':
			// nearly all text
		case r == ' ' && last != ' ':
			// a single space
		case r == ' ' || r == '\'' || r == utf8.RuneError || isSpace(r):
			return false
		}
		last = r
		runes++
	}
	return last != ' ' && runes <= Max
}

// appendCollapsed appends text to dst with every run of white space as one space
// and none at either end, and with quote for each straight apostrophe. It
// stops as soon as it has appended limit runes or one more.
func appendCollapsed(dst []byte, text string, limit int, quote rune) []byte {
	runes, gap := 0, false
	for _, r := range text {
		if isSpace(r) {
			gap = runes > 0
			continue
		}
		if runes >= limit {
			break
		}
		if gap {
			dst = append(dst, ' ')
			runes++
			gap = false
		}
		if r == '\'' {
			r = quote
		}
		dst = utf8.AppendRune(dst, r)
		runes++
	}
	return dst
}

// AppendLine appends text to dst as one line of at most [Max] runes: a
// description that keeps its list marker and its apostrophes.
func AppendLine(dst []byte, text string) []byte {
	start := len(dst)
	dst = appendCollapsed(dst, text, Max+1, '\'')
	return append(dst[:start], cutLine(dst[start:])...)
}

// cutLine returns line if it has at most [Max] runes. Otherwise it overwrites
// the end of what fits with an ellipsis and returns that.
func cutLine(line []byte) []byte {
	const keep, floor = Max - len(ellipsis), Max * 4 / 5
	runes, word, hard := 0, 0, 0
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if runes >= floor && runes <= keep {
			switch {
			case r == ' ':
				word = i
			case !joins(r) || hard == 0:
				hard = i
			}
		}
		i += size
		runes++
	}
	if runes <= Max {
		return line
	}
	if word > 0 {
		hard = word
	}
	return append(bytes.TrimRight(line[:hard], " "), ellipsis...)
}

// joins reports whether r belongs to the rune before it: a combining mark,
// or an emoji's skin tone.
func joins(r rune) bool {
	return unicode.Is(unicode.M, r) || r >= 0x1F3FB && r <= 0x1F3FF
}

// isSpace reports whether r counts as white space in a description. Control
// and format characters do: they can hide text or reorder what a person sees.
func isSpace(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r <= ' ' || r == 0x7F
	case r > 0xAD && r < 0x600 || r > 0x3000 && r < 0xD800:
		return false // most letters in use, without a look at the tables
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// markerLength returns the length in bytes of the list marker that line begins
// with, its last space included, or 0. If line does not end in a space, text
// follows every marker, and a lone "-" is text.
func markerLength(line string) int {
	n := bulletLength(line)
	return n + checkboxLength(line[n:])
}

// bulletLength is markerLength for "- ", "* ", "+ ", "• ", "1. " and "1) ".
func bulletLength(line string) int {
	n := 0
	for n < len(line) && n < 3 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	switch r, size := utf8.DecodeRuneInString(line[n:]); {
	case n > 0 && (r == '.' || r == ')'):
		n++
	case n == 0 && (r == '-' || r == '*' || r == '+' || r == '•'):
		n = size
	default:
		return 0
	}
	return spaceAfter(line, n)
}

// checkboxLength is markerLength for "[ ] ", "[x] " and "[X] ".
func checkboxLength(line string) int {
	if len(line) < 3 || line[0] != '[' || line[2] != ']' {
		return 0
	}
	if c := line[1]; c != ' ' && c != 'x' && c != 'X' {
		return 0
	}
	return spaceAfter(line, 3)
}

// spaceAfter returns n+1 if a space stands at n, or else 0.
func spaceAfter(line string, n int) int {
	if n < len(line) && line[n] == ' ' {
		return n + 1
	}
	return 0
}
