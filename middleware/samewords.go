package middleware

import (
	"bytes"
	"unicode"
)

// sameWords reports whether two texts have the same letters and digits, in any
// case. Texts without any are compared as they are.
func sameWords(a, b []byte) bool {
	x, y := bytes.Map(foldWord, a), bytes.Map(foldWord, b)
	if len(x) == 0 {
		return len(y) == 0 && bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b))
	}
	return bytes.Equal(x, y)
}

// foldWord returns a letter or digit in lower case, and drops anything else.
func foldWord(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsNumber(r) {
		return unicode.ToLower(unicode.ToUpper(r))
	}
	return -1
}
