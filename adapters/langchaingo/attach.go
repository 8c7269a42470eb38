package langchaingo

import (
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
)

// describeMessages tells the engine where attachments can be joined.
func describeMessages(r *adapter.Request, messages []llms.MessageContent) {
	r.Messages = len(messages)
	r.Attachable = func(i int) (string, bool) { return attachable(&messages[i]) }
	r.System = 1 + slices.IndexFunc(messages, func(m llms.MessageContent) bool {
		return m.Role == llms.ChatMessageTypeSystem
	})
}

// attachable returns the text of a message, and whether it is the user's or a
// tool's.
func attachable(m *llms.MessageContent) (string, bool) {
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

// attach returns the messages with the attachments joined to them. They share
// nothing with the caller's that is changed.
func attach(messages []llms.MessageContent, a *adapter.Additions) []llms.MessageContent {
	if len(a.Attachments) == 0 {
		return messages
	}
	messages = slices.Clone(messages)
	for message, texts := range a.ByMessage() {
		m := &messages[message]
		m.Parts = joinText(m.Parts, strings.Join(texts, ""))
	}
	return messages
}

// joinText joins a text to the last part, for some providers take no more than
// one text, or puts it behind a part that is no text.
func joinText(parts []llms.ContentPart, more string) []llms.ContentPart {
	parts = slices.Clone(parts)
	if len(parts) == 0 {
		return append(parts, llms.TextContent{Text: more})
	}
	last := &parts[len(parts)-1]
	switch p := (*last).(type) {
	case llms.TextContent:
		// A text agent's model goes on right behind the last thought.
		text, thought := strings.CutSuffix(p.Text, nextThought)
		if p.Text = text + more; thought {
			p.Text += nextThought
		}
		*last = p
	case llms.ToolCallResponse:
		p.Content += more
		*last = p
	default:
		parts = append(parts, llms.TextContent{Text: more})
	}
	return parts
}
