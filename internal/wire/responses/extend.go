package responses

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
)

// Add implements [wire.Request].
func (r *request) Add(body []byte, a *adapter.Additions) []byte {
	r.declares = a.PauseTool != nil
	return r.extend(body, a, nil, nil)
}

// Continue implements [wire.Request]. If the server stores the answers, it
// allows the model only one call at a time: carryon could neither show nor
// answer a todo_pause next to another call, so no later request could be
// chained to the answer.
func (r *request) Continue(body []byte, k *adapter.Continuation) []byte {
	var members []byte
	if k.PauseTool != nil && r.stored {
		members = []byte(`"parallel_tool_calls":false`)
	}
	return r.extend(body, &k.Additions, append(r.assistant(k), r.prompt(k)...), members)
}

// extend returns the body with additions, and with items after its input.
// member replaces the body's own member of that name.
func (r *request) extend(body []byte, a *adapter.Additions, items [][]byte, member []byte) []byte {
	var e rawjson.Edits
	name, _, _ := strings.Cut(strings.TrimPrefix(rawjson.View(member), `"`), `"`)
	s := rawjson.Over(body)
	for key := range s.Members() {
		from := s.KeyAt()
		switch {
		case key == "input":
			input := s
			if r.lite && a.PauseTool != nil {
				offer(&e, &input, a.PauseTool)
			}
			r.extendInput(&e, &s, a, items)
		case key == "tools" && a.PauseTool != nil:
			e.Append(&s, toolOf(a.PauseTool))
		case key == "tool_choice" && a.PauseTool != nil:
			allow(&e, &s, a.PauseTool.Name)
		case key == name:
			s.Skip()
			e.Replace(from, s.At(), member)
			member = nil
		}
	}
	if a.PauseTool != nil && !r.hasTools && !r.lite {
		insert(&e, &s, append(append([]byte(`"tools":[`), toolOf(a.PauseTool)...), ']'))
	}
	if member != nil {
		insert(&e, &s, member)
	}
	return e.Apply(body)
}

// insert adds a member to the end of the object that s has read. The object has
// others.
func insert(e *rawjson.Edits, s *rawjson.Scanner, member []byte) {
	e.Insert(s.At()-1, append([]byte{','}, member...))
}

// offer adds a tool to the last list of tools among the items, which are the next
// value in s.
func offer(e *rawjson.Edits, s *rawjson.Scanner, tool *adapter.PauseTool) {
	var last rawjson.Edits
	for range s.Elements() {
		item := *s
		if f := readItem(s); f.typeName != additionalTools {
			continue
		}
		last = last[:0]
		for name := range item.Members() {
			if name == "tools" {
				last.Append(&item, toolOf(tool))
			}
		}
	}
	*e = append(*e, last...)
}

// extendInput extends the input, which is the next value in s. A string becomes
// a list if items are added.
func (r *request) extendInput(e *rawjson.Edits, s *rawjson.Scanner, a *adapter.Additions, items [][]byte) {
	if s.Kind() != '"' {
		wire.Attach(e, *s, a, inputText, "content", "output")
		if len(items) > 0 {
			r.input.Append(e, s, items...)
		}
		return
	}
	text := maps.Collect(a.ByMessage())[0]
	if len(items) == 0 {
		wire.AddTexts(e, s, text, inputText)
		return
	}
	raw := s.Raw()
	user := rawjson.Object("role", "user", "content", rawjson.TextOf(raw)+strings.Join(text, ""))
	list := append([]byte{'['}, user...)
	for _, item := range items {
		list = append(append(list, ','), item...)
	}
	e.Replace(s.At()-len(raw), s.At(), append(list, ']'))
}

// allow adds a tool to the allowed tools, if the next value in s is a tool
// choice with allowed tools.
func allow(e *rawjson.Edits, s *rawjson.Scanner, tool string) {
	for name := range s.Members() {
		if name == "tools" {
			e.Append(s, rawjson.Object("type", "function", "name", tool))
		}
	}
}

func inputText(text string) []byte { return rawjson.Object("type", "input_text", "text", text) }

func toolOf(tool *adapter.PauseTool) []byte {
	return rawjson.Object("type", "function", "name", tool.Name, "description", tool.Description,
		"parameters", json.RawMessage(tool.Schema), "strict", tool.Strict)
}

// assistant returns the model's answer so far, with one message for each of its
// messages. It keeps their phase: newer models do worse without it.
func (r *request) assistant(k *adapter.Continuation) [][]byte {
	var items [][]byte
	add := func(text, phase string) {
		switch {
		case strings.TrimSpace(text) == "":
		case phase == "" && !r.typed:
			items = append(items, rawjson.Object("role", "assistant", "content", text))
		default:
			content := rawjson.Object("type", "output_text", "text", text, "annotations", []string{})
			members := []any{"type", "message", "role", "assistant", "content", []json.RawMessage{content}}
			if phase != "" {
				members = append(members, "phase", json.RawMessage(phase))
			}
			items = append(items, rawjson.Object(members...))
		}
	}
	left, taken := k.Text, 0
	for i, end := range k.TurnEnds {
		turn := left[:min(max(end-taken, 0), len(left))]
		left, taken = left[len(turn):], taken+len(turn)
		phase := ""
		if i < len(r.turns) {
			for _, m := range r.turns[i] {
				n := min(m.length, len(turn))
				add(turn[:n], m.name)
				turn, phase = turn[n:], m.name
			}
		}
		add(turn, phase)
	}
	add(left, "")
	return items
}

// prompt returns carryon's prompt in the shape of the user's messages, or the
// model's call of todo_pause and its result. The call has no item id, so that the
// server demands no reasoning before it.
func (r *request) prompt(k *adapter.Continuation) [][]byte {
	p := k.Pause
	switch {
	case p == nil && r.typed:
		return [][]byte{rawjson.Object("type", "message", "role", "user", "content", []json.RawMessage{inputText(k.Prompt)})}
	case p == nil:
		return [][]byte{rawjson.Object("role", "user", "content", k.Prompt)}
	}
	return [][]byte{
		rawjson.Object("type", "function_call", "call_id", p.ID, "name", p.Name, "arguments", p.Arguments),
		rawjson.Object("type", "function_call_output", "call_id", p.ID, "output", p.Result),
	}
}
