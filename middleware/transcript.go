package middleware

// Sizes of a transcript's blocks. A text shorter than a small one is in a single
// block, which is moved when it is full.
const (
	minBlock   = 64
	smallBlock = 256
	maxBlock   = 64 << 10
)

// transcript is what the model has said in a call: the one copy that is kept.
// It grows block by block, so that a long text is not copied again and again
// while it streams by, and is put together only if somebody wants to read it.
type transcript struct {
	blocks    [][]byte // full ones
	tail      []byte
	reasoning *[]byte // nil if it is not wanted
}

// add adds text.
func (t *transcript) add(text string) {
	if len(text) > cap(t.tail)-len(t.tail) {
		t.grow(len(text))
	}
	t.tail = append(t.tail, text...)
}

// grow makes room for n bytes or more. Blocks grow with the text, so that there
// are few of them and little of the last one is unused.
func (t *transcript) grow(n int) {
	length := t.len()
	size := max(n, min(max(length, minBlock), max(length/4, smallBlock), maxBlock))
	if length < smallBlock { // all of it is in the tail
		t.tail = append(make([]byte, 0, length+size), t.tail...)
		return
	}
	t.blocks = append(t.blocks, t.tail)
	t.tail = make([]byte, 0, size)
}

func (t *transcript) len() int {
	length := len(t.tail)
	for _, block := range t.blocks {
		length += len(block)
	}
	return length
}

// bytes returns the text in one piece. The caller must not change it; what is
// added later does not.
func (t *transcript) bytes() []byte {
	if len(t.blocks) == 0 {
		return t.tail
	}
	whole := make([]byte, 0, t.len())
	for _, block := range t.blocks {
		whole = append(whole, block...)
	}
	t.blocks, t.tail = nil, append(whole, t.tail...)
	return t.tail
}

// cut forgets what comes after the first n bytes.
func (t *transcript) cut(n int) {
	t.tail = t.bytes()[:n]
}

// think adds text that the model wrote for itself, if that is wanted.
func (t *transcript) think(text string) {
	if t.reasoning != nil {
		*t.reasoning = append(*t.reasoning, text...)
	}
}

// thoughts returns that text.
func (t *transcript) thoughts() string {
	if t.reasoning == nil {
		return ""
	}
	return string(*t.reasoning)
}
