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
	switch {
	case last.asks():
		return Asks
	case last.waits:
		return Waits
	}
	fenced, stalls := w.fenced, last.announced || last.breaksOff(&w) || last.printsCall()
	remark := !stalls && last.isRemark()
	switch above := w.above(&buf, &last, stalls); {
	case above != Unclear:
		return above
	case stalls:
		return Announces
	case last.kinds.leaves(), fenced && w.tellsShell():
		return Leaves
	case fenced:
		return Unclear
	}
	return w.report(&buf, remark)
}

// above returns how a text ends if that depends on what stands above its last paragraph: a
// list of options, or a remark, belongs to the question above it.
func (w *walker) above(buf *[maxParagraph]byte, last *reading, stalls bool) End {
	switch {
	case last.list, last.last.label && !stalls:
		return w.aboveList(buf, &last.kinds)
	case !stalls && last.length <= maxRemark && w.remarkAsks(buf, last.kinds):
		return Asks
	}
	return Unclear
}

// report returns how a text ends whose last paragraph neither asks nor announces anything,
// nor leaves something by its words. It may be a remark on a list above it, or a remark that
// reports nothing.
func (w *walker) report(buf *[maxParagraph]byte, remark bool) End {
	listed := false
	all := kinds(0)
	for range maxOptions {
		above, ok := w.paragraph(buf)
		switch {
		case !ok:
			if remark && !listed && w.known == 0 {
				return Leaves
			}
			return all.end()
		case above.list && above.text[0] != '|':
			all |= above.kinds
		case above.list:
		case listed && above.introducesPlan():
			return Announces
		default:
			return all.end()
		}
		listed = true
	}
	return all.end()
}

// end returns how a text ends with a remark on a list with these kinds: the list may be
// what somebody has to do.
func (k kinds) end() End {
	if k&(request|tell|you|imperative) != 0 && k&left == 0 {
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
// already, with these kinds of phrases; those of a paragraph that introduces it are added.
func (w *walker) aboveList(buf *[maxParagraph]byte, items *kinds) End {
	for range maxOptions {
		above, ok := w.paragraph(buf)
		switch {
		case !ok:
			return Unclear
		case above.asks():
			return Asks
		case above.waits, above.kinds&runs != 0 && *items&work != 0:
			return Waits
		case above.list:
		case above.introducesPlan():
			return Announces
		default:
			*items |= above.kinds
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
		asks = above.list || remark&(leaning|offer) != 0
	default:
		asks = above.list && w.aboveList(buf, &remark) == Asks
	}
	*w = unread
	return asks
}

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

// These bytes stand for what has been taken out of a plain text. None of them occurs in
// a text otherwise.
const (
	omitted = '\x01' // code, a quotation or an address
	item    = '\x02' // the mark of a list's item
	heading = '\x03' // the mark of a heading
)

// A plain text is that of a paragraph in small letters, with 0 for all digits, and without
// emphasis, code, quotations and addresses.
type plain struct {
	buf     *[maxParagraph]byte
	length  int
	letters bool  // there is a letter
	open    uint8 // the quotation marks that nothing closes on this line, a bit each
}

func (p *plain) put(c byte) {
	if p.length < len(p.buf) {
		p.buf[p.length] = c
		p.length++
	}
}

func (p *plain) puts(s string) {
	p.length += copy(p.buf[p.length:], s)
}

// line adds a line and a line break.
func (p *plain) line(line string) {
	p.open = 0
	mark, n := marker(line)
	if mark != 0 {
		p.put(mark)
	}
	for i := n; i < len(line); {
		if small := small[line[i]]; small != 0 {
			i += p.run(line[i:])
			continue
		}
		if line[i] >= utf8.RuneSelf {
			i += p.wide(line[i:])
		} else {
			i += p.ascii(line, i)
		}
	}
	p.put('\n')
}

// small holds the small letters of the ASCII bytes that need no more than that, and 0
// for the others.
var small = func() (small [256]byte) { //nolint:gochecknoglobals // constant
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		if strings.IndexByte("*_~\\`\":\x7f", c) < 0 {
			small[c] = c
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		small[c] = c + 'a' - 'A'
	}
	for c := byte('1'); c <= '9'; c++ {
		small[c] = '0' // no digit means anything but that there is a number
	}
	return small
}()

// run adds the bytes at the beginning of rest that need no more than small letters. It
// returns how many these are.
func (p *plain) run(rest string) int {
	to := p.buf[p.length:]
	n := 0
	or := byte(0)
	for n < len(rest) && n < len(to) {
		c := small[rest[n]]
		if c == 0 {
			break
		}
		to[n] = c
		or |= c
		n++
	}
	p.length += n
	const letterBit = 0x40 // set in every ASCII letter
	p.letters = p.letters || or&letterBit != 0 && hasLetter(to[:n])
	if n == len(to) {
		return len(rest) // the buffer is full
	}
	return n
}

func hasLetter(text []byte) bool {
	for _, c := range text {
		if 'a' <= c && c <= 'z' {
			return true
		}
	}
	return false
}

// ascii adds what begins at i with an ASCII byte that is no letter. It returns the
// number of bytes read.
func (p *plain) ascii(line string, i int) int {
	c := line[i]
	switch c {
	case '*', '_', '~', '\\', '\r':
		return 1
	case '`':
		return p.code(line[i:])
	case '"':
		if i > 0 && isAlnum(line[i-1]) {
			return 1 // a measure in inches, or a closing mark
		}
		return p.quotation(line[i:], 1, `"`, 1<<0)
	case ':':
		if strings.HasPrefix(line[i:], "://") && i > 0 && isAlnum(line[i-1]) {
			return p.address(line[i:])
		}
	case '\t':
		c = ' '
	}
	if c < omitted || c > heading {
		p.put(c)
	}
	return 1
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// code leaves out inline code, or only its opening mark if nothing closes it.
func (p *plain) code(rest string) int {
	n := run(rest, '`')
	end := strings.IndexByte(rest[n:], '`')
	if end < 0 {
		return n
	}
	end += n
	if n > 1 {
		if i := strings.Index(rest[n:], rest[:n]); i >= 0 {
			end = n + i
		}
	}
	p.put(omitted)
	return end + run(rest[end:], '`')
}

// quotation leaves out a quotation whose opening mark has size bytes, or only that mark
// if nothing closes it. bit is that of the closing mark in p.open.
func (p *plain) quotation(rest string, size int, closer string, bit uint8) int {
	if p.open&bit != 0 {
		return size
	}
	end := strings.Index(rest[size:], closer)
	if end < 0 {
		p.open |= bit
		return size
	}
	p.put(omitted)
	return size + end + len(closer)
}

// address leaves out an address whose scheme has been added already, and the
// punctuation of the sentence behind it.
func (p *plain) address(rest string) int {
	for p.length > 0 && isAlnum(p.buf[p.length-1]) {
		p.length--
	}
	p.put(omitted)
	end := strings.IndexAny(rest, " \t\r)>]")
	if end < 0 {
		end = len(rest)
	}
	for end > len("://") && strings.IndexByte(".,;:?!*_", rest[end-1]) >= 0 {
		end--
	}
	return end
}

// wide adds the rune that rest begins with, or leaves out the quotation that it opens.
// It returns the number of bytes read.
func (p *plain) wide(rest string) int {
	if len(rest) < 2 {
		p.put(rest[0])
		return 1
	}
	switch rest[0] {
	case 0xC2:
		return p.latinMark(rest)
	case 0xC3, 0xC4, 0xC5, 0xD0:
		return p.capital(rest)
	case 0xE1:
		return p.vietnamese(rest)
	case 0xE2, 0xE3:
		return p.mark(rest)
	case 0xEF, 0xF0: // full-width punctuation; emoji, and letters of dead scripts
	default:
		p.letters = true
	}
	return p.rune(rest)
}

// latinMark adds a mark of Latin-1, or leaves out the quotation that it opens.
func (p *plain) latinMark(rest string) int {
	switch rest[1] {
	case 0xA0: // a space that does not break
		p.put(' ')
		return 2
	case 0xAB:
		return p.quotation(rest, len("«"), "»", 1<<1)
	}
	return p.rune(rest)
}

// vietnamese adds a letter, one with the marks of Vietnamese as a small one.
func (p *plain) vietnamese(rest string) int {
	p.letters = true
	if len(rest) < 3 || rest[1] != 0xBA && rest[1] != 0xBB {
		return p.rune(rest)
	}
	p.puts(rest[:2])
	p.put(rest[2] | 1) // a capital is followed by its small letter
	return 3
}

// rune adds the rune that rest begins with.
func (p *plain) rune(rest string) int {
	n := 1
	for n < len(rest) && rest[n]&0xC0 == 0x80 {
		n++
	}
	p.puts(rest[:n])
	return n
}

// capital adds a letter of two bytes as a small one.
func (p *plain) capital(rest string) int {
	p.letters = true
	r := smallRune(rune(rest[0]&0x1F)<<6 | rune(rest[1]&0x3F))
	if r < utf8.RuneSelf {
		p.put(byte(r))
		return 2
	}
	p.put(0xC0 | byte(r>>6))   //nolint:gosec // it has two bytes
	p.put(0x80 | byte(r&0x3F)) //nolint:gosec // likewise
	return 2
}

// smallRune returns the small letter of one of Latin-1, Vietnamese, Turkish or Cyrillic.
func smallRune(r rune) rune {
	switch {
	case 'À' <= r && r <= 'Þ' && r != '×', 'А' <= r && r <= 'Я':
		return r + 0x20
	case 'Ѐ' <= r && r <= 'Џ':
		return r + 0x50
	case r == 'Đ', r == 'Ş':
		return r + 1
	case r == 'İ':
		return 'i'
	}
	return r
}

// mark adds a mark of general or East Asian punctuation, or leaves out the quotation
// that it opens.
func (p *plain) mark(rest string) int {
	if len(rest) < 3 {
		return p.rune(rest)
	}
	switch rest[:3] {
	case "’":
		p.put('\'')
	case "\u202f":
		p.put(' ')
	case "“":
		return p.quotation(rest, 3, "”", 1<<2)
	case "„":
		return p.quotation(rest, 3, germanCloser(rest), 1<<3)
	case "「":
		return p.quotation(rest, 3, "」", 1<<4)
	case "『":
		return p.quotation(rest, 3, "』", 1<<5)
	default:
		if rest[0] == 0xE3 && rest[:3] > "〿" || rest[0] == 0xE2 && rest[:3] >= "ⰰ" {
			p.letters = true
		}
		p.puts(rest[:3])
	}
	return 3
}

// germanCloser returns the mark that closes „: “, or ” in other languages, or " of a
// model that mixes them.
func germanCloser(rest string) string {
	const near = 400
	rest = rest[:min(len(rest), near)]
	for _, closer := range [...]string{"“", "”"} {
		if strings.Contains(rest, closer) {
			return closer
		}
	}
	return `"`
}

// marker returns the mark that a line begins with, and the length of the line up to
// what the mark is for. It is 0 if there is none.
func marker(line string) (mark byte, n int) {
	for n < len(line) && isBlank(line[n]) {
		n++
	}
	rest := line[n:]
	if level := run(rest, '#'); 0 < level && level < len(rest) && rest[level] == ' ' {
		return heading, n + level
	}
	if size := itemMark(strings.TrimLeft(rest, "*_(")); size > 0 {
		return item, n
	}
	for _, bullet := range [...]string{"- ", "* ", "+ ", "• ", "– ", "◦ ", "‣ ", "· "} {
		if strings.HasPrefix(rest, bullet) {
			return item, n + len(bullet)
		}
	}
	return 0, n
}

// itemMark returns the length of the number or letter that an item begins with: 1. or
// a) or B: or "Option A".
func itemMark(rest string) int {
	for _, word := range [...]string{"Option ", "Variant ", "Вариант ", "Opción ", "Opção ", "Variante ", "方案", "选项"} {
		if strings.HasPrefix(rest, word) {
			return len(word)
		}
	}
	digits := 0
	for digits < len(rest) && digits < 3 && '0' <= rest[digits] && rest[digits] <= '9' {
		digits++
	}
	if digits == 0 && len(rest) > 0 && isAlnum(rest[0]) {
		digits = 1
	}
	rest = rest[digits:]
	if digits == 0 || rest == "" {
		return 0
	}
	rest = strings.TrimLeft(rest, "*_")
	for _, end := range [...]string{". ", ") ", ": ", ".* ", ".** ", ")* ", ")** ", ":* ", ":** ", " - ", " — ", " – ", "、", "）", "️⃣", "⃣"} {
		if strings.HasPrefix(rest, end) {
			return digits + len(end)
		}
	}
	return 0
}

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
