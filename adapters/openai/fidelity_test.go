package openai_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			inBothModes(t, func(t *testing.T, m mode) {
				for shape, turn := range providerShapes() {
					request := full()
					if tt.change != nil {
						tt.change(&request)
					}
					server := carryontest.NewServer(t, turn)
					want := callBare(t, m, bare(server.URL(), nil), request)

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
			want, err := bare(server.URL(), nil).CreateChatCompletion(t.Context(), ask())
			require.NoError(t, err)
			s := newScene(t, modes[0], todo.Static())
			s.server.Append(turn)
			got, err := s.client.CreateChatCompletion(s.ctx, ask())
			require.NoError(t, err)
			// The one header that tells the time.
			want.Header().Del("Date")
			got.Header().Del("Date")
			assert.Equal(t, want, got)
		})
	}
}

func TestFirstRequestOfAContinuedCallIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, m mode) {
		server := carryontest.NewServer(t, carryontest.Text(plan))
		callBare(t, m, bare(server.URL(), nil), full())
		s := newScene(t, m, twoTodos)
		s.call(s.ctx, full(), carryontest.Text(plan), edit())
		assert.Equal(t, sentTo(server)[0], sentTo(s.server)[0])
	})
}

func TestOtherMethodsAreTheSDKsOwn(t *testing.T) {
	t.Parallel()
	s := newScene(t, modes[0], twoTodos)
	provider := httpmock.NewMockTransport()
	provider.RegisterResponder(http.MethodGet, "http://provider.test/v1/models",
		httpmock.NewStringResponder(http.StatusOK, `{"data":[{"id":"m"}]}`))
	client := wrapped(bare("http://provider.test/v1", provider), s.mw)
	models, err := client.ListModels(t.Context())
	require.NoError(t, err)
	assert.Len(t, models.Models, 1)
	assert.Equal(t, 1, provider.GetTotalCallCount())
	assert.Empty(t, s.events.all())
}
