package fakellm

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"
)

// Request is a request to a Server, with the parts of its body that tests check most.
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

// Last returns the last message, or the zero Message if there is none.
func (r Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// HasTool reports whether the request offers a tool of this name.
func (r Request) HasTool(name string) bool { return slices.Contains(r.Tools, name) }

// JSON returns the decoded body, for members that Request has no field for. It is nil if the body is not a JSON object.
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

// readRequest reads a request of a protocol. The error describes a fault in its body.
func readRequest(p protocol, r *http.Request) (Request, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, err
	}
	request := Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: data, Time: time.Now()}
	if err := p.read(&request); err != nil {
		return Request{}, err
	}
	return request, nil
}
