package messages

import (
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// codec reads and shows one streamed answer.
type codec struct {
	usages

	began     bool   // the first turn's message_start was read
	later     bool   // the first turn has ended
	signed    bool   // there was signed thinking
	container []byte // of the first turn, or nil
	ids       blockIDs
	turn      turn // the current one, as it is read
	blocks    blocks
	end       answerEnd
	texts     rawjson.Texts // of the current event
}

var _ wire.Codec = (*codec)(nil)

// EndTurn implements [adapter.Dialect].
func (c *codec) EndTurn(keep bool) {
	c.usages.EndTurn(keep)
	if !c.later {
		c.blocks.endFirst(&c.turn)
	}
	if keep {
		c.blocks.endTurn(!c.turn.stopped)
	}
	c.later, c.turn = true, turn{}
}

// Clone implements [adapter.Dialect].
func (c *codec) Clone(e *sse.Event) sse.Event { return e.Clone() }

// AppendHeartbeat implements [adapter.Heartbeat].
func (c *codec) AppendHeartbeat(dst []sse.Event) []sse.Event {
	return append(dst, sse.Written(ping, []byte(`{"type":"ping"}`), sse.Object))
}

// AppendShown implements [adapter.Dialect]. An event keeps the bytes of
// everything that the edit does not change.
func (c *codec) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	ev := parse(e)
	c.end.take(&ev, edit, c.shown(edit.Usage))
	switch edit.Part {
	case adapter.TurnCut:
		return c.blocks.cut(dst)
	case adapter.TurnError:
		return appendError(dst, &ev)
	case adapter.AnswerEnd:
		return c.end.appendTo(c.blocks.close(dst), c.container)
	case adapter.Whole:
		if c.later {
			return c.appendLater(dst, &ev, edit)
		}
		return c.blocks.appendFirst(dst, &ev, edit)
	case adapter.Synthetic, adapter.UsageOnly:
	}
	if edit.Text != "" {
		dst = c.blocks.appendText(dst, nil, edit.Text)
	}
	return dst
}

// appendError shows the provider's report of an error.
func appendError(dst []sse.Event, ev *event) []sse.Event {
	if ev.kind != failure || rawjson.Member(ev.data, "error") == nil {
		return dst
	}
	return append(dst, sse.Written(failure, ev.data, sse.Object))
}

// appendLater shows an event of a later turn.
func (c *codec) appendLater(dst []sse.Event, ev *event, edit *adapter.Edit) []sse.Event {
	switch ev.kind {
	case messageStart:
		return c.appendContent(dst, ev, edit)
	case messageDelta:
		return c.blocks.endHeld(dst, c.signed)
	case blockStart:
		dst = c.blocks.endHeld(dst, c.signed)
		return c.appendStart(dst, ev, edit)
	case blockDelta:
		return c.appendDelta(dst, ev, edit)
	case blockStop:
		return c.blocks.appendStop(dst, ev, c.signed)
	}
	return dst
}

// appendContent shows the content that came with the start of a message.
func (c *codec) appendContent(dst []sse.Event, ev *event, edit *adapter.Edit) []sse.Event {
	c.blocks.endTurn(false) // some gateways begin a message again
	shown := *edit
	for _, content := range rawjson.Elements(rawjson.Member(ev.message, "content")) {
		whole := event{kind: blockStart, index: noIndex, block: content}
		whole.data = rawjson.Object("type", blockStart, "index", 0, "content_block", rawValue(content))
		dst = c.appendStart(dst, &whole, &shown)
		dst = c.blocks.appendStop(dst, &event{kind: blockStop, index: noIndex, data: []byte(stopData)}, c.signed)
		switch typeOf(content) {
		case typeText:
			shown.Text = "" // all of it was shown
		case typeToolUse:
			shown.Calls = shown.Calls[min(1, len(shown.Calls)):]
		}
	}
	return dst
}

// appendStart shows the start of a block, unless the block is held.
func (c *codec) appendStart(dst []sse.Event, ev *event, edit *adapter.Edit) []sse.Event {
	b := c.blocks.begin(ev)
	switch {
	case b.kind == typeText:
		if edit.Text != "" {
			dst = c.blocks.appendText(dst, b, edit.Text)
		}
		return dst
	case b.kind == typeToolUse && edit.Call(0).Drop, b.kind == typeCompaction:
		b.state = hidden
		return dst
	case b.kind == typeToolUse:
		b.start = c.ownID(b.start)
	case waits(b.kind):
		return dst
	}
	return c.blocks.show(dst, b)
}

// ownID returns the start of a call with an id that no other block of the
// answer has: some servers count from 1 in each turn.
func (c *codec) ownID(start []byte) []byte {
	block := rawjson.Member(start, "content_block")
	id := textIn(block, "id")
	own := c.ids.own(id)
	if own == id {
		return start
	}
	return rawjson.With(start, rawjson.Set("content_block", rawjson.With(block, rawjson.Set("id", rawjson.Quote(own)))))
}

// appendDelta shows a part of a block.
func (c *codec) appendDelta(dst []sse.Event, ev *event, edit *adapter.Edit) []sse.Event {
	b := c.blocks.find(ev.index)
	if typeOf(ev.delta) == textDelta {
		if edit.Text == "" {
			return dst
		}
		if b != nil && b.kind != typeText {
			b = nil
		}
		return c.blocks.appendTextOf(dst, b, ev, edit.Text)
	}
	if b == nil {
		return dst
	}
	return c.blocks.appendPart(dst, b, ev)
}

// answerEnd is the end of the answer, which is shown once: the stop reason and the
// usage, which may come from different events.
type answerEnd struct {
	delta  []byte // the message_delta that is shown
	finish string
	usage  []byte
}

// take takes the stop reason and the usage from an edit.
func (n *answerEnd) take(ev *event, edit *adapter.Edit, usage []byte) {
	if finish := edit.FinishOr(endTurn); finish != "" {
		n.finish = strings.TrimSuffix(finish, notPlain)
		if ev.kind == messageDelta {
			n.delta = slices.Clone(ev.data)
		}
	}
	if usage != nil {
		n.usage = usage
	}
}

// appendTo shows the end. Some clients fail on one without usage.
func (n *answerEnd) appendTo(dst []sse.Event, container []byte) []sse.Event {
	whole := n.delta
	if whole == nil {
		whole = []byte(`{"type":"message_delta","delta":{}}`)
	}
	delta := rawjson.Member(whole, "delta")
	if textIn(delta, "stop_reason") != n.finish {
		delta = rawjson.With(delta, rawjson.Set("stop_reason", rawjson.Quote(n.finish)))
		delta = rawjson.With(delta, rawjson.Set("stop_sequence", []byte("null")))
	}
	if container != nil && rawjson.IsNull(rawjson.Member(delta, "container")) {
		delta = rawjson.With(delta, rawjson.Set("container", container))
	}
	usage := n.usage
	if usage == nil {
		usage = []byte(`{"output_tokens":0}`)
	}
	whole = rawjson.With(rawjson.With(whole, rawjson.Set("delta", delta)), rawjson.Set("usage", usage))
	return append(dst, sse.Written(messageDelta, whole, sse.Object),
		sse.Written(messageStop, []byte(`{"type":"message_stop"}`), sse.Object))
}
