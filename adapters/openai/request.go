package openai

import (
	"encoding/json"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

// describe tells the engine what it must know of a request.
func describe(r *openai.ChatCompletionRequest) middleware.Request {
	d := middleware.Request{
		Tools:   len(r.Tools),
		N:       r.N,
		Legacy:  len(r.Functions) > 0 || r.FunctionCall != nil, //nolint:staticcheck // deprecated, and still sent
		History: history(r.Messages),
	}
	d.StrictTools = len(r.Tools) > 0
	for i := range r.Tools {
		f := r.Tools[i].Function
		d.StrictTools = d.StrictTools && f != nil && f.Strict
		d.OwnPause = d.OwnPause || f != nil && pause.Is(f.Name)
	}
	if format := r.ResponseFormat; format != nil {
		d.JSON = format.Type != "" && format.Type != openai.ChatCompletionResponseFormatTypeText
	}
	if r.ToolChoice != nil {
		d.Choice = toolChoice(r.ToolChoice)
	}
	readMessages(&d, r.Messages)
	describeNotes(&d, r.Messages)
	return d
}

// readMessages finds the last message of the user and the first tool call
// after it.
func readMessages(d *middleware.Request, messages []openai.ChatCompletionMessage) {
	for i := len(messages) - 1; i >= 0; i-- {
		m := &messages[i]
		d.Reasoning = d.Reasoning || m.ReasoningContent != ""
		switch {
		case m.Role == openai.ChatMessageRoleUser:
			if d.Users++; d.Users == 1 {
				d.User = identityOf(m)
			}
		case d.Users == 0 && len(m.ToolCalls) > 0:
			d.FirstCall = m.ToolCalls[0].ID
		}
	}
}

// textOf returns the text of a message.
func textOf(m *openai.ChatCompletionMessage) string {
	switch len(m.MultiContent) {
	case 0:
		return m.Content
	case 1:
		return m.MultiContent[0].Text
	}
	var b strings.Builder
	for _, part := range m.MultiContent {
		b.WriteString(part.Text)
	}
	return b.String()
}

// identityOf returns what tells a message of the user from another: its text
// and its pictures.
func identityOf(m *openai.ChatCompletionMessage) string {
	if len(m.MultiContent) == 0 {
		return m.Content
	}
	var b strings.Builder
	for _, part := range m.MultiContent {
		b.WriteString(part.Text)
		if part.ImageURL != nil {
			b.WriteString(part.ImageURL.URL)
		}
		b.WriteByte(0) // so that the parts can't run into each other
	}
	return b.String()
}

// toolChoice reads a tool choice, which the SDK takes as anything that becomes
// the right JSON.
func toolChoice(choice any) middleware.ToolChoice {
	word, isWord := choice.(string)
	if !isWord {
		word, _ = choiceFields(choice)
	}
	return middleware.ToolChoiceOf(word)
}

const allowedTools = "allowed_tools"

// choiceFields returns a tool choice that is an object as one: the mode of a
// choice among allowed tools, with its fields, and else a word of its own.
func choiceFields(choice any) (mode string, fields map[string]any) {
	data, err := json.Marshal(choice)
	if err != nil {
		return "named", nil // the SDK is going to fail on it
	}
	if json.Unmarshal(data, &mode) == nil {
		return mode, nil
	}
	if json.Unmarshal(data, &fields) != nil || fields["type"] != allowedTools {
		return "named", nil
	}
	allowed, _ := fields[allowedTools].(map[string]any)
	mode, _ = allowed["mode"].(string)
	return mode, fields
}
