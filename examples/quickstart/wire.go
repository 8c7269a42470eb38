package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/continuation"
)

// exchange is a request that was made and the model's answer to it.
type exchange struct {
	added  bool // by carryon
	prompt string
	offers []string // the tools

	said    string
	calls   []openai.FunctionCall
	failure string // why there was no answer
}

// wire looks at what crosses the network. Whatever the report tells about
// requests and answers was seen here.
type wire struct {
	next      http.RoundTripper
	exchanges []exchange
	seen      func(exchange)
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var e exchange
	_, e.added = continuation.FromContext(r.Context())
	if err := e.readRequest(r); err != nil {
		return nil, err
	}
	response, err := w.next.RoundTrip(r)
	if err == nil {
		err = e.readResponse(response)
	}
	if err != nil {
		e.failure, response = err.Error(), nil
	}
	w.exchanges = append(w.exchanges, e)
	w.seen(e)
	return response, err
}

func (e *exchange) readRequest(r *http.Request) error {
	body, err := r.GetBody()
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // a buffer
	var request openai.ChatCompletionRequest
	if err := json.NewDecoder(body).Decode(&request); err != nil {
		return err
	}
	for _, tool := range request.Tools {
		e.offers = append(e.offers, tool.Function.Name)
	}
	if e.added && len(request.Messages) > 0 {
		e.prompt = request.Messages[len(request.Messages)-1].Content
	}
	return nil
}

// readResponse reads the answer and puts it back for the SDK, which is also the
// one to complain about an answer that is none.
func (e *exchange) readResponse(r *http.Response) error {
	body, err := io.ReadAll(r.Body)
	if err := r.Body.Close(); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.StatusCode != http.StatusOK {
		e.failure = "HTTP " + r.Status
	}
	var answer openai.ChatCompletionResponse
	if json.Unmarshal(body, &answer) == nil && len(answer.Choices) > 0 {
		message := answer.Choices[0].Message
		e.said = message.Content
		for _, call := range message.ToolCalls {
			e.calls = append(e.calls, call.Function)
		}
	}
	return nil
}
