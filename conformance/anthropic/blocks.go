package anthropic

import (
	"maps"
	"slices"
)

// blocks numbers the content blocks of a joined message. Every part of a block is shown between its start and its stop,
// and the indexes rise without a gap. Up to the first block that is left out, turn 1 is shown as it came. Later turns
// are numbered as they are shown.
type blocks struct {
	ended   bool            // turn 1 has ended
	count   int64           // blocks of turn 1
	dropped []int64         // blocks of turn 1 that were left out
	next    int64           // the index of the next block, once turn 1 has ended
	open    map[int64]int64 // the open blocks of a later turn, with the indexes under which they are shown
}

func newBlocks() blocks { return blocks{open: map[int64]int64{}} }

// read counts a block of turn 1.
func (b *blocks) read(index int64) {
	if !b.ended {
		b.count = max(b.count, index+1)
	}
}

// drop leaves a block out.
func (b *blocks) drop(index int64) {
	if !b.ended && !slices.Contains(b.dropped, index) {
		b.dropped = append(b.dropped, index)
	}
}

// endTurn ends a turn.
func (b *blocks) endTurn() {
	if !b.ended {
		b.ended, b.next = true, b.count-int64(len(b.dropped))
	}
}

// place returns the index under which a block is shown, and whether its start was shown.
func (b *blocks) place(index int64) (shown int64, begun bool) {
	if b.ended {
		shown, begun = b.open[index]
		return shown, begun
	}
	for _, dropped := range b.dropped {
		if dropped < index {
			shown--
		}
	}
	return shown + index, !slices.Contains(b.dropped, index)
}

// appendPart shows the start of a block or a part of it.
func (b *blocks) appendPart(dst []event, c event) []event {
	shown, begun := b.place(c.Index)
	if !begun || c.Type == blockStart && b.ended {
		shown = b.begin(c.Index)
	}
	if !begun && c.Type == blockDelta {
		dst = append(dst, emptyText(shown))
	}
	return append(dst, numbered(c, shown))
}

func (b *blocks) begin(index int64) int64 {
	b.open[index] = b.next
	b.next++
	return b.next - 1
}

// appendStop shows the end of a block, unless nothing of it was shown.
func (b *blocks) appendStop(dst []event, c *event) []event {
	shown, begun := b.place(c.Index)
	if !begun {
		return dst
	}
	delete(b.open, c.Index)
	return append(dst, numbered(*c, shown))
}

// appendStops closes the blocks of a turn that has failed.
func (b *blocks) appendStops(dst []event) []event {
	for _, shown := range slices.Sorted(maps.Values(b.open)) {
		dst = append(dst, stopEvent(shown))
	}
	clear(b.open)
	return dst
}

// appendText shows a text for which the model has begun no block: a notice, or
// text that was held back.
func (b *blocks) appendText(dst []event, text string) []event {
	b.endTurn() // turn 1 has nothing but its end left
	dst = b.appendStops(dst)
	shown := b.next
	b.next++
	return append(dst, emptyText(shown), textEvent(shown, text), stopEvent(shown))
}

// numbered returns the event under another index.
func numbered(c event, index int64) event {
	if c.Index == index {
		return c
	}
	return *parse[event](set(c.RawJSON(), "index", index))
}

func emptyText(index int64) event {
	return makeEvent(blockStart, index, "content_block", map[string]string{"type": typeText, "text": ""})
}

func textEvent(index int64, text string) event {
	return makeEvent(blockDelta, index, "delta", map[string]string{"type": "text_delta", "text": text})
}

func stopEvent(index int64) event {
	return *parse[event](set(`{"type":"content_block_stop"}`, "index", index))
}

func makeEvent(kind string, index int64, key string, value any) event {
	raw := set(`{}`, "type", kind)
	raw = set(raw, "index", index)
	return *parse[event](set(raw, key, value))
}
