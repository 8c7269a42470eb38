package langchaingo

import (
	"iter"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/internal/separator"
)

// choicesOf returns the choices of an answer without nil ones. The answer may
// be nil.
func choicesOf(a *llms.ContentResponse) []*llms.ContentChoice {
	if a == nil {
		return nil
	}
	if !slices.Contains(a.Choices, nil) {
		return a.Choices
	}
	isMissing := func(choice *llms.ContentChoice) bool { return choice == nil }
	return slices.DeleteFunc(slices.Clone(a.Choices), isMissing) // others may share the answer
}

// stopReason returns the last stop reason in the choices: blocks of one answer
// share it.
func stopReason(a *llms.ContentResponse) (reason string) {
	for _, choice := range choicesOf(a) {
		if choice.StopReason != "" {
			reason = choice.StopReason
		}
	}
	return reason
}

func reasoningOf(a *llms.ContentResponse) string {
	var texts []string
	for _, choice := range choicesOf(a) {
		if choice.ReasoningContent != "" {
			texts = append(texts, choice.ReasoningContent)
		}
	}
	return strings.Join(texts, separator.Text)
}

// callsOf yields the tool calls of an answer, each with its choice. If a choice
// has only a FuncCall, the tool call is nil.
func callsOf(a *llms.ContentResponse) iter.Seq2[*llms.ContentChoice, *llms.ToolCall] {
	return func(yield func(*llms.ContentChoice, *llms.ToolCall) bool) {
		for _, choice := range choicesOf(a) {
			if len(choice.ToolCalls) == 0 && choice.FuncCall != nil && !yield(choice, nil) {
				return
			}
			for i := range choice.ToolCalls {
				if !yield(choice, &choice.ToolCalls[i]) {
					return
				}
			}
		}
	}
}

// call is a tool call in either of its forms.
type call struct{ id, name, arguments string }

func callIn(choice *llms.ContentChoice, tool *llms.ToolCall) (c call) {
	f := choice.FuncCall
	if tool != nil {
		c.id, f = tool.ID, tool.FunctionCall
	}
	if f != nil {
		c.name, c.arguments = f.Name, f.Arguments
	}
	return c
}

// continues reports whether c is another fragment of the call begun.
func (c call) continues(begun call) bool {
	return c.name == "" || c.id != "" && c.id == begun.id && c.name == begun.name
}
