package fakellm

import (
	"encoding/json"
	"fmt"
	"strings"
)

// chatRequest is the part of a request's body that Request shows.
type chatRequest struct {
	Model         string            `json:"model"`
	Stream        bool              `json:"stream"`
	StreamOptions chatStreamOptions `json:"stream_options"`
	Messages      []chatInput       `json:"messages"`
	Tools         []chatTool        `json:"tools"`
}

type chatStreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatTool struct {
	Function chatName `json:"function"`
	Custom   chatName `json:"custom"`
}

type chatName struct {
	Name string `json:"name"`
}

// chatInput is one message of a request.
type chatInput struct {
	Role             string      `json:"role"`
	Content          chatContent `json:"content"`
	ReasoningContent string      `json:"reasoning_content"`
	ToolCallID       string      `json:"tool_call_id"`
	ToolCalls        []chatCall  `json:"tool_calls"`
}

// chatContent is the text of a message, which is a string, null or a list of parts.
type chatContent string

func (c *chatContent) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if text != nil {
			*c = chatContent(*text)
		}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var joined strings.Builder
	for _, part := range parts {
		joined.WriteString(part.Text)
	}
	*c = chatContent(joined.String())
	return nil
}

func (chatCompletions) read(r *Request) error {
	var body *chatRequest
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return fmt.Errorf("invalid body: %w", err)
	}
	if body == nil {
		return fmt.Errorf("invalid body: %s", r.Body)
	}
	r.Model, r.Stream, r.IncludeUsage = body.Model, body.Stream, body.StreamOptions.IncludeUsage
	for _, m := range body.Messages {
		r.Messages = append(r.Messages, m.message())
	}
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, t.Function.Name+t.Custom.Name)
	}
	return nil
}

func (m chatInput) message() Message {
	out := Message{
		Role: m.Role, Content: string(m.Content),
		ReasoningContent: m.ReasoningContent, ToolCallID: m.ToolCallID,
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return out
}
