package openai_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// sent is what of a request is on the wire.
type sent struct {
	method, path string
	header       http.Header
	body         string
}

func sentTo(server *carryontest.Server) []sent {
	var all []sent
	for _, r := range server.Requests() {
		all = append(all, sent{r.Method, r.Path, r.Header, string(r.Body)})
	}
	return all
}

// providerShapes are turns as different providers send them.
func providerShapes() map[string]carryontest.Turn {
	text := carryontest.Text("One two three.")
	return map[string]carryontest.Turn{
		"text":              text,
		"reasoning":         text.Reasoning("Hm."),
		"one chunk":         text.OneChunk(),
		"finish with text":  text.FinishWithText(),
		"finish twice":      text.FinishTwice(),
		"finish, then null": text.NullFinishLast(),
		"usage everywhere":  text.UsageEveryChunk(),
		"usage on finish":   text.UsageOnFinish(),
		"usage twice":       text.UsageTwice(),
		"no usage":          text.NoUsage(),
		"no [DONE]":         text.NoDone(),
		"Azure":             text.AzureFirst(),
		"changing ids":      text.ChangeID(),
		"role everywhere":   text.RoleEveryChunk(),
		"comments":          text.Comments().CRLF(),
		"refusal":           carryontest.Text("").Refusal("No."),
		"call":              edit(),
		"calls":             edit().AndCall("edit_file", `{"n":2}`).AndText("Now:"),
		"interleaved calls": edit().AndCall("edit_file", `{"n":2}`).Interleaved(),
		"calls at once":     edit().AndCall("edit_file", `{"n":2}`).Batched(),
		"whole calls":       edit().AndCall("edit_file", `{"n":2}`).WholeCalls().NoIndex(),
		"call from 1":       edit().StartIndex(1),
		"calls before text": edit().AndText("Done.").TextLast(),
		"own todo_pause":    carryontest.Pause(blocked),
		"legacy call":       edit().Legacy(),
		"length":            text.Finish("length"),
	}
}

func TestWithNothingToDoNothingIsChanged(t *testing.T) {
	t.Parallel()
	idle := map[string]struct {
		todos  todo.Provider
		change func(*openai.ChatCompletionRequest)
		ctx    func(context.Context) context.Context
		opts   []middleware.Option
	}{
		"no todos":    {todos: todo.Static()},
		"disabled":    {todos: twoTodos, ctx: continuation.Suppress},
		"no tools":    {todos: twoTodos, change: func(r *openai.ChatCompletionRequest) { r.Tools = nil }},
		"tool choice": {todos: twoTodos, change: choose("required")},
		"dry run":     {todos: twoTodos, opts: []middleware.Option{middleware.WithDryRun()}},
		"dry run, tool always": {todos: twoTodos, opts: []middleware.Option{
			middleware.WithDryRun(), middleware.WithPauseTool(middleware.Always),
		}},
	}
	for name, tt := range idle {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				for shape, turn := range providerShapes() {
					request := full()
					if tt.change != nil {
						tt.change(&request)
					}
					server := carryontest.NewServer(t, turn)
					want := m.call(t.Context(), bareOn(server), request)

					s := newScene(t, m, tt.todos, tt.opts...)
					ctx := s.ctx
					if tt.ctx != nil {
						ctx = tt.ctx(ctx)
					}
					got := s.call(ctx, request, turn)
					requireSame(t, want, got)
					require.Equal(t, sentTo(server), sentTo(s.server), shape)
				}
			})
		})
	}
}

func TestWholeAnswerIsTheVerySameValue(t *testing.T) {
	t.Parallel()
	for shape, turn := range providerShapes() {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			server := carryontest.NewServer(t, turn)
			want, err := bareOn(server).answer(t.Context(), ask())
			require.NoError(t, err)
			want.Header().Del("Date") // the one header that tells the time
			for _, m := range []mode{typedUnary, wireUnary} {
				s := newScene(t, m, todo.Static())
				s.server.Append(turn)
				got, err := s.client.answer(s.ctx, ask())
				require.NoError(t, err)
				got.Header().Del("Date")
				assert.Equal(t, want, got, m.name)
			}
		})
	}
}

func TestFirstRequestOfAContinuedCallIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		server := carryontest.NewServer(t, carryontest.Text(plan))
		m.call(t.Context(), bareOn(server), full())
		s := newScene(t, m, twoTodos)
		s.call(s.ctx, full(), carryontest.Text(plan), edit())
		assert.Equal(t, sentTo(server)[0], sentTo(s.server)[0])
	})
}

func TestOtherMethodsAreTheSDKsOwn(t *testing.T) {
	t.Parallel()
	provider := httpmock.NewMockTransport()
	provider.RegisterResponder(http.MethodGet, "http://provider.test/v1/models",
		httpmock.NewStringResponder(http.StatusOK, `{"data":[{"id":"m"}]}`))
	config := configOf("http://provider.test/v1", provider)
	events := new(recorder)
	mw := middleware.New(twoTodos, middleware.WithObserver(events.observer()))
	for name, c := range map[string]interface {
		ListModels(ctx context.Context) (openai.ModelsList, error)
	}{
		"Wrap":                carryopenai.Wrap(openai.NewClientWithConfig(config), mw),
		"NewClientWithConfig": carryopenai.NewClientWithConfig(config, mw),
	} {
		models, err := c.ListModels(t.Context())
		require.NoError(t, err, name)
		assert.Len(t, models.Models, 1, name)
	}
	assert.Equal(t, 2, provider.GetTotalCallCount())
	assert.Empty(t, events.all())
}
