package agents_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/huggingface"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/tools"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	carryagents "github.com/carryon-go/carryon/adapters/langchaingo/agents"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
)

func TestATextAgentOfAProviderWithoutStopReasons(t *testing.T) {
	t.Parallel()
	answers := []string{"AI: first", "AI: second"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"message":{"role":"assistant","content":%q},"done":true}`+"\n", answers[0]) //nolint:errcheck // the test would see
		answers = answers[1:]
	}))
	defer server.Close()
	llm, err := ollama.New(ollama.WithModel("llama-test"), ollama.WithServerURL(server.URL), ollama.WithHTTPClient(server.Client()))
	require.NoError(t, err)
	model := carrylangchain.Wrap(llm, middleware.New(twoTodos, unhurried), carryagents.Conversational())
	executor, err := agents.Initialize(model, nil, agents.ConversationalReactDescription) //nolint:staticcheck // deprecated, and in use
	require.NoError(t, err)
	output, err := chains.Run(t.Context(), executor, "Do both.")
	require.NoError(t, err)
	assert.Equal(t, "first\n\nsecond", strings.TrimSpace(output))
}

func TestATextAgentThatWasCutOffIsNotContinued(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		s := newScene(t, k, setup{}, fakellm.Text(k.final+"the fir").Finish("length"))
		assert.Equal(t, "the fir", strings.TrimSpace(s.requireRun(t, "Do it.").output))
		assert.Equal(t, "length", carryontest.Recorded[middleware.TurnEnded](s.events)[0].Finish)

		s = newScene(t, k, setup{}, fakellm.Text("Thought: I ha").Finish("length"))
		_, err := s.run("Do it.")
		require.ErrorIs(t, err, agents.ErrUnableToParseOutput)
		assert.Equal(t, "length", carryontest.Recorded[middleware.TurnEnded](s.events)[0].Finish, "and not that nobody could read it")
	})
}

func TestANoteOfATaskStandsBeforeTheNextThought(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		tasks := asynctask.NewManager()
		s := newScene(t, k, setup{todos: noneOf(t), options: []middleware.Option{middleware.WithTasks(tasks)}},
			searches("tea"), fakellm.Text(k.final+"done"))
		ticket, err := tasks.Begin(s.ctx, "job-7", "run the tests")
		require.NoError(t, err)
		require.NoError(t, tasks.Finish(s.ctx, ticket, asynctask.Message("All 214 tests pass.")))
		assert.Equal(t, "done", strings.TrimSpace(s.requireRun(t, "Do it.").output))
		for _, request := range s.server.Requests() {
			prompt := request.Last().Content
			_, after, found := strings.Cut(prompt, "All 214 tests pass.")
			require.True(t, found, prompt)
			assert.Equal(t, k.name == conversational.name, strings.HasSuffix(after, "\nThought:"))
		}
	})
}

func TestATextAgentOfAProviderThatReadsOneMessage(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		answers := []string{
			k.final + "first", "Thought: I have to look.\nAction: search\nAction Input: tea", k.final + "second",
		}
		var prompts []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct{ Inputs string }
			assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
			prompts = append(prompts, body.Inputs)
			fmt.Fprintf(w, `[{"generated_text":%q}]`, answers[0]) //nolint:errcheck // the test would see
			answers = answers[1:]
		}))
		defer server.Close()
		llm, err := huggingface.New(huggingface.WithToken("none"), huggingface.WithURL(server.URL), huggingface.WithHTTPClient(server.Client()))
		require.NoError(t, err)
		model := carrylangchain.Wrap(llm, middleware.New(twoTodos, unhurried), k.option, carrylangchain.WithSinglePrompt())
		tool := new(search)
		executor := agents.NewExecutor(k.make(model, []tools.Tool{tool}), agents.WithMemory(memory.NewSimple()))
		ctx := continuation.WithSession(t.Context(), "s")
		values, err := chains.Call(ctx, executor, map[string]any{"input": "Do both.", "history": ""})
		require.NoError(t, err)
		output, _ := values["output"].(string)
		assert.Equal(t, "second", strings.TrimSpace(output))
		assert.Equal(t, []string{"tea"}, tool.inputs)
		require.Len(t, prompts, 3)
		assert.True(t, strings.HasPrefix(prompts[1], prompts[0]+"\n\n"+k.final+"first\n\n"), prompts[1])
		assert.Contains(t, prompts[1], "'Write the parser'")
		assert.NotContains(t, prompts[2], "'Write the parser'")
	})
}
