package openai

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/internal/conversation"
	"github.com/carryon-go/carryon/internal/toolchoice"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// describe returns what the engine must know of a request.
func describe(r *openai.ChatCompletionRequest) adapter.Request {
	d := reader{Request: adapter.Request{
		Tools:  len(r.Tools),
		Choice: toolchoice.Of(r.ToolChoice),
		N:      r.N,
		Legacy: len(r.Functions) > 0 || r.FunctionCall != nil, //nolint:staticcheck // deprecated, and still sent
		Model:  r.Model, Provider: "openai", Streamed: r.Stream,
	}}
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
	return d.Request
}

// reader reads the messages of a request.
type reader = conversation.Reader[*openai.ChatCompletionMessage]

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
	d.Attachable = func(i int) (string, bool) {
		m := &messages[i]
		return textOf(m), m.Role == openai.ChatMessageRoleUser || m.Role == openai.ChatMessageRoleTool
	}
	d.System = 1 + slices.IndexFunc(messages, func(m openai.ChatCompletionMessage) bool {
		return m.Role == openai.ChatMessageRoleSystem || m.Role == openai.ChatMessageRoleDeveloper
	})
}

// readMessages reads which messages are the user's, and what has answered them.
func readMessages(d *reader, messages []openai.ChatCompletionMessage) {
	for i := range messages {
		m := &messages[i]
		d.Reasoning = d.Reasoning || m.ReasoningContent != ""
		d.Size += sizeOf(m)
		switch {
		case m.Role == openai.ChatMessageRoleUser:
			d.AddUser(identityOf(m))
		case m.Role == openai.ChatMessageRoleAssistant || m.Role == openai.ChatMessageRoleTool || len(m.ToolCalls) > 0:
			d.AddAnswer(len(m.ToolCalls) > 0)
		}
		d.EndMessage(m)
	}
	if firstCall := d.End(identityOf); firstCall >= 0 {
		d.Loop = func(add func(string)) { addLoop(messages[:firstCall+1], add) }
	}
	d.History = history(messages)
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
// pictures; "" for no message.
func identityOf(m *openai.ChatCompletionMessage) string {
	if m == nil {
		return ""
	}
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

// history yields the entries of the messages, newest first, each call with its result.
// It reads messages only as the caller asks for more.
func history(messages []openai.ChatCompletionMessage) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		w := walk{HistoryWalk: adapter.HistoryWalk{Yield: yield}}
		for i := len(messages) - 1; i >= 0; i-- {
			if !w.pass(&messages[i]) {
				return
			}
		}
	}
}

// walk is a walk through the messages of a request, from the last one.
type walk struct {
	adapter.HistoryWalk

	results adapter.ToolResults[*openai.ChatCompletionMessage]
}

// pass passes a message, and reports whether the walk goes on.
func (w *walk) pass(m *openai.ChatCompletionMessage) bool {
	switch m.Role {
	case openai.ChatMessageRoleUser:
		return w.User(identityOf(m), texts(m.MultiContent))
	case openai.ChatMessageRoleSystem, openai.ChatMessageRoleDeveloper:
		return w.System(textOf(m))
	case openai.ChatMessageRoleTool:
		w.results.Add(m.ToolCallID, m)
	}
	for i := len(m.ToolCalls) - 1; i >= 0; i-- {
		call := &m.ToolCalls[i]
		c := todo.Call{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments}
		var result *openai.ChatCompletionMessage
		result, c.Answered = w.results.Take(call.ID)
		if c.Answered {
			c.Result = textOf(result)
		}
		if !w.Call(c) {
			return false
		}
	}
	return true
}

// texts yields the texts of the parts, the last one first.
func texts(parts []openai.ChatMessagePart) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range slices.Backward(parts) {
			if text := part.Text; text != "" && !yield(text) {
				return
			}
		}
	}
}

// extend returns the request of a continuation. It copies whatever it changes.
func extend(r openai.ChatCompletionRequest, k *adapter.Continuation) openai.ChatCompletionRequest {
	answer := openai.ChatCompletionMessage{
		Role: openai.ChatMessageRoleAssistant, Content: k.Text, ReasoningContent: k.Reasoning,
	}
	prompt := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: k.Prompt}
	if p := k.Pause; p != nil {
		answer.ToolCalls = []openai.ToolCall{{
			ID: p.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: p.Name, Arguments: p.Arguments},
		}}
		prompt = openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, Content: p.Result, ToolCallID: p.ID}
	}
	r = withAdditions(r, &k.Additions)
	r.Messages = slices.Concat(r.Messages, []openai.ChatCompletionMessage{answer, prompt})
	if r.Store { // metadata is allowed only with store
		r.Store, r.Metadata = false, nil
	}
	r.Prediction = nil
	return r
}

// withAdditions returns the request with carryon's additions, or the same
// request if there are none.
func withAdditions(r openai.ChatCompletionRequest, a *adapter.Additions) openai.ChatCompletionRequest {
	if len(a.Attachments) > 0 {
		r.Messages = slices.Clone(r.Messages)
	}
	for message, texts := range a.ByMessage() {
		m := &r.Messages[message]
		if len(m.MultiContent) == 0 {
			m.Content += strings.Join(texts, "")
			continue
		}
		m.MultiContent = slices.Clone(m.MultiContent)
		for _, text := range texts {
			m.MultiContent = append(m.MultiContent, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: text})
		}
	}
	if tool := a.PauseTool; tool != nil {
		r.Tools = slices.Concat(r.Tools, []openai.Tool{{
			Type: openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{
				Name: tool.Name, Description: tool.Description, Strict: tool.Strict,
				Parameters: json.RawMessage(tool.Schema),
			},
		}})
		r.ToolChoice = toolchoice.Allow(r.ToolChoice, tool.Name)
	}
	return r
}
