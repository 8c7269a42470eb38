package wiretest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/internal/testkit/syncbuf"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Plan is the model's first text in most scenes: it announces work that it does not do.
const Plan = "Next I will write the parser."

// Blocked is a reason that todo_pause accepts.
const Blocked = "The grammar file grammar.ebnf is missing"

// TwoTodos is the list that most tests work on.
var TwoTodos = todo.Static( //nolint:gochecknoglobals // constant
	todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress},
	todo.Todo{ID: "2", Content: "Test the parser", Status: todo.Pending},
)

// Unhurried has no interval between prompts, so that no test waits, and an attempt less than by default, so that
// scripts are short.
var Unhurried = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 3}) //nolint:gochecknoglobals // constant

// Unattended is the mode in which it does not matter how a text ends.
var Unattended = middleware.WithApprovalMode(continuation.ApprovalYOLO) //nolint:gochecknoglobals // constant

// Edit is the answer of a model that does its work.
func Edit() fakellm.Turn { return fakellm.Call("edit_file", `{"path":"parser.go"}`) }

// Way is a way to ask for an answer.
type Way struct {
	name   string
	Stream bool
}

// InBothWays runs a test for answers that are streamed and for those that are not.
func InBothWays(t *testing.T, test func(t *testing.T, w Way)) {
	t.Helper()
	for _, w := range []Way{{"unary", false}, {"stream", true}} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// Scene is one session of an HTTP client that goes through the transport to a scripted server. At the end of the test,
// it checks that no body is left open and that the session is not active.
type Scene struct {
	Ctx        context.Context // of the session
	URL        string
	Server     *fakellm.Server
	Wire       *Tap
	Middleware *middleware.Middleware
	Client     *http.Client
	Events     *carryontest.Recorder
}

// NewHTTPScene returns a scene over HTTP.
func NewHTTPScene(t *testing.T, todos todo.Provider) *Scene {
	t.Helper()
	server := fakellm.NewServer(t)
	base := new(http.Transport)
	t.Cleanup(base.CloseIdleConnections)
	return Upstream{server, base, server.URL()}.NewScene(t, todos)
}

// NewScene returns a scene in memory.
func NewScene(t *testing.T, todos todo.Provider, opts ...middleware.Option) *Scene {
	t.Helper()
	server := fakellm.NewServer(t)
	return Upstream{server, server.Transport(), fakellm.BaseURL}.NewScene(t, todos, opts...)
}

// Upstream is a scripted server, how it is reached, and at which URL.
type Upstream struct {
	Server *fakellm.Server
	Base   http.RoundTripper
	URL    string
}

// NewScene returns a scene whose requests go to the upstream.
func (u Upstream) NewScene(t *testing.T, todos todo.Provider, opts ...middleware.Option) *Scene {
	t.Helper()
	s := &Scene{
		Ctx: continuation.WithSession(t.Context(), "s"), URL: u.URL, Server: u.Server, Wire: &Tap{Base: u.Base},
		Events: carryontest.NewRecorder(),
	}
	s.Middleware = middleware.New(todos, slices.Concat(
		[]middleware.Option{Unhurried, Unattended, middleware.WithObserver(s.Events.Observer())}, opts)...)
	s.Client = &http.Client{Transport: transport.New(s.Wire, s.Middleware)}
	t.Cleanup(func() {
		assert.Zero(t, s.Wire.Open(), "bodies left open")
		assert.Zero(t, s.State(t).Claim, "the session is left active")
	})
	return s
}

// State returns the session's state, also after the test's ctx has ended.
func (s *Scene) State(t *testing.T) decision.State {
	t.Helper()
	state, err := statetest.State(context.WithoutCancel(s.Ctx), s.Middleware)
	require.NoError(t, err)
	return state
}

// Request returns a request of the scene's session.
func (s *Scene) Request(t *testing.T, body string) *http.Request {
	t.Helper()
	return NewChatRequest(t, s.Ctx, s.URL, body)
}

// Ask plays the turns to the request that [ChatBody] returns.
func (s *Scene) Ask(t *testing.T, w Way, turns ...fakellm.Turn) Reply {
	t.Helper()
	return s.Send(t, s.Request(t, ChatBody(w.Stream)), turns...)
}

// Send plays the turns to a request.
func (s *Scene) Send(t *testing.T, r *http.Request, turns ...fakellm.Turn) Reply {
	t.Helper()
	s.Server.Append(turns...)
	ctx, outcomes := middleware.Capture(r.Context())
	got := ReadReply(s.Client.Do(r.WithContext(ctx)))
	got.Outcome = outcomes.Last()
	return got
}

// Reply is an answer to the byte.
type Reply struct {
	Status  int
	Length  int64
	Header  http.Header
	Body    string
	Err     error // of the request, or of the body
	Outcome middleware.Outcome
}

// ReadReply reads a response, or takes the error of its request.
func ReadReply(r *http.Response, err error) Reply {
	if err != nil {
		return Reply{Err: err}
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	return Reply{Status: r.StatusCode, Length: r.ContentLength, Header: r.Header, Body: string(body), Err: err}
}

// Tap is an [http.RoundTripper] that keeps the requests it is given, and counts bodies.
type Tap struct {
	Base http.RoundTripper

	mu             sync.Mutex
	requests       []*http.Request
	sent           []string // their bodies
	opened, closed int
}

// RoundTrip implements [http.RoundTripper].
func (p *Tap) RoundTrip(r *http.Request) (*http.Response, error) {
	body := new(syncbuf.Buffer) // net/http reads a body on a goroutine of its own
	out := r
	if r.Body != nil {
		out = r.WithContext(r.Context())
		out.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, body), r.Body}
	}
	response, err := p.Base.RoundTrip(out)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.sent = append(p.requests, r), append(p.sent, body.String())
	if err != nil {
		return nil, err
	}
	p.opened++
	response.Body = &tappedBody{ReadCloser: response.Body, tap: p}
	return response, nil
}

// Bodies returns the bodies of the requests.
func (p *Tap) Bodies() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// Seen returns the requests.
func (p *Tap) Seen() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Open returns how many bodies are open.
func (p *Tap) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened - p.closed
}

// tappedBody counts as closed once, however often it is closed.
type tappedBody struct {
	io.ReadCloser

	tap  *Tap
	once sync.Once
}

func (b *tappedBody) Close() error {
	b.once.Do(func() {
		b.tap.mu.Lock()
		defer b.tap.mu.Unlock()
		b.tap.closed++
	})
	return b.ReadCloser.Close()
}

// RoundTrip is a function used as an [http.RoundTripper].
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f RoundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Body is a [wire.Body] that is there until it is "".
type Body string

// Bytes implements [wire.Body].
func (b Body) Bytes() ([]byte, error) {
	if b == "" {
		return nil, errors.New("the body is gone")
	}
	return []byte(b), nil
}

// ErrLost is the error of a connection that fails.
var ErrLost = errors.New("connection lost")

// Replay is an [http.RoundTripper] that answers one request after the other, and then loses the connection.
type Replay struct {
	Answers []io.Reader // closed if they can be
	Whole   bool        // they are not streams
	Asked   int         // requests so far
}

// ReplayOf returns a server that answers with these streams.
func ReplayOf(streams ...string) *Replay {
	p := new(Replay)
	for _, stream := range streams {
		p.Answers = append(p.Answers, strings.NewReader(stream))
	}
	return p
}

// RoundTrip implements [http.RoundTripper].
func (p *Replay) RoundTrip(r *http.Request) (*http.Response, error) {
	p.Asked++
	if err := r.Body.Close(); err != nil || p.Asked > len(p.Answers) {
		return nil, errors.Join(ErrLost, err)
	}
	answer, ok := p.Answers[p.Asked-1].(io.ReadCloser)
	if !ok {
		answer = io.NopCloser(p.Answers[p.Asked-1])
	}
	response := Streamed(r, answer)
	if p.Whole {
		response.Header.Set("Content-Type", "application/json")
	}
	return response, nil
}

// IsContinuation reports whether a request is carryon's own.
func IsContinuation(r *http.Request) bool {
	_, ok := continuation.FromContext(r.Context())
	return ok
}

// Quoted returns a text as JSON.
func Quoted(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	require.NoError(t, err)
	return string(b)
}

// Closed closes the body of a response.
func Closed(t *testing.T, r *http.Response) {
	t.Helper()
	assert.NoError(t, r.Body.Close())
}

// Texts returns a turn of text for each word.
func Texts(words ...string) []fakellm.Turn {
	turns := make([]fakellm.Turn, 0, len(words))
	for _, word := range words {
		turns = append(turns, fakellm.Text(word))
	}
	return turns
}

// OneContinuation returns a middleware that continues a call once.
func OneContinuation(todos todo.Provider, opts ...middleware.Option) *middleware.Middleware {
	return middleware.New(todos, append(opts, Continuations(1), Unattended)...)
}

// Streamed returns a response of an event stream.
func Streamed(r *http.Request, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, ContentLength: -1, Request: r,
	}
}

// Sample is the flag of tests in which answers fail at many offsets.
var Sample = flag.Int("sample", 32, "have answers fail at one in so many offsets; 1 is every byte") //nolint:gochecknoglobals // a flag

// OneIn returns n, or 1 if a test must leave nothing out.
func OneIn(n int) int {
	if *Sample == 1 {
		return 1
	}
	return n
}

// Answered returns a response of JSON.
func Answered(r *http.Request, body string) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}

// Bytes returns the answers of a server to one request after another, without
// carryon.
func Bytes(tb testing.TB, path, body string, turns ...fakellm.Turn) []string {
	tb.Helper()
	server := fakellm.NewServer(tb, turns...)
	all := make([]string, 0, len(turns))
	for range turns {
		r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, fakellm.BaseURL+path, strings.NewReader(body))
		require.NoError(tb, err)
		got := ReadReply(server.Transport().RoundTrip(r))
		require.NoError(tb, got.Err)
		all = append(all, got.Body)
	}
	return all
}

// Do sends a request of a session of its own through the transport, and reads the answer.
func Do(tb testing.TB, base http.RoundTripper, r *http.Request, todos todo.Provider, opts ...middleware.Option) Reply {
	tb.Helper()
	ctx, outcomes := middleware.Capture(continuation.WithSession(r.Context(), "s"))
	got := ReadReply(transport.New(base, middleware.New(todos, opts...)).RoundTrip(r.WithContext(ctx)))
	got.Outcome = outcomes.Last()
	return got
}

// Continuations returns an option: so many of them in a row, without an interval between prompts.
func Continuations(n int) middleware.Option {
	return middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: n})
}
