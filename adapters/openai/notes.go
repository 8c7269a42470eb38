package openai

import (
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/middleware"
)

// describeNotes tells the engine where notes can be joined.
func describeNotes(d *middleware.Request, messages []openai.ChatCompletionMessage) {
	d.Messages = len(messages)
	d.Carrier = func(i int) (string, bool) {
		m := &messages[i]
		return textOf(m), m.Role == openai.ChatMessageRoleUser || m.Role == openai.ChatMessageRoleTool
	}
	d.System = 1 + slices.IndexFunc(messages, func(m openai.ChatCompletionMessage) bool {
		return m.Role == openai.ChatMessageRoleSystem || m.Role == openai.ChatMessageRoleDeveloper
	})
}

// withNotes returns the request with the notes joined to its messages.
func withNotes(r openai.ChatCompletionRequest, notes []middleware.Note) openai.ChatCompletionRequest {
	if len(notes) == 0 {
		return r
	}
	r.Messages = slices.Clone(r.Messages)
	for _, note := range notes {
		m := &r.Messages[note.Message]
		if len(m.MultiContent) == 0 {
			m.Content += note.Text
			continue
		}
		m.MultiContent = slices.Concat(m.MultiContent, []openai.ChatMessagePart{{
			Type: openai.ChatMessagePartTypeText, Text: note.Text,
		}})
	}
	return r
}
