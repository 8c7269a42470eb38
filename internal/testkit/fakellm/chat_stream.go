package fakellm

import (
	"encoding/json"
	"strings"
)

const promptFilterResults = `[{"prompt_index":0,"content_filter_results":{}}]`

// deltas returns the deltas of the chunks up to the finish reason.
func (a answer) deltas(number int) []chatMessage {
	list := []chatMessage{{Role: "assistant", Content: quoted("")}}
	for _, piece := range strings.SplitAfter(a.reasoning, " ") {
		if piece != "" {
			list = append(list, chatMessage{ReasoningContent: piece})
		}
	}
	text, calls := a.textDeltas(), a.callDeltas(number)
	if a.quirks.has(TextLast) {
		text, calls = calls, text
	}
	list = append(append(list, text...), calls...)
	if a.quirks.has(OneChunk) {
		return []chatMessage{merged(list)}
	}
	return list
}

func (a answer) textDeltas() []chatMessage {
	var list []chatMessage
	for _, piece := range a.text {
		list = append(list, chatMessage{Content: quoted(piece)})
	}
	if a.refusal != "" {
		list = append(list, chatMessage{Refusal: a.refusal})
	}
	return list
}

func (a answer) callDeltas(number int) []chatMessage {
	var list []chatMessage
	for _, round := range a.callsInRounds(number) {
		if a.quirks.has(Batched) && !a.quirks.has(Legacy) {
			list = append(list, chatMessage{ToolCalls: round})
			continue
		}
		for _, f := range round {
			m := chatMessage{ToolCalls: []chatCall{f}}
			if a.quirks.has(Legacy) {
				m = chatMessage{FunctionCall: &f.Function}
			}
			list = append(list, m)
		}
	}
	return list
}

// merged returns one message with the content of all deltas. Their calls must be whole.
func merged(deltas []chatMessage) chatMessage {
	m := chatMessage{Role: "assistant"}
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
func (a answer) finishReason() *string {
	reason := a.finish
	switch {
	case a.quirks.has(NoFinish):
		return nil
	case reason != "":
	case len(a.calls) == 0:
		reason = "stop"
	case a.quirks.has(Legacy):
		reason = "function_call"
	default:
		reason = "tool_calls"
	}
	return &reason
}

func (a answer) withFinish(list []chatChunk, e chatEnvelope) []chatChunk {
	reason := a.finishReason()
	if reason == nil {
		return list
	}
	if !a.quirks.has(OneChunk | FinishWithText) {
		list = append(list, e.delta(chatMessage{}))
	}
	list[len(list)-1].Choices[0].FinishReason = reason
	if a.quirks.has(FinishTwice) {
		again := e.delta(chatMessage{Content: quoted("")})
		again.Choices[0].FinishReason = reason
		list = append(list, again)
	}
	if a.quirks.has(NullFinishLast) {
		list = append(list, e.delta(chatMessage{Content: quoted("")}))
	}
	return list
}

func (a answer) withUsage(list []chatChunk, e chatEnvelope) []chatChunk {
	q := a.quirks
	switch {
	case a.usage.none:
		return list
	case q.has(UsageEveryChunk):
		for i := range list {
			list[i].Usage = a.usage.chatJSON(i+1, len(list))
		}
	case q.has(UsageOnFinish | OneChunk | UsageTwice):
		list[len(list)-1].Usage = a.usage.chatJSON(1, 1)
	case e.usage:
		for i := range list {
			list[i].Usage = json.RawMessage("null")
		}
	}
	if q.has(UsageTwice) || e.usage && !q.has(UsageEveryChunk|UsageOnFinish|OneChunk) {
		trailing := e.chunk("chat.completion.chunk")
		trailing.Usage = a.usage.chatJSON(1, 1)
		list = append(list, trailing)
	}
	return list
}

const (
	defaultPromptTokens     = 10
	defaultCompletionTokens = 5
)

// json is the usage, which of writes from the numbers unless it is literal; nil for none.
func (u usage) json(of func(prompt, completion int) json.RawMessage) json.RawMessage {
	switch {
	case u.none:
		return nil
	case u.literal != "":
		return json.RawMessage(u.literal)
	case !u.set:
		return of(defaultPromptTokens, defaultCompletionTokens)
	}
	return of(u.prompt, u.completion)
}

// chatJSON is the usage that one of the chunks reports: it counts the part of the completion sent so far.
func (u usage) chatJSON(chunk, chunks int) json.RawMessage {
	return u.json(func(prompt, completion int) json.RawMessage {
		spent := completion * chunk / chunks
		return json.RawMessage(marshal(chatUsage{Prompt: prompt, Completion: spent, Total: prompt + spent}))
	})
}

// withIdentity applies the quirks that concern ids.
func (a answer) withIdentity(list []chatChunk) []chatChunk {
	if a.quirks.has(ChangeID) {
		for i := range list[1:] {
			list[i+1].ID += "-changed"
		}
	}
	if a.quirks.has(AzureFirst) {
		first := chatChunk{Choices: []chatChoice{}, PromptFilter: json.RawMessage(promptFilterResults)}
		list = append([]chatChunk{first}, list...)
	}
	return list
}
