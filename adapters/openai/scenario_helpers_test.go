package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// plan is what the model says at the beginning of most scenes, without doing it.
const plan = "Next I will write the parser."

// edit is the answer of a model that does its work.
func edit() carryontest.Turn { return carryontest.Call("edit_file", `{"path":"parser.go"}`) }

// scene is one session of a wrapped client with a scripted server. When the test ends it is checked that nothing of it
// was left behind: no body open, and the session not active.
type scene struct {
	m      mode
	ctx    context.Context // of the session
	server *carryontest.Server
	wire   *wire
	mw     *middleware.Middleware
	client client
	events *recorder
}

// newScene returns a scene over HTTP, with no interval between prompts unless an option says otherwise.
func newScene(t *testing.T, m mode, todos todo.Provider, opts ...middleware.Option) *scene {
	t.Helper()
	server := carryontest.NewServer(t)
	return sceneOf(t, m, server, &wire{base: http.DefaultTransport, url: server.URL()}, todos, opts...)
}

// newBubbleScene is newScene in memory, for a bubble of synctest. The interval is the default one.
func newBubbleScene(t *testing.T, m mode, todos todo.Provider, opts ...middleware.Option) *scene {
	t.Helper()
	server := carryontest.NewServer(t)
	opts = slices.Concat([]middleware.Option{middleware.WithLimits(continuation.Limits{})}, opts)
	return sceneOf(t, m, server, &wire{base: server.Transport(), url: carryontest.BaseURL}, todos, opts...)
}

func sceneOf(
	t *testing.T, m mode, server *carryontest.Server, w *wire, todos todo.Provider, opts ...middleware.Option,
) *scene {
	t.Helper()
	s := &scene{
		m: m, ctx: continuation.WithSession(t.Context(), "s"), server: server, wire: w, events: new(recorder),
	}
	s.mw = middleware.New(todos, slices.Concat(
		[]middleware.Option{unhurried, middleware.WithObserver(s.events.observer())}, opts)...)
	s.client = s.wrap(s.mw)
	t.Cleanup(func() {
		opened, closed := w.bodies()
		assert.Equal(t, opened, closed, "bodies closed")
		assert.Zero(t, s.state(t).Claim, "the session is left active")
	})
	return s
}

// wrap returns a client of the scene's server for another middleware.
func (s *scene) wrap(mw *middleware.Middleware) client {
	return s.m.client(configOf(s.wire.url, s.wire), mw)
}

// wrapped returns a client of Wrap's, for tests of what only that has.
func (s *scene) wrapped() *carryopenai.Client {
	return carryopenai.Wrap(openai.NewClientWithConfig(configOf(s.wire.url, s.wire)), s.mw)
}

// ask plays the turns to a call with the request that [ask] returns.
func (s *scene) ask(turns ...carryontest.Turn) answer { return s.call(s.ctx, ask(), turns...) }

func (s *scene) call(ctx context.Context, request openai.ChatCompletionRequest, turns ...carryontest.Turn) answer {
	s.server.Append(turns...)
	return s.m.call(ctx, s.client, request)
}

// state returns the session's state, also after the test's ctx has ended.
func (s *scene) state(t *testing.T) continuation.State {
	t.Helper()
	state, err := s.mw.State(context.WithoutCancel(s.ctx))
	require.NoError(t, err)
	return state
}

// prompts returns the last message of every request but the first.
func (s *scene) prompts() []string {
	var prompts []string
	for _, request := range s.server.Requests()[1:] {
		prompts = append(prompts, request.Last().Content)
	}
	return prompts
}

// wire is an [http.RoundTripper] that counts bodies and remembers which requests were marked as continuations.
type wire struct {
	base http.RoundTripper
	url  string

	mu             sync.Mutex
	opened, closed int
	marks          []mark
}

type mark struct {
	continuation.Marker

	set bool
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	marker, ok := continuation.FromContext(r.Context())
	w.mu.Lock()
	w.marks = append(w.marks, mark{marker, ok})
	w.mu.Unlock()
	response, err := w.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.opened++
	w.mu.Unlock()
	response.Body = &countedBody{ReadCloser: response.Body, wire: w}
	return response, nil
}

func (w *wire) bodies() (opened, closed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.opened, w.closed
}

// countedBody counts as closed, too, if it was read to its end: then it holds nothing any more, and the SDK leaves it at
// that for streams that were refused.
type countedBody struct {
	io.ReadCloser

	wire *wire
	once sync.Once
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.done()
	}
	return n, err
}

func (b *countedBody) Close() error {
	b.done()
	return b.ReadCloser.Close()
}

func (b *countedBody) done() {
	b.once.Do(func() {
		b.wire.mu.Lock()
		defer b.wire.mu.Unlock()
		b.wire.closed++
	})
}

// roundTrip is a function used as an [http.RoundTripper].
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// recorder remembers events in order.
type recorder struct {
	mu     sync.Mutex
	events []any
}

func record[E any](r *recorder) func(context.Context, E) {
	return func(_ context.Context, event E) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, event)
	}
}

func (r *recorder) observer() middleware.Observer {
	return middleware.Observer{
		TurnEnded: record[middleware.TurnEnded](r), Decision: record[middleware.Decision](r),
		ContinuationStarted: record[middleware.ContinuationStarted](r),
		ContinuationEnded:   record[middleware.ContinuationEnded](r),
		PauseRejected:       record[middleware.PauseRejected](r), Paused: record[middleware.Paused](r),
		Exhausted: record[middleware.Exhausted](r), Failed: record[middleware.Failed](r),
	}
}

func (r *recorder) all() []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// recorded returns the events of one type.
func recorded[E any](r *recorder) []E {
	var events []E
	for _, event := range r.all() {
		if e, ok := event.(E); ok {
			events = append(events, e)
		}
	}
	return events
}

// failures returns what was tried and went wrong.
func failures(r *recorder) []string {
	var ops []string
	for _, failed := range recorded[middleware.Failed](r) {
		ops = append(ops, failed.Op)
	}
	return ops
}

// attempts returns the numbers of the continuations that were sent.
func attempts(r *recorder) []int {
	var numbers []int
	for _, started := range recorded[middleware.ContinuationStarted](r) {
		numbers = append(numbers, started.Attempt)
	}
	return numbers
}

// list is a todo list that a test can change.
type list struct {
	mu    sync.Mutex
	todos []todo.Todo
	asked int
}

func newList(todos ...todo.Todo) *list { return &list{todos: todos} }

func (l *list) Todos(context.Context) ([]todo.Todo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return slices.Clone(l.todos), nil
}

func (l *list) set(todos ...todo.Todo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.todos = todos
}

func (l *list) asks() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

func pending(content string) todo.Todo {
	return todo.Todo{ID: content, Content: content, Status: todo.Pending}
}

func inProgress(content string) todo.Todo {
	return todo.Todo{ID: content, Content: content, Status: todo.InProgress}
}

func completed(content string) todo.Todo {
	return todo.Todo{ID: content, Content: content, Status: todo.Completed}
}

// requireSame checks that a caller saw what the SDK's own client would have shown.
func requireSame(t *testing.T, want, got answer) {
	t.Helper()
	if want.Err == nil {
		require.NoError(t, got.Err)
	} else {
		require.Error(t, got.Err)
		assert.IsType(t, want.Err, got.Err) //nolint:testifylint // errors of two calls are alike, not the same
		assert.Equal(t, withoutPort(want.Err), withoutPort(got.Err))
	}
	got.Outcome, got.Err, want.Err = middleware.Outcome{}, nil, nil
	assert.Equal(t, want, got)
}

// withoutPort returns the text of an error without the address of the test's server.
func withoutPort(err error) string {
	words := strings.Fields(err.Error())
	return strings.Join(slices.DeleteFunc(words, func(word string) bool {
		return strings.Contains(word, "127.0.0.1")
	}), " ")
}

// requireComplete checks that an answer ended as a caller may rely on.
func requireComplete(t *testing.T, m mode, got answer, text, finish string) {
	t.Helper()
	require.NoError(t, got.Err)
	assert.Equal(t, text, got.Text)
	assert.Equal(t, finish, got.Finish)
	if m.streamed {
		requireWellFormed(t, got)
	}
}

// reached returns a turn that tells when its request has come, and then waits to be let go.
func reached(turn carryontest.Turn) (gated carryontest.Turn, arrived <-chan struct{}, letGo func()) {
	came, open := make(chan struct{}), make(chan struct{})
	gated = carryontest.Func(func(carryontest.Request) carryontest.Turn {
		close(came)
		return turn.Gate(open)
	})
	return gated, came, sync.OnceFunc(func() { close(open) })
}

// meanwhile runs a call beside the test and returns where its answer comes.
func meanwhile(call func() answer) <-chan answer {
	done := make(chan answer, 1)
	go func() { done <- call() }()
	return done
}

// then returns a turn that first does something at its place in the script.
func then(do func(), turn carryontest.Turn) carryontest.Turn {
	return carryontest.Func(func(carryontest.Request) carryontest.Turn {
		do()
		return turn
	})
}

// texts returns a turn of text for each word.
func texts(words ...string) []carryontest.Turn {
	var turns []carryontest.Turn
	for _, word := range words {
		turns = append(turns, carryontest.Text(word))
	}
	return turns
}

// withHistory returns the request with an executed tool call added.
func withHistory(request openai.ChatCompletionRequest, id string) openai.ChatCompletionRequest {
	request.Messages = slices.Concat(request.Messages, []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleAssistant, ToolCalls: []openai.ToolCall{{
			ID: id, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: "edit_file", Arguments: "{}"},
		}}},
		{Role: openai.ChatMessageRoleTool, ToolCallID: id, Content: "saved"},
	})
	return request
}

// said returns the request with a further exchange, the last word of which is the user's.
func said(request openai.ChatCompletionRequest, answered, next string) openai.ChatCompletionRequest {
	request.Messages = slices.Concat(request.Messages, []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleAssistant, Content: answered},
		{Role: openai.ChatMessageRoleUser, Content: next},
	})
	return request
}
