package reading

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/separator"
)

// Sizes of a transcript's blocks. A text shorter than a small one is in a single
// block, which is moved when it is full.
const (
	minBlock   = 64
	smallBlock = 256
	maxBlock   = 64 << 10
)

// maxText is roughly how many bytes of text, and of reasoning, are kept of a streamed
// call. A longer answer is shown as it comes and not continued.
const maxText = 32 << 20

// Transcript is the text of all turns of a call, in the only copy that is kept. It
// grows in blocks, so that a long text is not copied again and again while it streams
// by. The blocks are put together only when the text is read.
type Transcript struct {
	blocks    [][]byte // full ones
	last      []byte   // the block that is filled
	Reasoning *[]byte  // nil if it is not kept
	Bounded   bool     // maxText applies
	Long      bool     // the text exceeded maxText; the rest is not kept
	Reasoned  separator.End
}

// Add adds text.
func (t *Transcript) Add(text string) {
	if len(text) > cap(t.last)-len(t.last) && !t.grow(len(text)) {
		return
	}
	t.last = append(t.last, text...)
}

// grow makes room for n bytes or more, unless the text would become too long. Blocks
// grow with the text, so that there are few of them and the last one wastes little.
func (t *Transcript) grow(n int) bool {
	length := t.Len()
	if t.Bounded && length+n > maxText {
		t.Long, t.last = true, slices.Clip(t.last) // nothing fits any more
		return false
	}
	size := max(n, min(max(length, minBlock), max(length/4, smallBlock), maxBlock))
	if length < smallBlock { // all of it is in the last one
		t.last = append(make([]byte, 0, length+size), t.last...)
		return true
	}
	t.blocks = append(t.blocks, t.last)
	t.last = make([]byte, 0, size)
	return true
}

// Len returns the length of the text.
func (t *Transcript) Len() int {
	length := len(t.last)
	for _, block := range t.blocks {
		length += len(block)
	}
	return length
}

// Bytes returns the text in one piece. The caller must not change it; text that is
// added later does not change it either.
func (t *Transcript) Bytes() []byte {
	if len(t.blocks) == 0 {
		return t.last
	}
	whole := make([]byte, 0, t.Len())
	for _, block := range t.blocks {
		whole = append(whole, block...)
	}
	t.blocks, t.last = nil, append(whole, t.last...)
	return t.last
}

// End returns how the text ends, for the text of another turn.
func (t *Transcript) End() separator.End {
	var end separator.End
	end.Add(rawjson.View(t.Bytes()))
	return end
}

// Cut forgets what comes after the first n bytes.
func (t *Transcript) Cut(n int) {
	t.last = t.Bytes()[:n]
}

// AddReasoning adds reasoning of the model, if it is kept.
func (t *Transcript) AddReasoning(text string) {
	t.Reasoned.Add(text)
	if t.Reasoning == nil {
		return
	}
	t.Long = t.Long || t.Bounded && len(*t.Reasoning)+len(text) > maxText
	if !t.Long {
		*t.Reasoning = append(*t.Reasoning, text...)
	}
}

// CutReasoning forgets the reasoning after the first n bytes.
func (t *Transcript) CutReasoning(n int) {
	if t.Reasoning != nil {
		*t.Reasoning = (*t.Reasoning)[:n]
	}
}

// ReasoningLen returns the length of the reasoning.
func (t *Transcript) ReasoningLen() int {
	if t.Reasoning == nil {
		return 0
	}
	return len(*t.Reasoning)
}

// ReasoningText returns the reasoning.
func (t *Transcript) ReasoningText() string {
	if t.Reasoning == nil {
		return ""
	}
	return string(*t.Reasoning)
}

// Repetition follows the text of a continuation as long as it may be the answer before it
// again: the same letters and digits, in any case. Such a text is held back, and not shown
// if the turn ends with it. A nil one stands for a turn that repeats nothing, as the
// caller's own and nearly all others soon do.
type Repetition struct {
	rest []byte // what is left of the answer before
	read bool   // a letter or digit of it was read
}

// NewRepetition returns a repetition of the answer before. One without letters and digits
// has nothing to compare, and next to nothing to hide.
func NewRepetition(before []byte) *Repetition {
	if bytes.IndexFunc(before, isWord) < 0 {
		return nil
	}
	return &Repetition{rest: before}
}

// Clone returns a copy.
func (r *Repetition) Clone() *Repetition {
	if r == nil {
		return nil
	}
	c := *r
	return &c
}

// Add reads the next piece of the turn, and reports whether the turn may still be the
// answer before.
func (r *Repetition) Add(text string) bool {
	for _, c := range text {
		if !isWord(c) {
			continue
		}
		if fold(c) != r.next() {
			return false
		}
		r.read = true
	}
	return true
}

// next takes the next letter or digit of the answer before, or returns -1 if there is none.
func (r *Repetition) next() rune {
	for len(r.rest) > 0 {
		c, size := utf8.DecodeRune(r.rest)
		r.rest = r.rest[size:]
		if isWord(c) {
			return fold(c)
		}
	}
	return -1
}

// IsWhole reports whether the turn so far is the whole answer before.
func (r *Repetition) IsWhole() bool {
	return r != nil && r.read && bytes.IndexFunc(r.rest, isWord) < 0
}

// isWord reports whether a character counts in a comparison: a letter or a digit.
func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

// fold returns a letter or digit in lower case.
func fold(c rune) rune { return unicode.ToLower(unicode.ToUpper(c)) }

// SameWords reports whether two texts have the same letters and digits, in any case. Texts
// without any are compared as they are.
func SameWords(a, b []byte) bool {
	if r := NewRepetition(b); r != nil {
		return r.Add(rawjson.View(a)) && r.IsWhole()
	}
	return bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b))
}
