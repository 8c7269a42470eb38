package openai

import (
	"cmp"
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/middleware"
)

// chunks is the dialect of streams.
type chunks struct {
	ledger

	id, object, model string // of the first turn
	created           int64
	began             bool // a chunk was read
	anchored          bool // the first turn has given an id
}

func newChunks() *chunks { return &chunks{ledger: newLedger()} }

// Read implements [middleware.Dialect].
func (d *chunks) Read(c *openai.ChatCompletionStreamResponse, s *middleware.Sink) {
	d.anchor(c)
	for i := range c.Choices {
		if c.Choices[i].Index == 0 {
			readChoice(&c.Choices[i], s)
			continue
		}
		s.OtherChoice()
		if delta := &c.Choices[i].Delta; len(delta.ToolCalls) > 0 || delta.FunctionCall != nil {
			s.OtherCall()
		}
	}
	if c.Usage != nil {
		d.Note(*c.Usage)
		s.Usage(counts(c.Usage))
	}
}

func readChoice(choice *openai.ChatCompletionStreamChoice, s *middleware.Sink) {
	delta := &choice.Delta
	s.Text(delta.Content)
	s.Reasoning(delta.ReasoningContent)
	if delta.Refusal != "" {
		s.Refusal()
	}
	if delta.FunctionCall != nil {
		s.OtherCall()
	}
	for i := range delta.ToolCalls {
		call := &delta.ToolCalls[i]
		index := middleware.NoIndex
		if call.Index != nil {
			index = *call.Index
		}
		s.Call(index, call.ID, call.Function.Name, call.Function.Arguments)
	}
	if choice.FinishReason != openai.FinishReasonNull {
		s.Finish(string(choice.FinishReason))
	}
}

// anchor takes the envelope from the first chunk that has an id, or else from
// the first; some providers begin with one that has none.
func (d *chunks) anchor(c *openai.ChatCompletionStreamResponse) {
	if d.anchored {
		return
	}
	d.anchored = c.ID != ""
	if d.anchored || !d.began {
		d.began = true
		d.id, d.object, d.created, d.model = c.ID, c.Object, c.Created, c.Model
	}
}

// EndTurn implements [middleware.Dialect].
func (d *chunks) EndTurn(keep bool) {
	d.anchored = true // a first turn without an id leaves the others without one
	d.ledger.EndTurn(keep)
}

// Write implements [middleware.Dialect].
func (d *chunks) Write(c *openai.ChatCompletionStreamResponse, e *middleware.Edit) bool {
	c.ID, c.Object, c.Created, c.Model = d.id, d.object, d.created, d.model
	if e.Later {
		c.PromptAnnotations, c.PromptFilterResults = nil, nil
	}
	c.Usage = d.Show(e.Usage, c.Usage)
	if e.Bare {
		c.Choices = []openai.ChatCompletionStreamChoice{}
		return c.Usage != nil
	}
	if e.Rest {
		c.Choices = slices.DeleteFunc(c.Choices, func(choice openai.ChatCompletionStreamChoice) bool {
			return choice.Index != 0
		})
	}
	return d.writeChoices(c, e) || c.Usage != nil
}

// writeChoices reports whether anything is left to show. What the edit names is
// shown in the first choice 0; some providers send more than one in a chunk.
func (d *chunks) writeChoices(c *openai.ChatCompletionStreamResponse, e *middleware.Edit) bool {
	edit, calls, left, written := *e, 0, false, false
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			left = true
			continue
		}
		if writeChoice(&c.Choices[i], &edit, &calls) {
			left = true
		}
		edit.Text, edit.Finish, written = "", "", true
	}
	if !written && (e.Text != "" || e.Finish != "") {
		c.Choices = append(c.Choices, openai.ChatCompletionStreamChoice{})
		return writeChoice(&c.Choices[len(c.Choices)-1], e, &calls)
	}
	return left
}

// writeChoice reports whether anything is left to show. Calls counts the calls
// of the chunk, over all its choices.
func writeChoice(choice *openai.ChatCompletionStreamChoice, e *middleware.Edit, calls *int) bool {
	choice.FinishReason = openai.FinishReason(e.Finish)
	if e.Rest {
		choice.Delta = openai.ChatCompletionStreamChoiceDelta{Content: e.Text}
		choice.Logprobs = nil
		return e.Text != "" || e.Finish != ""
	}
	delta := &choice.Delta
	delta.Content = e.Text
	if e.Later {
		delta.Role = ""
	}
	var kept []openai.ToolCall
	for _, call := range delta.ToolCalls {
		if edit := e.Call(*calls); !edit.Drop {
			kept = append(kept, writeCall(call, edit))
		}
		*calls++
	}
	delta.ToolCalls = kept
	return e.Text != "" || e.Finish != "" || len(kept) > 0 || delta.Role != "" ||
		delta.ReasoningContent != "" || delta.Refusal != "" || delta.FunctionCall != nil
}

func writeCall(call openai.ToolCall, edit middleware.CallEdit) openai.ToolCall {
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

// Clone implements [middleware.Dialect].
func (d *chunks) Clone(c *openai.ChatCompletionStreamResponse) openai.ChatCompletionStreamResponse {
	clone := *c
	clone.Choices = slices.Clone(c.Choices)
	for i := range clone.Choices {
		clone.Choices[i].Delta.ToolCalls = slices.Clone(clone.Choices[i].Delta.ToolCalls)
	}
	return clone
}
