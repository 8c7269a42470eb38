package langchaingo

import (
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
)

// describeMessages tells the engine which messages an attachment can be joined
// to.
func describeMessages(r *adapter.Request, messages []llms.MessageContent) {
	r.Attachable = func(i int) (string, bool) { return attachable(&messages[i]) }
	r.System = 1 + slices.IndexFunc(messages, func(m llms.MessageContent) bool {
		return m.Role == llms.ChatMessageTypeSystem
	})
}

// attachable returns the text of a message, and reports whether the message is
// the user's or a tool's.
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

// attach returns the messages with the attachments joined to them. It copies
// whatever it changes.
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

// joinText joins a text to the last part, because some providers accept only
// one text. If the last part is not text, it adds a part.
func joinText(parts []llms.ContentPart, more string) []llms.ContentPart {
	parts = slices.Clone(parts)
	if len(parts) == 0 {
		return append(parts, llms.TextContent{Text: more})
	}
	last := &parts[len(parts)-1]
	switch p := (*last).(type) {
	case llms.TextContent:
		// The model of a text agent continues after "Thought:", so that stays
		// last.
		text, thought := strings.CutSuffix(p.Text, nextThought)
		p.Text = text + more
		if thought {
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
