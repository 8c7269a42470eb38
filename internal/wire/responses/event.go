package responses

import (
	"bytes"
	"iter"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
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

	itemID, item, part, delta, text, arguments, name, response, annotation, failure, logprobs []byte

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
	case "logprobs":
		return &ev.logprobs
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

// kind is the meaning of an output item to a continuation.
type kind uint8

const (
	unknown      kind = iota // it may be anything, a call too
	message                  // text, or a refusal
	reasoning                // goes with the item behind it
	functionCall             // of a tool that the caller runs
	otherCall                // something else that the caller has to answer
	shellCall                // the caller's, unless its output follows
	shellOutput              // of a shell that the server runs
	hosted                   // what the server does by itself
	compaction               // stands for what came before it, a continuation's prompt too
)

// kinds are the types of items whose kind depends on the type alone.
var kinds = map[string]kind{ //nolint:gochecknoglobals // constant
	"message": message, "reasoning": reasoning, "function_call": functionCall,
	"custom_tool_call": otherCall, "computer_call": otherCall, "local_shell_call": otherCall,
	"apply_patch_call": otherCall, "mcp_approval_request": otherCall,
	"shell_call": shellCall, "shell_call_output": shellOutput,
	"web_search_call": hosted, "file_search_call": hosted, "code_interpreter_call": hosted, "image_generation_call": hosted,
	"compaction": compaction, "compaction_summary": compaction, "context_compaction": compaction,
	"mcp_list_tools": hosted, "mcp_call": hosted, "tool_search_output": hosted, "program": hosted, "program_output": hosted,
}

// isCall reports whether an item of the kind may be a call that the caller acts
// on.
func (k kind) isCall() bool {
	return k == functionCall || k == otherCall || k == shellCall || k == unknown
}

// fields are the members of an item that this package reads; an absent member
// is nil.
type fields struct {
	kind       kind
	typeName   string // valid as long as the JSON is
	namespaced bool

	id, callID, name, arguments, content, phase, role, output, tools []byte
}

// readItem reads the next item.
func readItem(s *rawjson.Scanner) fields {
	var f fields
	var execution []byte
	for name := range s.Members() {
		switch name {
		case "type":
			f.typeName = rawjson.TextView(s.Raw())
		case "id":
			f.id = s.Raw()
		case "call_id":
			f.callID = s.Raw()
		case "name":
			f.name = s.Raw()
		case "arguments", "input":
			f.arguments = s.Raw()
		case "content":
			f.content = s.Raw()
		case "phase":
			f.phase = s.Raw()
		case "role":
			f.role = s.Raw()
		case "output":
			f.output = s.Raw()
		case "tools":
			f.tools = s.Raw()
		case "execution":
			execution = s.Raw()
		case "namespace":
			f.namespaced = !rawjson.IsEmpty(s.Raw())
		}
	}
	f.kind = kindOf(f.typeName, execution)
	return f
}

// kindOf returns the kind of an item. execution says who runs a search for tools.
func kindOf(typeName string, execution []byte) kind {
	switch {
	case typeName != "tool_search_call":
		return kinds[typeName]
	case string(execution) == `"server"`:
		return hosted
	}
	return otherCall
}

// itemOf reads an item.
func itemOf(raw []byte) fields {
	s := rawjson.Over(raw)
	return readItem(&s)
}

// nameOf returns the name of a function call for the engine. A call in a
// namespace is never carryon's own.
func (f *fields) nameOf() string {
	name := rawjson.TextOf(f.name)
	if f.namespaced && pause.Is(name) {
		return "namespaced " + name
	}
	return name
}

// part is a part of a message's content.
type part struct {
	kind []byte
	text []byte // the string, or nil if the part has none
}

const (
	textPart    = `"output_text"`
	refusalPart = `"refusal"`
)

// readPart reads the next part.
func readPart(s *rawjson.Scanner) part {
	var p part
	for name := range s.Members() {
		switch name {
		case "type":
			p.kind = s.Raw()
		case "text":
			p.text = s.Raw()
		}
	}
	if string(p.kind) != textPart || !rawjson.IsString(p.text) {
		p.text = nil
	}
	return p
}

// partsOf returns an iterator over the parts of a message's content.
func partsOf(content []byte) iter.Seq2[int, part] {
	return func(yield func(i int, p part) bool) {
		s := rawjson.Over(content)
		for i := range s.Elements() {
			if !yield(i, readPart(&s)) {
				return
			}
		}
	}
}
