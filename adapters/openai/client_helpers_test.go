package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
)

// receiver is a stream of the SDK's, or of a wrapped client.
type receiver interface {
	Recv() (openai.ChatCompletionStreamResponse, error)
	Close() error
	Header() http.Header
	GetRateLimitHeaders() openai.RateLimitHeaders
}

// client is what the clients that tests call have in common: the SDK's own, what Wrap returns, and what
// NewClientWithConfig does.
type client struct {
	answer func(context.Context, openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error)
	stream func(context.Context, openai.ChatCompletionRequest) (receiver, error)
}

// clientOf returns the client of one whose streams are of the type S.
func clientOf[S receiver](c interface {
	CreateChatCompletion(context.Context, openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error)
	CreateChatCompletionStream(context.Context, openai.ChatCompletionRequest) (S, error)
},
) client {
	return client{
		answer: c.CreateChatCompletion,
		stream: func(ctx context.Context, request openai.ChatCompletionRequest) (receiver, error) {
			s, err := c.CreateChatCompletionStream(ctx, request)
			if err != nil {
				return nil, err
			}
			return s, nil
		},
	}
}

// mode is a way to call the model: with one of the two clients that continue, and one of the SDK's two methods.
type mode struct {
	name     string
	wire     bool // through NewClientWithConfig, and else through Wrap
	streamed bool
}

// The modes. What holds in one of them is tested in all, unless it is about what the others don't have.
var (
	typedUnary  = mode{name: "unary"}
	typedStream = mode{name: "stream", streamed: true}
	wireUnary   = mode{name: "wire unary", wire: true}
	wireStream  = mode{name: "wire stream", wire: true, streamed: true}

	allModes    = []mode{typedUnary, typedStream, wireUnary, wireStream}
	unaryModes  = []mode{typedUnary, wireUnary}
	streamModes = []mode{typedStream, wireStream}
)

// inModes runs a test in each of the modes.
func inModes(t *testing.T, modes []mode, test func(t *testing.T, m mode)) {
	t.Helper()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			test(t, m)
		})
	}
}

// client returns a client that continues.
func (m mode) client(config openai.ClientConfig, mw *middleware.Middleware) client {
	if m.wire {
		return clientOf(carryopenai.NewClientWithConfig(config, mw))
	}
	return clientOf(carryopenai.Wrap(openai.NewClientWithConfig(config), mw))
}

// clientOn returns a client of the server over HTTP.
func (m mode) clientOn(server *carryontest.Server, mw *middleware.Middleware) client {
	return m.client(configOf(server.URL(), nil), mw)
}

// clientIn returns a client of the server without a socket.
func (m mode) clientIn(server *carryontest.Server, mw *middleware.Middleware) client {
	return m.client(inMemory(server), mw)
}

// call makes a call and reads the answer to its end.
func (m mode) call(ctx context.Context, c client, request openai.ChatCompletionRequest) answer {
	if m.streamed {
		return stream(ctx, c, request)
	}
	return unary(ctx, c, request)
}

// errClosed is what a stream of the mode gives that was closed.
func (m mode) errClosed() error {
	if m.wire {
		return http.ErrBodyReadAfterClose
	}
	return middleware.ErrClosed
}

// configOf returns the configuration of a client; a nil transport is the default one.
func configOf(url string, transport http.RoundTripper) openai.ClientConfig {
	config := openai.DefaultConfig("no key")
	config.BaseURL = url
	config.HTTPClient = &http.Client{Transport: transport}
	return config
}

// inMemory returns the configuration of a client of the server without a socket.
func inMemory(server *carryontest.Server) openai.ClientConfig {
	return configOf(carryontest.BaseURL, server.Transport())
}

// bare returns the SDK's own client.
func bare(config openai.ClientConfig) client { return clientOf(openai.NewClientWithConfig(config)) }

// bareOn returns the SDK's own client of the server over HTTP.
func bareOn(server *carryontest.Server) client { return bare(configOf(server.URL(), nil)) }

// bareAnswer is what the SDK's own client makes of the same turns.
func bareAnswer(t *testing.T, m mode, request openai.ChatCompletionRequest, turns ...carryontest.Turn) answer {
	t.Helper()
	server := carryontest.NewServer(t, turns...)
	return m.call(t.Context(), bareOn(server), request)
}

func unary(ctx context.Context, c client, request openai.ChatCompletionRequest) answer {
	ctx, outcomes := middleware.Capture(ctx)
	response, err := c.answer(ctx, request)
	a := answer{ID: response.ID, Err: err, Outcome: outcomes.Last()}
	if response.Usage != (openai.Usage{}) {
		a.Usage = &response.Usage
	}
	if len(response.Choices) > 0 {
		message := &response.Choices[0].Message
		a.Text, a.Reasoning, a.Refusal, a.Calls = message.Content, message.ReasoningContent, message.Refusal, message.ToolCalls
		for _, part := range message.MultiContent {
			a.Text += part.Text
		}
		a.Finish = string(response.Choices[0].FinishReason)
	}
	return a
}

func stream(ctx context.Context, c client, request openai.ChatCompletionRequest) answer {
	request.StreamOptions = usageIncluded()
	s, err := open(ctx, c, request)
	if err != nil {
		return answer{Err: err, Outcome: s.outcomes.Last()}
	}
	chunks, err := readAll(s)
	a := answer{Err: err, Outcome: s.outcomes.Last()} // now that it is closed: the SDK may have given up on what carryon has not
	for _, c := range chunks {
		a.add(c)
	}
	return a
}

func usageIncluded() *openai.StreamOptions { return &openai.StreamOptions{IncludeUsage: true} }

// opened is a stream, and what became of its call.
type opened struct {
	receiver

	outcomes *middleware.Outcomes
}

// open opens a stream.
func open(ctx context.Context, c client, request openai.ChatCompletionRequest) (opened, error) {
	ctx, outcomes := middleware.Capture(ctx)
	s, err := c.stream(ctx, request)
	return opened{s, outcomes}, err
}

// Outcome returns the outcome: that of the stream itself, where it has one.
func (o opened) Outcome() middleware.Outcome {
	if own, ok := o.receiver.(*carryopenai.Stream); ok {
		return own.Outcome()
	}
	return o.outcomes.Last()
}

// readAll reads a stream to its end and closes it; no error is io.EOF.
func readAll(s receiver) ([]chunk, error) {
	defer s.Close()
	var all []chunk
	for {
		c, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
}
