package responses

import (
	"iter"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/pause"
)

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

// index finds the items of a turn by what their events say of them: an output
// index, an id, or both.
type index[T any] map[itemKey]T

type itemKey struct {
	output int    // or none
	id     string // or ""
}

// add adds the newest item.
func (x index[T]) add(output int, id string, it T) {
	if output != none {
		x[itemKey{output, ""}] = it
	}
	if id != "" {
		x[itemKey{output, id}], x[itemKey{none, id}] = it, it
	}
}

// find returns the item that an event is about: the newest one with its index,
// unless its id names an older one. Some servers reuse an index, and some give
// an item a different id in each event.
func (x index[T]) find(ev *event) (it T, ok bool) {
	if it, ok = x[itemKey{ev.output, rawjson.TextView(ev.idOf())}]; !ok && ev.output != none {
		it, ok = x[itemKey{ev.output, ""}]
	}
	return it, ok
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
