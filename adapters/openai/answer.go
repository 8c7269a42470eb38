package openai

import (
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/middleware"
)

// answers is the dialect of whole answers.
type answers struct {
	ledger

	first     openai.ChatCompletionResponse // its envelope
	began     bool
	reasoning []string // of the turns kept
	pending   string   // of the turn at hand
}

func newAnswers() *answers { return &answers{ledger: newLedger()} }

// Read implements [middleware.Dialect].
func (d *answers) Read(a *openai.ChatCompletionResponse, s *middleware.Sink) {
	if !d.began {
		d.began = true
		d.first.ID, d.first.Object, d.first.Created, d.first.Model = a.ID, a.Object, a.Created, a.Model
		d.first.SetHeader(a.Header())
	}
	d.pending = ""
	for i := range a.Choices {
		if i == 0 {
			d.readChoice(&a.Choices[i], s)
			continue
		}
		s.OtherChoice()
		if m := &a.Choices[i].Message; len(m.ToolCalls) > 0 || m.FunctionCall != nil {
			s.OtherCall()
		}
	}
	if a.Usage != (openai.Usage{}) {
		d.Note(a.Usage)
		s.Usage(counts(&a.Usage))
	}
}

func (d *answers) readChoice(choice *openai.ChatCompletionChoice, s *middleware.Sink) {
	message := &choice.Message
	s.Text(textOf(message))
	s.Reasoning(message.ReasoningContent)
	d.pending = message.ReasoningContent
	if message.Refusal != "" {
		s.Refusal()
	}
	if message.FunctionCall != nil {
		s.OtherCall()
	}
	// Every call of an answer is a whole one, whatever its id.
	for at := range message.ToolCalls {
		call := &message.ToolCalls[at]
		s.Call(at, call.ID, call.Function.Name, call.Function.Arguments)
	}
	if choice.FinishReason != openai.FinishReasonNull {
		s.Finish(string(choice.FinishReason))
	}
}

// Write implements [middleware.Dialect].
func (d *answers) Write(a *openai.ChatCompletionResponse, e *middleware.Edit) bool {
	a.ID, a.Object, a.Created, a.Model = d.first.ID, d.first.Object, d.first.Created, d.first.Model
	a.SetHeader(d.first.Header())
	if usage := d.Show(e.Usage, &a.Usage); usage != nil {
		a.Usage = *usage
	}
	if len(a.Choices) == 0 {
		a.Choices = []openai.ChatCompletionChoice{{
			Message: openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant},
		}}
	}
	choice := &a.Choices[0]
	choice.FinishReason = openai.FinishReason(e.Finish)
	choice.Message.Content, choice.Message.MultiContent = e.Text, nil
	choice.Message.ToolCalls = keepCalls(choice.Message.ToolCalls, e)
	choice.Message.ReasoningContent = strings.Join(d.reasoning, middleware.Seam)
	return true
}

// keepCalls returns the calls that are to be shown. Whole answers have no
// indexes to rewrite.
func keepCalls(calls []openai.ToolCall, e *middleware.Edit) []openai.ToolCall {
	var kept []openai.ToolCall
	for i, call := range calls {
		if !e.Call(i).Drop {
			kept = append(kept, call)
		}
	}
	return kept
}

// Clone implements [middleware.Dialect].
func (d *answers) Clone(a *openai.ChatCompletionResponse) openai.ChatCompletionResponse {
	clone := *a
	clone.Choices = slices.Clone(a.Choices)
	for i := range clone.Choices {
		clone.Choices[i].Message.ToolCalls = slices.Clone(clone.Choices[i].Message.ToolCalls)
	}
	return clone
}

// EndTurn implements [middleware.Dialect].
func (d *answers) EndTurn(keep bool) {
	d.ledger.EndTurn(keep)
	if keep && d.pending != "" {
		d.reasoning = append(d.reasoning, d.pending)
	}
	d.pending = ""
}
