package openai

import (
	"context"
	"errors"
	"fmt"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
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
