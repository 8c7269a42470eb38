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
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// sent is a request as it was sent.
type sent struct {
	method, path string
	header       http.Header
	body         string
}

func sentTo(server *fakellm.Server) []sent {
	var all []sent
	for _, r := range server.Requests() {
		all = append(all, sent{r.Method, r.Path, r.Header, string(r.Body)})
	}
	return all
}

// providerShapes are turns as different providers send them.
func providerShapes() map[string]fakellm.Turn {
	text := fakellm.Text("One two three.")
	return map[string]fakellm.Turn{
		"text":              text,
		"reasoning":         text.Reasoning("Hm."),
		"one chunk":         text.With(fakellm.OneChunk),
		"finish with text":  text.With(fakellm.FinishWithText),
		"finish twice":      text.With(fakellm.FinishTwice),
		"finish, then null": text.With(fakellm.NullFinishLast),
		"usage everywhere":  text.With(fakellm.UsageEveryChunk),
		"usage on finish":   text.With(fakellm.UsageOnFinish),
		"usage twice":       text.With(fakellm.UsageTwice),
		"no usage":          text.NoUsage(),
		"no [DONE]":         text.NoDone(),
		"Azure":             text.With(fakellm.AzureFirst),
		"changing ids":      text.With(fakellm.ChangeID),
		"role everywhere":   text.With(fakellm.RoleEveryChunk),
		"comments":          text.Comments().CRLF(),
		"refusal":           fakellm.Text("").Refusal("No."),
		"call":              scenario.Edit(),
		"calls":             scenario.Edit().AndCall("edit_file", `{"n":2}`).AndText("Now:"),
		"interleaved calls": scenario.Edit().AndCall("edit_file", `{"n":2}`).With(fakellm.Interleaved),
		"calls at once":     scenario.Edit().AndCall("edit_file", `{"n":2}`).With(fakellm.Batched),
		"whole calls":       scenario.Edit().AndCall("edit_file", `{"n":2}`).With(fakellm.WholeCalls, fakellm.NoIndex),
		"call from 1":       scenario.Edit().StartIndex(1),
		"calls before text": scenario.Edit().AndText("Done.").With(fakellm.TextLast),
		"own todo_pause":    fakellm.Pause(scenario.Blocked),
		"legacy call":       scenario.Edit().With(fakellm.Legacy),
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
		"disabled":    {todos: scenario.TwoTodos(), ctx: continuation.Suppress},
		"no tools":    {todos: scenario.TwoTodos(), change: func(r *openai.ChatCompletionRequest) { r.Tools = nil }},
		"tool choice": {todos: scenario.TwoTodos(), change: func(r *openai.ChatCompletionRequest) { r.ToolChoice = "required" }},
		"dry run":     {todos: scenario.TwoTodos(), opts: []middleware.Option{middleware.WithDryRun()}},
		"dry run, tool always": {todos: scenario.TwoTodos(), opts: []middleware.Option{
			middleware.WithDryRun(), middleware.WithPauseTool(middleware.PauseToolAlways),
		}},
	}
	for name, tt := range idle {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
				for shape, turn := range providerShapes() {
					request := scenario.FullRequest()
					if tt.change != nil {
						tt.change(&request)
					}
					server := fakellm.NewServer(t, turn)
					want := m.Call(t.Context(), scenario.SDKClient(scenario.HTTPConfig(server)), request)

					s := scenario.New(t, m, tt.todos, tt.opts...)
					ctx := s.Ctx
					if tt.ctx != nil {
						ctx = tt.ctx(ctx)
					}
					got := s.Call(ctx, request, turn)
					scenario.RequireSame(t, want, got)
					require.Equal(t, sentTo(server), sentTo(s.Server), shape)
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
			server := fakellm.NewServer(t, turn)
			want, err := scenario.SDKClient(scenario.HTTPConfig(server)).Complete(t.Context(), scenario.Request())
			require.NoError(t, err)
			want.Header().Del("Date") // the one header that tells the time
			for _, m := range []scenario.Mode{scenario.TypedUnary, scenario.WireUnary} {
				s := scenario.New(t, m, todo.Static())
				s.Server.Append(turn)
				got, err := s.Client.Complete(s.Ctx, scenario.Request())
				require.NoError(t, err)
				got.Header().Del("Date")
				assert.Equal(t, want, got, m.String())
			}
		})
	}
}

func TestFirstRequestOfAContinuedCallIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		server := fakellm.NewServer(t, fakellm.Text(scenario.Plan))
		m.Call(t.Context(), scenario.SDKClient(scenario.HTTPConfig(server)), scenario.FullRequest())
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Call(s.Ctx, scenario.FullRequest(), fakellm.Text(scenario.Plan), scenario.Edit())
		assert.Equal(t, sentTo(server)[0], sentTo(s.Server)[0])
	})
}

func TestOtherMethodsAreTheSDKsOwn(t *testing.T) {
	t.Parallel()
	provider := httpmock.NewMockTransport()
	provider.RegisterResponder(http.MethodGet, "http://provider.test/v1/models",
		httpmock.NewStringResponder(http.StatusOK, `{"data":[{"id":"m"}]}`))
	config := scenario.Config("http://provider.test/v1", provider)
	events := carryontest.NewRecorder()
	mw := middleware.New(scenario.TwoTodos(), middleware.WithObserver(events.Observer()))
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
	assert.Empty(t, events.Events())
}
