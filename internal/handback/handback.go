// Package handback reads how a turn ends: whether its finish reason is a plain stop,
// and whether its text asks the user something, announces what the model does next, or
// neither. It looks at words and punctuation only, and knows nothing of todo lists.
//
// A new spelling of a plain stop belongs into [IsPlainStop], and nowhere else. A
// question that is misread is mended by a phrase in the files of lexicon, one for each
// language.
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
	var buf [maxParagraph]byte
	last, ok := w.paragraph(&buf)
	if !ok {
		return w.wordless()
	}
	stalls, found := last.announced || last.breaksOff(&w) || last.printsCall(), w.evidenceOf(&last)
	switch {
	case w.waits(&buf, &last, !stalls && last.kinds&reports == 0):
		return Waits
	case last.asks():
		return Asks
	}
	var room [maxParagraph]byte
	up := w.upper(&room)
	switch above := w.above(&buf, &last, &up, stalls); {
	case above != Unclear:
		return above
	case stalls:
		return Announces
	case last.offers:
		return Leaves
	}
	return up.report(&buf, &found)
}

// An upper is the paragraph above the last one, if there is one, and the walker behind it.
type upper struct {
	reading

	ok   bool
	rest walker
}

// upper reads the paragraph above the one that was read last.
func (w *walker) upper(buf *[maxParagraph]byte) upper {
	up := upper{rest: *w}
	up.reading, up.ok = up.rest.paragraph(buf)
	return up
}

// waits reports whether the last paragraph, or what stands above it, waits for the agent's
// own work, so that what the last one says of the user or of later steps is for afterwards.
// One that only adds something leaves a wait above it as it is.
func (w *walker) waits(buf *[maxParagraph]byte, last *reading, adds bool) bool {
	if last.rests() {
		return last.waits || w.worksAbove(buf, 2, begun|runs)
	}
	return !last.asks() && (last.waits || adds && last.length <= maxRemark && w.worksAbove(buf, 1, nothing))
}

// worksAbove reports whether a paragraph above the last one waits for the agent's own work,
// or speaks of it with one of some kinds, and none asks anything behind that. It looks at the
// nearest ones.
func (w *walker) worksAbove(buf *[maxParagraph]byte, near int, with kinds) bool {
	unread := *w
	works := false
	for range near {
		above, ok := w.paragraph(buf)
		works = ok && (above.waits || above.kinds&work != 0 && above.kinds&with != 0) && !above.asked
		if !ok || works || above.asked {
			break
		}
	}
	*w = unread
	return works
}

// above returns how a text ends if that depends on what stands above its last paragraph: a
// list of options, or a remark, belongs to the question above it.
func (w *walker) above(buf *[maxParagraph]byte, last *reading, up *upper, stalls bool) End {
	unread := *w
	defer func() { *w = unread }()
	switch {
	case last.list, last.last.label && !stalls:
		return w.aboveList(buf, last.kinds)
	case !stalls && last.length <= maxRemark && w.remarkAsks(buf, last.kinds), up.tells(stalls):
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

// report returns how a text ends whose last paragraph neither asks nor announces anything: it
// reports, or it leaves what is open to others. It may stand below a list that announces
// steps.
func (u *upper) report(buf *[maxParagraph]byte, found *evidence) End {
	if found.offersRest {
		return Unclear
	}
	if u.ok {
		found.standsBelow(&u.reading)
	}
	inList := u.ok && u.list && u.text[0] != '|' && found.shape&standsAboveCode == 0
	for n := 0; inList && n < maxOptions; n++ {
		above, ok := u.rest.paragraph(buf)
		if ok && !above.list && above.introducesPlan() {
			return Announces
		}
		inList = ok && above.list && above.text[0] != '|'
	}
	if found.leaves() {
		return Leaves
	}
	return Unclear
}

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
	last, ok := w.paragraph(&buf)
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

// aboveList returns how the paragraph above a list ends: it may ask which of the items to
// do, announce them all, or wait for them. Some paragraphs of the list may have been read
// already, with these kinds of phrases.
func (w *walker) aboveList(buf *[maxParagraph]byte, items kinds) End {
	for range maxOptions {
		above, ok := w.paragraph(buf)
		switch {
		case !ok:
			return Unclear
		case above.asks():
			return Asks
		case above.waits, above.kinds&runs != 0 && items&work != 0:
			return Waits
		case above.offers:
			return Leaves
		case above.list:
		case above.introducesPlan():
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
	unread := *w
	above, ok := w.paragraph(buf)
	asks := false
	switch {
	case !ok:
	case above.asks():
		asks = above.list || remark&(leaning|offer) != 0 || above.last.question && above.last.kinds&why == 0 || remark&(reports|left|step|start) == 0
	default:
		asks = above.list && w.aboveList(buf, remark) == Asks
	}
	*w = unread
	return asks
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
