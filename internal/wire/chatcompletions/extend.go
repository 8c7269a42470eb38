package chatcompletions

import (
	"encoding/json"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// Add implements [wire.Request].
func (r *request) Add(body []byte, a *adapter.Additions) []byte {
	var e rawjson.Edits
	s := rawjson.Over(body)
	for name := range s.Members() {
		addTo(&e, s, name, a)
	}
	return e.Apply(body)
}

// Continue implements [wire.Request].
func (r *request) Continue(body []byte, k *adapter.Continuation) []byte {
	var e rawjson.Edits
	s := rawjson.Over(body)
	for name := range s.Members() {
		addTo(&e, s, name, &k.Additions)
		from := s.KeyAt()
		switch name {
		case "messages":
			e.Append(&s, r.assistant(k), prompt(k))
		case "store":
			if raw := s.Raw(); string(raw) == "true" {
				e.Replace(s.At()-len(raw), s.At(), []byte("false"))
			}
		case "prediction":
			s.Skip()
			e.Remove(body, from, s.At())
		}
	}
	return e.Apply(body)
}

// addTo adds to a member of the request what is meant for it. The value of the
// member comes next in s.
func addTo(e *rawjson.Edits, s rawjson.Scanner, name string, a *adapter.Additions) {
	tool := a.PauseTool
	switch {
	case name == "messages" && len(a.Attachments) > 0:
		attach(e, &s, a.Attachments)
	case name == "tools" && tool != nil:
		e.Append(&s, rawjson.Object("type", "function", "function", toolOf(tool)))
	case name == "tool_choice" && tool != nil:
		for name := range s.Members() {
			if name == "allowed_tools" {
				allow(e, &s, tool.Name)
			}
		}
	}
}

// allow adds a tool to those that may be called.
func allow(e *rawjson.Edits, s *rawjson.Scanner, tool string) {
	for name := range s.Members() {
		if name == "tools" {
			e.Append(s, rawjson.Object("function", map[string]string{"name": tool}, "type", "function"))
		}
	}
}

// assistant returns the message with what the model has said so far.
func (r *request) assistant(k *adapter.Continuation) []byte {
	m := []byte(`{"role":"assistant"`)
	if k.Text != "" || k.Pause == nil { // some refuse an empty text beside a call
		m = rawjson.AppendQuote(append(m, `,"content":`...), k.Text)
	}
	if k.Reasoning != "" {
		for _, name := range r.reasoning {
			m = rawjson.AppendQuote(append(m, `,"`+name+`":`...), k.Reasoning)
		}
	}
	if p := k.Pause; p != nil {
		function := rawjson.Object("name", p.Name, "arguments", p.Arguments)
		call := rawjson.Object("id", p.ID, "type", "function", "function", json.RawMessage(function))
		m = append(append(append(m, `,"tool_calls":[`...), call...), ']')
	}
	return append(m, '}')
}

// prompt returns the message with what the model is asked, or with the answer to
// its call of todo_pause.
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

// attach joins attachments to the messages that come next in s.
func attach(e *rawjson.Edits, s *rawjson.Scanner, attachments []adapter.Attachment) {
	for at := range s.Elements() {
		var texts []string
		for _, attachment := range attachments {
			if attachment.Message == at {
				texts = append(texts, attachment.Text)
			}
		}
		if len(texts) > 0 && s.Kind() == '{' {
			attachTo(e, s, texts)
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

// addTexts adds texts to the content that comes next in s and ends at an offset.
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
