package handback

import (
	"bytes"
	"cmp"
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// kinds says what the phrases of a sentence do.
type kinds uint64

const (
	step        kinds = 1 << iota // announces a step: "I will"
	start                         // names the next step, but cancels no question: "Next:"
	soStep                        // a step that follows from the rest of the sentence: "so I'll"
	atOnce                        // says that a step begins now: "right away"
	condition                     // makes a step hang on something: "until"
	later                         // makes it follow what was said before: "after that"
	maybe                         // makes an offer of a request, and leaves a step: "if needed"
	consent                       // makes it hang on the user: "once you"
	theirs                        // makes a condition hang on the user: "I have the password"
	can                           // with such a condition, a step: "I can"
	request                       // hands the turn back, whatever else the sentence says
	tell                          // hands it back unless it is offered: "please", "let me know which"
	imperative                    // at its beginning: asks for something
	andStep                       // behind an imperative: "and I'll"
	beforeI                       // behind an imperative: "before I"
	stuck                         // on a condition: "I cannot continue"
	without                       // is one: "without"
	permission                    // in a question: asks for it, "shall I"
	offer                         // offers more: "let me know if you want"
	offerOnly                     // makes an offer of the rest of the sentence: "if you want"
	leaning                       // says what the model would choose
	work                          // names what an agent starts and what runs by itself: "the build"
	runs                          // says that it runs: "still running"
	awaits                        // waits for it: "waiting for"
	idle                          // waits, whatever for: "I'll wait"
	begun                         // says that it was started: "launched"
	done                          // speaks of its end: "once they report"
	left                          // says what is left, or that a part is done
	not                           // says no: perhaps why the model stopped, unless it says what is left
	obstacle                      // may say why the model stopped: "only", "unless", "should", "because"
	hedge                         // leads to what may say that: "but", "if", "can"
	doing                         // at the beginning, unless the sentence gives reasons: a step, "fixing these"
	now                           // at the beginning, with what I do: a step
	firstPerson                   // what I do, where that is one word
	you                           // speaks of the user
	once                          // makes a step follow something: with you, it hangs on the user
	amount                        // measures something: "about 4"
	unit                          // is what work that runs is measured in: "minutes", "%"
	gauge                         // or what a result is: "coverage", "down from"
	why                           // asks what the model knows itself
	reports                       // says that something is done: "is in place"
	nothing     kinds = 0         // hides a shorter phrase: "I'll be"
)

// closed are the kinds of closed classes of words.
const closed = you | once | not | later | hedge

// kindNames are the names of kinds in the files of the lexicon, which are those of the
// constants above, in their order.
func kindNames() map[string]kinds {
	names := map[string]kinds{"nothing": nothing}
	for i, name := range [...]string{
		"step", "start", "soStep", "atOnce", "condition", "later", "maybe", "consent", "theirs", "can", "request", "tell", "imperative",
		"andStep", "beforeI", "stuck", "without", "permission", "offer", "offerOnly", "leaning", "work", "runs", "awaits", "idle",
		"begun", "done", "left", "not", "obstacle", "hedge", "doing", "now", "firstPerson", "you", "once", "amount", "unit", "gauge",
		"why", "reports",
	} {
		names[name] = 1 << i
	}
	return names
}

// A phrase is an entry of the lexicon, in small letters.
type phrase struct {
	text   string
	kinds  kinds
	size   int  // the length of text without a space at its end
	begins bool // only at the beginning of a clause
	prefix bool // the last word may go on
}

// A head is what finds a phrase: most of what is compared is told apart by it.
type head struct {
	bytes, mask uint64 // its first eight bytes, and which of their bits it has
	parent      int32  // the longest phrase that it begins with, or none; one with the same text too
}

const none = -1

// A lexicon finds the phrases that a text begins with.
type lexicon struct {
	phrases []phrase // by key and text
	heads   []head   // theirs
	from    [keys + 1]int32
	endings [256][]ending // by their last byte
}

// An ending is what the words of a kind end in.
type ending struct {
	text  string
	kinds kinds
}

// ends returns the kinds of the words that end as word does.
func (l *lexicon) ends(word []byte) (all kinds) {
	if len(word) == 0 {
		return nothing
	}
	for _, e := range l.endings[word[len(word)-1]] {
		if len(word) > len(e.text)+1 && string(word[len(word)-len(e.text):]) == e.text {
			all |= e.kinds
		}
	}
	return all
}

const (
	keyBits = 13
	keys    = 1 << keyBits
	minKey  = 3 // the length of the shortest phrase, which ends in a space

	minPhrase = 4 // that of one that ends in a letter
)

// firstBytes returns the first eight bytes of text, so that they sort as text does.
func firstBytes[T string | []byte](text T) (first uint64) {
	for i := range min(len(text), 8) {
		first |= uint64(text[i]) << (56 - 8*i)
	}
	return first
}

// key returns the key of a text by its first bytes: four, or three if the third is a
// space, as in "if ".
func key(first uint64) uint32 {
	first >>= 32
	if first>>8&0xFF == ' ' {
		first &^= 0xFF
	}
	return uint32(first) * 0x9E3779B1 >> (32 - keyBits) //nolint:gosec // it has four bytes
}

//go:embed lexicon
var files embed.FS

// phrasebook is the lexicon of all languages, built once.
var phrasebook = sync.OnceValue(func() *lexicon { //nolint:gochecknoglobals // constant
	l := new(lexicon)
	l.load()
	slices.SortFunc(l.phrases, func(a, b phrase) int {
		return cmp.Or(cmp.Compare(key(firstBytes(a.text)), key(firstBytes(b.text))), strings.Compare(a.text, b.text))
	})
	for i := range l.phrases {
		text := l.phrases[i].text
		h := head{bytes: firstBytes(text), mask: ^(^uint64(0) >> (8 * min(len(text), 8))), parent: int32(i) - 1} //nolint:gosec // few phrases
		for h.parent != none && !strings.HasPrefix(text, l.phrases[h.parent].text) {
			h.parent = l.heads[h.parent].parent
		}
		l.heads = append(l.heads, h)
		l.from[key(h.bytes)+1]++
	}
	for i := range keys {
		l.from[i+1] += l.from[i]
	}
	return l
})

// last returns the last phrase, in the order of the lexicon, that may be one that text
// begins with. The others are its parents.
func (l *lexicon) last(text []byte, first uint64) int32 {
	k := key(first)
	begin, end := l.from[k], l.from[k+1]
	from := begin
	for from < end {
		middle := (from + end) / 2
		if h := l.heads[middle].bytes; h < first || h == first && l.phrases[middle].text <= string(text) {
			from = middle + 1
		} else {
			end = middle
		}
	}
	if from == begin {
		return none
	}
	return from - 1
}

// load adds the phrases of all files, one for each language. A line names the kinds of
// the phrases that follow it; [lexicon.add] explains how these are written.
func (l *lexicon) load() {
	names := kindNames()
	files, err := files.ReadDir("lexicon")
	if err != nil {
		panic(err) // it was built in
	}
	for _, file := range files {
		l.read("lexicon/"+file.Name(), names)
	}
}

func (l *lexicon) read(name string, names map[string]kinds) {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it was built in
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		which, phrases, _ := strings.Cut(line, ": ")
		var all kinds
		for kind := range strings.SplitSeq(which, "+") {
			known, ok := names[kind]
			if !ok {
				panic("handback: unknown kind in " + name + ": " + line)
			}
			all |= known
		}
		for phrase := range strings.SplitSeq(phrases, "|") {
			l.add(phrase, all)
		}
	}
}

// add adds the phrases that a pattern stands for:
//
//	a {b/c/}    stands for "a b", "a c" and "a "
//	^a          only at the beginning of a clause
//	a*          the last word may go on
//	*a          any word that ends so, where endings are asked for
//	a_          with a space at the end
//	@           code, a quotation or an address
//	0           any digit
func (l *lexicon) add(pattern string, k kinds) {
	if before, rest, ok := strings.Cut(pattern, "{"); ok {
		choices, after, _ := strings.Cut(rest, "}")
		for choice := range strings.SplitSeq(choices, "/") {
			l.add(before+choice+after, k)
		}
		return
	}
	if text, ok := strings.CutPrefix(pattern, "*"); ok {
		l.endings[text[len(text)-1]] = append(l.endings[text[len(text)-1]], ending{text, k})
		return
	}
	p := phrase{kinds: k}
	pattern, p.begins = strings.CutPrefix(pattern, "^")
	pattern, p.prefix = strings.CutSuffix(pattern, "*")
	p.text = strings.ReplaceAll(strings.ReplaceAll(pattern, "_", " "), "@", string(rune(omitted)))
	p.size = len(strings.TrimSuffix(p.text, " "))
	last, _ := utf8.DecodeLastRuneInString(p.text)
	p.prefix = p.prefix || last >= 0x0900 || last != '\'' && last < '0' // scripts without spaces; punctuation
	if len(p.text) < minPhrase && !strings.HasSuffix(p.text, " ") {
		ends := " .,:;!?)\n"
		if last >= 0x0900 {
			ends += "\xE0\xE3\xE4\xE5\xE6\xE7\xE8\xE9\xEA\xEB\xEC\xED\xEF" // what a rune of such a script begins with
		}
		for i := range len(ends) {
			q := p
			q.text, q.prefix = p.text+ends[i:i+1], true
			q.size = len(strings.TrimSuffix(q.text, " "))
			l.phrases = append(l.phrases, q)
		}
		return
	}
	l.phrases = append(l.phrases, p)
}

// matches reports whether text begins with p.
func (p *phrase) matches(text []byte) bool {
	return len(text) >= len(p.text) && string(text[:len(p.text)]) == p.text && (p.prefix || !inWord(text[len(p.text):]))
}

// inWord reports whether a word goes on with rest.
func inWord(rest []byte) bool {
	return len(rest) > 0 && (isAlnum(rest[0]) || rest[0] >= 0xC3 && rest[0] < 0xE2 || rest[0] == '\'')
}

// asksWithoutMark reports whether text ends in a word that makes it a question in
// languages that set no question mark.
func asksWithoutMark(text []byte) bool {
	text = bytes.TrimRight(text, ".!")
	if len(text) == 0 || text[len(text)-1] < utf8.RuneSelf && text[len(text)-1] > ' ' && text[len(text)-1] != ')' {
		return false // none of these languages is written in it
	}
	text = bytes.TrimSuffix(text, []byte("。"))
	text = trimEnd(text)
	for _, polite := range politeEndings() {
		text = trimEnd(bytes.TrimSuffix(text, []byte(polite)))
	}
	for _, ending := range questionEndings() {
		if bytes.HasSuffix(text, []byte(ending)) {
			return true
		}
	}
	return false
}

// dangles reports whether a sentence cannot end in word.
func dangles(word []byte) bool {
	switch string(word) {
	case "may", "can", "could", "would", "should", "must", "might", "shall", "has", "have", "had", "were", "am", "been", "being",
		"they", "we", "only", "their", "our", "than", "whether", "where", "these", "those", "between", "through", "about",
		"the", "a", "an", "and", "or", "but", "to", "of", "in", "for", "with", "by", "from", "that", "which", "is", "are", "was",
		"will", "be", "my", "your", "its", "this", "as", "at", "on", "if", "then", "so", "not", "into", "because", "while", "when",
		"und", "oder", "der", "die", "das", "den", "ein", "eine", "mit", "für", "zu", "von", "im", "dass", "ist",
		"y", "o", "el", "la", "los", "las", "un", "una", "de", "del", "para", "con", "que", "en", "es",
		"et", "ou", "le", "les", "une", "des", "du", "pour", "avec", "dans", "est", "e", "os", "um", "uma", "do", "da", "com", "em", "é",
		"il", "lo", "gli", "di", "della", "nel", "che", "non", "het", "een", "van", "voor", "w", "z", "na", "dla", "oraz", "że",
		"ve", "ile", "yang", "dan", "untuk", "ke", "dengan",
		"и", "или", "в", "на", "с", "к", "для", "что", "не", "по", "из", "от", "а", "но", "чтобы", "только", "также", "это", "если":
		return true
	}
	return false
}

// questionEndings are the endings that make a question where no mark is usual.
func questionEndings() []string {
	return []string{
		"ですか", "ますか", "でしょうか", "ましょうか", "ませんか",
		"까요", "나요", "습니까", "입니까", "합니까", "됩니까", "할까", "을까",
		"吗", "嗎", "呢", "哪个", "哪一个", "哪個", "哪一個",
		"ไหม", "มั้ย", "หรือไม่", "หรือเปล่า", "แบบไหน", "อันไหน", "ไหนดี", "อย่างไรดี",
	}
}

// politeEndings are words that may follow questionEndings.
func politeEndings() []string {
	return []string{"ครับ", "ค่ะ", "คะ"}
}
