package fakellm

import (
	"encoding/json"
	"strings"
)

// object is an object of names and values, which alternate.
func object(members ...any) json.RawMessage {
	list := make([]string, 0, len(members)/2)
	for i := 0; i < len(members); i += 2 {
		list = append(list, marshal(members[i])+":"+marshal(members[i+1]))
	}
	return json.RawMessage("{" + strings.Join(list, ",") + "}")
}

// typed is an event that has the name of its type.
func typed(kind string, members ...any) event {
	return event{kind, string(object(append([]any{"type", kind}, members...)...))}
}

func (messages) stream(a answer, r Request, number int) []event {
	list := []event{typed("message_start", "message", a.message(r, number, []json.RawMessage{}, nil, a.earlyUsage()))}
	at := 0
	for _, b := range a.contentBlocks(r, number) {
		index := at
		if a.quirks.has(Gaps) {
			index *= 2
		}
		list = append(list, typed("content_block_start", "index", index, "content_block", b.start))
		for _, delta := range b.deltas {
			list = append(list, a.padded(typed("content_block_delta", "index", index, "delta", delta), len(list)))
		}
		if b.kind == "thinking" && a.quirks.has(OpenThinking) {
			continue // the next block gets the same index
		}
		list = append(list, typed("content_block_stop", "index", index))
		at++
	}
	end := []any{"delta", object("stop_reason", a.stopReason(), "stop_sequence", nil)}
	if usage := a.usage.messagesJSON(); usage != nil {
		end = append(end, "usage", usage)
	}
	return a.withPings(append(list, typed("message_delta", end...)))
}

// earlyUsage is the usage that the beginning of a stream reports; nil for none.
func (a answer) earlyUsage() json.RawMessage {
	prompt := a.usage.prompt
	switch {
	case a.usage.none:
		return nil
	case a.quirks.has(LateUsage):
		prompt = 0
	case !a.usage.set:
		prompt = defaultPromptTokens
	}
	return object("input_tokens", prompt, "output_tokens", 1)
}

// padded adds blanks after the last member of an event; their count depends on the event's number.
func (a answer) padded(e event, number int) event {
	if a.quirks.has(Padded) {
		e.data = strings.TrimSuffix(e.data, "}") + strings.Repeat(" ", number*7%16) + "}"
	}
	return e
}

// withPings adds a ping after each event with the quirk Pings, and otherwise after the first start of a block.
func (a answer) withPings(list []event) []event {
	var pinged []event
	sent := false
	for i, e := range list {
		pinged = append(pinged, e)
		if first := e.name == "content_block_start" && !sent; first || a.quirks.has(Pings) && i < len(list)-1 {
			sent = true
			pinged = append(pinged, typed("ping"))
		}
	}
	return pinged
}
