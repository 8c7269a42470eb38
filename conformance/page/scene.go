package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/cmd/carryon/internal/proxy"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
)

// switchSecret is the secret of the scene's off switch.
const switchSecret = "open sesame"

// scene is the command's proxy, in front of a scripted model.
type scene struct {
	model    *carryontest.Server
	upstream *httptest.Server // serves the model, and an endpoint of no protocol that carryon speaks
	proxy    *proxy.Server
	clock    *testclock.Clock // nil for the system's
	client   *http.Client
}

// newScene starts a proxy with these flags. With a clock, time passes only while
// the model answers.
func newScene(ctx context.Context, clock *testclock.Clock, args ...string) (*scene, error) {
	s := &scene{model: carryontest.Start(), clock: clock, client: &http.Client{Transport: new(http.Transport)}}
	upstream := http.NewServeMux()
	upstream.Handle("/v1/", s.model.Handler())
	upstream.HandleFunc("/v1/embeddings", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":[]}`) })
	s.upstream = httptest.NewServer(upstream)
	c := new(proxy.Config)
	if clock != nil {
		c.Clock = clock
	}
	flags := append([]cli.Flag{c.ListenFlag("127.0.0.1:0"), c.UpstreamFlag("")}, c.Flags()...)
	command := cli.Command{Name: "proxy", Flags: flags, Action: func(context.Context, *cli.Command) error { return c.Check() }}
	err := command.Run(ctx, append([]string{"proxy", "-upstream", s.upstream.URL + "/v1", "-min-interval", "0", "-yolo", "-max-attempts", "3", "-switch-secret", switchSecret}, args...))
	if err == nil {
		s.proxy, err = proxy.Start(ctx, c, c.Logger(io.Discard))
	}
	if err != nil {
		s.stopModel()
		return nil, err
	}
	return s, nil
}

func (s *scene) stopModel() {
	s.model.Close()
	s.upstream.Close()
}

func (s *scene) close() error {
	defer s.stopModel()
	s.client.CloseIdleConnections()
	return s.proxy.Stop(context.Background())
}

// request is a request of an agent.
type request struct {
	session string
	user    string // the user's last message
	key     string
	model   string
	tool    string   // the name of the todo tool
	todos   []string // statuses of the list; nil for a conversation without one
	work    string   // the content of the todos; a number follows
	stream  bool
	// launched is the result of a call that begins work in the background, or "".
	launched string
	path     string // "": Chat Completions
	raw      string // the body, instead of a conversation
}

// ask sends a request, which the model answers with the turns.
func (s *scene) ask(ctx context.Context, r *request, turns ...answer) error {
	for _, turn := range turns {
		s.model.Append(s.script(turn))
	}
	response, err := s.post(ctx, s.proxy.Root(), r)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// post posts a request to the proxy or to the model.
func (s *scene) post(ctx context.Context, root string, r *request) (*http.Response, error) {
	path, body := r.path, r.raw
	if path == "" {
		path = "/v1/chat/completions"
	}
	if body == "" {
		body = r.body()
	}
	sent, err := http.NewRequestWithContext(ctx, http.MethodPost, root+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	sent.Header.Set("Content-Type", "application/json")
	sent.Header.Set("Authorization", "Bearer "+r.key)
	if r.session != "" {
		sent.Header.Set("X-Carryon-Session", r.session)
	}
	return s.client.Do(sent)
}

// answer is a turn of the model and how long it takes.
type answer struct {
	turn carryontest.Turn
	took time.Duration
}

func (s *scene) script(a answer) carryontest.Turn {
	return carryontest.Func(func(carryontest.Request) carryontest.Turn {
		if s.clock != nil {
			s.clock.Advance(a.took)
		}
		return a.turn
	})
}

func (r *request) body() string {
	tool := r.tool
	if tool == "" {
		tool = "todo_write"
	}
	messages := []any{map[string]any{"role": "user", "content": "Make a list of what has to be done."}}
	if r.todos != nil {
		messages = append(messages, map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"id": "call_1", "type": "function", "function": map[string]string{"name": tool, "arguments": r.list()},
		}}}, map[string]any{"role": "tool", "tool_call_id": "call_1", "content": "ok"})
	}
	messages = append(messages, map[string]any{"role": "user", "content": "Go on. " + r.user})
	if r.launched != "" {
		messages = append(messages, map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"id": "call_2", "type": "function", "function": map[string]string{"name": "Agent", "arguments": `{"run_in_background":true}`},
		}}}, map[string]any{"role": "tool", "tool_call_id": "call_2", "content": r.launched})
	}
	names := []string{tool, "todo_write", "edit_file"}
	tools := make([]any, 0, len(names))
	for _, name := range names {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]string{"name": name}})
	}
	model := r.model
	if model == "" {
		model = "some-model"
	}
	body := map[string]any{"model": model, "messages": messages, "tools": tools}
	if r.stream {
		body["stream"], body["stream_options"] = true, map[string]bool{"include_usage": true}
	}
	return string(marshal(body))
}

func (r *request) list() string {
	todos := make([]any, 0, len(r.todos))
	for i, status := range r.todos {
		todos = append(todos, map[string]string{"id": strconv.Itoa(i + 1), "content": fmt.Sprint(r.work, " ", i+1), "status": status})
	}
	return string(marshal(map[string]any{"todos": todos}))
}

func marshal(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // it consists of strings
	}
	return b.Bytes()
}
