package fakellm

import (
	"encoding/json"
	"fmt"
	"strings"
)

// chatCompletions is OpenAI's Chat Completions.
type chatCompletions struct{}

func (chatCompletions) serves(path string) bool { return strings.HasSuffix(path, "/chat/completions") }

func (chatCompletions) crlf() bool { return false }

func (chatCompletions) terminator() event { return event{data: "[DONE]"} }

func (chatCompletions) literal(data string) event { return event{data: data} }

func (chatCompletions) failure(kind failureKind, text string) event {
	name := "invalid_request_error"
	if kind == serverError {
		name = "server_error"
	}
	return event{data: marshal(chatFailure{chatError{Message: text, Type: name}})}
}

func (chatCompletions) document(a answer, r Request, number int) string {
	m := chatMessage{
		Role: "assistant", Content: json.RawMessage("null"),
		ReasoningContent: a.reasoning, Refusal: a.refusal,
	}
	if text := strings.Join(a.text, ""); text != "" || len(a.calls) == 0 {
		m.Content = quoted(text)
	}
	plain := answer{quirks: WholeCalls | NoIndex | a.quirks&NoType}
	for _, c := range a.numberedCalls(number) {
		m.ToolCalls = append(m.ToolCalls, plain.fragments(c, 0)...)
	}
	if a.quirks.has(Legacy) && len(m.ToolCalls) > 0 {
		m.ToolCalls, m.FunctionCall = nil, &m.ToolCalls[0].Function
	}
	whole := newChatEnvelope(a, r, number).chunk("chat.completion", chatChoice{Message: &m, FinishReason: a.finishReason()})
	whole.Usage = a.usage.chatJSON(1, 1)
	return marshal(whole)
}

func (chatCompletions) stream(a answer, r Request, number int) []event {
	e := newChatEnvelope(a, r, number)
	var list []chatChunk
	for _, delta := range a.deltas(number) {
		list = append(list, e.delta(delta))
	}
	list = a.withFinish(list, e)
	if a.quirks.has(RoleEveryChunk) {
		for _, c := range list {
			c.Choices[0].Delta.Role = "assistant"
		}
	}
	list = a.withUsage(list, e)
	list = a.withIdentity(list)
	events := make([]event, 0, len(list))
	for _, c := range list {
		events = append(events, event{data: marshal(c)})
	}
	return events
}

// firstCreated is the "created" time of a request 0: the start of the year 2030.
const firstCreated = 1893456000

// chatEnvelope is what all chunks of an answer have in common.
type chatEnvelope struct {
	id      string
	created int64
	model   string
	usage   bool // the request asks a stream to report it
}

func newChatEnvelope(a answer, r Request, number int) chatEnvelope {
	e := chatEnvelope{
		id: fmt.Sprintf("chatcmpl-%d", number), created: firstCreated + int64(number),
		model: r.Model, usage: r.IncludeUsage,
	}
	if a.model != "" {
		e.model = a.model
	}
	if a.responseID != "" {
		e.id = a.responseID
	}
	return e
}

func (e chatEnvelope) chunk(object string, choices ...chatChoice) chatChunk {
	if choices == nil {
		choices = []chatChoice{}
	}
	return chatChunk{ID: e.id, Object: object, Created: e.created, Model: e.model, Choices: choices}
}

func (e chatEnvelope) delta(m chatMessage) chatChunk {
	return e.chunk("chat.completion.chunk", chatChoice{Delta: &m})
}
