package gemini_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// plan is the model's first text in most tests: it announces work that it does not do.
const plan = "Next I will write the parser."

// blocked is a reason that todo_pause accepts.
const blocked = "The grammar file grammar.ebnf is missing"

var unhurried = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})

// open is a list with work left.
func open() todo.Provider {
	return todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress})
}

// newClient returns the official SDK's client, whose requests base answers.
func newClient(t *testing.T, base http.RoundTripper, todos todo.Provider, backend genai.Backend) *genai.Client {
	t.Helper()
	config := &genai.ClientConfig{
		Backend: backend, HTTPClient: &http.Client{Transport: transport.New(base, middleware.New(todos, unhurried))},
		HTTPOptions: genai.HTTPOptions{BaseURL: "http://gemini.test"},
	}
	if backend == genai.BackendVertexAI {
		config.Project, config.Location = "p", "l"
	} else {
		config.APIKey = "k"
	}
	client, err := genai.NewClient(t.Context(), config)
	require.NoError(t, err)
	return client
}

// tools offers edit_file, with its parameters in OpenAPI's dialect.
func tools() *genai.GenerateContentConfig {
	return &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
		Name: "edit_file", Parameters: &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"path": {Type: genai.TypeString}}},
	}}}}}
}

// reading is what a program reads from an answer.
type reading struct {
	text   string
	calls  []*genai.FunctionCall
	finish genai.FinishReason
	id     string
	usage  *genai.GenerateContentResponseUsageMetadata
}

func (r *reading) add(answer *genai.GenerateContentResponse) {
	r.text += textOf(answer)
	r.calls = append(r.calls, answer.FunctionCalls()...)
	if len(answer.Candidates) > 0 && answer.Candidates[0].FinishReason != "" {
		r.finish = answer.Candidates[0].FinishReason
	}
	if r.id == "" {
		r.id = answer.ResponseID
	}
	if answer.UsageMetadata != nil {
		r.usage = answer.UsageMetadata
	}
}

func textOf(answer *genai.GenerateContentResponse) string {
	if len(answer.Candidates) == 0 || answer.Candidates[0].Content == nil {
		return ""
	}
	var text strings.Builder
	for _, part := range answer.Candidates[0].Content.Parts {
		if !part.Thought {
			text.WriteString(part.Text)
		}
	}
	return text.String()
}

// ways are the ways in which a program asks the SDK.
var ways = map[string]func(t *testing.T, c *genai.Client, model string) reading{
	"unary": func(t *testing.T, c *genai.Client, model string) (r reading) {
		t.Helper()
		answer, err := c.Models.GenerateContent(t.Context(), model, genai.Text("Write the parser."), tools())
		require.NoError(t, err)
		r.add(answer)
		return r
	},
	"stream": func(t *testing.T, c *genai.Client, model string) (r reading) {
		t.Helper()
		for answer, err := range c.Models.GenerateContentStream(t.Context(), model, genai.Text("Write the parser."), tools()) {
			require.NoError(t, err)
			r.add(answer)
		}
		return r
	},
	"chat": func(t *testing.T, c *genai.Client, model string) (r reading) {
		t.Helper()
		chat, err := c.Chats.Create(t.Context(), model, tools(), nil)
		require.NoError(t, err)
		answer, err := chat.SendMessage(t.Context(), genai.Part{Text: "Write the parser."})
		require.NoError(t, err)
		r.add(answer)
		requireGoesOn(t, chat, r)
		return r
	},
	"streamed chat": func(t *testing.T, c *genai.Client, model string) (r reading) {
		t.Helper()
		chat, err := c.Chats.Create(t.Context(), model, tools(), nil)
		require.NoError(t, err)
		for answer, err := range chat.SendMessageStream(t.Context(), genai.Part{Text: "Write the parser."}) {
			require.NoError(t, err)
			r.add(answer)
		}
		requireGoesOn(t, chat, r)
		return r
	},
}

// requireGoesOn sends the next message of a chat, with the results of all calls. The scripted server checks the history as
// the API does.
func requireGoesOn(t *testing.T, chat *genai.Chat, r reading) {
	t.Helper()
	var kept strings.Builder
	for _, content := range chat.History(true) {
		for _, part := range content.Parts {
			if content.Role == genai.RoleModel && !part.Thought {
				kept.WriteString(part.Text)
			}
		}
	}
	require.Equal(t, r.text, kept.String(), "the chat has kept the turn")
	var parts []genai.Part
	for _, call := range r.calls {
		response := &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{"output": "ok"}}
		parts = append(parts, genai.Part{FunctionResponse: response})
	}
	if parts == nil {
		parts = []genai.Part{{Text: "Go on."}}
	}
	ctx := continuation.Suppress(t.Context())
	answer, err := chat.SendMessage(ctx, parts...)
	require.NoError(t, err)
	require.Equal(t, "Yes.", textOf(answer))
}

// The SDK reads a joined answer as one, in every way to ask, and its chats go on from it.
func TestAnswersOfTwoTurns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		turns []carryontest.Turn
		text  string
		calls int
	}{
		"text":          {[]carryontest.Turn{carryontest.Text(plan), carryontest.Text("Here it is.")}, plan + "\n\nHere it is.", 0},
		"a call":        {[]carryontest.Turn{carryontest.Text(plan), carryontest.Call("edit_file", `{"path":"a"}`)}, plan, 1},
		"text, calls":   {[]carryontest.Turn{carryontest.Text(plan), carryontest.Text("One.").AndCall("edit_file", "{}").AndCall("edit_file", "{}")}, plan + "\n\nOne.", 2},
		"a pause":       {[]carryontest.Turn{carryontest.Text(plan), carryontest.Pause(blocked)}, plan + "\n\nTask paused: " + blocked, 0},
		"pause, a call": {[]carryontest.Turn{carryontest.Text(plan), carryontest.Pause(blocked).AndCall("edit_file", "{}")}, plan + "\n\nTask paused: " + blocked, 1},
		"a failure":     {[]carryontest.Turn{carryontest.Text(plan), carryontest.Status(400, "{}")}, plan, 0},
		"thoughts":      {[]carryontest.Turn{carryontest.Text("").Reasoning("Hm."), carryontest.Text("Then.").Reasoning("So.").AndCall("edit_file", "{}")}, "Then.", 1},
	} {
		for way, ask := range ways {
			for _, model := range []string{"gemini-2.5-pro", "gemini-3-pro-preview"} {
				for _, backend := range []genai.Backend{genai.BackendGeminiAPI, genai.BackendVertexAI} {
					t.Run(name+"/"+way+"/"+model+"/"+backend.String(), func(t *testing.T) {
						t.Parallel()
						server := carryontest.NewServer(t, test.turns...)
						if strings.Contains(way, "chat") {
							server.Append(carryontest.Text("Yes."))
						}
						got := ask(t, newClient(t, server.Transport(), open(), backend), model)
						assert.Equal(t, test.text, got.text)
						assert.Len(t, got.calls, test.calls)
						assert.Equal(t, genai.FinishReasonStop, got.finish)
						assert.Equal(t, "resp-1", got.id)
						assert.Equal(t, int32(10), got.usage.PromptTokenCount)
						assert.Equal(t, got.usage.PromptTokenCount+got.usage.CandidatesTokenCount, got.usage.TotalTokenCount)
						assert.NotContains(t, server.Requests()[0].Tools, "todo_pause")
						assert.Contains(t, server.Requests()[1].Tools, "todo_pause")
					})
				}
			}
		}
	}
}

// An agent's loop that stops early finishes its list.
func TestLoopFinishesItsList(t *testing.T) {
	t.Parallel()
	files := []string{"a", "b", "c"}
	list := todo.ProviderFunc(func(context.Context) (todos []todo.Todo, _ error) {
		for _, file := range []string{"a", "b", "c"} {
			status := todo.Completed
			for _, left := range files {
				if left == file {
					status = todo.Pending
				}
			}
			todos = append(todos, todo.Todo{ID: file, Content: "Write " + file, Status: status})
		}
		return todos, nil
	})
	server := carryontest.NewServer(t,
		carryontest.Call("edit_file", `{"path":"a"}`), carryontest.Text("I wrote a. Next is b."), carryontest.Call("edit_file", `{"path":"b"}`),
		carryontest.Text("Next is c."), carryontest.Call("edit_file", `{"path":"c"}`), carryontest.Text("All is written."),
	)
	client := newClient(t, server.Transport(), list, genai.BackendGeminiAPI)
	chat, err := client.Chats.Create(t.Context(), "gemini-3-pro-preview", tools(), nil)
	require.NoError(t, err)
	parts, text := []genai.Part{{Text: "Write a, b and c."}}, new(strings.Builder)
	for parts != nil {
		var calls []*genai.FunctionCall
		for answer, err := range chat.SendMessageStream(t.Context(), parts...) {
			require.NoError(t, err)
			calls = append(calls, answer.FunctionCalls()...)
			text.WriteString(textOf(answer))
		}
		parts = nil
		for _, call := range calls {
			require.Equal(t, files[0], call.Args["path"])
			files = files[1:]
			response := &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{"output": "ok"}}
			parts = append(parts, genai.Part{FunctionResponse: response})
		}
	}
	assert.Empty(t, files)
	assert.Equal(t, "I wrote a. Next is b.Next is c.All is written.", text.String())
}
