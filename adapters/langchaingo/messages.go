package langchaingo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/automatic"
)

// readMessages finds the last message of the user and the first tool call
// after it.
func readMessages(r *adapter.Request, messages []llms.MessageContent) {
	firstCall := -1
	r.Messages, r.Unanswered = len(messages), true
	for i := range slices.Backward(messages) {
		m := &messages[i]
		r.Size += sizeOf(m)
		switch m.Role {
		case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
			readUser(r, messages[:i+1])
		case llms.ChatMessageTypeSystem:
		default:
			if r.Users == 0 {
				r.Unanswered = false
				if hasCall(m) {
					firstCall = i
				}
			}
		}
	}
	r.Unanswered = r.Unanswered && r.Users > 0
	r.History = history(messages)
	if firstCall >= 0 {
		r.Loop = func(add func(string)) { addLoop(messages[:firstCall+1], add) }
	}
}

// readUser reads the last of the messages, which has the role of the user.
func readUser(r *adapter.Request, messages []llms.MessageContent) {
	last := len(messages) - 1
	user := identityOf(&messages[last])
	if adapter.IsAutomatic(user) {
		// A summary is also of what answered the user.
		r.Unanswered = r.Unanswered && (r.Users > 0 || !automatic.IsSummary(user))
		return
	}
	r.Users++
	r.FirstUser = user // the messages are read backwards
	if r.Users > 1 {
		return // a later one is the last
	}
	r.User = user
	if last > 0 && r.Unanswered {
		r.Previous = identityOf(&messages[last-1])
	}
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
// pictures.
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
