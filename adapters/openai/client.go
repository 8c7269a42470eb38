package openai

import (
	"context"
	"errors"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/middleware"
)

// Client is a go-openai client that continues chat completions. Make one with
// [Wrap]: the zero value is not usable. It is safe for concurrent use.
type Client struct {
	*openai.Client

	mw *middleware.Middleware
}

// Wrap returns a client whose chat completions mw continues. It panics if
// either argument is nil. It does not change client, which stays usable on its
// own.
func Wrap(client *openai.Client, mw *middleware.Middleware) *Client {
	if client == nil {
		panic("carryon/adapters/openai: nil client")
	}
	if mw == nil {
		panic("carryon/adapters/openai: nil middleware")
	}
	return &Client{Client: client, mw: mw}
}

// CreateChatCompletion calls the SDK's method and continues the answer. The
// joined answer has the text of all turns, the tool calls and the finish reason
// of the last one, the id and the headers of the first, and the summed usage.
// The request is not changed.
//
// A continuation that fails does not fail the call. If ctx ends during one,
// the answer so far comes with the error.
func (c *Client) CreateChatCompletion(
	ctx context.Context, request openai.ChatCompletionRequest,
) (openai.ChatCompletionResponse, error) {
	call, _ := c.begin(ctx, &request)
	if call == nil {
		return c.Client.CreateChatCompletion(ctx, request)
	}
	first := withAdditions(request, call.Additions())
	return middleware.Unary(call, newAnswers(),
		func(ctx context.Context, k *adapter.Continuation) (openai.ChatCompletionResponse, error) {
			if k == nil {
				return c.Client.CreateChatCompletion(ctx, first)
			}
			answer, err := c.Client.CreateChatCompletion(ctx, extend(request, k))
			return answer, withStatus(err)
		})
}

// CreateChatCompletionStream calls the SDK's method and continues the answer.
// All turns come as one stream with one id, one role, one finish reason and one
// usage. The request is not changed. A continuation sends it again, so the
// caller must not change its slices before the stream has ended. The caller
// must close the stream.
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
		return next, nil
	}), nil
}

// withStatus adds the HTTP status to an error if the SDK reports one.
func withStatus(err error) error {
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &api) && api != nil: // the SDK wraps nil ones
		return &adapter.StatusError{Status: api.HTTPStatusCode, Err: err}
	case errors.As(err, &request):
		return &adapter.StatusError{Status: request.HTTPStatusCode, Err: err}
	}
	return err
}
