package langchaingo_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/googleai"
	"github.com/tmc/langchaingo/llms/mistral"
	"google.golang.org/api/option"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// The list that the tests work on.
var twoTodos = todo.Static(
	todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress},
	todo.Todo{ID: "2", Content: "Test the parser", Status: todo.Pending},
)

// unhurried has no interval between prompts, so that no test waits.
var unhurried = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})

// blocked is a reason to pause that is accepted.
const blocked = "The grammar file grammar.ebnf is missing"

// script answers requests in a provider's own format, in order.
type script struct {
	*httptest.Server

	mu      sync.Mutex
	answers []string
	asked   []request
}

type request struct {
	path string
	body object
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
	var body object
	if json.NewDecoder(r.Body).Decode(&body) != nil || len(s.answers) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.asked = append(s.asked, request{r.URL.Path, body})
	w.Header().Set("Content-Type", "application/json")
	answer := s.answers[0]
	s.answers = s.answers[1:]
	if strings.HasSuffix(r.URL.Path, "streamGenerateContent") && answer[0] == '{' {
		answer = "[" + answer + "]" // Google's client expects an array if there is a history
	}
	_, _ = io.WriteString(w, answer)
}

func (s *script) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func newGoogleAI(t *testing.T, server *script) *googleai.GoogleAI {
	t.Helper()
	// All connections go to the server, also the one that Google's client opens for a service that it never uses.
	at := func(o *googleai.Options) { o.ClientOptions = append(o.ClientOptions, option.WithEndpoint(server.URL)) }
	llm, err := googleai.New(t.Context(), googleai.WithAPIKey("none"), googleai.WithRest(),
		googleai.WithHTTPClient(server.Client()), at)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, llm.Close()) })
	return llm
}

func newMistral(t *testing.T, server *script) *mistral.Model {
	t.Helper()
	llm, err := mistral.New(mistral.WithAPIKey("none"), mistral.WithEndpoint(server.URL),
		mistral.WithModel("mistral-test"), mistral.WithMaxRetries(0), mistral.WithTimeout(time.Minute))
	require.NoError(t, err)
	return llm
}

func question() []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Write and test the parser.")}
}

func definition(name string) llms.FunctionDefinition {
	return llms.FunctionDefinition{
		Name: name, Description: "A tool.",
		Parameters: map[string]any{
			"type": "object", "properties": map[string]any{"q": map[string]any{"type": "string"}}, "required": []string{"q"},
		},
	}
}

func withTools(names ...string) llms.CallOption {
	var tools []llms.Tool
	for _, name := range names {
		f := definition(name)
		tools = append(tools, llms.Tool{Type: "function", Function: &f})
	}
	return llms.WithTools(tools)
}

// streaming returns an option that streams to f, text by text.
func streaming(f func(text string) error) llms.CallOption {
	return llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error { return f(string(chunk)) })
}

func reasonJSON(reason string) string {
	data, _ := json.Marshal(map[string]string{"reason": reason})
	return string(data)
}
