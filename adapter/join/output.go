package join

import (
	"github.com/carryon-go/carryon/adapter"
)

// output holds the chunks that are ready for the consumer. It reuses its memory.
// A nil one is empty.
type output[C any] struct {
	chunks  []C
	next    int
	adds    bool               // content was added of a turn that is not shown as it came
	current C                  // the chunk being handled; the address of a local variable would allocate it
	calls   []adapter.CallEdit // room for the calls of an edit
	room    [1]C               // for the first chunk that is ready
}

// add adds a chunk.
func (o *output[C]) add(c C) {
	o.chunks = append(o.chunks, c)
}

// take returns the next chunk, if there is one.
func (o *output[C]) take() (C, bool) {
	var none C
	if o.isEmpty() {
		return none, false
	}
	c := o.chunks[o.next]
	o.chunks[o.next] = none // the consumer's now
	o.next++
	if o.next == len(o.chunks) {
		o.chunks, o.next = o.chunks[:0], 0
	}
	return c, true
}

func (o *output[C]) isEmpty() bool { return o == nil || o.next == len(o.chunks) }

// output returns the queue of the chunks that are ready for the consumer.
func (j *joiner[C]) output() *output[C] {
	if j.out == nil {
		j.out = new(output[C])
		j.out.chunks = j.out.room[:0]
	}
	return j.out
}

// forgetOutput frees an empty queue, so that a relaying stream holds no memory while
// it waits.
func (j *joiner[C]) forgetOutput() {
	if j.out.isEmpty() && j.phase.is(relaying) {
		j.out = nil
		j.reader().NextChunk()
	}
}
