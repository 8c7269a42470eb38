package langchaingo_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
)

func TestNilArgumentsPanicWithASentence(t *testing.T) {
	t.Parallel()
	mw := middleware.New(twoTodos)
	model, _ := speaks()
	assert.PanicsWithValue(t, "carryon/adapters/langchaingo: nil model", func() { carrylangchain.Wrap(nil, mw) })
	assert.PanicsWithValue(t, "carryon/adapters/langchaingo: nil middleware", func() { carrylangchain.Wrap(model, nil) })
	assert.PanicsWithValue(t, "carryon/adapters/langchaingo: nil text agent", func() {
		carrylangchain.Wrap(model, mw, carrylangchain.WithTextAgent(nil))
	})
	assert.PanicsWithValue(t, "carryon/middleware: nil context", func() {
		_, _ = carrylangchain.Wrap(model, mw).GenerateContent(nil, question()) //nolint:staticcheck // what is wrong here
	})
	assert.NotPanics(t, func() { carrylangchain.Wrap(model, mw, nil) })
}

func TestOddAnswersAreReturnedAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]*llms.ContentResponse{
		"a call of nothing":  {Choices: []*llms.ContentChoice{{Content: "So:", ToolCalls: []llms.ToolCall{{}}}}},
		"info of odd types":  {Choices: []*llms.ContentChoice{{StopReason: "length", GenerationInfo: map[string]any{"PromptTokens": "many", "usage": 7, "TotalTokens": nil}}}},
		"a struct of usage":  {Choices: []*llms.ContentChoice{{StopReason: "length", GenerationInfo: map[string]any{"usage": struct{ tokens int }{1}}}}},
		"cut off":            {Choices: []*llms.ContentChoice{{Content: "So:", StopReason: "length"}, {}}},
		"an unknown purpose": {Choices: []*llms.ContentChoice{{Content: "So:", StopReason: "whatever"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, asked := speaks(answer)
			mw := middleware.New(twoTodos)
			got, err := carrylangchain.Wrap(model, mw).GenerateContent(t.Context(), question(), withTools("search"))
			require.NoError(t, err)
			assert.Same(t, answer, got)
			assert.Equal(t, 1, *asked)
		})
	}
}

func TestAnAnswerWithoutTextIsContinued(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]*llms.ContentResponse{
		"nil": nil, "no choices": {}, "a nil choice": {Choices: []*llms.ContentChoice{nil}}, "an empty text": says("", "stop"),
	} {
		model, asked := speaks(answer, says("Did one:", "stop"))
		got, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).GenerateContent(t.Context(), question(), withTools("search"))
		require.NoError(t, err, name)
		require.Len(t, got.Choices, 1, name)
		assert.Equal(t, "Did one:", got.Choices[0].Content, name)
		assert.Equal(t, 2, *asked, name)
	}
}

func TestOddContinuationsCostNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		second *llms.ContentResponse
		want   string
		err    string
	}{
		"nil":          {nil, "Did one:", "langchaingo: the model gave no choices"},
		"no choices":   {&llms.ContentResponse{}, "Did one:", "langchaingo: the model gave no choices"},
		"a nil choice": {&llms.ContentResponse{Choices: []*llms.ContentChoice{nil}}, "Did one:", "langchaingo: the model gave no choices"},
		"an empty one": {says("", "stop"), "Did one:", ""},
		"many texts": {&llms.ContentResponse{Choices: []*llms.ContentChoice{
			{Content: "Did ", StopReason: "stop"}, nil, {Content: "two:", StopReason: "stop"},
		}}, "Did one:\n\nDid two:", ""},
		"a call of nothing": {&llms.ContentResponse{Choices: []*llms.ContentChoice{
			{Content: "Did two:", StopReason: "stop", ToolCalls: []llms.ToolCall{{}}},
		}}, "Did one:\n\nDid two:", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, asked := speaks(says("Did one:", "stop"), test.second, test.second, test.second)
			ctx, outcomes := middleware.Capture(t.Context())
			got, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).GenerateContent(ctx, question(), withTools("search"))
			require.NoError(t, err)
			require.Len(t, got.Choices, 1)
			assert.Equal(t, test.want, got.Choices[0].Content)
			if test.err == "" {
				assert.Equal(t, 2, *asked)
			} else {
				assert.Equal(t, 4, *asked, "it is sent twice more")
			}
			if test.err != "" {
				require.EqualError(t, outcomes.Last().Err, test.err)
			} else {
				require.NoError(t, outcomes.Last().Err)
			}
		})
	}
}

func TestOddParametersAreNoneOfOurs(t *testing.T) {
	t.Parallel()
	schema := func(parameters any) llms.CallOption {
		return llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "search", Parameters: parameters}}})
	}
	for name, test := range map[string]struct {
		options []llms.CallOption
		reason  continuation.Reason // none: the call is continued
	}{
		"nil schema":           {[]llms.CallOption{schema(nil)}, 0},
		"a channel for schema": {[]llms.CallOption{schema(make(chan int))}, 0},
		"plain text wanted":    {[]llms.CallOption{withTools("search"), llms.WithResponseMIMEType("text/plain")}, 0},
		"nil option":           {[]llms.CallOption{withTools("search"), nil}, 0},
		"no function":          {[]llms.CallOption{llms.WithTools([]llms.Tool{{Type: "web_search"}})}, 0},
		"no choice":            {[]llms.CallOption{withTools("search"), llms.WithToolChoice((*llms.ToolChoice)(nil))}, 0},
		"auto in an object":    {[]llms.CallOption{withTools("search"), llms.WithToolChoice(map[string]string{"type": "auto"})}, 0},
		"any in an object":     {[]llms.CallOption{withTools("search"), llms.WithToolChoice(map[string]string{"type": "any"})}, reasons.ToolChoice},
		"an odd choice":        {[]llms.CallOption{withTools("search"), llms.WithToolChoice(math.Inf(1))}, reasons.ToolChoice},
		"a number":             {[]llms.CallOption{withTools("search"), llms.WithToolChoice(7)}, reasons.ToolChoice},
		"an empty object":      {[]llms.CallOption{withTools("search"), llms.WithToolChoice(struct{}{})}, reasons.ToolChoice},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, asked := speaks(says("Did one:", "stop"), says("Did two:", "stop"))
			ctx, outcomes := middleware.Capture(t.Context())
			_, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).GenerateContent(ctx, question(), test.options...)
			require.NoError(t, err)
			if test.reason == reasons.None {
				assert.Equal(t, 2, *asked)
			} else {
				assert.Equal(t, test.reason, outcomes.Last().Reason)
			}
		})
	}
}

func TestOddMessagesAreNoneOfOurs(t *testing.T) {
	t.Parallel()
	for name, messages := range map[string][]llms.MessageContent{
		"none":            nil,
		"no parts":        {{Role: llms.ChatMessageTypeHuman}, {Role: llms.ChatMessageTypeAI}, {Role: llms.ChatMessageTypeTool}},
		"a nil part":      {{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{nil}}},
		"a nil inside":    {{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.CachedContent{}}}},
		"no role":         {{Parts: []llms.ContentPart{llms.TextPart("Do it.")}}},
		"roles of others": {{Role: "user", Parts: []llms.ContentPart{llms.TextPart("Do it.")}}, {Role: "assistant"}},
		"a nil function":  {ai(llms.ToolCall{ID: "1"}), toolResult("1", "", "done")},
		"a result alone":  {toolResult("1", "", "done")},
	} {
		for kind, options := range map[string][]carrylangchain.Option{
			"": nil, " folded": {carrylangchain.WithSinglePrompt()},
		} {
			t.Run(name+kind, func(t *testing.T) {
				t.Parallel()
				ctx := continuation.WithSession(t.Context(), "s")
				model, asked := speaks(says("Did one:", "stop"), says("Did two:", "stop"))
				mw := middleware.New(twoTodos, unhurried, middleware.WithTasks(ended(ctx, t)))
				answer, err := carrylangchain.Wrap(model, mw, options...).GenerateContent(ctx, messages, withTools("search"))
				require.NoError(t, err)
				assert.Equal(t, "Did one:\n\nDid two:", answer.Choices[0].Content)
				assert.Equal(t, 2, *asked)
			})
		}
	}
}

func TestTodoPauseIsAmongTheAllowedTools(t *testing.T) {
	t.Parallel()
	allowed := func(names ...string) map[string]any {
		var tools []any
		for _, name := range names {
			tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": name}})
		}
		return map[string]any{"type": "allowed_tools", "allowed_tools": map[string]any{"mode": "auto", "tools": tools}}
	}
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Text("Did two:")))
	choice := allowed("search")
	s.requireAsk(t, llms.WithToolChoice(choice))
	requests := s.requests()
	assert.Equal(t, allowed("search"), choice, "the caller's own is left alone")
	assert.Equal(t, allowed("search"), requests[0].JSON()["tool_choice"])
	assert.Equal(t, allowed("search", "todo_pause"), requests[1].JSON()["tool_choice"])
}

func TestAnErrorOfTheModelIsReturnedAsItCame(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	partial := says("Did", "")
	model := spoken(func(context.Context, []llms.MessageContent, *llms.CallOptions) (*llms.ContentResponse, error) {
		return partial, down
	})
	for _, options := range [][]llms.CallOption{nil, {withTools("search")}} {
		answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos)).GenerateContent(t.Context(), question(), options...)
		require.Equal(t, down, err)
		assert.Same(t, partial, answer, "some clients give both")
	}
}

func TestAPanicOfTheModelLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	asked := 0
	model := spoken(func(context.Context, []llms.MessageContent, *llms.CallOptions) (*llms.ContentResponse, error) {
		asked++
		if asked > 1 {
			panic("oops")
		}
		return says("Did one:", "stop"), nil
	})
	assert.PanicsWithValue(t, "oops", func() {
		_, _ = carrylangchain.Wrap(model, s.mw).GenerateContent(s.ctx, question(), withTools("search"))
	})
	state, err := s.mw.State(s.ctx)
	require.NoError(t, err)
	assert.False(t, state.Active)
}

func TestTodoPauseMayBeDeclaredAlways(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Call("todo_pause", reasonJSON(blocked)).AndCall("search", `{}`).AndText("Stuck.")),
		middleware.WithPauseTool(middleware.PauseToolAlways))
	r := new(recording)
	choice := s.requireAsk(t, r.option())
	assert.Equal(t, []string{"search"}, names(choice))
	assert.Equal(t, "Stuck.\n\nTask paused: "+blocked, choice.Content)
	assert.NotContains(t, r.text(), "todo_pause")
	assert.Equal(t, []string{"search", "todo_pause"}, s.requests()[0].Tools)
}

func TestUsageMayBeThatOfTheLastTurn(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:").Usage(10, 5), fakellm.Text("Did two:").Usage(20, 7)),
		middleware.WithUsage(middleware.UsageLastTurn))
	assert.Equal(t, 27, s.requireAsk(t).GenerationInfo["TotalTokens"])
}

func TestATextAgentThatNobodyCanReadIsLeftAlone(t *testing.T) {
	t.Parallel()
	model, asked := speaks(says("Final Answer: one", "stop"))
	mw := middleware.New(twoTodos, middleware.WithToollessCalls())
	wrapped := carrylangchain.Wrap(model, mw, carrylangchain.WithPlainChains())
	_, err := wrapped.GenerateContent(t.Context(), question(), llms.WithStopWords([]string{"\nObservation:"}))
	require.NoError(t, err)
	assert.Equal(t, 1, *asked)
}

func TestALayerInsideAnotherStandsAside(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Text("Did two:")))
	s.model = carrylangchain.Wrap(s.model, s.mw)
	assert.Equal(t, "Did one:\n\nDid two:", s.requireAsk(t).Content)
	assert.Len(t, s.requests(), 2)
}

func TestAStrictToolHasAStrictTodoPauseBesideIt(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{true, false} {
		f := definition("search")
		f.Strict = strict
		for name, option := range map[string]llms.CallOption{
			"functions": llms.WithFunctions([]llms.FunctionDefinition{f}),
			"tools":     llms.WithTools([]llms.Tool{{Type: "function", Function: &f}}),
		} {
			s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Text("Did two:")))
			_, err := s.model.GenerateContent(s.ctx, question(), option)
			require.NoError(t, err)
			tools := object(s.requests()[1].JSON()).list("tools")
			require.Len(t, tools, 2)
			got, _ := tools[1].object("function")["strict"].(bool)
			assert.Equal(t, strict, got, name)
		}
	}
}

// readBy makes calls of a text agent and returns what it is given.
func readBy(t *testing.T, read func(string) carrylangchain.Reading, answers ...*llms.ContentResponse) *llms.ContentResponse {
	t.Helper()
	model, _ := speaks(answers...)
	mw := middleware.New(twoTodos, unattended,
		middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: len(answers) - 1}))
	answer, err := carrylangchain.Wrap(model, mw, carrylangchain.WithTextAgent(read)).
		GenerateContent(t.Context(), question(), llms.WithStopWords([]string{"\nObservation:"}))
	require.NoError(t, err)
	return answer
}

func TestATextAgentGetsNothingItWouldLoseAnAnswerOver(t *testing.T) {
	t.Parallel()
	// These agents read only some paragraphs of an answer.
	last := func(p []string) []string { return p[len(p)-1:] }
	ends := func(p []string) []string { return append(p[:1:1], p[1:][max(0, len(p)-2):]...) }
	for name, test := range map[string]struct {
		keep func(paragraphs []string) []string
		want string
	}{
		"all":            {func(p []string) []string { return p }, "one\n\ntwo\n\nthree"},
		"the first":      {func(p []string) []string { return p[:1] }, "one"},
		"the last":       {last, "one"},
		"first and last": {ends, "one\n\ntwo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := func(answer string) carrylangchain.Reading {
				kept := test.keep(strings.Split(answer, "\n\n"))
				return carrylangchain.Reading{Kind: carrylangchain.Finish, Answer: strings.Join(kept, "\n\n")}
			}
			got := readBy(t, read, says("one", "stop"), says("two", "stop"), says("three", "stop"))
			assert.Equal(t, test.want, got.Choices[0].Content)
		})
	}
}

func TestOtherStopWordsAreNoTextAgents(t *testing.T) {
	t.Parallel()
	read := func(string) carrylangchain.Reading { return carrylangchain.Reading{Kind: carrylangchain.Finish} }
	first := says("SELECT 1", "stop")
	model, asked := speaks(first)
	ctx, outcomes := middleware.Capture(t.Context())
	answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos), carrylangchain.WithTextAgent(read)).
		GenerateContent(ctx, question(), llms.WithStopWords([]string{"\nSQLResult:"})) // as of SQLDatabaseChain
	require.NoError(t, err)
	assert.Same(t, first, answer)
	assert.Equal(t, 1, *asked)
	assert.Equal(t, reasons.NoTools, outcomes.Last().Reason)
}

func TestAParserThatPanicsCanNotReadTheAnswer(t *testing.T) {
	t.Parallel()
	read := func(string) carrylangchain.Reading { panic("oops") }
	first := says("one", "stop")
	assert.Same(t, first, readBy(t, read, first))
}

func TestATextAgentsOddAnswersAreReturnedAsTheyAre(t *testing.T) {
	t.Parallel()
	unreadable := func(string) carrylangchain.Reading { return carrylangchain.Reading{} }
	finishes := func(answer string) carrylangchain.Reading {
		return carrylangchain.Reading{Kind: carrylangchain.Finish, Answer: answer}
	}
	for name, answer := range map[string]*llms.ContentResponse{
		"nil": nil, "no choices": {}, "a nil choice": {Choices: []*llms.ContentChoice{nil}}, "no text": says("", "stop"),
	} {
		assert.Same(t, answer, readBy(t, unreadable, answer), name)
		assert.Equal(t, "one", readBy(t, finishes, answer, says("one", "stop")).Choices[0].Content, "%s, as a final answer", name)
	}
}

func TestNothingOfATextAgentsFailedTurnIsShown(t *testing.T) {
	t.Parallel()
	finishes := func(answer string) carrylangchain.Reading {
		return carrylangchain.Reading{Kind: carrylangchain.Finish, Answer: answer}
	}
	asked := 0
	model := spoken(func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		asked++
		answer := []*llms.ContentResponse{says("one", "stop"), says("two", "stop"), says("thr", "")}[min(asked, 3)-1]
		return answer, o.StreamingFunc(ctx, []byte(answer.Choices[0].Content))
	})
	mw := middleware.New(twoTodos, unattended, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 2}))
	r := new(recording)
	ctx, outcomes := middleware.Capture(t.Context())
	answer, err := carrylangchain.Wrap(model, mw, carrylangchain.WithTextAgent(finishes)).
		GenerateContent(ctx, question(), llms.WithStopWords([]string{"\nObservation:"}), r.option())
	require.NoError(t, err)
	assert.Equal(t, "one\n\ntwo", answer.Choices[0].Content)
	assert.Equal(t, answer.Choices[0].Content, r.text())
	require.ErrorIs(t, outcomes.Last().Err, middleware.ErrIncomplete)
}
