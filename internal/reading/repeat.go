package reading

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// Repetition follows the text of a continuation as long as it may be the answer before it
// again: the same letters and digits, in any case. Such a text is held back, and not shown
// if the turn ends with it. A nil one stands for a turn that repeats nothing, as the
// caller's own and nearly all others soon do.
type Repetition struct {
	rest []byte // what is left of the answer before
	read bool   // a letter or digit of it was read
}

// NewRepetition returns a repetition of the answer before. One without letters and digits
// has nothing to compare, and next to nothing to hide.
func NewRepetition(before []byte) *Repetition {
	if bytes.IndexFunc(before, isWord) < 0 {
		return nil
	}
	return &Repetition{rest: before}
}

// Clone returns a copy.
func (r *Repetition) Clone() *Repetition {
	if r == nil {
		return nil
	}
	c := *r
	return &c
}

// Add reads the next piece of the turn, and reports whether the turn may still be the
// answer before.
func (r *Repetition) Add(text string) bool {
	for _, c := range text {
		if !isWord(c) {
			continue
		}
		if fold(c) != r.next() {
			return false
		}
		r.read = true
	}
	return true
}

// next takes the next letter or digit of the answer before, or returns -1 if there is none.
func (r *Repetition) next() rune {
	for len(r.rest) > 0 {
		c, size := utf8.DecodeRune(r.rest)
		r.rest = r.rest[size:]
		if isWord(c) {
			return fold(c)
		}
	}
	return -1
}

// IsWhole reports whether the turn so far is the whole answer before.
func (r *Repetition) IsWhole() bool {
	return r != nil && r.read && bytes.IndexFunc(r.rest, isWord) < 0
}

// isWord reports whether a character counts in a comparison: a letter or a digit.
func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

// fold returns a letter or digit in lower case.
func fold(c rune) rune { return unicode.ToLower(unicode.ToUpper(c)) }

// SameWords reports whether two texts have the same letters and digits, in any case. Texts
// without any are compared as they are.
func SameWords(a, b []byte) bool {
	if r := NewRepetition(b); r != nil {
		return r.Add(rawjson.View(a)) && r.IsWhole()
	}
	return bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b))
}
