package handback

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// A paragraph has what its sentences say.
type paragraph struct {
	list       bool // the paragraph begins with the item of a list
	asked      bool // an open question: no later sentence has cancelled it
	why        bool // it asks for a reason, which what follows may give
	permission bool // the question asks for permission: only a step that begins now cancels it
	announced  bool // a step is announced that does not hang on the user
	requested  bool // likewise a statement that hands back
	offers     bool // something is offered that is not what is left
	waits      bool // the agent's own work still runs, and nothing is announced meanwhile
	goesOn     bool // a step is announced that waits for nothing
	kinds      kinds
	before     kinds // of the sentences before the last one
	length     int
	last       sentence // the last sentence with a word in it
	text       []byte
	book       *lexicon
	stops      int // how many sentences end in a mark
}

// A sentence is a part of a paragraph up to a mark that ends it, or to the end of an
// item or a heading.
type sentence struct {
	start    int
	kinds    kinds
	words    int
	mark     bool // a mark ends it
	question bool
	answered bool // at once, with yes or no
	label    bool // an item of a list or a heading
	clause   kinds
	onWork   bool // a clause makes something hang on the agent's own work
}

// endClause ends a clause of s, at a comma.
func (s *sentence) endClause() {
	s.onWork = s.onWork || s.clause&work != 0 && s.clause&(condition|once) != 0 && s.clause&later == 0
	s.clause = nothing
}

func (r *paragraph) asks() bool { return r.asked || r.requested }

// rests reports whether the paragraph waits for something, and wants nothing of the user.
func (r *paragraph) rests() bool {
	return r.kinds&(awaits|idle|done) != 0 && r.kinds&(request|tell|imperative|consent) == 0 && !r.asked && !r.goesOn
}

// read reads the plain text of a paragraph.
func read(text []byte) paragraph {
	r := paragraph{text: text, book: phrasebook(), length: len(text), list: text[0] == item || text[0] == '|'}
	s := sentence{}
	for i := 0; i < len(text); {
		switch classes[text[i]] {
		case letterByte:
			i += r.word(&s, i)
			continue
		case omittedByte:
			s.words++
			r.find(&s, i)
			if text[i] == '%' {
				s.kinds |= unit
			}
		case commaByte:
			s.endClause()
		case boundaryByte:
			if n := r.boundary(&s, i); n > 0 {
				i += n
				continue
			}
			if text[i] >= utf8.RuneSelf {
				i += r.word(&s, i)
				continue
			}
		}
		i++
	}
	r.end(&s, len(text))
	if text[0] == '|' {
		r.kinds &^= imperative // "open" in a table is no request
	}
	if !r.asked && (r.greek() || asksWithoutMark(trimEnd(text))) {
		r.asked = true
	}
	return r
}

// word reads the word at i, or the rune where words are not set apart. It returns the
// number of bytes read.
func (r *paragraph) word(s *sentence, i int) int {
	s.words++
	r.find(s, i)
	text := r.text[i:]
	if text[0] >= utf8.RuneSelf {
		return wideWord(text)
	}
	n := 1
	for n < len(text) && (classes[text[n]] == letterByte && text[n] < utf8.RuneSelf || text[n] == '\'') {
		n++
		if text[n-1] == '\'' && elides(text[n:]) {
			break
		}
	}
	return n
}

// elides reports whether rest goes on behind the apostrophe of an elided word, as in
// "l'analyse", not behind that of "it's".
func elides(rest []byte) bool {
	return len(rest) > 2 && classes[rest[0]] != otherByte && classes[rest[1]] != otherByte && classes[rest[2]] == letterByte
}

// find adds the kinds of the longest phrases that begin at at to s, and those of closed
// classes of words, which mean the same within longer phrases.
func (r *paragraph) find(s *sentence, at int) {
	text := r.text[at:]
	if len(text) < minKey || len(text) > maxPhrases {
		return
	}
	var first uint64
	if len(text) >= 8 {
		first = binary.BigEndian.Uint64(text)
	} else {
		first = firstBytes(text)
	}
	all, found := nothing, 0 // the length of the longest phrase; others may have the same text
	for i := r.book.last(text, first); i != none; i = r.book.heads[i].parent {
		if h := &r.book.heads[i]; first&h.mask != h.bytes {
			continue
		}
		p := &r.book.phrases[i]
		switch {
		case p.size < found && p.kinds&closed == 0, !p.matches(text), p.begins && !r.clauseStart(s, at):
		case p.size < found:
			all |= p.kinds & closed
		default:
			all |= p.kinds
			found = p.size
		}
	}
	if all&(once|condition) != 0 {
		all |= r.book.ends(firstWord(text[found:])) & you // "когда ответите"
	}
	s.kinds |= all
	s.clause |= all
}

// firstWord returns the first word of text.
func firstWord(text []byte) []byte {
	text = bytes.TrimLeft(text, " ,")
	return text[:wordLength(text)]
}

// wideWord returns the length of the word that begins with a rune of several bytes: one
// rune in scripts that set no spaces.
func wideWord(text []byte) int {
	n := 1
	for n < len(text) && text[n]&0xC0 == 0x80 {
		n++
	}
	if text[0] >= 0xE0 && !spaced(text) {
		return n
	}
	for n < len(text) && (text[n] >= 0x80 && text[n] < 0xE2 || isAlnum(text[n])) {
		if classes[text[n]] == boundaryByte && isMark(text[n:]) {
			break
		}
		n++
	}
	return n
}

// isMark reports whether text begins with a mark that ends a sentence, or asks.
func isMark(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return isStop(r) || isQuestionMark(r)
}

// spaced reports whether text begins in a script of three bytes a rune that sets spaces
// between words: Devanagari and its neighbours, Latin with the marks of Vietnamese.
func spaced(text []byte) bool {
	return text[0] == 0xE0 && len(text) > 1 && text[1] < 0xB8 || text[0] == 0xE1
}

// clauseStart reports whether the word at i begins a sentence, or a clause behind a
// comma, a colon, a dash or a bracket.
func (r *paragraph) clauseStart(s *sentence, i int) bool {
	for i--; i >= s.start; i-- {
		switch r.text[i] {
		case ' ', '\n', '\'':
		case '-':
			return i == s.start || r.text[i-1] == ' ' || r.text[i+1] == ' ' // not within a word
		case ',', ':', '(', '[', ';', item, heading:
			return true
		default:
			return endsClause(r.text[:i+1])
		}
	}
	return true
}

// endsClause reports whether text ends in a dash, or a mark of East Asian punctuation
// within a sentence.
func endsClause(text []byte) bool {
	r, _ := utf8.DecodeLastRune(text)
	switch r {
	case '—', '–', '，', '、', '：', '；', '（', '،':
		return true
	}
	return unicode.Is(unicode.So, r) // an emoji
}

// A class says what a byte of a plain text may begin.
type class uint8

const (
	otherByte    class = iota
	letterByte         // a word
	omittedByte        // the mark of what has been left out
	boundaryByte       // the end of a sentence; if it is none, a word
	commaByte          // the end of a clause
)

// classes are the classes of all bytes.
var classes = func() (classes [256]class) { //nolint:gochecknoglobals // constant
	for c := range classes {
		if c >= utf8.RuneSelf || isAlnum(byte(c)) {
			classes[c] = letterByte
		}
	}
	for _, c := range []byte(".!?\n|\xCD\xD5\xD6\xD8\xDB\xE0\xE1\xE2\xE3\xEA\xEF") {
		classes[c] = boundaryByte
	}
	classes[item], classes[heading] = boundaryByte, boundaryByte
	classes[omitted], classes['%'], classes['['] = omittedByte, omittedByte, omittedByte
	classes[','] = commaByte
	return classes
}()

// boundary ends s if a sentence ends at i, and returns the length of what ends it.
func (r *paragraph) boundary(s *sentence, i int) int {
	text := r.text
	switch c := text[i]; c {
	case item, heading, '|':
		r.end(s, i)
		s.start, s.label = i+1, c != '|'
		return 1
	case '\n':
		if s.label || i+1 < len(text) && (text[i+1] == item || text[i+1] == heading || text[i+1] == '|') {
			r.end(s, i)
			s.start = i + 1
		}
		return 1
	case '.', '!', '?':
		return r.ascii(s, i)
	}
	if !utf8.FullRune(text[i:]) {
		return 0
	}
	mark, n := utf8.DecodeRune(text[i:])
	switch {
	case mark == armenianMark:
		s.question = true
	case isQuestionMark(mark), isStop(mark):
		return r.stop(s, i, n, !isStop(mark))
	case mark == '，', mark == '、', mark == '،':
		s.endClause()
	default:
		return 0
	}
	return n
}

// ascii ends s if the marks at i end it, and returns their length.
func (r *paragraph) ascii(s *sentence, i int) int {
	n := 0
	asks := false
	for _, c := range r.text[i:] {
		if c != '.' && c != '!' && c != '?' {
			break
		}
		asks = asks || c == '?'
		n++
	}
	if !endsHere(r.text[i+n:]) {
		return 0
	}
	return r.stop(s, i, n, asks)
}

// isStop reports whether r ends a sentence that is no question.
func isStop(r rune) bool {
	switch r {
	case '。', '！', '｡', '．', '।', '۔', '։', '።', '…':
		return true
	}
	return false
}

// endsHere reports whether what follows a mark lets it end a sentence: in an address or
// a name it does not.
func endsHere(rest []byte) bool {
	for len(rest) > 0 && bytes.IndexByte([]byte(")]}'"), rest[0]) >= 0 {
		rest = rest[1:]
	}
	if len(rest) == 0 || rest[0] >= utf8.RuneSelf {
		return true
	}
	switch rest[0] {
	case ' ', '\n', '|', ',', ';', '<', '(', '"', omitted:
		return true
	}
	return false
}

// stop ends s with a mark of n bytes at i, and with the answer behind it. It returns their
// length.
func (r *paragraph) stop(s *sentence, i, n int, question bool) int {
	if s.words > 0 {
		s.mark = true
		r.stops++
		s.question = s.question || question && !r.opened(i) || asksWithoutMark(r.text[s.start:i])
		if answer := r.answer(s, i+n); answer > 0 {
			n, s.answered, s.kinds = n+answer, true, nothing
		}
	}
	label := s.label && s.words == 0
	r.end(s, i+n)
	s.start, s.label = i+n, label || s.label
	return n
}

// opened reports whether a bracket opens right before i: "(?)" asks nothing.
func (r *paragraph) opened(i int) bool {
	return i > 0 && (r.text[i-1] == '(' || r.text[i-1] == '[')
}

// answer returns the length of yes or no, and nothing else, behind the question s: the model
// has asked itself.
func (r *paragraph) answer(s *sentence, i int) int {
	if !s.question {
		return 0
	}
	rest := bytes.TrimLeft(r.text[i:], " ")
	n := wordLength(rest)
	if after := rest[n:]; isYesOrNo(string(rest[:n])) && (len(after) == 0 || bytes.IndexByte([]byte("\n.!"), after[0]) >= 0) {
		return len(r.text) - i - len(after)
	}
	return 0
}

// end adds s to what the paragraph says, and begins the next sentence. A sentence
// within an item belongs to the item.
func (r *paragraph) end(s *sentence, end int) {
	if s.words == 0 {
		return
	}
	s.endClause()
	s.combine()
	if s.kinds&(andStep|beforeI) != 0 && r.instructs(s.start) {
		s.kinds |= imperative
	}
	r.apply(s)
	r.offers = r.offers || s.offers()
	r.goesOn = r.goesOn || s.meanwhile()
	r.before = r.kinds
	r.kinds |= s.kinds
	r.last = *s
	*s = sentence{start: end, label: s.label && end < len(r.text) && r.text[end] != '\n'}
}

// A combination is what two kinds in a sentence make together.
type combination struct {
	one, other kinds
	unless     kinds
	makes      kinds
}

var combinations = [...]combination{ //nolint:gochecknoglobals // constant
	{condition, theirs, 0, consent | can},
	{tell, offerOnly | maybe, 0, offer},
	{once, you, done, consent | can},
	{amount, unit, gauge, runs},
	{now, firstPerson, obstacle | hedge | you, step},
	{doing, doing, obstacle | hedge | you, start},
}

// combine adds the kinds that two kinds make together.
func (s *sentence) combine() {
	for i := range combinations {
		if c := &combinations[i]; s.kinds&c.one != 0 && s.kinds&c.other != 0 && s.kinds&c.unless == 0 {
			s.kinds |= c.makes
		}
	}
	if s.kinds&you != 0 && s.kinds&obstacle != 0 && s.kinds&(later|andStep) != 0 {
		s.kinds |= consent | can // they have to do something, and then we
	}
	if s.kinds&gauge != 0 {
		s.kinds &^= runs
	}
}

// apply adds to r what s asks, announces or waits for. A step cancels a question before
// it; if that asks for leave, only a step that begins now does.
func (r *paragraph) apply(s *sentence) {
	waits := s.waits(r.kinds)
	r.waits = waits || r.waits && !s.meanwhile()
	r.announced = r.announced || s.announces()
	switch {
	case s.question:
		r.asked, r.permission = !s.answered, s.kinds&permission != 0
	case waits:
	case s.handsBack():
		r.requested = r.requested || !r.waits || s.isForUser()
	case s.free() && !s.label:
		r.asked = r.asked && r.permission && s.kinds&atOnce == 0
		r.requested = r.requested && s.kinds&later != 0 // what follows is what was requested
	case r.why:
		r.asked = false
	}
	r.why = s.isWhy()
}

// isWhy reports whether s is a question that the model asks to answer it.
func (s *sentence) isWhy() bool {
	const longest = 4 // words
	return s.question && s.kinds&why != 0 && s.words <= longest
}

// announces reports whether s announces a step that does not hang on the user.
func (s *sentence) announces() bool {
	k := s.kinds
	steps := k&step != 0 || k&start != 0 && k&(you|once) == 0
	return steps && k&(consent|offerOnly) == 0 && (k&stuck == 0 || k&atOnce != 0) || k&soStep != 0 && k&consent == 0
}

// free reports whether s announces a step that hangs on nothing.
func (s *sentence) free() bool {
	k := s.kinds
	steps := k&step != 0 || k&start != 0 && k&atOnce != 0
	return steps && k&(condition|consent|stuck|offer|offerOnly|maybe) == 0 || k&soStep != 0 && k&consent == 0
}

// waits reports whether s says that the agent's own work still runs, in a paragraph that
// has said what is in before.
func (s *sentence) waits(before kinds) bool {
	k, ends := before|s.kinds, s.kinds&done != 0
	switch {
	case !s.isOfWork(before), s.kinds&request != 0 && (!ends || s.kinds&idle == 0), s.meanwhile():
		return false
	case s.stepsAfterWork(before):
		return true
	case s.kinds&(work|runs|awaits|idle|done) == work:
		return false // it says something else about the work
	case s.kinds&(runs|awaits|idle) != 0:
		return true
	}
	began := k&(begun|runs) != 0 || before&work != 0 && before&(step|start) == 0
	return ends && began
}

// stepsAfterWork reports whether s announces what the model does once work of its own has
// ended, in a paragraph that has said what is in before.
func (s *sentence) stepsAfterWork(before kinds) bool {
	switch {
	case !s.onWork, s.kinds&atOnce != 0:
		return false
	case s.kinds&done != 0:
		return s.kinds&(step|start|firstPerson) != 0
	}
	return s.kinds&step != 0 && s.kinds&(you|consent) == 0 && before&work != 0 && before&(step|start) == 0
}

// isOfWork reports whether s is about work that the agent has started: it is named, runs, or
// is what the model waits for.
func (s *sentence) isOfWork(before kinds) bool {
	k, ends := before|s.kinds, s.kinds&done != 0
	switch {
	case k&work != 0, s.awaitsNamed():
		return true
	case k&runs != 0 && (ends || s.kinds&(awaits|idle) != 0) && s.kinds&tell == 0:
		return true
	}
	return ends && s.kinds&(awaits|idle) != 0
}

// awaitsNamed reports whether s waits for something that is not the user's.
func (s *sentence) awaitsNamed() bool {
	return s.kinds&awaits != 0 && s.kinds&(obstacle|you|consent|theirs|stuck|request|tell|imperative|leaning|step) == 0
}

// meanwhile reports whether s announces what the model does while it waits.
func (s *sentence) meanwhile() bool {
	k := s.kinds
	return k&(step|start) != 0 && k&(condition|later|consent|awaits|done|idle) == 0 || k&soStep != 0 && k&(done|awaits|idle) == 0
}

// handsBack reports whether s is a statement that hands the turn back.
func (s *sentence) handsBack() bool {
	k := s.kinds
	steps := k&(step|start) != 0 && k&(consent|andStep) == 0
	switch {
	case k&soStep != 0 && k&consent == 0:
		return false
	case k&(request|idle) != 0,
		k&imperative != 0 && k&(andStep|beforeI) != 0,
		k&stuck != 0 && k&(condition|consent|without|beforeI) != 0 && !steps:
		return true
	case k&(offer|offerOnly|maybe) != 0:
		return false
	}
	return k&tell != 0 && (!steps || k&condition != 0) || k&consent != 0 && k&(step|can) != 0
}

// isForUser reports whether s, which hands back, does so even while work of the agent's runs:
// it speaks of the user, or of what they should do.
func (s *sentence) isForUser() bool {
	return s.kinds&(you|tell|imperative) != 0 || s.kinds&(request|idle) == request
}

// offers reports whether s names what the model offers to do, and that is not what is left:
// who gets such an offer has the turn.
func (s *sentence) offers() bool {
	return s.kinds&(offer|offerOnly) != 0 && s.kinds&(can|permission) != 0 && s.kinds&left == 0
}

// isCourtesy reports whether s offers nothing in particular: "let me know if you have any
// questions".
func (s *sentence) isCourtesy() bool {
	return s.kinds&(offer|offerOnly|maybe) != 0 && s.kinds&(can|firstPerson|obstacle|consent|request|stuck) == 0
}

// offersRest reports whether s offers only what is left: the model could go on with it.
func (s *sentence) offersRest() bool {
	return s.kinds&(offer|offerOnly) != 0 && s.kinds&left != 0 && s.kinds&(obstacle|consent|request|stuck) == 0
}

// introducesPlan reports whether the paragraph announces the list that follows it.
func (r *paragraph) introducesPlan() bool {
	return r.kinds&(step|start) != 0 && bytes.HasSuffix(trimEnd(r.text), []byte(":"))
}

// printsCall reports whether the paragraph is a tool call that was printed: an object of
// JSON, or a name with arguments in brackets.
func (r *paragraph) printsCall() bool {
	if len(r.text) > 1 && r.text[0] == '{' && r.text[1] == omitted {
		return true
	}
	n := 0
	for n < len(r.text) && (isAlnum(r.text[n]) || r.text[n] == '.' || r.text[n] == '-') {
		n++
	}
	text := bytes.TrimRight(r.text, " \n")
	return n > 0 && n < len(text)-1 && text[n] == '(' && text[len(text)-1] == ')'
}

// breaksOff reports whether the last paragraph ends in the middle of something.
func (r *paragraph) breaksOff(w *walker) bool {
	text := trimEnd(r.text)
	last, _ := utf8.DecodeLastRune(text)
	switch last {
	case '…', ',', '，', '、':
		return true
	case '-':
		return bytes.HasSuffix(text, []byte("\n-")) // an item without a word
	case '.':
		return bytes.HasSuffix(text, []byte("..."))
	case ':', '：':
		return !w.fenced // the code is what the colon announces
	}
	switch {
	case w.fenced:
		return false
	case unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return r.stops > 0 && !r.last.mark && !r.last.label && r.last.words >= minProse
	}
	return unicode.In(last, unicode.Latin, unicode.Cyrillic, unicode.Greek) && r.lacksEnd(w)
}

// lacksEnd reports whether the last sentence, which ends in a letter, has no end. Notes,
// items and headings often have no full stop: they are whole without one.
func (r *paragraph) lacksEnd(w *walker) bool {
	if r.last.mark || r.last.words < minWords || bytes.IndexByte(r.text, '|') >= 0 {
		return false
	}
	text := trimEnd(r.text)
	return dangles(text[bytes.LastIndexAny(text, " \n")+1:]) ||
		!r.last.label && r.last.words >= minProse && (r.stops > 0 || w.endsInMark() || r.last.words >= minLong) && !w.isCasual()
}

const (
	minWords = 3  // what is shorter is a note
	minProse = 6  // likewise, unless it ends in a word that no sentence can end in
	minLong  = 14 // what is longer is none, although nothing else in the text ends in a mark
)

// isCasual reports whether the paragraph that was read last begins with a small letter.
// Who writes like that may set no full stops either.
func (w *walker) isCasual() bool {
	for _, c := range []byte(w.text[max(0, w.at):]) {
		switch {
		case 'a' <= c && c <= 'z':
			return true
		case c >= utf8.RuneSelf, c == '`', isAlnum(c):
			return false
		}
	}
	return false
}

// endsInMark reports whether the last line that is unread ends in a full stop, so that
// a line without one breaks off.
func (w *walker) endsInMark() bool {
	for i := w.at; i > max(w.at-8, 0); i-- {
		switch c := w.text[i-1]; c {
		case ' ', '\n', '\r', '*', ')':
		default:
			return c == '.' || c == '!' || c == '?'
		}
	}
	return false
}

// trimEnd cuts what may follow the last word of a paragraph and its mark: white space,
// brackets, emoji.
func trimEnd(text []byte) []byte {
	for len(text) > 0 {
		last, n := utf8.DecodeLastRune(text)
		if !unicode.IsSpace(last) && !unicode.Is(unicode.So, last) && !unicode.In(last, unicode.Pe, unicode.Pf, unicode.Variation_Selector, unicode.Cf, unicode.Sk) {
			break
		}
		text = text[:len(text)-n]
	}
	return text
}

// greek reports whether the paragraph ends in the question mark of Greek.
func (r *paragraph) greek() bool {
	text := trimEnd(r.text)
	if !bytes.HasSuffix(text, []byte(";")) {
		return false
	}
	before, _ := utf8.DecodeLastRune(text[:len(text)-1])
	return unicode.Is(unicode.Greek, before)
}
