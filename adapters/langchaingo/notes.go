package langchaingo

import (
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/middleware"
)

// describeNotes tells the engine where notes can be joined.
func describeNotes(r *middleware.Request, messages []llms.MessageContent) {
	r.Messages = len(messages)
	r.Carrier = func(i int) (string, bool) { return carrier(&messages[i]) }
	r.System = 1 + slices.IndexFunc(messages, func(m llms.MessageContent) bool {
		return m.Role == llms.ChatMessageTypeSystem
	})
}

// carrier returns the text of a message, and whether it is the user's or a
// tool's.
func carrier(m *llms.MessageContent) (string, bool) {
	if len(m.Parts) == 0 {
		return "", false
	}
	switch m.Role {
	case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
		return identityOf(m), true
	case llms.ChatMessageTypeTool, llms.ChatMessageTypeFunction:
		result, ok := m.Parts[len(m.Parts)-1].(llms.ToolCallResponse)
		return result.Content, ok
	default:
		return "", false
	}
}

// withNotes returns the messages with the notes joined to them. They share
// nothing with the caller's that is changed.
func withNotes(messages []llms.MessageContent, notes []middleware.Note) []llms.MessageContent {
	if len(notes) == 0 {
		return messages
	}
	messages = slices.Clone(messages)
	for _, note := range notes {
		m := &messages[note.Message]
		m.Parts = joinNote(m.Parts, note.Text)
	}
	return messages
}

// joinNote joins a note to the last part, for some providers take no more than
// one text, or puts it behind a part that is no text.
func joinNote(parts []llms.ContentPart, note string) []llms.ContentPart {
	parts = slices.Clone(parts)
	if len(parts) == 0 {
		return append(parts, llms.TextContent{Text: note})
	}
	last := &parts[len(parts)-1]
	switch p := (*last).(type) {
	case llms.TextContent:
		// A text agent's model is to go on right behind the last thought.
		text, thought := strings.CutSuffix(p.Text, nextThought)
		if p.Text = text + note; thought {
			p.Text += nextThought
		}
		*last = p
	case llms.ToolCallResponse:
		p.Content += note
		*last = p
	default:
		parts = append(parts, llms.TextContent{Text: note})
	}
	return parts
}
