package fakellm_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	openai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// overHTTP and inMemory are clients of the two ways to reach a server.
func overHTTP(s *fakellm.Server) *openai.Client {
	config := openai.DefaultConfig("no key")
	config.BaseURL = s.URL()
	return openai.NewClientWithConfig(config)
}

func inMemory(s *fakellm.Server) *openai.Client {
	config := openai.DefaultConfig("no key")
	config.BaseURL = fakellm.BaseURL
	config.HTTPClient = &http.Client{Transport: s.Transport()}
	return openai.NewClientWithConfig(config)
}

// ways is all ways to reach a server, by name.
func ways() map[string]func(*fakellm.Server) *openai.Client {
	return map[string]func(*fakellm.Server) *openai.Client{"http": overHTTP, "memory": inMemory}
}

func question() openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model:    "scripted",
		Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: "Go on."}},
	}
}

func withUsage() openai.ChatCompletionRequest {
	req := question()
	req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	return req
}

// received is a client's reading of a stream.
type received struct {
	chunks    []openai.ChatCompletionStreamResponse
	text      string
	reasoning string
	refusal   string
	calls     []openai.ToolCall // put together by index
	finishes  []string
	usages    []openai.Usage
	err       error // nil at the end of the stream
}

func (r *received) add(chunk openai.ChatCompletionStreamResponse) {
	r.chunks = append(r.chunks, chunk)
	if chunk.Usage != nil {
		r.usages = append(r.usages, *chunk.Usage)
	}
	for _, choice := range chunk.Choices {
		r.text += choice.Delta.Content
		r.reasoning += choice.Delta.ReasoningContent
		r.refusal += choice.Delta.Refusal
		if choice.FinishReason != "" {
			r.finishes = append(r.finishes, string(choice.FinishReason))
		}
		for _, fragment := range choice.Delta.ToolCalls {
			r.addCall(fragment)
		}
	}
}

func (r *received) addCall(fragment openai.ToolCall) {
	index := 0
	if fragment.Index != nil {
		index = *fragment.Index
	}
	for len(r.calls) <= index {
		r.calls = append(r.calls, openai.ToolCall{})
	}
	call := &r.calls[index]
	call.ID += fragment.ID
	call.Type += fragment.Type
	call.Function.Name += fragment.Function.Name
	call.Function.Arguments += fragment.Function.Arguments
}

// readAll reads a stream to its end, whatever that is.
func readAll(stream *openai.ChatCompletionStream) received {
	var r received
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			r.err = err
			return r
		}
		r.add(chunk)
	}
}

func ask(t *testing.T, client *openai.Client, req openai.ChatCompletionRequest) received {
	t.Helper()
	stream, err := client.CreateChatCompletionStream(t.Context(), req)
	require.NoError(t, err)
	r := readAll(stream)
	require.NoError(t, stream.Close())
	return r
}

func open(ctx context.Context, t *testing.T, client *openai.Client) *openai.ChatCompletionStream {
	t.Helper()
	stream, err := client.CreateChatCompletionStream(ctx, question())
	require.NoError(t, err)
	t.Cleanup(func() { _ = stream.Close() })
	return stream
}
