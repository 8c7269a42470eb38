package scenario

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Scenario is one session of a client that continues, with a scripted server.
// When the test ends, it fails if a body was left open, or the session claimed.
type Scenario struct {
	Mode       Mode
	Ctx        context.Context // of the session
	Server     *fakellm.Server
	Transport  *Transport
	Middleware *middleware.Middleware
	Client     Client
	Events     *carryontest.Recorder
}

// New returns a scenario over HTTP. Prompts have no interval between them unless
// an option says otherwise.
func New(t *testing.T, m Mode, todos todo.Provider, opts ...middleware.Option) *Scenario {
	t.Helper()
	server := fakellm.NewServer(t)
	return newScenario(t, m, server, &Transport{Base: http.DefaultTransport, URL: server.URL()}, todos, opts...)
}

// NewInBubble returns a scenario in memory, for a bubble of synctest. Prompts have
// the default interval.
func NewInBubble(t *testing.T, m Mode, todos todo.Provider, opts ...middleware.Option) *Scenario {
	t.Helper()
	server := fakellm.NewServer(t)
	opts = slices.Concat([]middleware.Option{middleware.WithLimits(continuation.Limits{})}, opts)
	return newScenario(t, m, server, &Transport{Base: server.Transport(), URL: fakellm.BaseURL}, todos, opts...)
}

//nolint:revive // argument-limit: what two constructors differ in
func newScenario(
	t *testing.T, m Mode, server *fakellm.Server, transport *Transport, todos todo.Provider, opts ...middleware.Option,
) *Scenario {
	t.Helper()
	s := &Scenario{
		Mode: m, Ctx: continuation.WithSession(t.Context(), "s"), Server: server, Transport: transport,
		Events: carryontest.NewRecorder(),
	}
	s.Middleware = middleware.New(todos, slices.Concat(
		[]middleware.Option{NoInterval(), Unattended(), middleware.WithObserver(s.Events.Observer())}, opts)...)
	s.Client = s.ClientWith(s.Middleware)
	t.Cleanup(func() {
		opened, closed := transport.Bodies()
		assert.Equal(t, opened, closed, "bodies closed")
		assert.Zero(t, s.State(t).Claim, "the session is still claimed")
	})
	return s
}

// ClientWith returns a client of the scenario's server with another middleware.
func (s *Scenario) ClientWith(mw *middleware.Middleware) Client {
	return s.Mode.Client(Config(s.Transport.URL, s.Transport), mw)
}

// TypedClient returns a client of Wrap, for tests of what only that one has.
func (s *Scenario) TypedClient() *carryopenai.Client {
	return carryopenai.Wrap(openai.NewClientWithConfig(Config(s.Transport.URL, s.Transport)), s.Middleware)
}

// Ask makes a call with [Request]. The turns are added to the server's script.
func (s *Scenario) Ask(turns ...fakellm.Turn) Answer { return s.Call(s.Ctx, Request(), turns...) }

// Call makes a call. The turns are added to the server's script.
func (s *Scenario) Call(ctx context.Context, request openai.ChatCompletionRequest, turns ...fakellm.Turn) Answer {
	s.Server.Append(turns...)
	return s.Mode.Call(ctx, s.Client, request)
}

// State returns the session's state, also after the test's ctx has ended.
func (s *Scenario) State(t *testing.T) decision.State {
	t.Helper()
	state, err := statetest.State(context.WithoutCancel(s.Ctx), s.Middleware)
	require.NoError(t, err)
	return state
}

// Prompts returns the last message of every request but the first.
func (s *Scenario) Prompts() []string {
	requests := s.Server.Requests()[1:]
	prompts := make([]string, 0, len(requests))
	for _, request := range requests {
		prompts = append(prompts, request.Last().Content)
	}
	return prompts
}

// Body returns the body of the i-th request.
func (s *Scenario) Body(t *testing.T, i int) string {
	t.Helper()
	requests := s.Server.Requests()
	require.Greater(t, len(requests), i)
	return string(requests[i].Body)
}

// Content returns the text of a message of the i-th request.
func (s *Scenario) Content(t *testing.T, i, message int) string {
	t.Helper()
	requests := s.Server.Requests()
	require.Greater(t, len(requests), i)
	require.Greater(t, len(requests[i].Messages), message)
	return requests[i].Messages[message].Content
}
