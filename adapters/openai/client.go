package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/middleware"
)

// Client is a go-openai client that continues chat completions. It is safe for
// concurrent use. Use [Wrap]: the zero value is not ready.
type Client struct {
	*openai.Client

	mw *middleware.Middleware
}

// Wrap returns a client whose chat completions mw continues. It does not modify client,
// which can still be used on its own. It panics if either argument is nil.
func Wrap(client *openai.Client, mw *middleware.Middleware) *Client {
	if client == nil {
		panic("carryon/adapters/openai: nil client")
	}
	if mw == nil {
		panic("carryon/adapters/openai: nil middleware")
	}
	return &Client{Client: client, mw: mw}
}

// CreateChatCompletion calls the SDK's method and continues the answer. The joined
// answer has the text of all turns, the tool calls and the finish reason of the last
// turn, and the id and the headers of the first; middleware.WithUsage says which usage
// it has. The request is not modified.
//
// The call does not fail because a continuation fails. If ctx ends during a
// continuation, the answer so far is returned together with the error.
func (c *Client) CreateChatCompletion(
	ctx context.Context, request openai.ChatCompletionRequest,
) (openai.ChatCompletionResponse, error) {
	call, _ := c.begin(ctx, &request)
	if call == nil {
		return c.Client.CreateChatCompletion(ctx, request)
	}
	first := withAdditions(request, call.Additions())
	return join.Unary(call, newAnswers(),
		func(ctx context.Context, k *adapter.Continuation) (openai.ChatCompletionResponse, error) {
			if k == nil {
				return c.Client.CreateChatCompletion(ctx, first)
			}
			answer, err := c.Client.CreateChatCompletion(ctx, extend(request, k))
			return answer, withStatus(err)
		})
}

// CreateChatCompletionStream calls the SDK's method and continues the answer. All turns
// arrive as one stream with one id, one role, one finish reason and one usage. The
// caller must close the stream.
//
// The request is not modified. A continuation sends it again, so the caller must not
// modify its slices before the stream has ended.
func (c *Client) CreateChatCompletionStream(
	ctx context.Context, request openai.ChatCompletionRequest,
) (*Stream, error) {
	request.Stream = true // as the SDK does
	call, outcome := c.begin(ctx, &request)
	if call == nil {
		first, err := c.Client.CreateChatCompletionStream(ctx, request)
		if err != nil {
			return nil, err
		}
		passed := outcome // so that only such a stream allocates it
		return &Stream{first: first, outcome: &passed}, nil
	}
	first, err := c.Client.CreateChatCompletionStream(call.Context(), withAdditions(request, call.Additions()))
	if err != nil {
		call.Abort(err)
		return nil, err
	}
	return newStream(call, first, func(
		ctx context.Context, k *adapter.Continuation,
	) (adapter.Source[openai.ChatCompletionStreamResponse], error) {
		next, err := c.Client.CreateChatCompletionStream(ctx, extend(request, k))
		if err != nil {
			return nil, withStatus(err)
		}
		return laterTurnSource{next}, nil
	}), nil
}

// laterTurnSource is the stream of a continuation. Its errors tell the engine whether
// another try can succeed.
type laterTurnSource struct{ *openai.ChatCompletionStream }

// Recv implements [adapter.Source].
func (s laterTurnSource) Recv() (openai.ChatCompletionStreamResponse, error) {
	chunk, err := s.ChatCompletionStream.Recv()
	return chunk, withStatus(err)
}

// lastingError is an error that no later try mends.
type lastingError struct{ error }

// Unwrap returns the SDK's own error.
func (e lastingError) Unwrap() error { return e.error }

// Retry says that another try cannot succeed.
func (lastingError) Retry() adapter.Retry { return adapter.Retry{Never: true} }

// withStatus adds what the SDK reports of an error: its HTTP status, and whether it lasts.
func withStatus(err error) error {
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &api) && api != nil: // the SDK wraps nil ones
		if !wire.MayPass(api.Type, fmt.Sprint(api.Code)) {
			err = lastingError{err}
		}
		return &adapter.StatusError{Status: api.HTTPStatusCode, Err: err}
	case errors.As(err, &request):
		return &adapter.StatusError{Status: request.HTTPStatusCode, Err: err}
	}
	return err
}

// NewClientWithConfig returns a client of the SDK's own type, whose chat completions mw
// continues on the wire. Use it if the rest of the program needs that type;
// [middleware.Capture] returns the outcomes of its calls. It panics if mw is nil.
//
// It does not modify config or its HTTP client. If that is an *http.Client, it wraps
// the Transport of a copy, which keeps Timeout, Jar and CheckRedirect; it wraps any
// other HTTPDoer as it is.
func NewClientWithConfig(config openai.ClientConfig, mw *middleware.Middleware) *openai.Client {
	if mw == nil {
		panic("carryon/adapters/openai: nil middleware")
	}
	switch client := config.HTTPClient.(type) {
	case nil:
		config.HTTPClient = &http.Client{Transport: transport.New(nil, mw)}
	case *http.Client:
		wrapped := http.Client{}
		if client != nil {
			wrapped = *client
		}
		wrapped.Transport = transport.New(wrapped.Transport, mw)
		config.HTTPClient = &wrapped
	default:
		config.HTTPClient = doer{transport.New(tripper{client}, mw)}
	}
	return openai.NewClientWithConfig(config)
}

// tripper adapts an HTTP client that is not net/http's to RoundTripper.
type tripper struct{ client openai.HTTPDoer }

// RoundTrip implements [http.RoundTripper].
func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t.client.Do(r) }

// doer adapts a RoundTripper to such a client.
type doer struct{ transport http.RoundTripper }

// Do implements [openai.HTTPDoer].
func (d doer) Do(r *http.Request) (*http.Response, error) { return d.transport.RoundTrip(r) }

// Stream is the joined stream of a call's turns. It has the methods of the SDK's stream
// except RecvRaw, because a joined chunk may differ from the bytes on the wire. Only
// one goroutine at a time may call Recv. Close is safe for concurrent use.
type Stream struct {
	first   *openai.ChatCompletionStream
	outcome *middleware.Outcome // set if carryon has nothing to do with the call; the fields below are then nil
	dialect *chunks
	joined  *join.Stream[openai.ChatCompletionStreamResponse]
}

func newStream(
	call *join.Call, first *openai.ChatCompletionStream,
	open adapter.Open[openai.ChatCompletionStreamResponse],
) *Stream {
	dialect := newChunks()
	return &Stream{
		first: first, dialect: dialect,
		joined: join.NewStream(call, dialect, first, open),
	}
}

// Recv returns the next chunk, and io.EOF after the last one.
func (s *Stream) Recv() (chunk openai.ChatCompletionStreamResponse, err error) {
	if s.joined == nil {
		return s.first.Recv()
	}
	relay := s.joined.Relay()
	if relay == nil {
		return s.joined.Recv()
	}
	chunk, err = s.first.Recv()
	if err == nil && s.dialect.envelope.IsFixed() && isText(&chunk) {
		relay.Text(chunk.Choices[0].Delta.Content)
		return chunk, nil
	}
	return relay.Handle(chunk, err)
}

// Close ends the stream. It may be called at any time, and several times.
func (s *Stream) Close() error {
	if s.joined == nil {
		return s.first.Close()
	}
	return s.joined.Close()
}

// Header returns the headers of the first turn's response.
func (s *Stream) Header() http.Header {
	return s.first.Header()
}

// GetRateLimitHeaders returns the rate limits in the headers of the first
// turn's response.
func (s *Stream) GetRateLimitHeaders() openai.RateLimitHeaders {
	return s.first.GetRateLimitHeaders()
}

// All returns an iterator over the chunks of the stream, which can be used once. It
// closes the stream when the loop ends. If there is an error, it comes last, with an
// empty chunk; io.EOF is not yielded.
func (s *Stream) All() iter.Seq2[openai.ChatCompletionStreamResponse, error] {
	return func(yield func(openai.ChatCompletionStreamResponse, error) bool) {
		defer s.Close() //nolint:errcheck // the chunks are what was asked for
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) || !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// Outcome returns what carryon did with the call. It is final once Recv has returned an
// error or io.EOF, or the stream is closed.
func (s *Stream) Outcome() middleware.Outcome {
	if s.joined == nil {
		return *s.outcome
	}
	return s.joined.Outcome()
}

// isText reports whether the chunk has text of a single choice and nothing else
// that carryon has to look at.
func isText(c *openai.ChatCompletionStreamResponse) bool {
	if len(c.Choices) != 1 || c.Usage != nil {
		return false
	}
	choice := &c.Choices[0]
	delta := &choice.Delta
	return choice.FinishReason == "" && choice.Index == 0 && len(delta.ToolCalls) == 0 &&
		delta.FunctionCall == nil && delta.Refusal == "" && delta.ReasoningContent == ""
}
