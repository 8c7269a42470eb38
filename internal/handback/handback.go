// Package handback reads how a model ends a turn in text: whether it asks the user
// something, announces what it does next, or neither. It looks at words and
// punctuation only, and knows nothing of todo lists.
package handback

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// End says how the text of a turn ends.
type End uint8

const (
	// Unclear is any other end: a report, an offer, no text at all.
	Unclear End = iota
	// Announces is an end that says what the model does next, or a text that breaks off.
	Announces
	// Asks is an end that asks the user something, or hands the turn back in a statement.
	Asks
)

// String returns the name of e.
func (e End) String() string {
	switch e {
	case Announces:
		return "announces"
	case Asks:
		return "asks"
	default:
		return "unclear"
	}
}

const (
	// maxParagraph is how many bytes at the end of a paragraph are read.
	maxParagraph = 2 << 10
	// maxPhrases is how many of these bytes are searched for phrases; for question marks
	// all of them are.
	maxPhrases = 768
	// maxOptions is how many paragraphs of options may follow their question.
	maxOptions = 6
	// maxRemark is the length of the longest remark that may follow the options.
	maxRemark = 400
	// maxAnswer is how many runes a message may have that only answers.
	maxAnswer = 60
)

// Of returns how the text of a turn ends. Its time is linear, and it allocates nothing.
func Of(text string) End {
	w := newWalker(text)
	var buf [maxParagraph]byte
	last, ok := w.paragraph(&buf)
	if !ok {
		return Unclear
	}
	stalls := last.announces() || last.breaksOff(&w)
	switch {
	case last.asks():
		return Asks
	case last.list, last.last.label && !stalls:
		if above := w.aboveList(&buf); above != Unclear {
			return above
		}
	case !stalls && last.length <= maxRemark && w.remarkAsks(&buf, last.kinds):
		return Asks
	}
	if stalls {
		return Announces
	}
	return Unclear
}

// aboveList returns how the paragraph ends that a list stands below, of which some
// paragraphs have been read: it may ask which of the items to do, or announce them all.
func (w *walker) aboveList(buf *[maxParagraph]byte) End {
	for range maxOptions {
		above, ok := w.paragraph(buf)
		switch {
		case !ok:
			return Unclear
		case above.asks():
			return Asks
		case above.list:
		case above.kinds&step != 0 && bytes.HasSuffix(trimEnd(above.text), []byte(":")):
			return Announces
		default:
			return Unclear
		}
	}
	return Unclear
}

// remarkAsks reports whether the last paragraph, with the given kinds of phrases, only
// adds to a question above it: it follows the question's options, or says what the
// model would choose.
func (w *walker) remarkAsks(buf *[maxParagraph]byte, remark kinds) bool {
	const far = (maxOptions + 1) * maxParagraph
	if !hasQuestionMark(w.text[max(0, w.at-far):max(0, w.at)]) {
		return false
	}
	above, ok := w.paragraph(buf)
	switch {
	case !ok:
		return false
	case above.asks():
		return above.list || remark&(leaning|offer) != 0
	}
	return above.list && w.aboveList(buf) == Asks
}

// AnswersOnly reports whether a message of the user can only be an answer, or a word to
// go on: it is short, and has no question mark.
func AnswersOnly(message string) bool {
	message = strings.TrimSpace(message)
	if len(message) > maxAnswer*utf8.UTFMax || utf8.RuneCountInString(message) > maxAnswer {
		return false
	}
	before := ' '
	for _, r := range message {
		if isQuestionMark(r) || r == '¿' || r == ';' && unicode.Is(unicode.Greek, before) {
			return false
		}
		before = r
	}
	return true
}

// isQuestionMark reports whether r is a question mark of some script. The semicolon
// of Greek is one only behind a Greek letter.
func isQuestionMark(r rune) bool {
	switch r {
	case '?', '？', '﹖', '؟', '‽', '⁇', '⁈', '⁉', '⸮', '፧', '꘏', armenianMark, greekMark:
		return true
	}
	return false
}

const (
	armenianMark = '՞' // stands inside the word that the question is about
	greekMark    = '\u037e'
)

// goOns are messages that only say go on, in small letters and without punctuation.
var goOns = []string{ //nolint:gochecknoglobals // constant
	"continue", "please continue", "continue please", "go on", "please go on", "keep going", "keep on", "carry on", "go ahead", "proceed", "please proceed", "next", "resume", "and", "go",
	"continue working", "continue with the rest", "continue from where you left off", "finish it", "finish the rest", "do the rest", "keep working", "ok continue", "okay continue", "yes continue", "yes go on",
	"weiter", "mach weiter", "bitte weiter", "continuer", "continuez", "continúa", "continua", "sigue", "adelante", "prosegui", "avanti", "продолжай", "продолжайте", "дальше", "далее", "kontynuuj", "dalej", "devam", "devam et",
	"继续", "请继续", "繼續", "続けて", "続けてください", "계속", "계속해", "계속해줘", "lanjut", "lanjutkan", "tiếp tục", "जारी रखें",
}

// SaysGoOn reports whether a message of the user says nothing but go on.
func SaysGoOn(message string) bool {
	const longest = 100 // bytes
	if len(message) > longest {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(message), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	return slices.Contains(goOns, strings.Join(words, " "))
}
