package anthropic

import (
	"context"
	"errors"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/middleware"
)

// Client is the SDK's client with its Messages continued. It is safe for
// concurrent use.
type Client struct {
	sdk.Client

	Messages *Messages
}

// Messages is the SDK's service of that name, continued.
type Messages struct {
	sdk.MessageService

	mw *middleware.Middleware
}

// Wrap returns client with its Messages continued by mw. It panics if mw is
// nil.
func Wrap(client sdk.Client, mw *middleware.Middleware) *Client {
	if mw == nil {
		panic("carryon/conformance/anthropic: nil middleware")
	}
	return &Client{Client: client, Messages: &Messages{client.Messages, mw}}
}

// New is the SDK's New with continuations. The message has the text of all turns, the tool calls and the stop reason of
// the last turn, the id of the first, and one usage for all. New does not change params.
func (m *Messages) New(
	ctx context.Context, params sdk.MessageNewParams, opts ...option.RequestOption,
) (*sdk.Message, error) {
	call, _ := join.Begin(ctx, m.mw, describe(&params))
	if call == nil {
		return m.MessageService.New(ctx, params, opts...)
	}
	first := withAdditions(params, call.Additions())
	return join.Unary(call, newAnswers(),
		func(ctx context.Context, k *adapter.Continuation) (*sdk.Message, error) {
			if k == nil {
				return m.MessageService.New(ctx, first, opts...)
			}
			message, err := m.MessageService.New(ctx, extend(params, k), opts...)
			return message, withStatus(err)
		})
}

// NewStreaming is the SDK's NewStreaming with continuations. The turns come as one stream, which the caller must close
// unless it reads the stream to its end. NewStreaming does not change params. A continuation sends them again, so the
// caller must not change their slices before the stream ends.
func (m *Messages) NewStreaming(
	ctx context.Context, params sdk.MessageNewParams, opts ...option.RequestOption,
) *ssestream.Stream[sdk.MessageStreamEventUnion] {
	call, _ := join.Begin(ctx, m.mw, describe(&params))
	if call == nil {
		return m.MessageService.NewStreaming(ctx, params, opts...)
	}
	first := m.MessageService.NewStreaming(call.Context(), withAdditions(params, call.Additions()), opts...)
	if err := first.Err(); err != nil {
		call.Abort(err)
		return first
	}
	return newStream(call, source{first},
		func(ctx context.Context, k *adapter.Continuation) (adapter.Source[event], error) {
			next := m.MessageService.NewStreaming(ctx, extend(params, k), opts...)
			return source{next}, withStatus(next.Err())
		})
}

// withStatus adds the HTTP status to an error, if the SDK reports one.
func withStatus(err error) error {
	if refused, ok := errors.AsType[*sdk.Error](err); ok {
		status := &adapter.StatusError{Status: refused.StatusCode, Err: err}
		if refused.Response != nil {
			status.Retry = adapter.RetryOf(refused.Response.Header.Get)
		}
		return status
	}
	return err
}
