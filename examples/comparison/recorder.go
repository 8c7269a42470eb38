package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/continuation"
)

// exchange is a request and the model's answer to it.
type exchange struct {
	added  bool     // carryon added the request
	prompt string   // the last message of an added request
	offers []string // the names of the tools

	text    string
	calls   []openai.FunctionCall
	failure string // why there is no answer
}

// recorder is a transport that records requests and answers for the report. It
// is below carryon, so it sees the requests that carryon adds.
type recorder struct {
	next      http.RoundTripper
	exchanges []exchange
	seen      func(exchange)
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	var e exchange
	_, e.added = continuation.FromContext(request.Context())
	if err := e.readRequest(request); err != nil {
		return nil, err
	}
	response, err := r.next.RoundTrip(request)
	if err == nil {
		err = e.readResponse(response)
	}
	if err != nil {
		e.failure, response = err.Error(), nil
	}
	r.exchanges = append(r.exchanges, e)
	r.seen(e)
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

// readResponse reads the answer and restores the body for the SDK, which reports
// an answer that cannot be read.
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
		e.text = message.Content
		for _, call := range message.ToolCalls {
			e.calls = append(e.calls, call.Function)
		}
	}
	return nil
}
