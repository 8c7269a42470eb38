package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/carryon-go/carryon/adapter"
)

type event = sdk.MessageStreamEventUnion

// events is the dialect of streams.
type events struct {
	usageTotals

	began  tokens         // the usage that the turn began with
	calls  map[int64]bool // which blocks of the turn are tool calls
	blocks blocks
}

func newEvents() *events {
	return &events{usageTotals: newUsageTotals(), calls: map[int64]bool{}, blocks: newBlocks()}
}

// Read implements [adapter.Dialect].
func (d *events) Read(c *event, t adapter.TurnReader) {
	switch c.Type {
	case messageStart:
		d.began = tokensOf(&c.Message.Usage)
	case blockStart:
		d.blocks.read(c.Index)
		d.calls[c.Index] = d.isCall(c)
		t.Text(c.ContentBlock.Text)
		if d.isCall(c) {
			block := &c.ContentBlock
			t.Call(int(c.Index), block.ID, block.Name, argumentsOf(block))
		}
	case blockDelta:
		t.Text(c.Delta.Text)
		t.Reasoning(c.Delta.Thinking)
		if d.isCall(c) {
			t.Call(int(c.Index), "", "", c.Delta.PartialJSON)
		}
	case messageDelta:
		t.Finish(string(c.Delta.StopReason))
		if usage := d.usageOf(c); usage != nil {
			d.SetTurn(*usage)
			t.Usage(usage.counts())
		}
	case messageStop:
		t.Done()
	}
}

// argumentsOf returns the arguments that a call begins with, usually none.
func argumentsOf(block *sdk.ContentBlockStartEventContentBlockUnion) string {
	if raw := block.JSON.Input.Raw(); raw != "{}" {
		return raw
	}
	return ""
}

// isCall reports whether the event is part of a call of the program's tools. Input of tools that the provider runs has
// the same form.
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

// AppendShown implements [adapter.Dialect].
func (d *events) AppendShown(dst []event, c *event, e *adapter.Edit) []event {
	switch {
	case e.Part == adapter.AnswerEnd:
		return append(dst, *parse[event](`{"type":"message_stop"}`))
	case e.Part == adapter.TurnCut:
		return d.blocks.appendStops(dst)
	case e.Part == adapter.Synthetic && e.Text != "":
		return d.blocks.appendText(dst, e.Text)
	case e.Part != adapter.Whole || c.Type == messageDelta:
		return d.appendEnd(dst, c, e)
	case c.Type == blockStop:
		return d.blocks.appendStop(dst, c)
	case isText(c):
		if e.Text == "" { // the provider refuses a block without text
			return dst
		}
		return d.blocks.appendPart(dst, textEvent(c.Index, e.Text))
	case d.isCall(c) && e.Call(0).Drop:
		d.blocks.drop(c.Index)
		return dst
	case c.Type == blockStart, c.Type == blockDelta:
		return d.blocks.appendPart(dst, *c)
	case c.Type == messageStart && e.Continuation:
		return dst
	}
	return append(dst, *c)
}

// appendEnd shows the stop reason and the usage.
func (d *events) appendEnd(dst []event, c *event, e *adapter.Edit) []event {
	finish, usage := e.FinishOr(string(sdk.StopReasonEndTurn)), d.Shown(e.Usage, d.usageOf(c))
	if finish == "" && usage == nil {
		return dst
	}
	raw := c.RawJSON()
	if c.Type != messageDelta {
		raw = `{"type":"message_delta","delta":{"stop_sequence":null}}`
	}
	if usage != nil {
		raw = usage.write(raw)
	} else {
		raw = remove(raw, "usage")
	}
	return append(dst, *parse[event](set(raw, "delta.stop_reason", stopReason(finish))))
}

// Clone implements [adapter.Dialect]. AppendShown makes a new event.
func (d *events) Clone(c *event) event { return *c }

// EndTurn implements [adapter.Dialect].
func (d *events) EndTurn(keep bool) {
	d.usageTotals.EndTurn(keep)
	d.blocks.endTurn()
}

// stopReason returns the JSON of a stop reason, nil for none.
func stopReason(finish string) any {
	if finish == "" {
		return nil
	}
	return finish
}
