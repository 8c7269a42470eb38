package langchaingo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
)

// readMessages finds the last message of the user and the first tool call
// after it.
func readMessages(r *adapter.Request, messages []llms.MessageContent) {
	for i := range slices.Backward(messages) {
		m := &messages[i]
		switch m.Role {
		case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
			if r.Users++; r.Users == 1 {
				r.User = identityOf(m)
			}
		default:
			if id := firstCall(m); id != "" && r.Users == 0 {
				r.FirstCall = id
			}
		}
	}
}

func firstCall(m *llms.MessageContent) string {
	for _, part := range m.Parts {
		if call, ok := part.(llms.ToolCall); ok {
			return call.ID
		}
	}
	return ""
}

// identityOf returns what tells a message of the user from another: its text
// and its pictures.
func identityOf(m *llms.MessageContent) string {
	if len(m.Parts) == 1 {
		if text, ok := m.Parts[0].(llms.TextContent); ok {
			return text.Text
		}
	}
	var b strings.Builder
	for _, part := range m.Parts {
		if cached, ok := part.(llms.CachedContent); ok {
			part = cached.ContentPart
		}
		switch p := part.(type) {
		case llms.TextContent:
			b.WriteString(p.Text)
		case llms.ImageURLContent:
			b.WriteString(p.URL)
		case llms.BinaryContent:
			b.WriteString(p.MIMEType)
			b.WriteString(strconv.Itoa(len(p.Data)))
		}
		b.WriteByte(0) // so that the parts can't run into each other
	}
	return b.String()
}
