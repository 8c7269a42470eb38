package carryontest

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// Request is a request that a Server received, with the parts of its body that tests need most.
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

// Last returns the last message; the zero Message if there is none.
func (r Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// HasTool reports whether the request offers a tool of this name.
func (r Request) HasTool(name string) bool { return slices.Contains(r.Tools, name) }

// JSON returns the whole body, decoded, for members without a field in Request. It is nil if the body is not a JSON object.
func (r Request) JSON() map[string]any {
	var body map[string]any
	if json.Unmarshal(r.Body, &body) != nil {
		return nil
	}
	return body
}

// requestOf converts a request of the server.
func requestOf(r fakellm.Request) Request {
	out := Request{
		Method: r.Method, Path: r.Path, Header: r.Header, Body: r.Body, Time: r.Time,
		Model: r.Model, Stream: r.Stream, IncludeUsage: r.IncludeUsage, Tools: r.Tools,
	}
	for _, m := range r.Messages {
		message := Message{
			Role: m.Role, Content: m.Content, ReasoningContent: m.ReasoningContent, ToolCallID: m.ToolCallID,
		}
		for _, c := range m.ToolCalls {
			message.ToolCalls = append(message.ToolCalls, ToolCall(c))
		}
		out.Messages = append(out.Messages, message)
	}
	return out
}
