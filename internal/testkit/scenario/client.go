package scenario

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
)

// Receiver is a stream of the SDK, or of a wrapped client.
type Receiver interface {
	Recv() (openai.ChatCompletionStreamResponse, error)
	Close() error
	Header() http.Header
	GetRateLimitHeaders() openai.RateLimitHeaders
}

// Client is the common interface of the clients that tests call: the SDK's own,
// the one of Wrap, and the one of NewClientWithConfig.
type Client struct {
	Complete func(context.Context, openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error)
	Stream   func(context.Context, openai.ChatCompletionRequest) (Receiver, error)
}

// ClientOf adapts a client whose streams have the type S.
func ClientOf[S Receiver](c interface {
	CreateChatCompletion(context.Context, openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error)
	CreateChatCompletionStream(context.Context, openai.ChatCompletionRequest) (S, error)
},
) Client {
	return Client{
		Complete: c.CreateChatCompletion,
		Stream: func(ctx context.Context, request openai.ChatCompletionRequest) (Receiver, error) {
			s, err := c.CreateChatCompletionStream(ctx, request)
			if err != nil {
				return nil, err
			}
			return s, nil
		},
	}
}

// Config returns the configuration of a client. A nil transport is net/http's
// default.
func Config(url string, transport http.RoundTripper) openai.ClientConfig {
	config := openai.DefaultConfig("no key")
	config.BaseURL = url
	config.HTTPClient = &http.Client{Transport: transport}
	return config
}

// HTTPConfig returns the configuration of a client that calls the server over
// HTTP.
func HTTPConfig(server *fakellm.Server) openai.ClientConfig { return Config(server.URL(), nil) }

// MemoryConfig returns the configuration of a client that calls the server
// without a socket.
func MemoryConfig(server *fakellm.Server) openai.ClientConfig {
	return Config(fakellm.BaseURL, server.Transport())
}

// SDKClient returns the SDK's own client, which continues nothing.
func SDKClient(config openai.ClientConfig) Client {
	return ClientOf(openai.NewClientWithConfig(config))
}

// SDKAnswer returns a turn as the SDK's own client reads it.
func SDKAnswer(t *testing.T, m Mode, request openai.ChatCompletionRequest, turn fakellm.Turn) Answer {
	t.Helper()
	server := fakellm.NewServer(t, turn)
	return m.Call(t.Context(), SDKClient(HTTPConfig(server)), request)
}

// Stream is an open stream, with the outcome of its call.
type Stream struct {
	Receiver

	Outcomes *middleware.Outcomes
}

// Open opens a stream.
func Open(ctx context.Context, c Client, request openai.ChatCompletionRequest) (Stream, error) {
	ctx, outcomes := middleware.Capture(ctx)
	s, err := c.Stream(ctx, request)
	return Stream{s, outcomes}, err
}

// Outcome returns the stream's own outcome, if it has one, or else the captured
// one.
func (s Stream) Outcome() middleware.Outcome {
	if own, ok := s.Receiver.(*carryopenai.Stream); ok {
		return own.Outcome()
	}
	return s.Outcomes.Last()
}

// ReadAll reads a stream to its end and closes it. The error is never io.EOF.
func ReadAll(s Receiver) ([]openai.ChatCompletionStreamResponse, error) {
	defer func() { _ = s.Close() }()
	var all []openai.ChatCompletionStreamResponse
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, chunk)
	}
}
