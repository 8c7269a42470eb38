package middleware

import (
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
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

// transcript is the text of all turns of a call, in the only copy that is kept. It
// grows in blocks, so that a long text is not copied again and again while it streams
// by. The blocks are put together only when the text is read.
type transcript struct {
	blocks    [][]byte // full ones
	last      []byte   // the block that is filled
	reasoning *[]byte  // nil if it is not kept
	bounded   bool     // maxText applies
	long      bool     // the text exceeded maxText; the rest is not kept
	reasoned  adapter.ReasoningEnd
}

// add adds text.
func (t *transcript) add(text string) {
	if len(text) > cap(t.last)-len(t.last) && !t.grow(len(text)) {
		return
	}
	t.last = append(t.last, text...)
}

// grow makes room for n bytes or more, unless the text would become too long. Blocks
// grow with the text, so that there are few of them and the last one wastes little.
func (t *transcript) grow(n int) bool {
	length := t.len()
	if t.bounded && length+n > maxText {
		t.long, t.last = true, slices.Clip(t.last) // nothing fits any more
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

func (t *transcript) len() int {
	length := len(t.last)
	for _, block := range t.blocks {
		length += len(block)
	}
	return length
}

// bytes returns the text in one piece. The caller must not change it; text that is
// added later does not change it either.
func (t *transcript) bytes() []byte {
	if len(t.blocks) == 0 {
		return t.last
	}
	whole := make([]byte, 0, t.len())
	for _, block := range t.blocks {
		whole = append(whole, block...)
	}
	t.blocks, t.last = nil, append(whole, t.last...)
	return t.last
}

// separator returns what stands between the text and the text of another turn.
func (t *transcript) separator() string {
	if t.len() == 0 {
		return ""
	}
	return adapter.SeparatorAfter(rawjson.View(t.bytes()))
}

// cut forgets what comes after the first n bytes.
func (t *transcript) cut(n int) {
	t.last = t.bytes()[:n]
}

// addReasoning adds reasoning of the model, if it is kept.
func (t *transcript) addReasoning(text string) {
	t.reasoned.Add(text)
	if t.reasoning == nil {
		return
	}
	if t.long = t.long || t.bounded && len(*t.reasoning)+len(text) > maxText; !t.long {
		*t.reasoning = append(*t.reasoning, text...)
	}
}

// cutReasoning forgets the reasoning after the first n bytes.
func (t *transcript) cutReasoning(n int) {
	if t.reasoning != nil {
		*t.reasoning = (*t.reasoning)[:n]
	}
}

// reasoningLen returns the length of the reasoning.
func (t *transcript) reasoningLen() int {
	if t.reasoning == nil {
		return 0
	}
	return len(*t.reasoning)
}

// reasoningText returns the reasoning.
func (t *transcript) reasoningText() string {
	if t.reasoning == nil {
		return ""
	}
	return string(*t.reasoning)
}
