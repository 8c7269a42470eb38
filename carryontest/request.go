package carryontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Request is one that a Server was sent, with the parts of its body that tests look at most.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
	Time         time.Time // of arrival

	Model        string
	Stream       bool
	IncludeUsage bool // of the stream_options
	Messages     []Message
	Tools        []string // names, in order
}

// Message is one message of a request.
type Message struct {
	Role             string
	Content          string // the text, also of content in parts
	ReasoningContent string
	ToolCallID       string
	ToolCalls        []ToolCall
}

// ToolCall is a call in an assistant's message.
type ToolCall struct {
	ID, Name, Arguments string
}

// Last is the last message; the zero Message if there is none.
func (r Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// HasTool reports whether the request offers a tool of this name.
func (r Request) HasTool(name string) bool { return slices.Contains(r.Tools, name) }

// JSON is the whole body, decoded: for what Request has no field for. It is nil if the body is not a JSON object.
func (r Request) JSON() map[string]any {
	var body map[string]any
	if json.Unmarshal(r.Body, &body) != nil {
		return nil
	}
	return body
}

func (r Request) clone() Request {
	r.Header = r.Header.Clone()
	r.Body = bytes.Clone(r.Body)
	r.Tools = slices.Clone(r.Tools)
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i].ToolCalls = slices.Clone(r.Messages[i].ToolCalls)
	}
	return r
}

// requestBody is the wire form of what Request decodes.
type requestBody struct {
	Model         string           `json:"model"`
	Stream        bool             `json:"stream"`
	StreamOptions streamOptions    `json:"stream_options"`
	Messages      []requestMessage `json:"messages"`
	Tools         []tool           `json:"tools"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type tool struct {
	Function named `json:"function"`
	Custom   named `json:"custom"`
}

type named struct {
	Name string `json:"name"`
}

type requestMessage struct {
	Role             string     `json:"role"`
	Content          content    `json:"content"`
	ReasoningContent string     `json:"reasoning_content"`
	ToolCallID       string     `json:"tool_call_id"`
	ToolCalls        []fragment `json:"tool_calls"`
}

// content is the text of a message, which is a string, null or a list of parts.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if text != nil {
			*c = content(*text)
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
	*c = content(joined.String())
	return nil
}

// readRequest takes in a request; the error says why its body makes no sense.
func readRequest(r *http.Request) (Request, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, err
	}
	var body *requestBody
	if err := json.Unmarshal(data, &body); err != nil {
		return Request{}, fmt.Errorf("invalid body: %w", err)
	}
	if body == nil {
		return Request{}, fmt.Errorf("invalid body: %s", data)
	}
	req := Request{
		Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: data, Time: time.Now(),
		Model: body.Model, Stream: body.Stream, IncludeUsage: body.StreamOptions.IncludeUsage,
	}
	for _, m := range body.Messages {
		req.Messages = append(req.Messages, m.message())
	}
	for _, t := range body.Tools {
		req.Tools = append(req.Tools, t.Function.Name+t.Custom.Name)
	}
	return req, nil
}

func (m requestMessage) message() Message {
	out := Message{
		Role: m.Role, Content: string(m.Content),
		ReasoningContent: m.ReasoningContent, ToolCallID: m.ToolCallID,
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return out
}
