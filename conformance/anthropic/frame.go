package anthropic

import (
	"maps"
	"slices"
)

// ownBlock is the index of a text for which the model has begun no block: a
// notice, or text that was held back.
const ownBlock = -1

// frame puts the events that the splice shows into the blocks of one message:
// every part of a block stands between its start and its stop, and the indexes
// rise without a gap. Events that are so already stay the same values.
type frame struct {
	next  int64           // the index of the next block
	open  map[int64]int64 // blocks under way, by their index in the turn: the index shown
	ready []event
}

// put makes the event ready, with what has to stand before and after it.
func (f *frame) put(c event) {
	switch _, isOpen := f.open[c.Index]; c.Type {
	case blockStart:
		f.start(c)
		return
	case blockDelta:
		if !isOpen {
			f.start(makeEvent(blockStart, c.Index, "content_block", map[string]string{"type": typeText, "text": ""}))
		}
		f.show(c)
		if c.Index == ownBlock {
			f.stop(ownBlock)
		}
		return
	case blockStop:
		if isOpen {
			f.show(c)
			delete(f.open, c.Index)
		}
		return
	case messageDelta:
		for _, index := range slices.Sorted(maps.Keys(f.open)) {
			f.stop(index) // its turn has failed
		}
	}
	f.ready = append(f.ready, c)
}

func (f *frame) start(c event) {
	f.open[c.Index] = f.next
	f.next++
	f.show(c)
}

func (f *frame) stop(index int64) {
	f.show(*parse[event](set(`{"type":"content_block_stop"}`, "index", index)))
	delete(f.open, index)
}

// show makes an event of an open block ready, under the index shown.
func (f *frame) show(c event) {
	if shown := f.open[c.Index]; shown != c.Index {
		c = *parse[event](set(c.RawJSON(), "index", shown))
	}
	f.ready = append(f.ready, c)
}
