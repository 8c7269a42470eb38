package responses_test

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// unattended runs have no person, so that it does not matter how a script's text ends.
var unattended = middleware.WithApprovalMode(continuation.ApprovalYOLO)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var sample = flag.Int("sample", 32, "have answers fail at one in so many offsets; 1 is every byte")

// oneIn returns n, or 1 if answers are to fail at every byte.
func oneIn(n int) int {
	if *sample == 1 {
		return 1
	}
	return n
}

// plan is the model's first text in most tests: it announces work that it does
// not do.
const plan = "Next I will write the parser."

// blocked is a reason that todo_pause accepts.
const blocked = "The grammar file grammar.ebnf is missing"

var twoTodos = todo.Static(
	todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress},
	todo.Todo{ID: "2", Content: "Test the parser", Status: todo.Pending},
)

// edit is the answer of a model that does its work.
func edit() fakellm.Turn { return fakellm.Call("edit_file", `{"path":"parser.go"}`) }

// way is a way to ask for an answer.
type way struct{ stream bool }

// inBothWays runs a test for answers that are streamed and for those that are not.
func inBothWays(t *testing.T, test func(t *testing.T, w way)) {
	t.Helper()
	for name, w := range map[string]way{"unary": {false}, "stream": {true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// scene is one session of an HTTP client that goes through the transport to a
// scripted server.
type scene struct {
	ctx    context.Context // of the session
	server *fakellm.Server
	wire   *tap
	client *http.Client
}

func newScene(t *testing.T, todos todo.Provider, opts ...middleware.Option) *scene {
	t.Helper()
	server := fakellm.NewServer(t)
	limits := middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 3})
	s := &scene{ctx: continuation.WithSession(t.Context(), "s"), server: server, wire: &tap{base: server.Transport()}}
	s.client = &http.Client{Transport: transport.New(s.wire, middleware.New(todos, append([]middleware.Option{limits, unattended}, opts...)...))}
	return s
}

// reply is an answer to the byte.
type reply struct {
	Status  int
	Header  http.Header
	Body    string
	Err     error // of the request, or of the body
	Outcome middleware.Outcome
}

func readReply(r *http.Response, err error) reply {
	if err != nil {
		return reply{Err: err}
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	return reply{Status: r.StatusCode, Header: r.Header, Body: string(body), Err: err}
}

// send sends a request, which the server answers with turns.
func (s *scene) send(t *testing.T, r *http.Request, turns ...fakellm.Turn) reply {
	t.Helper()
	s.server.Append(turns...)
	ctx, outcomes := middleware.Capture(r.Context())
	got := readReply(s.client.Do(r.WithContext(ctx)))
	got.Outcome = outcomes.Last()
	return got
}

// tap records the bodies of requests.
type tap struct {
	base http.RoundTripper

	mu   sync.Mutex
	sent []string
}

func (p *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_ = r.Body.Close()
	out := r.WithContext(r.Context())
	out.Body = io.NopCloser(strings.NewReader(string(body)))
	p.mu.Lock()
	p.sent = append(p.sent, string(body))
	p.mu.Unlock()
	return p.base.RoundTrip(out)
}

func (p *tap) bodies() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.sent...)
}

// roundTrip is a function used as an [http.RoundTripper].
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// streamed returns a response with a stream.
func streamed(r *http.Request, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, ContentLength: -1, Request: r,
	}
}

// oneContinuation returns a middleware that continues a call once.
func oneContinuation(todos todo.Provider, opts ...middleware.Option) *middleware.Middleware {
	limits := middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1})
	return middleware.New(todos, append(opts, limits, unattended)...)
}

// quoted returns a text as JSON.
func quoted(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	require.NoError(t, err)
	return string(b)
}

// responsesBytes returns the answers of a server to one request after another,
// without carryon.
func responsesBytes(tb testing.TB, body string, turns ...fakellm.Turn) []string {
	tb.Helper()
	server := fakellm.NewServer(tb, turns...)
	var all []string
	for range turns {
		r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, fakellm.BaseURL+"/responses", strings.NewReader(body))
		require.NoError(tb, err)
		got := readReply(server.Transport().RoundTrip(r))
		require.NoError(tb, got.Err)
		all = append(all, got.Body)
	}
	return all
}

// playOver plays streams over a connection, one for each request, and returns
// what a client reads of the joined answer, and the error that ended it.
func playOver(t *testing.T, turns ...string) (string, error) {
	t.Helper()
	return playBody(t, responsesBody(true), turns...)
}

// playBody is playOver for a request of another kind.
func playBody(t *testing.T, body string, turns ...string) (string, error) {
	t.Helper()
	return play(t, body, oneContinuation(twoTodos), turns...)
}

// playPaused is playBody for a request that offers todo_pause.
func playPaused(t *testing.T, turn string) string {
	t.Helper()
	got, err := play(t, responsesBody(true), oneContinuation(twoTodos, middleware.WithPauseTool(middleware.PauseToolAlways)), turn)
	require.NoError(t, err)
	return got
}

func play(t *testing.T, body string, mw *middleware.Middleware, turns ...string) (string, error) {
	t.Helper()
	all := make([]fakellm.Turn, 0, len(turns))
	for _, turn := range turns {
		all = append(all, fakellm.Raw(turn))
	}
	last := all[len(all)-1]
	all = append(all, last, last) // a continuation that shows nothing is tried again
	server, base := fakellm.NewServer(t, all...), new(http.Transport)
	defer base.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+"/responses", strings.NewReader(body))
	require.NoError(t, err)
	got := readReply(transport.New(base, mw).RoundTrip(r))
	require.Equal(t, http.StatusOK, got.Status)
	return got.Body, got.Err
}
