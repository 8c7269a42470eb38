package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/carryontest"
)

// plan is the text with which the model stalls in most scenes.
const plan = "Next, I will write the parser."

// edit is the answer of a model that does its work.
func edit() carryontest.Turn { return carryontest.Call("edit_file", `{"path":"parser.go"}`) }

// scene is a proxy in front of a scripted upstream.
type scene struct {
	upstream *carryontest.Server
	base     string // URL for clients
	direct   string // URL that the proxy uses
	client   *http.Client
	logs     *buffer // at the level of -v
	served   *served
}

// newScene returns a scene with these flags. There is no interval between
// continuations unless one is set, so that no test waits.
func newScene(t *testing.T, args ...string) *scene {
	t.Helper()
	upstream := carryontest.NewServer(t)
	s := sceneAt(t, upstream.URL(), args...)
	s.upstream = upstream
	return s
}

// sceneOf returns a scene with the test's own upstream, at /v1.
func sceneOf(t *testing.T, upstream http.HandlerFunc) *scene {
	t.Helper()
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	return sceneAt(t, server.URL+"/v1")
}

// sceneAt returns a scene with an upstream at a base URL.
func sceneAt(t *testing.T, upstream string, args ...string) *scene {
	t.Helper()
	c := parsed(t, append([]string{"-upstream", upstream, "-min-interval", "0"}, args...)...)
	logs := newBuffer()
	base := newBase(new(Config))
	t.Cleanup(base.CloseIdleConnections)
	handler := &served{Handler: handlerOf(t, c, base, loggerTo(logs))}
	handler.changed.L = &handler.mu
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &scene{base: server.URL + prefix, direct: upstream, client: newClient(t), logs: logs, served: handler}
}

// handlerOf returns a proxy that reaches its upstream through base.
func handlerOf(tb testing.TB, c *Config, base http.RoundTripper, logger *slog.Logger) *Proxy {
	tb.Helper()
	state, err := openState(tb.Context(), c.State)
	require.NoError(tb, err)
	tb.Cleanup(func() { assert.NoError(tb, closeState(state)) })
	p, err := newProxy(c, base, recordsOf(state), logger)
	require.NoError(tb, err)
	return p
}

func parsed(t *testing.T, args ...string) *Config {
	t.Helper()
	c, err := parse(args...)
	require.NoError(t, err)
	return c
}

// parse reads flags as the command does.
func parse(args ...string) (*Config, error) {
	c := new(Config)
	command := cli.Command{
		Name: "proxy", Flags: append(c.Flags(), c.ListenFlag(DefaultAddress), c.UpstreamFlag(""), c.SettingsFlag()), Writer: io.Discard, ErrWriter: io.Discard,
		Action: func(context.Context, *cli.Command) error { return c.Check() },
	}
	return c, command.Run(context.Background(), append([]string{"proxy"}, args...))
}

func loggerTo(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// served is a handler that counts the running calls. A client may receive its
// answer before the handler returns.
type served struct {
	http.Handler

	mu      sync.Mutex
	changed sync.Cond
	active  int
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.change(1)
	defer s.change(-1)
	s.Handler.ServeHTTP(w, r)
}

func (s *served) change(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active += by
	s.changed.Broadcast()
}

// wait returns once no call is running.
func (s *served) wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.active > 0 {
		s.changed.Wait()
	}
}

// conversation is a request of an agent with a list of todos in its history.
type conversation struct {
	user    string // the last message of the user's; one is there if this is empty
	call    string // the id of a tool call after it; none if this is empty
	more    string // a message with the user's role behind all that; none if this is empty
	todos   string // the arguments of todo_write; one todo is open if this is empty
	noList  bool   // there is no call of todo_write
	stream  bool
	session string
	model   string // "test-model" if this is empty
	header  map[string]string
}

const openTodo = `{"todos":[{"id":"1","content":"Write the parser","status":"in_progress"}]}`

func (c conversation) body() string {
	type call struct {
		ID       string            `json:"id"`
		Type     string            `json:"type"`
		Function map[string]string `json:"function"`
	}
	type message struct {
		Role      string `json:"role"`
		Content   string `json:"content"`
		ToolCalls []call `json:"tool_calls,omitempty"`
		ToolCall  string `json:"tool_call_id,omitempty"`
	}
	called := func(id, name, arguments string) []message {
		return []message{
			{Role: "assistant", ToolCalls: []call{{id, "function", map[string]string{"name": name, "arguments": arguments}}}},
			{Role: "tool", ToolCall: id, Content: "ok"},
		}
	}
	messages := []message{{Role: "user", Content: "Plan it."}}
	if !c.noList {
		messages = append(messages, called("call_plan", "todo_write", or(c.todos, openTodo))...)
	}
	messages = append(messages, message{Role: "user", Content: or(c.user, "Write the parser.")})
	if c.call != "" {
		messages = append(messages, called(c.call, "read_file", "{}")...)
	}
	if c.more != "" {
		messages = append(messages, message{Role: "assistant", Content: "I will."}, message{Role: "user", Content: c.more})
	}
	request := map[string]any{"model": or(c.model, "test-model"), "messages": messages, "tools": []any{
		map[string]any{"type": "function", "function": map[string]any{"name": "edit_file"}},
		map[string]any{"type": "function", "function": map[string]any{"name": "todo_write"}},
	}}
	if c.stream {
		request["stream"], request["stream_options"] = true, map[string]bool{"include_usage": true}
	}
	body, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return string(body)
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// post returns the HTTP request for a conversation.
func post(t *testing.T, base string, c conversation) *http.Request {
	t.Helper()
	r := newRequest(t, http.MethodPost, base+"/chat/completions", c.body())
	if c.session != "" {
		r.Header.Set(sessionHeader, c.session)
	}
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	return r
}

func newRequest(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer sk-secret-key")
	return r
}

// reply is an answer with its exact bytes.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of the request, or of the body
}

func (s *scene) send(r *http.Request) reply {
	response, err := s.client.Do(r)
	if err != nil {
		return reply{err: err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(body), err}
}

// ask sends a conversation, which the upstream answers with the turns, and
// requires an answer. It returns once the proxy has finished the call.
func (s *scene) ask(t *testing.T, c conversation, turns ...carryontest.Turn) reply {
	t.Helper()
	s.upstream.Append(turns...)
	got := s.send(post(t, s.base, c))
	require.NoError(t, got.err)
	require.Equal(t, http.StatusOK, got.status, got.body)
	s.served.wait()
	return got
}

// get returns the answer at a path next to the base URL.
func (s *scene) get(t *testing.T, path string) reply {
	t.Helper()
	return s.send(newRequest(t, http.MethodGet, strings.TrimSuffix(s.base, prefix)+path, ""))
}

// report returns what the page says, as JSON.
func (s *scene) report(t *testing.T) report {
	t.Helper()
	got := s.get(t, pagePath+"?format=json")
	require.NoError(t, got.err)
	var r report
	decoder := json.NewDecoder(strings.NewReader(got.body))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&r))
	return r
}

// lines returns what happened in the turns of a request, each in a line: the end
// of a turn, the decision on it, and its notes.
func lines(r shown) []string {
	var all []string
	for _, t := range r.Turns {
		line := fmt.Sprint(t.Number, " ", or(string(t.Result), "under way"))
		if t.Attempt > 0 {
			line += fmt.Sprint(", attempt ", t.Attempt)
		}
		if t.Finish != "" {
			line += ", finish reason " + t.Finish
		}
		if t.Usage != nil {
			line += fmt.Sprint(", tokens ", t.Usage.Total)
		}
		if t.Failure != "" {
			line += ": " + t.Failure
		}
		all = append(all, line)
		if t.Decision != nil {
			all = append(all, fmt.Sprintf("%d go on %v: %s", t.Number, t.Decision.GoOn, t.Decision.Code))
		}
		for _, note := range t.Notes {
			all = append(all, fmt.Sprintf("%d %s: %s", t.Number, note.Kind, note.Text))
		}
	}
	return all
}

// both runs a test with streamed answers and with unary ones.
func both(t *testing.T, test func(t *testing.T, stream bool)) {
	t.Helper()
	for name, stream := range map[string]bool{"unary": false, "stream": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, stream)
		})
	}
}

// buffer is a [bytes.Buffer] for concurrent use.
type buffer struct {
	mu      sync.Mutex
	changed sync.Cond
	b       bytes.Buffer
}

func newBuffer() *buffer {
	b := new(buffer)
	b.changed.L = &b.mu
	return b
}

// await returns once a text has been written.
func (b *buffer) await(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !bytes.Contains(b.b.Bytes(), []byte(text)) {
		b.changed.Wait()
	}
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed.Broadcast()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// document returns a page of the documentation. It skips the test where there is none: in a published module.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", name))
	if err != nil {
		t.Skip("outside of the repository there is no documentation")
	}
	return string(text)
}
