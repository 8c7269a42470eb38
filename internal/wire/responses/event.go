package responses

import (
	"bytes"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// The types of events that this package handles.
const (
	itemAdded      = "response.output_item.added"
	itemDone       = "response.output_item.done"
	partAdded      = "response.content_part.added"
	partDone       = "response.content_part.done"
	textDelta      = "response.output_text.delta"
	textDone       = "response.output_text.done"
	annotation     = "response.output_text.annotation.added"
	refusalDelta   = "response.refusal.delta"
	refusalDone    = "response.refusal.done"
	summaryDelta   = "response.reasoning_summary_text.delta"
	reasoningDelta = "response.reasoning_text.delta"
	argumentsDelta = "response.function_call_arguments.delta"
	argumentsDone  = "response.function_call_arguments.done"
	failed         = "error"
	completed      = "response.completed"
	responseFailed = "response.failed"
)

// stage is the effect of an event on the whole answer.
type stage uint8

const (
	during    stage = iota
	beginning       // of the answer; each turn has its own
	last
)

func stageOf(kind string) stage {
	switch kind {
	case "response.created", "response.queued", "response.in_progress", "keepalive":
		return beginning
	case completed, "response.incomplete", responseFailed, "response.cancelled":
		return last
	}
	return during
}

// none is the index of an event without an index.
const none = -1

// event has the members of an event that this package reads; an absent member
// is nil.
type event struct {
	kind     string // its type; valid as long as the data is
	output   int    // its output_index, or none
	content  int    // its content_index, 0 without one
	sequence int    // its sequence_number, or none

	itemID, item, part, delta, text, arguments, name, response, annotation, failure []byte

	fields fields // of the item, if the event has one
}

// eventOf reads the data of an event.
func eventOf(data []byte) event {
	ev := event{output: none, sequence: none}
	ev.read(data)
	return ev
}

// read sets the members that are in the data.
func (ev *event) read(data []byte) {
	s := rawjson.Over(data)
	for name := range s.Members() {
		switch name {
		case "type":
			if raw := s.Raw(); rawjson.IsString(raw) {
				ev.kind = rawjson.View(raw[1 : len(raw)-1])
			}
		case "output_index":
			ev.output = intOr(s.Raw(), none)
		case "content_index":
			ev.content = intOr(s.Raw(), 0)
		case "sequence_number":
			ev.sequence = intOr(s.Raw(), none)
		default:
			if to := ev.member(name); to != nil {
				*to = s.Raw()
			}
		}
	}
	if ev.item != nil {
		ev.setItem(ev.item)
	}
}

// setItem sets the item, and reads it.
func (ev *event) setItem(raw []byte) { ev.item, ev.fields = raw, itemOf(raw) }

// member returns the field for a member, or nil for a member that is not read.
func (ev *event) member(name string) *[]byte {
	switch name {
	case "item_id":
		return &ev.itemID
	case "item":
		return &ev.item
	case "part":
		return &ev.part
	case "delta":
		return &ev.delta
	case "text":
		return &ev.text
	case "arguments":
		return &ev.arguments
	case "name":
		return &ev.name
	case "response":
		return &ev.response
	case "annotation":
		return &ev.annotation
	case "error":
		return &ev.failure
	}
	return nil
}

func intOr(raw []byte, otherwise int) int {
	if n, ok := rawjson.Int(raw); ok {
		return n
	}
	return otherwise
}

// idOf returns the id of the item that the event is about.
func (ev *event) idOf() []byte {
	if ev.item != nil {
		return ev.fields.id
	}
	return ev.itemID
}

// isDone reports whether the event is the line that some servers end with.
func isDone(e *sse.Event) bool {
	return e.Kind == sse.Text && bytes.HasPrefix(e.Data(), []byte(doneMark))
}

const doneMark = "[DONE]"
