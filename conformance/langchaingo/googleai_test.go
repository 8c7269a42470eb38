package langchaingo_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// gemini is an answer in Google's format.
func gemini(parts ...string) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP"}],`+
		`"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}}`, strings.Join(parts, ","))
}

func text(text string) string { return fmt.Sprintf(`{"text":%q}`, text) }

func call(name, args string) string {
	return fmt.Sprintf(`{"functionCall":{"name":%q,"args":%s}}`, name, args)
}

func TestCase10ProvidersDefaultsStay(t *testing.T) {
	t.Parallel()
	server := newScript(t, gemini(text("Did one.")), gemini(text("Did two.")))
	model := carrylangchain.Wrap(newGoogleAI(t, server), middleware.New(twoTodos, unhurried))
	answer, err := model.GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	require.Len(t, answer.Choices, 1)
	assert.Equal(t, "Did one.\n\nDid two.", answer.Choices[0].Content)
	assert.Equal(t, "FinishReasonStop", answer.Choices[0].StopReason)

	requests := server.requests()
	require.Len(t, requests, 2)
	for _, r := range requests {
		assert.Contains(t, r.path, "/models/gemini-2.0-flash:")
		config := r.body.object("generationConfig")
		assert.InDelta(t, 2048, config["maxOutputTokens"], 0)
		assert.InDelta(t, 0.5, config["temperature"], 0)
	}
	var tools []string
	for _, tool := range requests[1].body.list("tools") {
		for _, declared := range tool.list("functionDeclarations") {
			tools = append(tools, declared.text("name"))
		}
	}
	assert.Equal(t, []string{"search", "todo_pause"}, tools)
	contents := requests[1].body.list("contents")
	require.Len(t, contents, 3)
	assert.Equal(t, "model", contents[1].text("role"))
}

func TestCase12GoogleAICountsKeepTheirType(t *testing.T) {
	t.Parallel()
	server := newScript(t, gemini(text("Did one.")), gemini(text("Did two.")))
	model := carrylangchain.Wrap(newGoogleAI(t, server), middleware.New(twoTodos, unhurried))
	answer, err := model.GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	info := answer.Choices[0].GenerationInfo
	assert.Equal(t, int32(10), info["PromptTokens"])
	assert.Equal(t, int32(10), info["output_tokens"])
	assert.Equal(t, int32(20), info["total_tokens"])
	assert.Equal(t, 0, info["ThinkingTokens"])
}

func TestGoogleAIPauses(t *testing.T) {
	t.Parallel()
	server := newScript(t, gemini(text("Did one.")), gemini(text("Stuck."), call("todo_pause", reasonJSON(blocked)), call("search", `{"q":"x"}`)))
	model := carrylangchain.Wrap(newGoogleAI(t, server), middleware.New(twoTodos, unhurried))
	answer, err := model.GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	choice := answer.Choices[0]
	assert.Equal(t, "Did one.\n\nStuck.\n\nTask paused: "+blocked, choice.Content)
	require.Len(t, choice.ToolCalls, 1)
	assert.Equal(t, "search", choice.ToolCalls[0].FunctionCall.Name)
	assert.Nil(t, choice.FuncCall)
}

func TestGoogleAIIsToldOfARejectedPause(t *testing.T) {
	t.Parallel()
	server := newScript(t, gemini(text("Did one.")), gemini(text("Well."), call("todo_pause", `{"reason":"stuck"}`)), gemini(text("Did two.")))
	mw := middleware.New(twoTodos, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 2}))
	answer, err := carrylangchain.Wrap(newGoogleAI(t, server), mw).GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	assert.Equal(t, "Did one.\n\nWell.\n\nDid two.", answer.Choices[0].Content)
	contents := server.requests()[2].body.list("contents")
	require.Len(t, contents, 3)
	said := contents[1].list("parts")
	require.Len(t, said, 2, "the content before the result must have the call")
	assert.Contains(t, said[1], "functionCall")
	results := contents[2].list("parts")
	require.Len(t, results, 1)
	assert.Equal(t, "todo_pause", results[0].object("functionResponse").text("name"))
}

func TestCase17AnErrorThatGoogleAISwallowsIsReturned(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	for name, test := range map[string]struct {
		at    int // the text at which the function fails
		asked int
	}{"in turn 1": {1, 1}, "in a continuation": {3, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newScript(t, "["+gemini(text("Did "))+","+gemini(text("one."))+"]", "["+gemini(text("Did "))+","+gemini(text("two."))+"]")
			model := carrylangchain.Wrap(newGoogleAI(t, server), middleware.New(twoTodos, unhurried))
			var shown []string
			answer, err := model.GenerateContent(t.Context(), question(), withTools("search"), streaming(func(text string) error {
				shown = append(shown, text)
				if len(shown) == test.at {
					return enough
				}
				return nil
			}))
			require.ErrorIs(t, err, enough)
			assert.Len(t, shown, test.at)
			assert.NotNil(t, answer, "the answer so far comes with it")
			assert.Len(t, server.requests(), test.asked)
		})
	}
}

func TestGoogleAIStreams(t *testing.T) {
	t.Parallel()
	server := newScript(t, "["+gemini(text("Did "))+","+gemini(text("one."))+"]",
		"["+gemini(text("Stuck."))+","+gemini(call("todo_pause", reasonJSON(blocked)))+"]")
	model := carrylangchain.Wrap(newGoogleAI(t, server), middleware.New(twoTodos, unhurried))
	var shown []string
	answer, err := model.GenerateContent(t.Context(), question(), withTools("search"), streaming(func(text string) error {
		shown = append(shown, text)
		return nil
	}))
	require.NoError(t, err)
	assert.Equal(t, "Did one.\n\nStuck.\n\nTask paused: "+blocked, answer.Choices[0].Content)
	assert.Equal(t, answer.Choices[0].Content, strings.Join(shown, ""))
	assert.Empty(t, answer.Choices[0].ToolCalls)
}
