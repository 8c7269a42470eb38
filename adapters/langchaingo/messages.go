package langchaingo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/internal/conversation"
)

// reader reads the messages of a request.
type reader = conversation.Reader[*llms.MessageContent]

// readMessages reads which messages are the user's, and what has answered them.
func readMessages(r *reader, messages []llms.MessageContent) {
	for i := range messages {
		m := &messages[i]
		r.Size += sizeOf(m)
		switch m.Role {
		case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
			r.AddUser(identityOf(m))
		case llms.ChatMessageTypeSystem:
		default:
			r.AddAnswer(hasCall(m))
		}
		r.EndMessage(m)
	}
	if firstCall := r.End(identityOf); firstCall >= 0 {
		r.Loop = func(add func(string)) { addLoop(messages[:firstCall+1], add) }
	}
	r.History = history(messages)
}

// sizeOf returns how much text a message has.
func sizeOf(m *llms.MessageContent) int {
	size := 0
	for _, part := range m.Parts {
		switch part := part.(type) {
		case llms.TextContent:
			size += len(part.Text)
		case llms.ToolCall:
			if part.FunctionCall != nil {
				size += len(part.FunctionCall.Name) + len(part.FunctionCall.Arguments)
			}
		case llms.ToolCallResponse:
			size += len(part.Content)
		}
	}
	return size
}

func hasCall(m *llms.MessageContent) bool {
	return slices.ContainsFunc(m.Parts, func(part llms.ContentPart) bool {
		_, ok := part.(llms.ToolCall)
		return ok
	})
}

// addLoop adds the messages of a tool loop. The last message has the first call
// of the loop.
func addLoop(messages []llms.MessageContent, add func(string)) {
	for i := range messages {
		m := &messages[i]
		add(string(m.Role))
		add(identityOf(m))
		for _, part := range m.Parts {
			switch p := part.(type) {
			case llms.ToolCallResponse:
				add(p.ToolCallID)
				add(p.Content)
			case llms.ToolCall:
				add(p.ID)
				if p.FunctionCall != nil {
					add(p.FunctionCall.Name)
					add(p.FunctionCall.Arguments)
				}
				if i == len(messages)-1 {
					return
				}
			}
		}
	}
}

// identityOf returns what identifies a message of the user: its text and its
// pictures; "" for no message.
func identityOf(m *llms.MessageContent) string {
	if m == nil {
		return ""
	}
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
