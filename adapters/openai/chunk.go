package openai

import (
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/middleware"
)

// chunks is the dialect of streams.
type chunks struct {
	ledger

	first    openai.ChatCompletionStreamResponse // its envelope
	anchored bool                                // first has an id
}

// Read implements [middleware.Dialect].
func (d *chunks) Read(c *openai.ChatCompletionStreamResponse, s *middleware.Sink) {
	d.anchor(c)
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			s.OtherChoice()
			continue
		}
		delta := &choice.Delta
		s.Text(delta.Content)
		s.Reasoning(delta.ReasoningContent)
		if delta.Refusal != "" {
			s.Refusal()
		}
		if delta.FunctionCall != nil {
			s.LegacyCall()
		}
		readCalls(delta.ToolCalls, s)
		if choice.FinishReason != openai.FinishReasonNull {
			s.Finish(string(choice.FinishReason))
		}
	}
	if c.Usage != nil {
		s.Usage(d.read(*c.Usage))
	}
}

// anchor takes the envelope from the first chunk that has an id; some
// providers begin with one that has not.
func (d *chunks) anchor(c *openai.ChatCompletionStreamResponse) {
	if d.anchored {
		return
	}
	d.anchored = c.ID != ""
	d.first.ID, d.first.Object, d.first.Created, d.first.Model = c.ID, c.Object, c.Created, c.Model
}

func readCalls(calls []openai.ToolCall, s *middleware.Sink) {
	for i := range calls {
		index := middleware.NoIndex
		if calls[i].Index != nil {
			index = *calls[i].Index
		}
		s.Call(index, calls[i].ID, calls[i].Function.Name, calls[i].Function.Arguments)
	}
}

// Write implements [middleware.Dialect].
func (d *chunks) Write(c *openai.ChatCompletionStreamResponse, e *middleware.Edit) bool {
	c.ID, c.Object, c.Created, c.Model = d.first.ID, d.first.Object, d.first.Created, d.first.Model
	if e.Later {
		c.PromptAnnotations, c.PromptFilterResults = nil, nil
	}
	c.Usage = d.show(e.Usage, c.Usage)
	if e.Bare {
		c.Choices = []openai.ChatCompletionStreamChoice{}
		return c.Usage != nil
	}
	at := slices.IndexFunc(c.Choices, func(choice openai.ChatCompletionStreamChoice) bool { return choice.Index == 0 })
	if at < 0 {
		if e.Text == "" && e.Finish == "" {
			return c.Usage != nil
		}
		c.Choices = append(c.Choices, openai.ChatCompletionStreamChoice{})
		at = len(c.Choices) - 1
	}
	return writeChoice(&c.Choices[at], e) || c.Usage != nil || len(c.Choices) > 1
}

// writeChoice reports whether anything is left to show.
func writeChoice(choice *openai.ChatCompletionStreamChoice, e *middleware.Edit) bool {
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
	delta.ToolCalls = writeCalls(delta.ToolCalls, e)
	return e.Text != "" || e.Finish != "" || len(delta.ToolCalls) > 0 ||
		delta.ReasoningContent != "" || delta.Refusal != "" || delta.FunctionCall != nil
}

// writeCalls returns the calls that are to be shown, as the edit says.
func writeCalls(calls []openai.ToolCall, e *middleware.Edit) []openai.ToolCall {
	var kept []openai.ToolCall
	for i, call := range calls {
		edit := e.Call(i)
		if edit.Drop {
			continue
		}
		if edit.Rewrite {
			if call.Index = &edit.Index; edit.First {
				call.Type = openai.ToolTypeFunction
			} else {
				call.Type = ""
			}
		}
		kept = append(kept, call)
	}
	return kept
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
