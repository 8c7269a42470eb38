package handback

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// kinds says what the phrases of a sentence do.
type kinds uint32

const (
	step       kinds = 1 << iota // announces a step: "I will"
	start                        // names the next step, but cancels no question: "Next:"
	hang                         // makes a step hang on something: "until"
	consent                      // makes it hang on the user: "once you"
	request                      // hands the turn back, whatever else the sentence says
	tell                         // hands it back unless it is offered: "let me know which"
	offer                        // offers more: "let me know if you want"
	offerOnly                    // makes an offer of the rest of the sentence: "if needed"
	leaning                      // says what the model would choose
	can                          // with a condition, a step: "I can"
	imperative                   // at its beginning: asks for something
	andStep                      // behind an imperative: "and I'll"
	beforeI                      // behind an imperative: "before I"
	stuck                        // on a condition: "I cannot continue"
	without                      // is one: "without"
	soStep                       // a step that follows from the rest of the sentence: "so I'll"
	atOnce                       // makes a step of a start: "now" at the end
	nothing    kinds = 0         // hides a shorter phrase: "I'll be"
)

// A phrase is an entry of the lexicon, in small letters.
type phrase struct {
	head
	text   string
	kinds  kinds
	begins bool // only at the beginning of a clause
	prefix bool // the last word may go on
}

// A head is the first eight bytes of a phrase, and which of their bits it has.
type head struct{ bytes, mask uint64 }

// A lexicon finds the phrases by their first bytes.
type lexicon struct {
	phrases []phrase // by key, the longest first
	heads   []head   // theirs: most of what is compared is told apart by them
	from    [keys + 1]uint16
}

const (
	keyBits = 13
	keys    = 1 << keyBits
	minKey  = 3 // the length of the shortest phrase
)

// key returns the key of a phrase by its first bytes: four, or three if the third is a
// space, as in "if ".
func key(first uint64) uint32 {
	if first>>16&0xFF == ' ' {
		first &= 0xFFFFFF
	}
	return uint32(first) * 0x9E3779B1 >> (32 - keyBits) //nolint:gosec // the first four bytes are meant
}

// phrasebook is the lexicon of all languages, built once.
var phrasebook = sync.OnceValue(func() *lexicon { //nolint:gochecknoglobals // constant
	l := new(lexicon)
	for _, entry := range entries() {
		for text := range strings.SplitSeq(entry.phrases, "|") {
			l.add(text, entry.kinds)
		}
	}
	slices.SortStableFunc(l.phrases, func(a, b phrase) int {
		if a.key() != b.key() {
			return int(a.key()) - int(b.key())
		}
		if len(a.text) != len(b.text) || a.begins == b.begins {
			return len(b.text) - len(a.text)
		}
		if a.begins {
			return -1
		}
		return 1
	})
	for i := range l.phrases {
		l.heads = append(l.heads, l.phrases[i].head)
		l.from[l.phrases[i].key()+1]++
	}
	for i := range keys {
		l.from[i+1] += l.from[i]
	}
	return l
})

func (p *phrase) key() uint32 { return key(p.bytes) }

// add adds the phrases that a pattern stands for. {a|b} would end an entry, so
// alternatives are written {a/b}; ^ wants the beginning of a clause; * lets the last
// word go on; _ is a space at the end; @ is something that has been left out.
func (l *lexicon) add(pattern string, k kinds) {
	if before, rest, ok := strings.Cut(pattern, "{"); ok {
		choices, after, _ := strings.Cut(rest, "}")
		for choice := range strings.SplitSeq(choices, "/") {
			l.add(before+choice+after, k)
		}
		return
	}
	p := phrase{kinds: k}
	pattern, p.begins = strings.CutPrefix(pattern, "^")
	pattern, p.prefix = strings.CutSuffix(pattern, "*")
	p.text = strings.ReplaceAll(strings.ReplaceAll(pattern, "_", " "), "@", string(rune(omitted)))
	last, _ := utf8.DecodeLastRuneInString(p.text)
	p.prefix = p.prefix || last >= 0x0900 || last != '\'' && last < '0' // scripts without spaces; punctuation
	p.head = headOf(p.text)
	l.phrases = append(l.phrases, p)
}

// matches reports whether text begins with p.
func (p *phrase) matches(text []byte) bool {
	return len(text) >= len(p.text) && string(text[:len(p.text)]) == p.text && (p.prefix || !inWord(text[len(p.text):]))
}

// headOf returns the head of text.
func headOf[T string | []byte](text T) (h head) {
	for i := range min(len(text), 8) {
		h.bytes |= uint64(text[i]) << (8 * i)
		h.mask |= 0xFF << (8 * i)
	}
	return h
}

// inWord reports whether a word goes on with rest.
func inWord(rest []byte) bool {
	return len(rest) > 0 && (isAlnum(rest[0]) || rest[0] >= 0xC3 && rest[0] < 0xE2 || rest[0] == '\'')
}

// asksWithoutMark reports whether text ends in a word that makes it a question in
// languages that set no question mark.
func asksWithoutMark(text []byte) bool {
	text = bytes.TrimRight(text, ".!")
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
