package langchaingo_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// The list that most tests work on.
var twoTodos = todo.Static(
	todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress},
	todo.Todo{ID: "2", Content: "Test the parser", Status: todo.Pending},
)

// unhurried has no interval between prompts, so that no test waits.
var unhurried = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})

// unattended is the mode in which it does not matter how a text ends.
var unattended = middleware.WithApprovalMode(continuation.ApprovalYOLO)

// onceMore allows one continuation, at once.
var onceMore = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1})

// blocked is a reason that todo_pause accepts.
const blocked = "The grammar file grammar.ebnf is missing"

// scene is a wrapped openai client and its scripted server.
type scene struct {
	ctx    context.Context // of a session
	server *fakellm.Server
	events *carryontest.Recorder
	mw     *middleware.Middleware
	bare   *openai.LLM
	model  *carrylangchain.Model
}

func newScene(t *testing.T, turns []fakellm.Turn, opts ...middleware.Option) *scene {
	t.Helper()
	s := &scene{
		ctx: continuation.WithSession(t.Context(), "s"), server: fakellm.NewServer(t, turns...),
		events: carryontest.NewRecorder(),
	}
	s.mw = middleware.New(twoTodos, slices.Concat(
		[]middleware.Option{unhurried, middleware.WithObserver(s.events.Observer())}, opts)...)
	s.bare = newOpenAI(t, s.server)
	s.model = carrylangchain.Wrap(s.bare, s.mw)
	return s
}

func newOpenAI(t *testing.T, server *fakellm.Server) *openai.LLM {
	t.Helper()
	llm, err := openai.New(openai.WithToken("none"), openai.WithModel("test-model"), openai.WithBaseURL(server.URL()))
	require.NoError(t, err)
	return llm
}

// ask makes a call with a tool.
func (s *scene) ask(options ...llms.CallOption) (*llms.ContentResponse, error) {
	return s.model.GenerateContent(s.ctx, question(), slices.Concat([]llms.CallOption{withTools("search")}, options)...)
}

// requireAsk makes a call with a tool that is to succeed, and returns its choice.
func (s *scene) requireAsk(t *testing.T, options ...llms.CallOption) *llms.ContentChoice {
	t.Helper()
	answer, err := s.ask(options...)
	require.NoError(t, err)
	require.Len(t, answer.Choices, 1)
	return answer.Choices[0]
}

func (s *scene) requests() []fakellm.Request { return s.server.Requests() }

func turns(list ...fakellm.Turn) []fakellm.Turn { return list }

func question() []llms.MessageContent {
	return []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "You write code."),
		llms.TextParts(llms.ChatMessageTypeHuman, "Write and test the parser."),
	}
}

func definition(name string) llms.FunctionDefinition {
	return llms.FunctionDefinition{Name: name, Parameters: map[string]any{"type": "object", "properties": map[string]any{}}}
}

func withTools(names ...string) llms.CallOption {
	var tools []llms.Tool
	for _, name := range names {
		f := definition(name)
		tools = append(tools, llms.Tool{Type: "function", Function: &f})
	}
	return llms.WithTools(tools)
}

// names returns the names of an answer's calls, in order.
func names(choice *llms.ContentChoice) (names []string) {
	for _, call := range choice.ToolCalls {
		names = append(names, call.FunctionCall.Name)
	}
	return names
}

// recording is a streaming function that records its chunks.
type recording struct {
	mu     sync.Mutex
	chunks []string
	fail   func(chunk int) error
}

func (r *recording) option() llms.CallOption { return llms.WithStreamingFunc(r.take) }

func (r *recording) take(_ context.Context, chunk []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.chunks = append(r.chunks, string(chunk))
	if r.fail != nil {
		return r.fail(len(r.chunks))
	}
	return nil
}

func (r *recording) text() string { return strings.Join(r.chunks, "") }

// script answers requests in the format of any provider, in order.
type script struct {
	*httptest.Server

	mu      sync.Mutex
	answers []string
	asked   []object
}

func newScript(t *testing.T, answers ...string) *script {
	t.Helper()
	s := &script{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *script) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body map[string]any
	if json.NewDecoder(r.Body).Decode(&body) != nil || len(s.answers) == 0 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	s.asked = append(s.asked, body)
	_, _ = io.WriteString(w, s.answers[0])
	s.answers = s.answers[1:]
}

// requests returns the bodies that were sent.
func (s *script) requests() []object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func newAnthropic(t *testing.T, server *script) *anthropic.LLM {
	t.Helper()
	llm, err := anthropic.New(anthropic.WithToken("none"), anthropic.WithModel("claude-test"),
		anthropic.WithBaseURL(server.URL), anthropic.WithHTTPClient(server.Client()))
	require.NoError(t, err)
	return llm
}

func newOllama(t *testing.T, server *script) *ollama.LLM {
	t.Helper()
	llm, err := ollama.New(ollama.WithModel("llama-test"), ollama.WithServerURL(server.URL), ollama.WithHTTPClient(server.Client()))
	require.NoError(t, err)
	return llm
}

// spoken is a model that answers with the result of a function, for providers
// whose client can't be pointed at a server.
type spoken func(ctx context.Context, messages []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error)

func (s spoken) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	o := new(llms.CallOptions)
	for _, option := range options {
		if option != nil {
			option(o)
		}
	}
	return s(ctx, messages, o)
}

func (s spoken) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, s, prompt, options...)
}

// speaks returns a model that gives the answers in order, and how often it was
// asked.
func speaks(answers ...*llms.ContentResponse) (spoken, *int) {
	asked := new(int)
	return func(context.Context, []llms.MessageContent, *llms.CallOptions) (*llms.ContentResponse, error) {
		*asked++
		return answers[*asked-1], nil
	}, asked
}

// says is an answer of one choice.
func says(text, stop string) *llms.ContentResponse {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text, StopReason: stop}}}
}

// reasonJSON returns the arguments of todo_pause.
func reasonJSON(reason string) string {
	data, _ := json.Marshal(map[string]string{"reason": reason})
	return string(data)
}

// encodeCall returns a call of a tool as the openai client streams it.
func encodeCall(name string) string {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	data, _ := json.Marshal([]struct {
		ID       string   `json:"id,omitempty"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{{"c1", "function", function{name, "{}"}}})
	return string(data)
}

// object is a JSON object that was decoded.
type object map[string]any

func (o object) text(key string) string {
	text, _ := o[key].(string)
	return text
}

func (o object) object(key string) object {
	inner, _ := o[key].(map[string]any)
	return inner
}

// list returns the objects of a list, none for anything else.
func (o object) list(key string) (list []object) {
	items, _ := o[key].([]any)
	for _, item := range items {
		inner, _ := item.(map[string]any)
		list = append(list, inner)
	}
	return list
}

// assertPrompt checks that a message is carryon's prompt for the first todo.
func assertPrompt(t *testing.T, text string) {
	t.Helper()
	assert.Contains(t, text, "'Write the parser'")
	assert.Contains(t, text, "todo_pause")
}
