package chatcompletions

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// Add implements [wire.Request].
func (r *request) Add(body []byte, a *adapter.Additions) []byte {
	var e rawjson.Edits
	m := membersOf(body)
	m.add(&e, a)
	return e.Apply(body)
}

// Continue implements [wire.Request].
func (r *request) Continue(body []byte, k *adapter.Continuation) []byte {
	var e rawjson.Edits
	m := membersOf(body)
	m.add(&e, &k.Additions)
	e.Append(&m.messages, r.assistant(k), prompt(k))
	unstore(&e, body)
	return e.Apply(body)
}

// unstore has the provider keep no copy of the continuation: metadata may stand
// only beside a store that is true. It also removes the prediction, which is of
// another answer.
func unstore(e *rawjson.Edits, body []byte) {
	stored := string(rawjson.Member(body, "store")) == "true"
	s := rawjson.Over(body)
	for name := range s.Members() {
		from := s.KeyAt()
		switch {
		case name == "store" && stored:
			raw := s.Raw()
			e.Replace(s.At()-len(raw), s.At(), []byte("false"))
		case name == "prediction", name == "metadata" && stored:
			s.Skip()
			e.Remove(body, from, s.At())
		}
	}
}

// members are the members of a request that carryon adds to, each at its value.
// Of several with one name it is the last, which counts.
type members struct{ messages, tools, toolChoice rawjson.Scanner }

func membersOf(body []byte) (m members) {
	s := rawjson.Over(body)
	for name := range s.Members() {
		switch name {
		case "messages":
			m.messages = s
		case "tools":
			m.tools = s
		case "tool_choice":
			m.toolChoice = s
		}
	}
	return m
}

// add adds what a request says beside a continuation's messages.
func (m members) add(e *rawjson.Edits, a *adapter.Additions) {
	if len(a.Attachments) > 0 {
		attach(e, &m.messages, a)
	}
	if tool := a.PauseTool; tool != nil {
		e.Append(&m.tools, rawjson.Object("type", "function", "function", toolOf(tool)))
		for name := range m.toolChoice.Members() {
			if name == "allowed_tools" {
				allow(e, &m.toolChoice, tool.Name)
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
func attach(e *rawjson.Edits, s *rawjson.Scanner, a *adapter.Additions) {
	texts := maps.Collect(a.ByMessage())
	for at := range s.Elements() {
		if more := texts[at]; len(more) > 0 && s.Kind() == '{' {
			attachTo(e, s, more)
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
