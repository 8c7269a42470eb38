package carryontest

import (
	"encoding/json"
	"strings"
)

const promptFilterResults = `[{"prompt_index":0,"content_filter_results":{}}]`

// envelope is what depends on the request: the rest of an answer is in its turn.
type envelope struct {
	number  int // of the request, from 1
	id      string
	created int64
	model   string
	usage   bool // a stream is to report it
}

func (e envelope) chunk(object string, choices ...choice) chunk {
	if choices == nil {
		choices = []choice{}
	}
	return chunk{ID: e.id, Object: object, Created: e.created, Model: e.model, Choices: choices}
}

func (e envelope) delta(m message) chunk {
	return e.chunk("chat.completion.chunk", choice{Delta: &m})
}

// completion is the answer in one piece.
func (t Turn) completion(e envelope) string {
	m := message{
		Role: "assistant", Content: json.RawMessage("null"),
		ReasoningContent: t.answer.reasoning, Refusal: t.answer.refusal,
	}
	if text := strings.Join(t.answer.text, ""); text != "" || len(t.answer.calls) == 0 {
		m.Content = quoted(text)
	}
	for _, c := range numbered(t.answer.calls, e.number) {
		f := c.fragments(shape{wholeCalls: true, noIndex: true, noType: t.shape.noType}, 0)
		m.ToolCalls = append(m.ToolCalls, f...)
	}
	if t.shape.legacy && len(m.ToolCalls) > 0 {
		m.ToolCalls, m.FunctionCall = nil, &m.ToolCalls[0].Function
	}
	whole := e.chunk("chat.completion", choice{Message: &m, FinishReason: t.finishReason()})
	whole.Usage = t.answer.usage.object()
	return marshal(whole)
}

// chunks is the answer as the data payloads of a stream.
func (t Turn) chunks(e envelope) []string {
	deltas := t.deltas(e.number)
	if t.shape.oneChunk {
		deltas = []message{merged(deltas)}
	}
	list := make([]chunk, 0, len(deltas)+4)
	for _, delta := range deltas {
		list = append(list, e.delta(delta))
	}
	list = t.withFinish(list, e)
	if t.shape.roleEveryChunk {
		for _, c := range list {
			c.Choices[0].Delta.Role = "assistant"
		}
	}
	list = t.withUsage(list, e)
	list = t.withIdentity(list)
	payloads := make([]string, 0, len(list))
	for _, c := range list {
		payloads = append(payloads, marshal(c))
	}
	return payloads
}

// deltas is what the chunks add, one by one, up to the finish.
func (t Turn) deltas(number int) []message {
	list := []message{{Role: "assistant", Content: quoted("")}}
	for _, piece := range strings.SplitAfter(t.answer.reasoning, " ") {
		if piece != "" {
			list = append(list, message{ReasoningContent: piece})
		}
	}
	var text []message
	for _, piece := range t.answer.text {
		text = append(text, message{Content: quoted(piece)})
	}
	if t.answer.refusal != "" {
		text = append(text, message{Refusal: t.answer.refusal})
	}
	calls := t.callDeltas(number)
	if t.shape.textLast {
		text, calls = calls, text
	}
	return append(append(list, text...), calls...)
}

func (t Turn) callDeltas(number int) []message {
	calls := numbered(t.answer.calls, number)
	if t.shape.legacy && len(calls) > 0 {
		calls = calls[:1]
	}
	var list []message
	for _, round := range rounds(calls, t.shape) {
		if t.shape.batched && !t.shape.legacy {
			list = append(list, message{ToolCalls: round})
			continue
		}
		for _, f := range round {
			m := message{ToolCalls: []fragment{f}}
			if t.shape.legacy {
				m = message{FunctionCall: &f.Function}
			}
			list = append(list, m)
		}
	}
	return list
}

// merged is one message that adds what all of them add. Their calls are whole.
func merged(deltas []message) message {
	m := message{Role: "assistant"}
	var text strings.Builder
	for _, d := range deltas {
		var piece string
		if json.Unmarshal(d.Content, &piece) == nil {
			text.WriteString(piece)
		}
		m.ReasoningContent += d.ReasoningContent
		m.Refusal += d.Refusal
		m.ToolCalls = append(m.ToolCalls, d.ToolCalls...)
		if d.FunctionCall != nil {
			m.FunctionCall = d.FunctionCall
		}
	}
	m.Content = quoted(text.String())
	return m
}

// finishReason is nil if none is reported.
func (t Turn) finishReason() *string {
	reason := t.answer.finish
	switch {
	case t.shape.noFinish:
		return nil
	case reason != "":
	case len(t.answer.calls) == 0:
		reason = "stop"
	case t.shape.legacy:
		reason = "function_call"
	default:
		reason = "tool_calls"
	}
	return &reason
}

func (t Turn) withFinish(list []chunk, e envelope) []chunk {
	reason := t.finishReason()
	if reason == nil {
		return list
	}
	if !t.shape.oneChunk && !t.shape.finishWithText {
		list = append(list, e.delta(message{}))
	}
	list[len(list)-1].Choices[0].FinishReason = reason
	if t.shape.finishTwice {
		again := e.delta(message{Content: quoted("")})
		again.Choices[0].FinishReason = reason
		list = append(list, again)
	}
	if t.shape.nullFinishLast {
		list = append(list, e.delta(message{Content: quoted("")}))
	}
	return list
}

func (t Turn) withUsage(list []chunk, e envelope) []chunk {
	s, u := t.shape, t.answer.usage
	last := &list[len(list)-1]
	switch {
	case u.none:
		return list
	case s.usageEveryChunk:
		for i := range list {
			list[i].Usage = u.soFar(i+1, len(list))
		}
	case s.usageOnFinish, s.oneChunk, s.usageTwice:
		last.Usage = u.object()
	case e.usage:
		for i := range list {
			list[i].Usage = json.RawMessage("null")
		}
	}
	if s.usageTwice || e.usage && !s.usageEveryChunk && !s.usageOnFinish && !s.oneChunk {
		trailing := e.chunk("chat.completion.chunk")
		trailing.Usage = u.object()
		list = append(list, trailing)
	}
	return list
}

// withIdentity applies what concerns ids.
func (t Turn) withIdentity(list []chunk) []chunk {
	if t.shape.changeID {
		for i := range list[1:] {
			list[i+1].ID += "-changed"
		}
	}
	if t.shape.azureFirst {
		first := chunk{Choices: []choice{}, PromptFilter: json.RawMessage(promptFilterResults)}
		list = append([]chunk{first}, list...)
	}
	return list
}
