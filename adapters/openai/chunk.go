package openai

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
)

// chunks is the dialect of streams.
type chunks struct {
	usageTotals

	envelope adapter.Envelope[envelope]
}

// envelope has the fields that the joined answer takes from the first turn, in
// every chunk.
type envelope struct {
	id, object, model string
	created           int64
	header            http.Header // of whole answers: a stream has its own
}

func newChunks() *chunks { return &chunks{usageTotals: newUsageTotals()} }

// Read implements [adapter.Dialect].
func (d *chunks) Read(c *openai.ChatCompletionStreamResponse, t adapter.TurnReader) {
	d.envelope.Take(envelope{c.ID, c.Object, c.Model, c.Created, nil}, c.ID != "")
	for i := range c.Choices {
		choice := &c.Choices[i]
		readChoice(t, choice.Index, &openai.ChatCompletionMessage{
			Content:          choice.Delta.Content,
			ReasoningContent: choice.Delta.ReasoningContent,
			Refusal:          choice.Delta.Refusal,
			FunctionCall:     choice.Delta.FunctionCall,
			ToolCalls:        choice.Delta.ToolCalls,
		}, choice.FinishReason, callFragment)
	}
	if c.Usage != nil {
		d.SetTurn(*c.Usage)
		t.Usage(counts(c.Usage))
	}
}

// callFragment returns the index of the call that a fragment belongs to.
func callFragment(_ int, call *openai.ToolCall) int {
	if call.Index == nil {
		return adapter.NoIndex
	}
	return *call.Index
}

// readChoice reports a choice: its message, or what a chunk adds to it. indexOf
// returns the index of the call that is number at in the message.
func readChoice(
	t adapter.TurnReader, index int, m *openai.ChatCompletionMessage, finish openai.FinishReason,
	indexOf func(at int, call *openai.ToolCall) int,
) {
	if index != 0 {
		t.OtherChoice()
		if len(m.ToolCalls) > 0 || m.FunctionCall != nil {
			t.OtherCall()
		}
		return
	}
	t.Text(textOf(m))
	t.Reasoning(m.ReasoningContent)
	if m.Refusal != "" {
		t.Refusal()
	}
	if m.FunctionCall != nil {
		t.OtherCall()
	}
	for at := range m.ToolCalls {
		call := &m.ToolCalls[at]
		t.Call(indexOf(at, call), call.ID, call.Function.Name, call.Function.Arguments)
	}
	if finish != openai.FinishReasonNull {
		t.Finish(string(finish))
	}
}

// AppendShown implements [adapter.Dialect].
func (d *chunks) AppendShown(
	dst []openai.ChatCompletionStreamResponse, c *openai.ChatCompletionStreamResponse, e *adapter.Edit,
) []openai.ChatCompletionStreamResponse {
	if e.Part == adapter.AnswerEnd {
		return dst // the SDK reads "[DONE]" itself
	}
	first := &d.envelope.First
	c.ID, c.Object, c.Created, c.Model = first.id, first.object, first.created, first.model
	if e.Continuation {
		c.PromptAnnotations, c.PromptFilterResults = nil, nil
	}
	c.Usage = d.Shown(e.Usage, c.Usage)
	left := c.Usage != nil
	if e.Part == adapter.UsageOnly {
		c.Choices = []openai.ChatCompletionStreamChoice{}
	} else {
		left = editChoices(c, e) || left
	}
	if !left {
		return dst
	}
	return append(dst, *c)
}

// editChoices applies the edit and reports whether anything is left to show.
// The edit's text and finish reason go into the first choice with index 0: some
// providers send several of them in a chunk.
func editChoices(c *openai.ChatCompletionStreamResponse, e *adapter.Edit) bool {
	edit, calls, left, shown := *e, 0, false, false
	if e.Part == adapter.Synthetic {
		c.Choices = slices.DeleteFunc(c.Choices, func(choice openai.ChatCompletionStreamChoice) bool {
			return choice.Index != 0
		})
	}
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			left = true
			continue
		}
		if editChoice(&c.Choices[i], &edit, &calls) {
			left = true
		}
		edit.Text, edit.Finish, edit.PlainStop, shown = "", "", false, true
	}
	if !shown && (e.Text != "" || e.FinishOr(stop) != "") {
		c.Choices = append(c.Choices, openai.ChatCompletionStreamChoice{})
		return editChoice(&c.Choices[len(c.Choices)-1], e, &calls)
	}
	return left
}

// stop is the finish reason of a turn that simply stopped.
const stop = string(openai.FinishReasonStop)

// editChoice applies the edit to one choice and reports whether anything is
// left to show. calls counts the calls of the chunk, over all its choices.
func editChoice(choice *openai.ChatCompletionStreamChoice, e *adapter.Edit, calls *int) bool {
	finish := e.FinishOr(stop)
	choice.FinishReason = openai.FinishReason(finish)
	if e.Part == adapter.Synthetic {
		choice.Delta = openai.ChatCompletionStreamChoiceDelta{Content: e.Text}
		choice.Logprobs = nil
		return e.Text != "" || finish != ""
	}
	delta := &choice.Delta
	delta.Content = e.Text
	if delta.ReasoningContent != "" {
		delta.ReasoningContent = e.ReasoningSeparator + delta.ReasoningContent
	}
	if e.Continuation {
		delta.Role = ""
	}
	var kept []openai.ToolCall
	for _, call := range delta.ToolCalls {
		if edit := e.Call(*calls); !edit.Drop {
			kept = append(kept, editCall(call, edit))
		}
		*calls++
	}
	delta.ToolCalls = kept
	return e.Text != "" || finish != "" || len(kept) > 0 || delta.Role != "" ||
		delta.ReasoningContent != "" || delta.Refusal != "" || delta.FunctionCall != nil
}

func editCall(call openai.ToolCall, edit adapter.CallEdit) openai.ToolCall {
	if !edit.Rewrite {
		return call
	}
	kind := cmp.Or(call.Type, openai.ToolTypeFunction)
	call.Index, call.Type = &edit.Index, ""
	if edit.First {
		call.Type = kind
	}
	return call
}

// Clone implements [adapter.Dialect].
func (d *chunks) Clone(c *openai.ChatCompletionStreamResponse) openai.ChatCompletionStreamResponse {
	clone := *c
	clone.Choices = slices.Clone(c.Choices)
	for i := range clone.Choices {
		clone.Choices[i].Delta.ToolCalls = slices.Clone(clone.Choices[i].Delta.ToolCalls)
	}
	return clone
}

// EndTurn implements [adapter.Dialect].
func (d *chunks) EndTurn(keep bool) {
	d.envelope.Fix()
	d.usageTotals.EndTurn(keep)
}
