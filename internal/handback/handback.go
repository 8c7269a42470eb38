// Package handback reads how a turn ends: whether its finish reason is a plain stop,
// and whether its text asks the user something, announces what the model does next, or
// neither. It looks at words and punctuation only, and knows nothing of todo lists.
//
// A new spelling of a plain stop belongs into [IsPlainStop], and nowhere else. A
// question that is misread is mended by a phrase in the files of lexicon, one for each
// language, or by the form of its sentence. What tells a report from a text that leaves
// the rest to the user is weighed in signs.go.
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
	// Blank is no text at all, or only white space.
	Blank End = iota
	// Unclear is any other end: a report of what is done, or of what is left.
	Unclear
	// Announces is an end that says what the model does next, or a text that breaks off.
	Announces
	// Asks is an end that asks the user something, hands the turn back in a statement, or
	// waits for the user.
	Asks
	// Waits is an end that says that the agent's own work is still running: a build, a
	// job, other agents.
	Waits
	// Leaves is an end that leaves the rest to others without asking: it says what keeps the
	// model from going on, speaks of the user, or offers more.
	Leaves
)

// String returns the name of e.
func (e End) String() string {
	switch e {
	case Blank:
		return "blank"
	case Announces:
		return "announces"
	case Asks:
		return "asks"
	case Waits:
		return "waits"
	case Leaves:
		return "leaves"
	default:
		return "unclear"
	}
}

const (
	// maxParagraph is how many bytes are read at the end of a paragraph.
	maxParagraph = 2 << 10
	// maxPhrases is how many of these bytes are searched for phrases; for question marks
	// all of them are.
	maxPhrases = 768
	// maxOptions is how many paragraphs of options may follow their question.
	maxOptions = 6
	// maxRemark is how many bytes a remark may have that follows the options.
	maxRemark = 400
	// maxAnswer is how many runes a message may have that only answers.
	maxAnswer = 60
)

// Of returns how the text of a turn ends. Its time is linear, and it allocates nothing.
func Of(text string) End {
	if strings.TrimSpace(text) == "" {
		return Blank
	}
	w := newWalker(text)
	var room [3][maxParagraph]byte // for the last paragraph, the one above it, and others in turn
	last, ok := w.nextParagraph(&room[0])
	switch {
	case !ok:
		return w.wordless()
	case last.asks() && !last.rests():
		return Asks
	}
	stalls := last.announced || last.breaksOff(&w) || last.printsCall()
	up, buf := w.upper(&room[1]), &room[2]
	switch {
	case last.waits, up.waitsFor(buf, &last, stalls):
		return Waits
	case last.asks():
		return Asks
	}
	switch above := w.above(buf, &last, &up, stalls); {
	case above != Unclear:
		return above
	case stalls:
		return Announces
	case last.offers:
		return Leaves
	}
	return w.report(buf, &last, &up)
}

// An upper is a paragraph above the last one, if there is one, and the walker behind it.
type upper struct {
	paragraph

	ok   bool
	rest walker
}

// upper reads the paragraph above the one that was read last, and leaves w where it is.
func (w *walker) upper(buf *[maxParagraph]byte) upper {
	up := upper{rest: *w}
	up.paragraph, up.ok = up.rest.nextParagraph(buf)
	return up
}

// waitsFor reports whether the paragraph above the last one is about work of the agent's that
// runs. Then questions and steps in the last paragraph are for later.
func (u *upper) waitsFor(buf *[maxParagraph]byte, last *paragraph, stalls bool) bool {
	if last.rests() {
		return u.works(begun|runs) || u.ok && !u.asked && u.isBelowWork(buf)
	}
	adds := !stalls && last.kinds&reports == 0 && last.length <= maxRemark
	return adds && u.works(nothing)
}

// works reports whether u waits for the agent's own work, or speaks of it with one of some
// kinds, and asks nothing.
func (u *upper) works(with kinds) bool {
	return u.ok && !u.asked && (u.waits || u.kinds&work != 0 && u.kinds&with != 0)
}

// isBelowWork reports whether the paragraph above u says that the agent's own work runs, or
// was started.
func (u *upper) isBelowWork(buf *[maxParagraph]byte) bool {
	next := u.rest.upper(buf)
	return next.works(begun | runs)
}

// above returns how a text ends if that depends on what stands above its last paragraph: a
// list of options, or a remark, belongs to the question above it.
func (w *walker) above(buf *[maxParagraph]byte, last *paragraph, up *upper, stalls bool) End {
	const far = (maxOptions + 1) * maxParagraph
	switch {
	case last.list, last.last.label && !stalls:
		return up.endOfList(buf, last.kinds)
	case up.tells(stalls):
		return Asks
	case stalls, last.length > maxRemark, !hasQuestionMark(w.text[max(0, w.at-far):max(0, w.at)]):
	case up.asksAbove(buf, last.kinds):
		return Asks
	}
	return Unclear
}

// tells reports whether the paragraph above the last one tells the user what to do: in the
// last item of a list, or with code that follows. What stands behind that only says what
// comes of it, but a step behind code goes on.
func (u *upper) tells(stalls bool) bool {
	told := u.list && u.last.kinds&(request|tell) != 0 || u.rest.fenced && !stalls
	return u.ok && u.requested && told
}

// asksAbove reports whether the last paragraph, with the given kinds of phrases, only adds
// to a question above it: it follows the question's options, or says what the model would
// choose.
func (u *upper) asksAbove(buf *[maxParagraph]byte, remark kinds) bool {
	switch {
	case !u.ok:
		return false
	case u.asks():
		return u.list || remark&(leaning|offer) != 0 || u.last.question && u.last.kinds&why == 0 || remark&(reports|left|step|start) == 0
	case u.list:
		next := u.rest.upper(buf)
		return next.endOfList(buf, remark) == Asks
	}
	return false
}

// endOfList returns how the paragraph above a list ends, which is u or stands above it: it
// may ask which of the items to do, announce them all, or wait for them. items are the
// kinds of phrases of what has been read of the list.
func (u *upper) endOfList(buf *[maxParagraph]byte, items kinds) End {
	next := *u
	for range maxOptions {
		switch {
		case !next.ok:
			return Unclear
		case next.asks():
			return Asks
		case next.waits, next.kinds&runs != 0 && items&work != 0:
			return Waits
		case next.offers:
			return Leaves
		case next.list:
		case next.introducesPlan():
			return Announces
		default:
			return Unclear
		}
		next = next.rest.upper(buf)
	}
	return Unclear
}

// report returns how a text ends whose last paragraph neither asks nor announces anything: it
// reports, or it leaves what is open to others. It may stand below a list that announces
// steps.
func (w *walker) report(buf *[maxParagraph]byte, last *paragraph, up *upper) End {
	switch {
	case last.last.offersRest():
		return Unclear
	case !w.fenced && up.isBelowPlan(buf):
		return Announces
	case w.evidenceOf(last, up).leaves():
		return Leaves
	}
	return Unclear
}

// isBelowPlan reports whether u is a list that the paragraph above it announces.
func (u *upper) isBelowPlan(buf *[maxParagraph]byte) bool {
	next := *u
	for n := 0; n < maxOptions && next.isItems(); n++ {
		next = next.rest.upper(buf)
		if next.ok && !next.list && next.introducesPlan() {
			return true
		}
	}
	return false
}

// isItems reports whether u has the items of a list, not the rows of a table.
func (u *upper) isItems() bool { return u.ok && u.list && u.text[0] != '|' }

// wordless returns how a text ends that has no word: it may be code alone, or empty tags.
func (w *walker) wordless() End {
	if w.known > 0 {
		return Unclear
	}
	for line := range strings.Lines(w.text) {
		if line = strings.TrimSpace(line); line != "" && (line[0] != '<' || !isTag(line)) {
			return Unclear
		}
	}
	return Blank
}

// BreaksOff reports whether a text that, as [Of] says, announces a step stops in the middle
// of a sentence. Behind a colon or dots, the step itself is what is missing; so it is behind
// an announcement that only lacks its full stop.
func BreaksOff(text string) bool {
	w := newWalker(text)
	var buf [maxParagraph]byte
	last, ok := w.nextParagraph(&buf)
	if !ok || !last.breaksOff(&w) {
		return false
	}
	end := trimEnd(last.text)
	switch r, _ := utf8.DecodeLastRune(end); {
	case r == ',', r == '，', r == '、':
		return true
	case !unicode.IsLetter(r):
		return false
	}
	return !last.announced || dangles(end[bytes.LastIndexAny(end, " \n")+1:])
}

// isQuestionMark reports whether r is a question mark of some script, whatever stands
// before it.
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

// IsPlainStop reports whether a provider's finish reason says that the model
// simply stopped. It is an allow-list: an unknown reason is more likely a new
// failure than a new word for stop. Spellings that occur: "stop", "STOP",
// "end_turn", "eos", "eos_token", "stop_sequence", "COMPLETE",
// "FINISH_REASON_STOP", "FinishReasonStop". They are compared by their letters:
// "eos_token" is listed as "eostoken".
func IsPlainStop(reason string) bool {
	switch reason {
	case "stop": // the common case needs no normalising
		return true
	case "", "tool_calls", "length": // nor do these
		return false
	}
	word := strings.Map(smallLetter, reason)
	switch strings.TrimPrefix(word, "finishreason") {
	case "stop", "endturn", "eos", "eostoken", "stopsequence", "complete":
		return true
	}
	return false
}

// IsRefusal reports whether a provider's finish reason says that the model or a filter
// has refused to answer. Providers have many words for it, so that a part of the word
// counts: "content_filter", "refusal", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST",
// "RECITATION", "SPII", "LANGUAGE", "MODEL_ARMOR", "sensitive", "guardrail_intervened",
// "ERROR_TOXIC".
func IsRefusal(reason string) bool {
	switch reason {
	case "", "stop", "tool_calls", "length":
		return false
	}
	word := strings.Map(smallLetter, reason)
	return slices.ContainsFunc(refusalWords, func(part string) bool { return strings.Contains(word, part) })
}

var refusalWords = []string{ //nolint:gochecknoglobals // constant
	"filter", "refus", "safety", "prohibited", "block", "recitation", "spii", "language", "armor", "sensitive", "guardrail", "toxic", "moderat", "policy",
}

// smallLetter maps ASCII letters to lower case and drops everything else, digits too.
func smallLetter(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r
	case 'A' <= r && r <= 'Z':
		return r - 'A' + 'a'
	}
	return -1
}
