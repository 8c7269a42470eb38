package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// chunks is the number of text chunks in a measured stream.
const chunks = 256

// word is the text of each chunk.
const word = " some words"

// event is a chunk of a stream in the form that OpenAI sends.
func event(delta, finish string) string {
	return fmt.Sprintf(`data: {"id":"chatcmpl-C6bjxzOr3Oz1rTiafksd6himIit3q","object":"chat.completion.chunk","created":1755691077,`+
		`"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_80956533cb","choices":[{"index":0,`+
		`"delta":%s,"logprobs":null,"finish_reason":%s}],"usage":null}`+"\n\n", delta, finish)
}

// terse is a chunk without optional members. The SDK reads it faster, so carryon's share shows more clearly.
func terse(delta, finish string) string {
	return fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","created":1755691077,"model":"m",`+
		`"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
}

// turn is a stream of that many text chunks and a finish reason.
func turn(texts int, finish string) []string { return turnOf(event, texts, finish) }

func turnOf(event func(delta, finish string) string, texts int, finish string) []string {
	events := []string{event(`{"role":"assistant","content":"","refusal":null}`, "null")}
	for range texts {
		events = append(events, event(fmt.Sprintf(`{"content":%q}`, word), "null"))
	}
	if finish == "tool_calls" {
		events = append(events, event(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"edit_file","arguments":"{}"}}]}`, "null"))
	}
	return append(events, event("{}", fmt.Sprintf("%q", finish)), "data: [DONE]\n\n")
}

// nothingToDo is a turn that carryon does not continue.
func nothingToDo() []string { return turn(chunks, "tool_calls") }

// manyChunks is the number of text chunks in a stream that measures the cost of one
// chunk. It is large, so that the cost of the call itself hardly counts.
const manyChunks = 4 * chunks

// long is a stream of manyChunks.
func long(event func(delta, finish string) string) memory {
	return inMemory(turnOf(event, manyChunks, "tool_calls"))
}

// openTodos is a middleware with a todo list that has work left.
func openTodos() *middleware.Middleware {
	return middleware.New(
		todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress}),
		middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1}),
	)
}

// memory answers every request with the same bytes, without a network.
type memory string

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	_ = r.Body.Close()
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(m))), ContentLength: -1, Request: r,
	}, nil
}

// inMemory answers every request with the events, without a network.
func inMemory(events []string) memory { return memory(strings.Join(events, "")) }

// loopback is a server that flushes after each event.
func loopback(events []string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = io.WriteString(w, e)
			_ = http.NewResponseController(w).Flush()
		}
	}))
}

// clientOf is a go-openai client over the transport.
func clientOf(url string, through http.RoundTripper) *openai.Client {
	config := openai.DefaultConfig("no key")
	config.BaseURL, config.HTTPClient = url, &http.Client{Transport: through}
	return openai.NewClientWithConfig(config)
}

func request() openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model: "m", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Go on."}},
		Tools: []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "edit_file"}}},
	}
}

// receiver is a stream of go-openai or of carryon's wrapper.
type receiver interface {
	Recv() (openai.ChatCompletionStreamResponse, error)
	Close() error
}

// opener returns a function that opens a stream, always with the same request.
func opener[S receiver](open func(context.Context, openai.ChatCompletionRequest) (S, error)) func() receiver {
	asked := request()
	return func() receiver {
		s, err := open(context.Background(), asked)
		must(err)
		return s
	}
}

// read returns a function that opens a stream and reads it to its end.
func read(open func() receiver) func() {
	return func() {
		s := open()
		for {
			_, err := s.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			must(err)
		}
		must(s.Close())
	}
}

// post sends a request through a transport and returns the answer's body.
func post(through http.RoundTripper, body string) io.ReadCloser {
	return postTo(through, "/chat/completions", body)
}

func postTo(through http.RoundTripper, path, body string) io.ReadCloser {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://bench/v1"+path, strings.NewReader(body))
	must(err)
	r.Header.Set("Content-Type", "application/json")
	response, err := through.RoundTrip(r)
	must(err)
	return response.Body
}

// wireRequest is the body of a streamed request with a history of that many messages.
func wireRequest(messages int) string {
	var b strings.Builder
	b.WriteString(`{"model":"m","stream":true,"messages":[`)
	for range messages / 2 {
		b.WriteString(`{"role":"user","content":"What does the next function of the file do, and does it need to change?"},` +
			`{"role":"assistant","content":"It reads the file line by line, and yes: it should stop at the first error."},`)
	}
	b.WriteString(`{"role":"user","content":"Go on."}],"tools":[{"type":"function","function":{"name":"edit_file"}}]}`)
	return b.String()
}

// drain reads a body to its end.
func drain(body io.ReadCloser, buffer []byte) {
	for {
		_, err := body.Read(buffer)
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
	}
	must(body.Close())
}

// turns answers the first request of each call with one stream and the second
// with another. It records when the first stream ended and the second request came.
type turns struct {
	first, second string
	asked         int
	continued     time.Time // when the second request came
	ended         time.Time // when the first stream had been read to its end
}

func (t *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	t.asked++
	if t.asked%2 == 0 {
		t.continued = time.Now()
		return memory(t.second).RoundTrip(r)
	}
	response, err := memory(t.first).RoundTrip(r)
	response.Body = &timedBody{response.Body, len(t.first), &t.ended}
	return response, err
}

// timedBody records when a body has given that many bytes.
type timedBody struct {
	io.ReadCloser
	left int
	at   *time.Time
}

func (n *timedBody) Read(p []byte) (int, error) {
	got, err := n.ReadCloser.Read(p)
	n.left -= got
	if got > 0 && n.left == 0 {
		*n.at = time.Now()
	}
	return got, err
}
