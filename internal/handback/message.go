package handback

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AnswersOnly reports whether a message of the user can only be an answer, or a word to
// go on: it is short, and no question. Punctuation alone asks nothing: it says go on.
func AnswersOnly(message string) bool {
	message = strings.TrimSpace(message)
	if len(message) > maxAnswer*utf8.UTFMax || utf8.RuneCountInString(message) > maxAnswer {
		return false
	}
	if isPunctuation(message) {
		return true
	}
	ascii := true
	before := ' ' // a semicolon is a question mark behind a Greek letter
	for _, r := range message {
		ascii = ascii && r < utf8.RuneSelf
		if isQuestionMark(r) || r == '¿' || r == ';' && unicode.Is(unicode.Greek, before) {
			return false
		}
		before = r
	}
	if ascii { // languages that set no question mark are not written in it
		return true
	}
	var room [maxAnswer * utf8.UTFMax]byte
	return !asksWithoutMark(append(room[:0], message...))
}

// isPunctuation reports whether a text has neither a letter nor a digit.
func isPunctuation(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) < 0
}

// goOns are messages that only say go on, in small letters and without punctuation.
var goOns = []string{ //nolint:gochecknoglobals // constant
	"continue", "please continue", "continue please", "go on", "please go on", "keep going", "keep on", "carry on", "go ahead", "proceed", "please proceed", "next", "resume", "and", "go",
	"continue working", "continue with the rest", "continue from where you left off", "finish it", "finish the rest", "do the rest", "keep working", "ok continue", "okay continue", "yes continue", "yes go on",
	"weiter", "mach weiter", "bitte weiter", "continuer", "continuez", "continúa", "continua", "sigue", "adelante", "prosegui", "avanti", "продолжай", "продолжайте", "дальше", "далее", "kontynuuj", "dalej", "devam", "devam et",
	"继续", "请继续", "繼續", "続けて", "続けてください", "계속", "계속해", "계속해줘", "lanjut", "lanjutkan", "tiếp tục", "जारी रखें",
	"procedi", "vai avanti", "vai", "continua pure", "lanjut saja", "lanjutkan saja", "silakan lanjut", "silakan lanjutkan", "teruskan", "terus",
	"devam edin", "devam edelim", "sürdür", "ilerle", "تابع", "استمر", "أكمل", "واصل", "आगे बढ़ें", "आगे बढ़ो", "जारी रखो", "続行", "続行してください", "続き", "進めて", "진행해", "계속 진행해", "계속해주세요",
	"continue por favor", "por favor continúa", "prossiga", "poursuis", "poursuivez", "vas y", "weitermachen", "mach bitte weiter", "fortfahren",
}

// SaysGoOn reports whether a message of the user says nothing but go on. A message of
// punctuation alone, such as "?" or "…", does.
func SaysGoOn(message string) bool {
	const longest = 100 // bytes
	if len(message) > longest {
		return false
	}
	if isPunctuation(message) {
		return strings.TrimSpace(message) != ""
	}
	words := strings.FieldsFunc(strings.ToLower(message), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	return slices.Contains(goOns, strings.Join(words, " "))
}
