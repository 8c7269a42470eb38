package scenarios_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// setUp is a program written by somebody who follows the README, and the outcome that it gets.
type setUp struct {
	name    string
	todos   todo.Provider
	options []middleware.Option
	request openai.ChatCompletionRequest
	context func(context.Context) context.Context // nil: as it is
	turn    []fakellm.Turn                        // nil: the model says what it is going to do
	code    string
	text    string
	err     string // of the outcome
}

const saved = "saved"

// setUps are a set-up that works, and ways to break it.
func setUps() []setUp {
	open := scenario.TodoArguments("in_progress Write the parser", "pending Test the parser")
	written := func(name, arguments, result string) openai.ChatCompletionRequest {
		return scenario.WithTodos(scenario.WithEdit(scenario.Request(), "call_1"), name, arguments, result)
	}
	offering := func(change func(*openai.ChatCompletionRequest)) openai.ChatCompletionRequest {
		request := written("todo_write", open, saved)
		change(&request)
		return request
	}
	unnamed := func(ctx context.Context) context.Context { return continuation.WithSession(ctx, "") }
	elsewhere := todo.NewMemory()
	if err := elsewhere.Write(continuation.WithSession(context.Background(), "another"), []todo.Todo{{Content: "a"}}); err != nil {
		panic(err)
	}
	conversation := todo.FromConversation
	return []setUp{
		{
			name: "the work is done", todos: conversation(),
			request: written("todo_write", scenario.TodoArguments("completed Write", "done Test"), saved),
			code:    "no_active_todos",
			text:    "No active todos found (pending or in_progress): all 2 are done (from the last call of todo_write)",
		},
		{
			name: "no list was written", todos: conversation(), request: scenario.Request(),
			code: "no_list", text: "No todo list found: nothing was written so far",
		},
		{
			name: "tools are called, and none of them writes a list", todos: conversation(),
			request: scenario.WithEdit(scenario.Request(), "call_1"),
			code:    "no_list", text: "No todo list found: none of the tools called is known to write one: edit_file",
		},
		{
			name: "the todo tool has a name of its own", todos: conversation(), request: written("note_work", open, saved),
			code: "no_list",
			text: "No todo list found: note_work looks like a todo tool and is not known: name it with todo.WithToolNames",
		},
		{
			name: "the items have members of their own", todos: conversation(),
			request: written("todo_write", `{"todos":[{"label":"Write the parser","status":"pending"}]}`, saved),
			code:    "list_unreadable",
			text: "The todo list could not be read: todo_write: item 1: content is missing or blank; " +
				"send what has to be done as a string that is not blank",
		},
		{
			name: "the todo tool fails", todos: conversation(), request: written("todo_write", open, "Error: disk full"),
			code: "list_unreadable", text: "The todo list could not be read: todo_write: its result reports a failure",
		},
		{
			name: "the statuses are in a language of their own", todos: conversation(),
			request: written("todo_write", scenario.TodoArguments("erledigt Write", "offen Test"), saved),
			code:    "unknown_status",
			text: "No active todos found (pending or in_progress), but unknown statuses: " +
				`2 todos, none active, 2 of unknown status "erledigt" (from the last call of todo_write)`,
		},
		{
			name: "the source is never filled", todos: todo.Static(), request: scenario.Request(),
			code: "list_empty", text: "The todo list is empty (from the program's source)",
		},
		{
			name: "the source fails", request: scenario.Request(),
			todos: todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { return nil, errors.New("no such table: todos") }),
			code:  "source_failed", text: "The todo source failed", err: "no such table: todos",
		},
		{
			name: "the source is slow", request: scenario.Request(), options: []middleware.Option{scenario.Within(continuation.Limits{TodoTimeout: time.Millisecond})},
			todos: todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}),
			code: "source_late", text: "The todo source was late", err: "no list within 1ms: context deadline exceeded",
		},
		{
			name: "the list of carryon has no session", todos: todo.NewMemory(), request: scenario.Request(), context: unnamed,
			code: "no_session",
			text: "There is no session, so there is no todo list: name the conversation with continuation.WithSession, " +
				"or say todo.NewMemory(todo.WithOneConversation())",
		},
		{
			name: "the list was written under another session", todos: elsewhere, request: scenario.Request(),
			code: "no_list", text: "No todo list found: nothing was written under this session; 1 other session has a list",
		},
		{
			name: "no tools are offered", todos: conversation(),
			request: offering(func(r *openai.ChatCompletionRequest) { r.Tools = nil }),
			code:    "no_tools", text: "The request offers no tools",
		},
		{
			name: "a tool call is demanded", todos: conversation(),
			request: offering(func(r *openai.ChatCompletionRequest) { r.ToolChoice = "required" }),
			code:    "tool_choice", text: "The request's tool choice rules a continuation out",
		},
		{
			name: "JSON is demanded", todos: conversation(),
			request: offering(func(r *openai.ChatCompletionRequest) {
				r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
			}),
			code: "json_response", text: "The request asks for a JSON response",
		},
		{
			name: "max_tokens is small", todos: scenario.TwoTodos(), request: scenario.Request(),
			turn: []fakellm.Turn{fakellm.Text(scenario.Plan).Finish("length")},
			code: "not_ended", text: `The turn did not end with a plain stop: the finish reason is "length"`,
		},
		{
			name: "the tool loop is not done", todos: scenario.TwoTodos(), request: scenario.Request(), turn: []fakellm.Turn{scenario.Edit()},
			code: "tool_calls", text: "The model called a tool, so it is the program's turn",
		},
		{
			name: "the call is suppressed", todos: scenario.TwoTodos(), request: scenario.Request(), context: continuation.Suppress,
			code: "suppressed", text: "Continuation is suppressed for this call",
		},
		{
			name: "the gate says no", todos: scenario.TwoTodos(), request: scenario.Request(),
			options: []middleware.Option{middleware.WithGate(func(context.Context, middleware.NextTurn) error {
				return errors.New("over the monthly budget")
			})},
			code: "gate", text: "The gate vetoed the continuation", err: "over the monthly budget",
		},
		{
			name: "the store is down", todos: scenario.TwoTodos(), request: scenario.Request(),
			options: []middleware.Option{middleware.WithRecords(brokenStore{})},
			code:    "store", text: "The session state is unavailable", err: "dial tcp: connection refused",
		},
	}
}

// brokenStore is a store that cannot be reached.
type brokenStore struct{}

func (brokenStore) Update(context.Context, string, records.UpdateFunc) error {
	return errors.New("dial tcp: connection refused")
}

// The outcome alone tells each way to break a set-up from every other, and from success.
func TestBrokenSetUpsAreToldApart(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for i, broken := range setUps() {
		text := broken.text + broken.err
		assert.Empty(t, texts[text], broken.name)
		texts[text] = broken.name
		t.Run(broken.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				outcome := outcomeOf(t, m, setUps()[i]) // of its own, because a source remembers lists
				assert.Equal(t, broken.code, outcome.Reason.Code())
				want := "1 turn, 0 continuations: " + broken.text
				if broken.err == "" {
					require.NoError(t, outcome.Err)
				} else {
					require.EqualError(t, outcome.Err, broken.err)
					want += " (" + broken.err + ")"
				}
				assert.Equal(t, want, outcome.String())
				assert.False(t, outcome.Continued())
			})
		})
	}
}

// outcomeOf calls the model as a program with the set-up would.
func outcomeOf(t *testing.T, m scenario.Mode, broken setUp) middleware.Outcome {
	t.Helper()
	turn := broken.turn
	if turn == nil {
		turn = []fakellm.Turn{fakellm.Text(scenario.Plan)}
	}
	server := fakellm.NewServer(t)
	server.Append(turn...)
	transport := &scenario.Transport{Base: http.DefaultTransport, URL: server.URL()}
	mw := middleware.New(broken.todos, append([]middleware.Option{scenario.NoInterval()}, broken.options...)...)
	ctx := continuation.WithSession(t.Context(), "s")
	if broken.context != nil {
		ctx = broken.context(ctx)
	}
	got := m.Call(ctx, m.Client(scenario.Config(transport.URL, transport), mw), broken.request)
	require.NoError(t, got.Err)
	return got.Outcome
}

// A program that has not wrapped the client it calls has no outcome.
func TestClientThatIsNotWrappedHasNoOutcome(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t)
	server.Append(fakellm.Text(scenario.Plan))
	ctx, outcomes := middleware.Capture(t.Context())
	got := scenario.TypedUnary.Call(ctx, scenario.SDKClient(scenario.HTTPConfig(server)), scenario.Request())
	require.NoError(t, got.Err)
	assert.Equal(t, "No call has gone through carryon and ended", outcomes.Last().String())
}
