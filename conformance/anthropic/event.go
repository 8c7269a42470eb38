package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/carryon-go/carryon/middleware"
)

type event = sdk.MessageStreamEventUnion

// events is the dialect of streams. It leaves the blocks of a message and
// their indexes to frame, which comes after it.
type events struct {
	ledger

	began tokens         // the usage that the turn began with
	calls map[int64]bool // which blocks of the turn are tool calls
	ended bool           // Write has shown the end, but for the message_stop
}

func newEvents() *events { return &events{ledger: newLedger(), calls: map[int64]bool{}} }

// Read implements [middleware.Dialect].
func (d *events) Read(c *event, s *middleware.Sink) {
	switch c.Type {
	case messageStart:
		d.began = tokensOf(&c.Message.Usage)
	case blockStart:
		d.calls[c.Index] = d.isCall(c)
		s.Text(c.ContentBlock.Text)
		if block := &c.ContentBlock; d.isCall(c) {
			s.Call(int(c.Index), block.ID, block.Name, argumentsOf(block))
		}
	case blockDelta:
		s.Text(c.Delta.Text)
		s.Reasoning(c.Delta.Thinking)
		if d.isCall(c) {
			s.Call(int(c.Index), "", "", c.Delta.PartialJSON)
		}
	case messageDelta:
		s.Finish(string(c.Delta.StopReason))
		if usage := d.usageOf(c); usage != nil {
			d.Note(*usage)
			s.Usage(usage.counts())
		}
	case messageStop:
		s.Done()
	}
}

// argumentsOf returns the arguments that a call begins with: none as a rule.
func argumentsOf(block *sdk.ContentBlockStartEventContentBlockUnion) string {
	if raw := block.JSON.Input.Raw(); raw != "{}" {
		return raw
	}
	return ""
}

// isCall reports whether the event is a part of a tool call. The input of tools
// that the provider runs itself comes in the same way.
func (d *events) isCall(c *event) bool {
	return c.ContentBlock.Type == typeCall || c.Delta.Type == "input_json_delta" && d.calls[c.Index]
}

// isText reports whether the event is a part of a text.
func isText(c *event) bool {
	return c.ContentBlock.Type == typeText || c.Delta.Type == "text_delta"
}

// usageOf returns the usage of a turn that is in its message_delta, or nil.
func (d *events) usageOf(c *event) *tokens {
	if !c.JSON.Usage.Valid() {
		return nil
	}
	usage := d.began.with(&c.Usage)
	return &usage
}

// Write implements [middleware.Dialect].
func (d *events) Write(c *event, e *middleware.Edit) bool {
	switch {
	case e.Rest && e.Text != "":
		*c = textEvent(ownBlock, e.Text)
		return true
	case e.Rest || c.Type == messageDelta:
		return d.writeEnd(c, e)
	case isText(c):
		*c = textEvent(c.Index, e.Text)
		return e.Text != "" // a block without text is refused if it is sent back
	case d.isCall(c):
		if e.Call(0).Drop {
			*c = event{}
		}
		return c.Type != ""
	}
	return c.Type != messageStart || !e.Later
}

// writeEnd shows the stop reason and the usage.
func (d *events) writeEnd(c *event, e *middleware.Edit) bool {
	raw := c.RawJSON()
	if c.Type != messageDelta {
		raw = `{"type":"message_delta","delta":{"stop_sequence":null}}`
	}
	usage := d.Show(e.Usage, d.usageOf(c))
	if usage != nil {
		raw = usage.write(raw)
	} else {
		raw = remove(raw, "usage")
	}
	*c = *parse[event](set(raw, "delta.stop_reason", stopReason(e.Finish)))
	d.ended = d.ended || e.Finish != ""
	return e.Finish != "" || usage != nil
}

// Clone implements [middleware.Dialect]. Write makes an event of its own.
func (d *events) Clone(c *event) event { return *c }

func textEvent(index int64, text string) event {
	delta := map[string]string{"type": "text_delta", "text": text}
	return makeEvent(blockDelta, index, "delta", delta)
}

func makeEvent(kind string, index int64, key string, value any) event {
	raw := set(`{}`, "type", kind)
	raw = set(raw, "index", index)
	return *parse[event](set(raw, key, value))
}

// stopReason returns the SDK's word for a finish reason, nil for none. The
// engine's own, for a turn that was nothing but a pause, is "stop".
func stopReason(finish string) any {
	switch finish {
	case "":
		return nil
	case "stop":
		return sdk.StopReasonEndTurn
	}
	return finish
}
