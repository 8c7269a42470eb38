package hostile

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Protocol is a wire protocol.
type Protocol int

// The protocols.
const (
	ChatCompletions Protocol = iota
	Messages
	Responses
	Gemini
	protocols // how many there are
)

// String returns the name of the protocol.
func (p Protocol) String() string {
	return [...]string{"Chat Completions", "Messages", "Responses", "Gemini"}[p]
}

// Path returns the path of the protocol's requests.
func (p Protocol) Path() string {
	return [...]string{"/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1beta/models/m:streamGenerateContent"}[p]
}

// event is an event of a stream.
type event struct{ name, data string }

// object encodes members, which are names and values in turn. A value of type raw is
// JSON.
func object(members ...any) string {
	var b strings.Builder
	for i := 0; i < len(members); i += 2 {
		value, err := json.Marshal(members[i+1])
		if err != nil {
			panic("carryon/internal/testkit/hostile: " + err.Error())
		}
		fmt.Fprintf(&b, `,%q:%s`, members[i], value)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

type raw = json.RawMessage

// events returns the events of an answer.
func (p Protocol) events(s script, turn int) []event {
	switch p {
	case Messages:
		return messagesEvents(s, turn)
	case Responses:
		return responsesEvents(s, turn)
	case Gemini:
		return geminiEvents(s, turn)
	case ChatCompletions, protocols:
	}
	return chatEvents(s, turn)
}

func chatEvents(s script, turn int) []event {
	var list []event
	add := func(delta, finish string) {
		choice := object("index", 0, "delta", raw(delta), "finish_reason", raw(finish))
		list = append(list, event{"", object("id", fmt.Sprintf("chatcmpl-%d", turn), "object", "chat.completion.chunk", "created", turn, "model", "m",
			"choices", raw("["+choice+"]"))})
	}
	add(`{"role":"assistant","content":""}`, "null")
	calls := 0
	for _, p := range s {
		if p.isCall() {
			add(`{"tool_calls":[`+object("index", calls, "id", p.id, "type", "function", "function", raw(object("name", p.name, "arguments", "")))+`]}`, "null")
		}
		for _, piece := range p.pieces {
			switch {
			case p.isCall():
				add(`{"tool_calls":[`+object("index", calls, "function", raw(object("arguments", piece)))+`]}`, "null")
			case p.kind == thought:
				add(object("reasoning_content", piece), "null")
			default:
				add(object("content", piece), "null")
			}
		}
		if p.isCall() {
			calls++
		}
	}
	finish := `"stop"`
	if calls > 0 {
		finish = `"tool_calls"`
	}
	add("{}", finish)
	usage := object("prompt_tokens", 10*turn, "completion_tokens", turn, "total_tokens", 11*turn)
	list = append(list, event{"", object("id", fmt.Sprintf("chatcmpl-%d", turn), "object", "chat.completion.chunk", "created", turn, "model", "m",
		"choices", raw("[]"), "usage", raw(usage))})
	return append(list, event{"", "[DONE]"})
}

func messagesEvents(s script, turn int) []event {
	var list []event
	add := func(kind string, members ...any) {
		list = append(list, event{kind, object(append([]any{"type", kind}, members...)...)})
	}
	add("message_start", "message", raw(object("id", fmt.Sprintf("msg_%d", turn), "type", "message", "role", "assistant", "model", "m",
		"content", raw("[]"), "stop_reason", nil, "stop_sequence", nil, "usage", raw(object("input_tokens", 10*turn, "output_tokens", 1)))))
	for index, p := range s {
		block, kind, member := object("type", "text", "text", ""), "text_delta", "text"
		switch {
		case p.isCall():
			block, kind, member = object("type", "tool_use", "id", p.id, "name", p.name, "input", raw("{}")), "input_json_delta", "partial_json"
		case p.kind == thought:
			block, kind, member = object("type", "thinking", "thinking", "", "signature", ""), "thinking_delta", "thinking"
		}
		add("content_block_start", "index", index, "content_block", raw(block))
		for _, piece := range p.pieces {
			add("content_block_delta", "index", index, "delta", raw(object("type", kind, member, piece)))
		}
		add("content_block_stop", "index", index)
	}
	reason := "end_turn"
	if s.calls() {
		reason = "tool_use"
	}
	add("message_delta", "delta", raw(object("stop_reason", reason, "stop_sequence", nil)), "usage", raw(object("output_tokens", turn)))
	add("message_stop")
	return list
}

func responsesEvents(s script, turn int) []event {
	var list []event
	add := func(kind string, members ...any) {
		list = append(list, event{kind, object(append([]any{"type", kind, "sequence_number", len(list)}, members...)...)})
	}
	response := func(status string, output []string, more ...any) raw {
		return raw(object(append([]any{
			"id", fmt.Sprintf("resp_%d", turn), "object", "response", "created_at", turn, "status", status, "model", "m",
			"output", raw("[" + strings.Join(output, ",") + "]"),
		}, more...)...))
	}
	add("response.created", "response", response("in_progress", nil))
	var output []string
	for index, p := range s {
		id := fmt.Sprintf("item_%d_%d", turn, index)
		switch {
		case p.isCall():
			item := func(status, arguments string) raw {
				return raw(object("id", id, "type", "function_call", "status", status, "call_id", p.id, "name", p.name, "arguments", arguments))
			}
			add("response.output_item.added", "output_index", index, "item", item("in_progress", ""))
			for _, piece := range p.pieces {
				add("response.function_call_arguments.delta", "item_id", id, "output_index", index, "delta", piece)
			}
			add("response.function_call_arguments.done", "item_id", id, "output_index", index, "arguments", p.whole())
			add("response.output_item.done", "output_index", index, "item", item("completed", p.whole()))
			output = append(output, string(item("completed", p.whole())))
		case p.kind == thought:
			item := raw(object("id", id, "type", "reasoning", "summary", raw("[]")))
			add("response.output_item.added", "output_index", index, "item", item)
			add("response.output_item.done", "output_index", index, "item", item)
			output = append(output, string(item))
		default:
			output = append(output, responsesMessage(add, p, id, index))
		}
	}
	usage := object("input_tokens", 10*turn, "output_tokens", turn, "total_tokens", 11*turn)
	add("response.completed", "response", response("completed", output, "usage", raw(usage)))
	return list
}

// responsesMessage adds the events of a message, and returns the message.
func responsesMessage(add func(kind string, members ...any), p part, id string, index int) string {
	content := func(text string) raw {
		return raw(object("type", "output_text", "text", text, "annotations", raw("[]")))
	}
	item := func(status, parts string) raw {
		return raw(object("id", id, "type", "message", "status", status, "role", "assistant", "content", raw("["+parts+"]")))
	}
	at := []any{"item_id", id, "output_index", index, "content_index", 0}
	add("response.output_item.added", "output_index", index, "item", item("in_progress", ""))
	add("response.content_part.added", append(at, "part", content(""))...)
	for _, piece := range p.pieces {
		add("response.output_text.delta", append(at, "delta", piece)...)
	}
	add("response.output_text.done", append(at, "text", p.whole())...)
	add("response.content_part.done", append(at, "part", content(p.whole()))...)
	whole := item("completed", string(content(p.whole())))
	add("response.output_item.done", "output_index", index, "item", whole)
	return string(whole)
}

// geminiEvents returns events of which each is an answer of its own. A call is never in
// pieces.
func geminiEvents(s script, turn int) []event {
	var list []event
	add := func(part string, finish ...any) {
		candidate := object(append([]any{"content", raw(object("parts", raw("["+part+"]"), "role", "model"))}, append(finish, "index", 0)...)...)
		usage := object("promptTokenCount", 10*turn, "candidatesTokenCount", turn, "totalTokenCount", 11*turn)
		list = append(list, event{"", object("candidates", raw("["+candidate+"]"), "usageMetadata", raw(usage), "modelVersion", "m",
			"responseId", fmt.Sprintf("resp_%d", turn))})
	}
	for _, p := range s {
		if p.isCall() {
			add(object("functionCall", raw(object("name", p.name, "args", raw(p.whole())))))
			continue
		}
		for _, piece := range p.pieces {
			if p.kind == thought {
				add(object("text", piece, "thought", true))
			} else {
				add(object("text", piece))
			}
		}
	}
	add(`{"text":""}`, "finishReason", "STOP")
	return list
}
