package fakellm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// messagesRequest is the part of a request's body that Request shows.
type messagesRequest struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	System   messagesContent `json:"system"`
	Messages []messagesInput `json:"messages"`
	Tools    []chatName      `json:"tools"`
}

type messagesInput struct {
	Role    string          `json:"role"`
	Content messagesContent `json:"content"`
}

// messagesContent is a content, which is a string or a list of blocks.
type messagesContent []messagesBlock

type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   messagesContent `json:"content"`
}

func (c *messagesContent) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' { // the error of a tool that the provider ran
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if text != nil {
			*c = messagesContent{{Type: "text", Text: *text}}
		}
		return nil
	}
	var blocks []messagesBlock
	if err := json.Unmarshal(data, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

func (messages) read(r *Request) error {
	var body *messagesRequest
	switch err := json.Unmarshal(r.Body, &body); {
	case err != nil:
		return fmt.Errorf("invalid body: %w", err)
	case body == nil || body.Messages == nil:
		return errors.New("invalid body: it has no messages")
	}
	if err := checkHistory(r.Body); err != nil {
		return err
	}
	r.Model, r.Stream = body.Model, body.Stream
	if len(body.System) > 0 {
		r.Messages = append(r.Messages, messagesInput{"system", body.System}.message())
	}
	for _, m := range body.Messages {
		r.Messages = append(r.Messages, m.message())
	}
	for _, tool := range body.Tools {
		r.Tools = append(r.Tools, tool.Name)
	}
	return nil
}

func (m messagesInput) message() Message {
	out := Message{Role: m.Role, Content: m.Content.text()}
	for _, block := range m.Content {
		out.ReasoningContent += block.Thinking
		switch block.Type {
		case "tool_use":
			out.ToolCalls = append(out.ToolCalls, ToolCall{block.ID, block.Name, string(block.Input)})
		case "tool_result":
			if out.ToolCallID == "" {
				out.ToolCallID = block.ToolUseID
			}
		}
	}
	return out
}

// text is the text of all blocks, that of tool results included.
func (c messagesContent) text() string {
	var joined strings.Builder
	for _, block := range c {
		joined.WriteString(block.Text + block.Content.text())
	}
	return joined.String()
}
