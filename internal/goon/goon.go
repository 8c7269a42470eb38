// Package goon recognizes messages with which a user only tells the model to go on.
package goon

import (
	"slices"
	"strings"
	"unicode"
)

// known are messages that only say go on, in small letters and without punctuation.
var known = []string{ //nolint:gochecknoglobals // constant
	"continue", "please continue", "continue please", "go on", "please go on", "keep going", "keep on", "carry on", "go ahead", "proceed", "please proceed", "next", "resume", "and", "go",
	"continue working", "continue with the rest", "continue from where you left off", "finish it", "finish the rest", "do the rest", "keep working", "ok continue", "okay continue", "yes continue", "yes go on",
	"weiter", "mach weiter", "bitte weiter", "continuer", "continuez", "continúa", "continua", "sigue", "adelante", "prosegui", "avanti", "продолжай", "продолжайте", "дальше", "далее", "kontynuuj", "dalej", "devam", "devam et",
	"继续", "请继续", "繼續", "続けて", "続けてください", "계속", "계속해", "계속해줘", "lanjut", "lanjutkan", "tiếp tục", "जारी रखें",
}

// Is reports whether a message of the user says nothing but go on.
func Is(message string) bool {
	const longest = 100 // bytes
	if len(message) > longest {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(message), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	return slices.Contains(known, strings.Join(words, " "))
}
