package fakellm

import (
	"encoding/json"
	"fmt"
	"strings"
)

// messages is Anthropic's Messages.
type messages struct{}

func (messages) serves(path string) bool { return strings.HasSuffix(path, "/messages") }

func (messages) crlf() bool { return false }

func (messages) terminator() event { return typed("message_stop") }

func (messages) literal(data string) event {
	var typed struct{ Type string }
	_ = json.Unmarshal([]byte(data), &typed) // a literal need not be JSON
	return event{typed.Type, data}
}

func (messages) failure(kind failureKind, text string) event {
	name := "invalid_request_error"
	if kind == serverError {
		name = "api_error"
	}
	return typed("error", "error", object("type", name, "message", text))
}

func (messages) document(a answer, r Request, number int) string {
	blocks := a.contentBlocks(r, number)
	content := make([]json.RawMessage, 0, len(blocks))
	for _, b := range blocks {
		content = append(content, b.whole)
	}
	return marshal(a.message(r, number, content, a.stopReason(), a.usage.messagesJSON()))
}

// message is the message of an answer. A nil usage is none.
func (a answer) message(r Request, number int, content []json.RawMessage, reason any, usage json.RawMessage) json.RawMessage {
	id, model := fmt.Sprintf("msg_%d", number), r.Model
	if a.model != "" {
		model = a.model
	}
	if a.responseID != "" {
		id = a.responseID
	}
	members := []any{
		"id", id, "type", "message", "role", "assistant", "model", model,
		"content", content, "stop_reason", reason, "stop_sequence", nil,
	}
	if usage != nil {
		members = append(members, "usage", usage)
	}
	return object(members...)
}

// stopReason is nil if none is reported.
func (a answer) stopReason() any {
	switch {
	case a.quirks.has(NoFinish):
		return nil
	case a.finish != "":
		return a.finish
	case a.refusal != "":
		return "refusal"
	case len(a.calls) > 0 && !a.quirks.has(EndTurn):
		return "tool_use"
	}
	return "end_turn"
}

// messagesJSON is the usage at the end of an answer; nil for none.
func (u usage) messagesJSON() json.RawMessage {
	return u.json(func(prompt, completion int) json.RawMessage {
		return object("input_tokens", prompt, "output_tokens", completion)
	})
}

// contentBlock is a block of an answer: in one piece, and as a stream sends it.
type contentBlock struct {
	kind         string
	whole, start json.RawMessage
	deltas       []json.RawMessage
}

func (a answer) contentBlocks(r Request, number int) []contentBlock {
	var list, calls []contentBlock
	if a.reasoning != "" {
		list = append(list, a.thinkingBlock(signatureFor(r.Body)))
	}
	for _, c := range a.numberedCalls(number) {
		calls = append(calls, a.callBlock(c))
	}
	text := a.textBlocks()
	if a.quirks.has(TextLast) {
		text, calls = calls, text
	}
	return append(append(list, text...), calls...)
}

func (a answer) thinkingBlock(signature string) contentBlock {
	text := a.reasoning
	if a.quirks.has(Omitted) {
		text = ""
	}
	b := contentBlock{kind: "thinking"}
	for _, piece := range strings.SplitAfter(text, " ") {
		if piece != "" {
			b.deltas = append(b.deltas, object("type", "thinking_delta", "thinking", piece))
		}
	}
	if a.quirks.has(Unsigned) {
		b.whole, b.start = object("type", b.kind, "thinking", text), object("type", b.kind, "thinking", "")
		return b
	}
	b.whole = object("type", b.kind, "thinking", text, "signature", signature)
	b.start = object("type", b.kind, "thinking", "", "signature", "")
	b.deltas = append(b.deltas, object("type", "signature_delta", "signature", signature))
	return b
}

func (a answer) textBlocks() []contentBlock {
	pieces := append(append([]string{}, a.text...), a.refusal)
	text := strings.Join(pieces, "")
	if text == "" {
		return nil
	}
	b := contentBlock{kind: "text", whole: object("type", "text", "text", text), start: object("type", "text", "text", "")}
	for _, piece := range pieces {
		if piece != "" {
			b.deltas = append(b.deltas, object("type", "text_delta", "text", piece))
		}
	}
	return []contentBlock{b}
}

func (a answer) callBlock(c call) contentBlock {
	input := json.RawMessage("{}")
	if json.Valid([]byte(c.arguments)) {
		input = json.RawMessage(c.arguments)
	}
	b := contentBlock{
		kind:  "tool_use",
		whole: object("type", "tool_use", "id", c.id, "name", c.name, "input", input),
		start: object("type", "tool_use", "id", c.id, "name", c.name, "input", object()),
	}
	pieces := append([]string{""}, cut(c.arguments)...)
	if a.quirks.has(WholeCalls) {
		pieces = []string{c.arguments}
	}
	for _, piece := range pieces {
		b.deltas = append(b.deltas, object("type", "input_json_delta", "partial_json", piece))
	}
	return b
}
