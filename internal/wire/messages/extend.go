package messages

import (
	"encoding/json"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// Add implements [wire.Request].
func (r *request) Add(body []byte, a *adapter.Additions) []byte { return extend(body, a) }

// Continue implements [wire.Request]. Nothing before the new messages changes,
// unless todo_pause or a note is added.
func (r *request) Continue(body []byte, k *adapter.Continuation) []byte {
	return extend(body, &k.Additions, assistant(k), prompt(k))
}

// extend returns the body with additions, and more messages.
func extend(body []byte, a *adapter.Additions, messages ...[]byte) []byte {
	var list, tools rawjson.Edits // of the last member of that name, which counts
	s := rawjson.Over(body)
	for name := range s.Members() {
		switch {
		case name == "messages":
			list = list[:0]
			attach(&list, s, a.Attachments)
			if len(messages) > 0 {
				list.Append(&s, messages...)
			}
		case name == "tools" && a.PauseTool != nil:
			tools = tools[:0]
			tools.Append(&s, toolOf(a.PauseTool))
		}
	}
	return append(list, tools...).Apply(body)
}

// assistant returns the message with the model's answer so far. It leaves out
// thinking, which the API allows at the end of a conversation.
func assistant(k *adapter.Continuation) []byte {
	var blocks []json.RawMessage
	if k.Text != "" {
		blocks = append(blocks, textBlock(k.Text))
	}
	if p := k.Pause; p != nil {
		blocks = append(blocks, rawjson.Object("type", typeToolUse, "id", p.ID, "name", p.Name, "input", json.RawMessage(p.Arguments)))
	}
	return rawjson.Object("role", "assistant", "content", blocks)
}

// prompt returns the message with carryon's prompt, or with the result of the
// model's call of todo_pause.
func prompt(k *adapter.Continuation) []byte {
	block := textBlock(k.Prompt)
	if p := k.Pause; p != nil {
		block = rawjson.Object("type", typeToolResult, "tool_use_id", p.ID, "content", p.Result, "is_error", true)
	}
	return rawjson.Object("role", "user", "content", []json.RawMessage{block})
}

func textBlock(text string) json.RawMessage {
	return append(rawjson.AppendQuote([]byte(`{"type":"text","text":`), text), '}')
}

func toolOf(tool *adapter.PauseTool) []byte {
	members := []any{"name", tool.Name, "description", tool.Description, "input_schema", json.RawMessage(tool.Schema)}
	if tool.Strict {
		members = append(members, "strict", true)
	}
	return rawjson.Object(members...)
}

// attach joins attachments to the messages, which are the next value in s.
func attach(e *rawjson.Edits, s rawjson.Scanner, attachments []adapter.Attachment) {
	if len(attachments) == 0 {
		return
	}
	for at := range s.Elements() {
		var texts []string
		for _, attachment := range attachments {
			if attachment.Message == at {
				texts = append(texts, attachment.Text)
			}
		}
		if len(texts) == 0 {
			continue
		}
		var content rawjson.Edits
		for name := range s.Members() {
			if name == "content" {
				content = content[:0]
				addTexts(&content, &s, texts)
			}
		}
		*e = append(*e, content...)
	}
}

// addTexts adds texts to the content that is next in s: to a string, or as
// blocks after all others, because tool results must come first.
func addTexts(e *rawjson.Edits, s *rawjson.Scanner, texts []string) {
	if s.Kind() == '"' {
		quoted := rawjson.Quote(strings.Join(texts, ""))
		s.Skip()
		e.Insert(s.At()-1, quoted[1:len(quoted)-1])
		return
	}
	blocks := make([][]byte, len(texts))
	for i, text := range texts {
		blocks[i] = textBlock(text)
	}
	e.Append(s, blocks...)
}
