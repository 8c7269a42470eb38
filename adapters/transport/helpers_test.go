package transport_test

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/syncbuf"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// plan is the model's first text in most scenes: it announces work that it does not do.
const plan = "Next I will write the parser."

// blocked is a reason that todo_pause accepts.
const blocked = "The grammar file grammar.ebnf is missing"

// The list that most tests work on.
var twoTodos = todo.Static(
	todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress},
	todo.Todo{ID: "2", Content: "Test the parser", Status: todo.Pending},
)

// unhurried has no interval between prompts, so that no test waits, and an attempt less than by default, so that
// scripts are short.
var unhurried = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 3})

// unattended is the mode in which it does not matter how a text ends.
var unattended = middleware.WithApprovalMode(continuation.ApprovalYOLO)

// edit is the answer of a model that does its work.
func edit() fakellm.Turn { return fakellm.Call("edit_file", `{"path":"parser.go"}`) }

// editFile is a tool of the caller's.
const editFile = `{"type":"function","function":{"name":"edit_file","parameters":{"type":"object","properties":{}}}}`

// bodyOf is a request in scope, with more members if there are any.
func bodyOf(stream bool, more ...string) string {
	members := slices.Concat([]string{`"model":"test-model"`}, more, []string{
		`"messages":[{"role":"system","content":"You write code."},{"role":"user","content":"Write and test the parser."}]`,
		`"tools":[` + editFile + `]`,
	})
	if stream {
		members = append(members, `"stream":true`, `"stream_options":{"include_usage":true}`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// way is a way to ask for an answer.
type way struct {
	name   string
	stream bool
}

// inBothWays runs a test for answers that are streamed and for those that are not.
func inBothWays(t *testing.T, test func(t *testing.T, w way)) {
	t.Helper()
	for _, w := range []way{{"unary", false}, {"stream", true}} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// scene is one session of an HTTP client that goes through the transport to a scripted server. At the end of the test,
// it checks that no body is left open and that the session is not active.
type scene struct {
	ctx    context.Context // of the session
	url    string
	server *fakellm.Server
	wire   *tap
	mw     *middleware.Middleware
	client *http.Client
	events *carryontest.Recorder
}

// newScene returns a scene over HTTP.
func newScene(t *testing.T, todos todo.Provider) *scene {
	t.Helper()
	server := fakellm.NewServer(t)
	base := new(http.Transport)
	t.Cleanup(base.CloseIdleConnections)
	return sceneOf(t, server, base, server.URL(), todos)
}

// newQuietScene returns a scene in memory.
func newQuietScene(t *testing.T, todos todo.Provider, opts ...middleware.Option) *scene {
	t.Helper()
	server := fakellm.NewServer(t)
	return sceneOf(t, server, server.Transport(), fakellm.BaseURL, todos, opts...)
}

func sceneOf(
	t *testing.T, server *fakellm.Server, base http.RoundTripper, url string, todos todo.Provider, opts ...middleware.Option,
) *scene {
	t.Helper()
	s := &scene{
		ctx: continuation.WithSession(t.Context(), "s"), url: url, server: server, wire: &tap{base: base},
		events: carryontest.NewRecorder(),
	}
	s.mw = middleware.New(todos, slices.Concat(
		[]middleware.Option{unhurried, unattended, middleware.WithObserver(s.events.Observer())}, opts)...)
	s.client = &http.Client{Transport: transport.New(s.wire, s.mw)}
	t.Cleanup(func() {
		assert.Zero(t, s.wire.open(), "bodies left open")
		assert.Zero(t, s.state(t).Claim, "the session is left active")
	})
	return s
}

// state returns the session's state, also after the test's ctx has ended.
func (s *scene) state(t *testing.T) continuation.State {
	t.Helper()
	state, err := s.mw.State(context.WithoutCancel(s.ctx))
	require.NoError(t, err)
	return state
}

// request returns a request of the scene's session.
func (s *scene) request(t *testing.T, body string) *http.Request {
	t.Helper()
	return newRequest(t, s.ctx, s.url, body)
}

func newRequest(t testing.TB, ctx context.Context, url, body string) *http.Request { //nolint:revive // t comes first in tests
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer no key")
	return r
}

// ask plays the turns to the request that [bodyOf] returns.
func (s *scene) ask(t *testing.T, w way, turns ...fakellm.Turn) reply {
	t.Helper()
	return s.send(t, s.request(t, bodyOf(w.stream)), turns...)
}

// send plays the turns to a request.
func (s *scene) send(t *testing.T, r *http.Request, turns ...fakellm.Turn) reply {
	t.Helper()
	s.server.Append(turns...)
	ctx, outcomes := middleware.Capture(r.Context())
	got := readReply(s.client.Do(r.WithContext(ctx)))
	got.Outcome = outcomes.Last()
	return got
}

// reply is an answer to the byte.
type reply struct {
	Status  int
	Length  int64
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
	return reply{Status: r.StatusCode, Length: r.ContentLength, Header: r.Header, Body: string(body), Err: err}
}

// reading is a client's reading of an answer.
type reading struct {
	ID, Text, Finish string
	Calls            []string // name and arguments
	Prompt           int      // tokens
	Completion       int
}

// reading reads an answer, streamed or not.
func (r reply) reading(t *testing.T) reading {
	t.Helper()
	var h reading
	if strings.HasPrefix(strings.TrimSpace(r.Body), "{") {
		h.add(t, r.Body)
		return h
	}
	for line := range strings.Lines(r.Body) {
		payload, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: ")
		if ok && payload != "[DONE]" {
			h.add(t, payload)
		}
	}
	return h
}

// add reads a chunk, or a whole answer.
func (h *reading) add(t *testing.T, payload string) {
	t.Helper()
	type message struct {
		Content   string
		ToolCalls []struct {
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	var c struct {
		ID      string
		Choices []struct {
			Delta, Message message
			FinishReason   string `json:"finish_reason"`
		}
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(payload), &c), payload)
	h.ID = c.ID
	h.Prompt, h.Completion = h.Prompt+c.Usage.Prompt, h.Completion+c.Usage.Completion
	for _, choice := range c.Choices {
		h.Text += choice.Delta.Content + choice.Message.Content
		h.Finish += choice.FinishReason
		for _, call := range append(choice.Delta.ToolCalls, choice.Message.ToolCalls...) {
			if call.Function.Name != "" {
				h.Calls = append(h.Calls, call.Function.Name+" ")
			}
			h.Calls[len(h.Calls)-1] += call.Function.Arguments
		}
	}
}

// requireReading checks that an answer is whole, and that it has this reading.
func requireReading(t *testing.T, got reply, text, finish string) {
	t.Helper()
	require.NoError(t, got.Err)
	h := got.reading(t)
	assert.Equal(t, text, h.Text)
	assert.Equal(t, finish, h.Finish)
	assert.Equal(t, "chatcmpl-1", h.ID)
}

// tap is an [http.RoundTripper] that keeps the requests it is given, and counts bodies.
type tap struct {
	base http.RoundTripper

	mu             sync.Mutex
	requests       []*http.Request
	sent           []string // their bodies
	opened, closed int
}

func (p *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	body := new(syncbuf.Buffer) // net/http reads a body on a goroutine of its own
	out := r
	if r.Body != nil {
		out = r.WithContext(r.Context())
		out.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, body), r.Body}
	}
	response, err := p.base.RoundTrip(out)
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

// bodies returns the bodies of the requests.
func (p *tap) bodies() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// seen returns the requests.
func (p *tap) seen() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// open returns how many bodies are open.
func (p *tap) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened - p.closed
}

// tappedBody counts as closed once, however often it is closed.
type tappedBody struct {
	io.ReadCloser

	tap  *tap
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

// roundTrip is a function used as an [http.RoundTripper].
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// isContinuation reports whether a request is carryon's own.
func isContinuation(r *http.Request) bool {
	_, ok := continuation.FromContext(r.Context())
	return ok
}

// pauseTool is todo_pause as it is declared on the wire.
func pauseTool(t *testing.T, strict bool) string {
	t.Helper()
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict,omitempty"`
	}
	b, err := json.Marshal(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{pause.ToolName, pause.Description(), pause.Schema(strict), strict}})
	require.NoError(t, err)
	return string(b)
}

// quoted returns a text as JSON.
func quoted(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	require.NoError(t, err)
	return string(b)
}

// requireSame checks that two values are equal, without printing them.
func requireSame[T any](t *testing.T, want, got *T, what string) {
	t.Helper()
	if want != got {
		require.Fail(t, "not the same: "+what)
	}
}

// closed closes the body of a response.
func closed(t *testing.T, r *http.Response) {
	t.Helper()
	assert.NoError(t, r.Body.Close())
}

// meanwhile runs a function on another goroutine.
func meanwhile[T any](f func() T) <-chan T {
	done := make(chan T, 1)
	go func() { done <- f() }()
	return done
}

// problem is the kind of an error that ended a body, which must be the same with and without the transport.
func problem(err error) error {
	for _, kind := range []error{
		io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded, http.ErrBodyReadAfterClose, middleware.ErrIncomplete,
	} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

// texts returns a turn of text for each word.
func texts(words ...string) []fakellm.Turn {
	var turns []fakellm.Turn
	for _, word := range words {
		turns = append(turns, fakellm.Text(word))
	}
	return turns
}

// oneContinuation returns a middleware that continues a call once.
func oneContinuation(todos todo.Provider, opts ...middleware.Option) *middleware.Middleware {
	limits := middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1})
	return middleware.New(todos, append(opts, limits)...)
}
