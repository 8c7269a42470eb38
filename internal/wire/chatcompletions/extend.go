package chatcompletions

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// Add implements [wire.Request].
func (r *request) Add(body []byte, a *adapter.Additions) []byte { return r.extend(body, a) }

// Continue implements [wire.Request].
func (r *request) Continue(body []byte, k *adapter.Continuation) []byte {
	return r.extend(body, &k.Additions, r.assistant(k), prompt(k))
}

// extend returns the body with additions, and with the messages of a
// continuation, if there are any.
func (r *request) extend(body []byte, a *adapter.Additions, messages ...[]byte) []byte {
	var list, tools, choice, rest rawjson.Edits // each of the last member of that name, which counts
	s := rawjson.Over(body)
	for name := range s.Members() {
		switch name {
		case "messages":
			list = list[:0]
			attach(&list, s, a)
			if len(messages) > 0 {
				list.Append(&s, messages...)
			}
		case "tools":
			tools = tools[:0]
			if a.PauseTool != nil {
				tools.Append(&s, rawjson.Object("type", "function", "function", toolOf(a.PauseTool)))
			}
		case "tool_choice":
			choice = choice[:0]
			if a.PauseTool != nil {
				allow(&choice, &s, a.PauseTool.Name)
			}
		default:
			if len(messages) > 0 {
				r.withhold(&rest, body, name, &s)
			}
		}
	}
	return slices.Concat(list, tools, choice, rest).Apply(body)
}

// withhold changes or removes a member that a continuation must not repeat. The
// provider must not store the continuation, and metadata is allowed only with
// store true. The prediction is for another answer.
func (r *request) withhold(e *rawjson.Edits, body []byte, name string, s *rawjson.Scanner) {
	from := s.KeyAt()
	switch {
	case name == "store" && r.stored:
		raw := s.Raw()
		e.Replace(s.At()-len(raw), s.At(), []byte("false"))
	case name == "prediction", name == "metadata" && r.stored:
		s.Skip()
		e.Remove(body, from, s.At())
	}
}

// allow adds a tool to the allowed tools, if the next value in s is a tool
// choice with allowed tools.
func allow(e *rawjson.Edits, s *rawjson.Scanner, tool string) {
	for kind := range s.Members() {
		if kind != "allowed_tools" {
			continue
		}
		for name := range s.Members() {
			if name == "tools" {
				e.Append(s, rawjson.Object("function", map[string]string{"name": tool}, "type", "function"))
			}
		}
	}
}

// assistant returns the message with the model's answer so far.
func (r *request) assistant(k *adapter.Continuation) []byte {
	m := []byte(`{"role":"assistant"`)
	if k.Text != "" || k.Pause == nil { // some refuse an empty text beside a call
		m = rawjson.AppendQuote(append(m, `,"content":`...), k.Text)
	}
	if k.Reasoning != "" {
		for i, carried := range r.reasoning {
			if carried {
				m = rawjson.AppendQuote(append(m, `,"`+reasoningNames[i]+`":`...), k.Reasoning)
			}
		}
	}
	if p := k.Pause; p != nil {
		function := rawjson.Object("name", p.Name, "arguments", p.Arguments)
		call := rawjson.Object("id", p.ID, "type", "function", "function", json.RawMessage(function))
		m = append(append(append(m, `,"tool_calls":[`...), call...), ']')
	}
	return append(m, '}')
}

// prompt returns the message with carryon's prompt, or with the result of the
// model's call of todo_pause.
func prompt(k *adapter.Continuation) []byte {
	if p := k.Pause; p != nil {
		return rawjson.Object("role", "tool", "tool_call_id", p.ID, "content", p.Result)
	}
	return rawjson.Object("role", "user", "content", k.Prompt)
}

func toolOf(tool *adapter.PauseTool) json.RawMessage {
	members := []any{"name", tool.Name, "description", tool.Description, "parameters", json.RawMessage(tool.Schema)}
	if tool.Strict {
		members = append(members, "strict", true)
	}
	return rawjson.Object(members...)
}

// attach joins attachments to the messages, which are the next value in s.
func attach(e *rawjson.Edits, s rawjson.Scanner, a *adapter.Additions) {
	if len(a.Attachments) == 0 {
		return
	}
	texts := maps.Collect(a.ByMessage())
	for at := range s.Elements() {
		if more := texts[at]; len(more) > 0 && s.Kind() == '{' {
			attachTo(e, &s, more)
		}
	}
}

// attachTo reads a message and joins texts to it.
func attachTo(e *rawjson.Edits, s *rawjson.Scanner, texts []string) {
	hasContent := false
	for name := range s.Members() {
		if name != "content" {
			continue
		}
		hasContent = true
		content := *s
		if takesText(s.Raw()) {
			addTexts(e, content, s.At(), texts)
		}
	}
	if !hasContent {
		e.Insert(s.At()-1, append([]byte(`,"content":`), rawjson.Quote(strings.Join(texts, ""))...))
	}
}

// addTexts adds texts to the content that is next in s and ends at an offset.
func addTexts(e *rawjson.Edits, s rawjson.Scanner, end int, texts []string) {
	quoted := rawjson.Quote(strings.Join(texts, ""))
	switch s.Kind() {
	case '[':
		parts := make([][]byte, len(texts))
		for i, text := range texts {
			parts[i] = rawjson.Object("type", "text", "text", text)
		}
		e.Append(&s, parts...)
	case '"':
		e.Insert(end-1, quoted[1:len(quoted)-1])
	default:
		e.Replace(s.At(), end, quoted)
	}
}
