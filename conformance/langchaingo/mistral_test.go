package langchaingo_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/carryon-go/carryon/adapter"
	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// answers is an answer in mistral's format.
func answers(text, finish string, calls ...string) string {
	return fmt.Sprintf(`{"id":"m","created":7,"model":"mistral-test","choices":[{"index":0,"finish_reason":%q,`+
		`"message":{"role":"assistant","content":%q,"tool_calls":[%s]}}],`+
		`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`, finish, text, strings.Join(calls, ","))
}

func toolCall(id, name, arguments string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, id, name, arguments)
}

// streamed is an answer as mistral streams it.
func streamed(finish string, texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		reason := "null"
		if i == len(texts)-1 {
			reason = fmt.Sprintf("%q", finish)
		}
		fmt.Fprintf(&b, "data: "+`{"id":"m","choices":[{"index":0,"delta":{"content":%q},"finish_reason":%s}]}`+"\n\n", text, reason)
	}
	return b.String() + "data: [DONE]\n\n"
}

// declared returns the names of the tools of a request.
func declared(r request) (names []string) {
	for _, tool := range r.body.list("tools") {
		names = append(names, tool.object("function").text("name"))
	}
	return names
}

func TestCase06MistralHasTheFunctionsStill(t *testing.T) {
	t.Parallel()
	// Its client reads Functions only if there are no Tools.
	server := newScript(t, answers("Did one.", "stop"), answers("", "tool_calls", toolCall("c", "search", `{"__arg1":"tea"}`)), answers("Did two.", "stop"))
	model := carrylangchain.Wrap(newMistral(t, server), middleware.New(twoTodos, unhurried))
	tool := &search{}
	executor := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(model, []tools.Tool{tool}))
	ctx := continuation.WithSession(t.Context(), "s")
	output, err := chains.Run(ctx, executor, "Do both.")
	require.NoError(t, err)
	assert.Equal(t, "Did two.", output)
	assert.Equal(t, []string{"tea"}, tool.inputs)
	requests := server.requests()
	require.Len(t, requests, 3)
	assert.Equal(t, []string{"search"}, declared(requests[0]))
	assert.Equal(t, []string{"search", "todo_pause"}, declared(requests[1]))
	assert.Equal(t, []string{"search"}, declared(requests[2]))
}

func TestCase12MistralsStructOfUsageIsJoined(t *testing.T) {
	t.Parallel()
	server := newScript(t, answers("Did one.", "stop"), answers("Did two.", "stop"))
	model := carrylangchain.Wrap(newMistral(t, server), middleware.New(twoTodos, unhurried))
	ctx, outcomes := middleware.Capture(t.Context())
	answer, err := model.GenerateContent(ctx, question(), withTools("search"))
	require.NoError(t, err)
	info := answer.Choices[0].GenerationInfo
	usage := reflect.ValueOf(info["usage"])
	assert.Equal(t, "mistral.UsageInfo", usage.Type().String())
	assert.EqualValues(t, 10, usage.FieldByName("PromptTokens").Int())
	assert.EqualValues(t, 10, usage.FieldByName("CompletionTokens").Int())
	assert.EqualValues(t, 20, usage.FieldByName("TotalTokens").Int())
	assert.Equal(t, "mistral-test", info["model"])
	assert.Equal(t, []adapter.Usage{{Prompt: 10, Completion: 5, Total: 15}, {Prompt: 10, Completion: 5, Total: 15}}, outcomes.Last().Usage)
}

func TestMistralPauses(t *testing.T) {
	t.Parallel()
	server := newScript(t, answers("Did one.", "stop"),
		answers("Stuck.", "tool_calls", toolCall("p", "todo_pause", reasonJSON(blocked)), toolCall("c", "search", `{"q":"x"}`)))
	model := carrylangchain.Wrap(newMistral(t, server), middleware.New(twoTodos, unhurried))
	answer, err := model.GenerateContent(t.Context(), question(), llms.WithFunctions([]llms.FunctionDefinition{definition("search")}))
	require.NoError(t, err)
	choice := answer.Choices[0]
	assert.Equal(t, "Did one.\n\nStuck.\n\nTask paused: "+blocked, choice.Content)
	require.Len(t, choice.ToolCalls, 1)
	assert.Equal(t, "search", choice.ToolCalls[0].FunctionCall.Name)
	require.NotNil(t, choice.FuncCall)
	assert.Equal(t, "search", choice.FuncCall.Name)
}

func TestMistralStreams(t *testing.T) {
	t.Parallel()
	server := newScript(t, streamed("stop", "Did ", "one."), streamed("stop", "Did ", "two."))
	model := carrylangchain.Wrap(newMistral(t, server), middleware.New(twoTodos, unhurried))
	var shown []string
	answer, err := model.GenerateContent(t.Context(), question(), withTools("search"), streaming(func(text string) error {
		shown = append(shown, text)
		return nil
	}))
	require.NoError(t, err)
	assert.Equal(t, "Did one.\n\nDid two.", answer.Choices[0].Content)
	assert.Equal(t, []string{"Did ", "one.", "\n\nDid ", "two."}, shown)
}
