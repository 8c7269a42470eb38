package scenario

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
)

// Mode is a way to call the model: with one of the two clients that continue,
// and one of the SDK's two methods.
type Mode int

// The modes. A test runs in all modes that have the feature it tests.
const (
	TypedUnary  Mode = iota // Wrap, CreateChatCompletion
	TypedStream             // Wrap, CreateChatCompletionStream
	WireUnary               // NewClientWithConfig, CreateChatCompletion
	WireStream              // NewClientWithConfig, CreateChatCompletionStream
)

// AllModes returns all modes.
func AllModes() []Mode { return []Mode{TypedUnary, TypedStream, WireUnary, WireStream} }

// TypedModes returns the modes of the typed client, for rules that do not depend on how a
// call is made. A property test shows that the typed client and the wire agree.
func TypedModes() []Mode { return []Mode{TypedUnary, TypedStream} }

// StreamModes returns the modes whose answers are streamed.
func StreamModes() []Mode { return []Mode{TypedStream, WireStream} }

// InModes runs a test in each of the modes.
func InModes(t *testing.T, modes []Mode, test func(t *testing.T, m Mode)) {
	t.Helper()
	for _, m := range modes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			test(t, m)
		})
	}
}

// InBubbles runs a test in each of the modes in a bubble of synctest, where time
// passes only while all goroutines wait.
func InBubbles(t *testing.T, modes []Mode, test func(t *testing.T, m Mode)) {
	t.Helper()
	InModes(t, modes, func(t *testing.T, m Mode) {
		synctest.Test(t, func(t *testing.T) { test(t, m) })
	})
}

// String returns the name of the mode.
func (m Mode) String() string {
	switch m {
	case TypedStream:
		return "stream"
	case WireUnary:
		return "wire unary"
	case WireStream:
		return "wire stream"
	default:
		return "unary"
	}
}

// OnWire reports whether carryon works below the SDK.
func (m Mode) OnWire() bool { return m == WireUnary || m == WireStream }

// Streamed reports whether answers are streamed.
func (m Mode) Streamed() bool { return m == TypedStream || m == WireStream }

// Client returns a client that continues.
func (m Mode) Client(config openai.ClientConfig, mw *middleware.Middleware) Client {
	if m.OnWire() {
		return ClientOf(carryopenai.NewClientWithConfig(config, mw))
	}
	return ClientOf(carryopenai.Wrap(openai.NewClientWithConfig(config), mw))
}

// HTTPClient returns a client that continues and calls the server over HTTP.
func (m Mode) HTTPClient(server *fakellm.Server, mw *middleware.Middleware) Client {
	return m.Client(HTTPConfig(server), mw)
}

// MemoryClient returns a client that continues and calls the server without a
// socket.
func (m Mode) MemoryClient(server *fakellm.Server, mw *middleware.Middleware) Client {
	return m.Client(MemoryConfig(server), mw)
}

// Call makes a call and reads the answer to its end.
func (m Mode) Call(ctx context.Context, c Client, request openai.ChatCompletionRequest) Answer {
	if m.Streamed() {
		return ReadStream(ctx, c, request)
	}
	return complete(ctx, c, request)
}

// ErrClosed returns the error of a stream that was closed.
func (m Mode) ErrClosed() error {
	if m.OnWire() {
		return http.ErrBodyReadAfterClose
	}
	return middleware.ErrClosed
}
