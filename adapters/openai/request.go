package openai

import (
	"context"
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/toolchoice"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

// describe returns what the engine must know of a request.
func describe(r *openai.ChatCompletionRequest) adapter.Request {
	d := adapter.Request{
		Tools:  len(r.Tools),
		Choice: toolchoice.Of(r.ToolChoice),
		N:      r.N,
		Legacy: len(r.Functions) > 0 || r.FunctionCall != nil, //nolint:staticcheck // deprecated, and still sent
		Model:  r.Model, Provider: "openai", Streamed: r.Stream,
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
	d.JSON = d.JSON || len(r.GuidedChoice) > 0
	d.ToolNames = (*offering)(r)
	readMessages(&d, r.Messages)
	return d
}

// offering is a request seen as a list of tools.
type offering openai.ChatCompletionRequest

// ToolNames implements [adapter.ToolNamer].
func (o *offering) ToolNames(yield func(string) bool) {
	for i := range o.Tools {
		if f := o.Tools[i].Function; f != nil && !yield(f.Name) {
			return
		}
	}
}

// begin begins a call with the request.
func (c *Client) begin(ctx context.Context, r *openai.ChatCompletionRequest) (*join.Call, middleware.Outcome) {
	d := describe(r)
	if join.AttachesReminders(c.mw) {
		describeMessages(&d, r.Messages)
	}
	return join.Begin(ctx, c.mw, d)
}

// describeMessages tells the engine which messages a reminder can be joined to.
func describeMessages(d *adapter.Request, messages []openai.ChatCompletionMessage) {
	d.Messages = len(messages)
	d.Attachable = func(i int) (string, bool) {
		m := &messages[i]
		return textOf(m), m.Role == openai.ChatMessageRoleUser || m.Role == openai.ChatMessageRoleTool
	}
	d.System = 1 + slices.IndexFunc(messages, func(m openai.ChatCompletionMessage) bool {
		return m.Role == openai.ChatMessageRoleSystem || m.Role == openai.ChatMessageRoleDeveloper
	})
}

// readMessages finds the last message of the user and the first tool call
// after it.
func readMessages(d *adapter.Request, messages []openai.ChatCompletionMessage) {
	firstCall := -1
	d.Unanswered = true
	for i := range slices.Backward(messages) {
		m := &messages[i]
		d.Reasoning = d.Reasoning || m.ReasoningContent != ""
		d.Size += sizeOf(m)
		switch {
		case m.Role == openai.ChatMessageRoleUser:
			readUser(d, messages[:i+1])
		case d.Users == 0 && len(m.ToolCalls) > 0:
			firstCall, d.Unanswered = i, false
		case d.Users == 0 && (m.Role == openai.ChatMessageRoleAssistant || m.Role == openai.ChatMessageRoleTool):
			d.Unanswered = false
		}
	}
	d.Unanswered = d.Unanswered && d.Users > 0
	d.History = history(messages)
	if firstCall >= 0 {
		d.Loop = func(add func(string)) { addLoop(messages[:firstCall+1], add) }
	}
}

// sizeOf returns how much text a message has.
func sizeOf(m *openai.ChatCompletionMessage) int {
	size := len(m.Content) + len(m.ReasoningContent)
	for i := range m.MultiContent {
		size += len(m.MultiContent[i].Text)
	}
	for i := range m.ToolCalls {
		size += len(m.ToolCalls[i].Function.Name) + len(m.ToolCalls[i].Function.Arguments)
	}
	return size
}

// readUser reads the last of the messages, which has the role of the user.
func readUser(d *adapter.Request, messages []openai.ChatCompletionMessage) {
	last := len(messages) - 1
	user := identityOf(&messages[last])
	if adapter.IsAutomatic(user) {
		// A summary is also of what answered the user.
		d.Unanswered = d.Unanswered && (d.Users > 0 || !automatic.IsSummary(user))
		return
	}
	d.Users++
	d.FirstUser = user // the messages are read backwards
	if d.Users > 1 {
		return // a later one is the last
	}
	d.User = user
	if last > 0 && d.Unanswered {
		d.Previous = identityOf(&messages[last-1])
	}
}

// addLoop adds the messages of a tool loop. The last message has the first call
// of the loop.
func addLoop(messages []openai.ChatCompletionMessage, add func(string)) {
	for i := range messages {
		m := &messages[i]
		add(m.Role)
		add(identityOf(m))
		add(m.ToolCallID)
		calls := m.ToolCalls
		if i == len(messages)-1 {
			calls = calls[:1]
		}
		for _, call := range calls {
			add(call.ID)
			add(call.Function.Name)
			add(call.Function.Arguments)
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

// identityOf returns what identifies a message of the user: its text and its
// pictures.
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
