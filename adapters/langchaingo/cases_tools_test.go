package langchaingo_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/cache"

	"github.com/carryon-go/carryon/adapter"
	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestCase01ToolCallersAreContinued(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Text("Did two:")))
	choice := s.requireAsk(t)

	assert.Equal(t, "Did one:\n\nDid two:", choice.Content)
	assert.Equal(t, "stop", choice.StopReason)
	requests := s.requests()
	require.Len(t, requests, 2)
	assert.Equal(t, requests[0].Messages, requests[1].Messages[:2])
	require.Len(t, requests[1].Messages, 4)
	assert.Equal(t, fakellm.Message{Role: "assistant", Content: "Did one:"}, requests[1].Messages[2])
	assert.Equal(t, "user", requests[1].Last().Role)
	assertPrompt(t, requests[1].Last().Content)
	assert.Equal(t, []string{"search"}, requests[0].Tools)
	assert.Equal(t, []string{"search", "todo_pause"}, requests[1].Tools)
}

func TestCase02WithNothingToDoTheAnswerIsTheModels(t *testing.T) {
	t.Parallel()
	done := todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.Completed})
	for name, test := range map[string]struct {
		todos todo.Provider
		ctx   func(context.Context) context.Context
		want  bool // continued
	}{
		"inactive":   {done, func(ctx context.Context) context.Context { return ctx }, false},
		"suppressed": {twoTodos, continuation.Suppress, false},
		// Budgets and pauses need a session; a continuation does not.
		"no session": {twoTodos, func(ctx context.Context) context.Context { return ctx }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, asked := speaks(says("Did one:", "stop"), says("Did two:", "stop"))
			answers := map[bool]int{true: 2, false: 1}
			var first *llms.ContentResponse
			spy := spoken(func(ctx context.Context, m []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
				answer, err := model(ctx, m, o)
				if first == nil {
					first = answer
				}
				return answer, err
			})
			wrapped := carrylangchain.Wrap(spy, middleware.New(test.todos, unhurried))
			answer, err := wrapped.GenerateContent(test.ctx(t.Context()), question(), withTools("search"))
			require.NoError(t, err)
			assert.Equal(t, answers[test.want], *asked)
			assert.Equal(t, !test.want, answer == first, "the very answer of the model")
		})
	}
}

func TestCase03TurnsWithACallAreNotContinued(t *testing.T) {
	t.Parallel()
	t.Run("tool call", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, turns(fakellm.Call("search", `{}`).AndText("So:")))
		assert.Equal(t, []string{"search"}, names(s.requireAsk(t)))
		assert.Len(t, s.requests(), 1)
	})
	t.Run("legacy function call", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, turns(fakellm.Call("search", `{}`).With(fakellm.Legacy)))
		choice := s.requireAsk(t)
		assert.Empty(t, choice.ToolCalls)
		assert.Equal(t, "search", choice.FuncCall.Name)
		assert.Len(t, s.requests(), 1)
	})
	t.Run("in a second block", func(t *testing.T) {
		t.Parallel()
		server := newScript(t, `{"content":[{"type":"text","text":"So:"},{"type":"tool_use","id":"t1","name":"search","input":{}}],`+
			`"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`)
		model := carrylangchain.Wrap(newAnthropic(t, server), middleware.New(twoTodos, unhurried))
		answer, err := model.GenerateContent(t.Context(), question(), withTools("search"))
		require.NoError(t, err)
		require.Len(t, answer.Choices, 2)
		assert.Equal(t, "search", answer.Choices[1].ToolCalls[0].FunctionCall.Name)
		assert.Len(t, server.requests(), 1)
	})
	t.Run("known by its stop reason alone", func(t *testing.T) {
		t.Parallel()
		// Like an answer of bedrock's client, which drops the calls when it
		// streams.
		asked := 0
		model := spoken(func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
			asked++
			for _, chunk := range []string{"So", ".", "", ""} { // an empty chunk for each part of a call
				if err := o.StreamingFunc(ctx, []byte(chunk)); err != nil {
					return nil, err
				}
			}
			return says("So:", "tool_use"), nil
		})
		ctx, outcomes := middleware.Capture(t.Context())
		r := new(recording)
		_, err := carrylangchain.Wrap(model, middleware.New(twoTodos)).GenerateContent(ctx, question(), withTools("search"), r.option())
		require.NoError(t, err)
		assert.Equal(t, 1, asked)
		assert.Equal(t, []string{"So", ".", "", ""}, r.chunks)
		assert.Equal(t, reasons.ToolCalls, outcomes.Last().Reason)
	})
}

func TestCase04APauseIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Pause(blocked).AndText("Stuck.")))
	choice := s.requireAsk(t)

	assert.Empty(t, choice.ToolCalls)
	assert.Nil(t, choice.FuncCall)
	assert.Equal(t, "stop", choice.StopReason)
	assert.Equal(t, "Did one:\n\nStuck.\n\nTask paused: "+blocked, choice.Content)
	state, err := s.mw.State(s.ctx)
	require.NoError(t, err)
	assert.Equal(t, blocked, state.Paused.Reason)
}

func TestCase05OtherCallsStay(t *testing.T) {
	t.Parallel()
	both := fakellm.Pause(blocked).AndCall("search", `{"q":1}`).AndCall("fetch", `{}`)
	for name, second := range map[string]fakellm.Turn{
		"whole": both, "between others": fakellm.Call("search", `{"q":1}`).AndCall("todo_pause", reasonJSON(blocked)).AndCall("fetch", `{}`),
		"before a nameless one": fakellm.Call("todo_pause", reasonJSON(blocked)).AndCall("", "").AndCall("search", `{"q":1}`).AndCall("fetch", `{}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, turns(fakellm.Text("Did one:"), second))
			choice := s.requireAsk(t)
			assert.Equal(t, []string{"search", "fetch"}, names(choice))
			assert.Same(t, choice.ToolCalls[0].FunctionCall, choice.FuncCall)
			assert.JSONEq(t, `{"q":1}`, choice.FuncCall.Arguments)
			assert.Equal(t, "tool_calls", choice.StopReason)
			assert.Equal(t, "Did one:\n\nTask paused: "+blocked, choice.Content)
		})
	}
}

func TestCase05PhantomsOfAPauseAreGone(t *testing.T) {
	t.Parallel()
	// The openai client returns this if a fragment has neither type nor
	// arguments.
	delta := func(fields string) string {
		return `{"choices":[{"index":0,"delta":{` + fields + `}}]}`
	}
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Chunks(
		delta(`"tool_calls":[{"index":0,"id":"p","type":"function","function":{"name":"todo_pause","arguments":""}}]`),
		delta(`"tool_calls":[{"index":0,"function":{"arguments":`+strconv.Quote(reasonJSON(blocked))+`}}]`),
		delta(`"tool_calls":[{"index":0,"function":{}}]`),
		`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`)))
	choice := s.requireAsk(t, new(recording).option())
	assert.Empty(t, choice.ToolCalls)
	assert.Nil(t, choice.FuncCall)
	assert.Equal(t, "Did one:\n\nTask paused: "+blocked, choice.Content)
}

func TestCase05FragmentsOfAPauseAreOneCall(t *testing.T) {
	t.Parallel()
	// The openai client returns this if a server repeats the type in each
	// fragment.
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Pause(blocked).With(fakellm.RepeatType)))
	choice := s.requireAsk(t, new(recording).option())
	assert.Empty(t, choice.ToolCalls)
	assert.Nil(t, choice.FuncCall)
	assert.Equal(t, "Did one:\n\nTask paused: "+blocked, choice.Content)
}

func TestCase05CallsWithOneIDAreToldApartByName(t *testing.T) {
	t.Parallel()
	answer := says("", "tool_calls")
	answer.Choices[0].ToolCalls = []llms.ToolCall{
		toolCall("x", "todo_pause", reasonJSON(blocked)), toolCall("x", "search", `{"q":1}`), toolCall("x", "fetch", `{}`),
	}
	model, _ := speaks(says("Did one:", "stop"), answer)
	got, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	assert.Equal(t, []string{"search", "fetch"}, names(got.Choices[0]))
	assert.Equal(t, "Did one:\n\nTask paused: "+blocked, got.Choices[0].Content)
}

func TestCase06FunctionsInPlaceOfTools(t *testing.T) {
	t.Parallel()
	// The mistral client is in module conformance.
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Call("search", `{}`)))
	answer, err := s.model.GenerateContent(s.ctx, question(), llms.WithFunctions([]llms.FunctionDefinition{definition("search")}))
	require.NoError(t, err)
	assert.Equal(t, []string{"search"}, names(answer.Choices[0]))
	requests := s.requests()
	require.Len(t, requests, 2)
	assert.Equal(t, []string{"search", "todo_pause"}, requests[1].Tools)
}

func TestCase03ALegacyFunctionCallEndsAContinuation(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Call("search", `{"q":1}`).With(fakellm.Legacy)))
	choice := s.requireAsk(t)
	assert.Equal(t, "Did one:", choice.Content)
	assert.Empty(t, choice.ToolCalls)
	require.NotNil(t, choice.FuncCall)
	assert.Equal(t, llms.FunctionCall{Name: "search", Arguments: `{"q":1}`}, *choice.FuncCall)
	assert.Equal(t, "function_call", choice.StopReason)
}

func TestCase06TheListInUseIsExtended(t *testing.T) {
	t.Parallel()
	functions, tools := llms.WithFunctions([]llms.FunctionDefinition{definition("search")}), withTools("fetch")
	for name, test := range map[string]struct {
		options          []llms.CallOption
		functions, tools int
	}{
		"functions": {[]llms.CallOption{functions}, 2, 0},
		"tools":     {[]llms.CallOption{tools}, 0, 2},
		"both":      {[]llms.CallOption{functions, tools}, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var last llms.CallOptions
			model := spoken(func(_ context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
				last = *o
				return says("Did it:", "stop"), nil
			})
			_, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).GenerateContent(t.Context(), question(), test.options...)
			require.NoError(t, err)
			assert.Len(t, last.Functions, test.functions)
			assert.Len(t, last.Tools, test.tools)
		})
	}
}

func TestCase07ATodoPauseOfTheCallersOwnIsKept(t *testing.T) {
	t.Parallel()
	for _, option := range []llms.CallOption{
		withTools("search", "Todo_Pause"),
		llms.WithFunctions([]llms.FunctionDefinition{definition("search"), definition("Todo_Pause")}),
	} {
		s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Pause(blocked)))
		answer, err := s.model.GenerateContent(s.ctx, question(), option)
		require.NoError(t, err)
		assert.Equal(t, []string{"todo_pause"}, names(answer.Choices[0]))
		assert.Equal(t, "Did one:", answer.Choices[0].Content)
		requests := s.requests()
		require.Len(t, requests, 2)
		assert.Equal(t, []string{"search", "Todo_Pause"}, requests[1].Tools)
	}
}

func TestCase08ASharedAnswerIsNotChanged(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Pause(blocked).AndCall("search", `{}`)))
	kept := &keeping{answers: map[string]*llms.ContentResponse{}}
	model := carrylangchain.Wrap(cache.New(s.bare, kept), s.mw)
	for range 2 {
		answer, err := model.GenerateContent(t.Context(), question(), withTools("search"))
		require.NoError(t, err)
		assert.Equal(t, []string{"search"}, names(answer.Choices[0]))
		assert.Equal(t, "Did one:\n\nTask paused: "+blocked, answer.Choices[0].Content)
	}
	assert.Len(t, s.requests(), 2, "the second call is answered by the cache")
	require.NotNil(t, kept.last)
	pause := kept.last.Choices[0]
	assert.Equal(t, []string{"todo_pause", "search"}, names(pause))
	assert.Equal(t, "todo_pause", pause.FuncCall.Name)
	assert.Equal(t, "tool_calls", pause.StopReason)
	assert.Equal(t, 10, pause.GenerationInfo["PromptTokens"])
}

// keeping is the backend of a cache.
type keeping struct {
	answers map[string]*llms.ContentResponse
	last    *llms.ContentResponse // the last one put in
}

func (k *keeping) Get(_ context.Context, key string) *llms.ContentResponse { return k.answers[key] }

func (k *keeping) Put(_ context.Context, key string, answer *llms.ContentResponse) {
	k.answers[key], k.last = answer, answer
}

func TestCase09NothingOfTheCallersIsChanged(t *testing.T) {
	t.Parallel()
	messages := append(make([]llms.MessageContent, 0, 8), question()...)
	search := definition("search")
	tools := append(make([]llms.Tool, 0, 8), llms.Tool{Type: "function", Function: &search})
	functions := append(make([]llms.FunctionDefinition, 0, 8), search)
	for name, list := range map[string]llms.CallOption{"tools": llms.WithTools(tools), "functions": llms.WithFunctions(functions)} {
		s := newScene(t, nil)
		metadata := map[string]any{"thinking_config": &llms.ThinkingConfig{}}
		options := append(make([]llms.CallOption, 0, 8), list, llms.WithMetadata(metadata))
		wantMetadata := maps.Clone(metadata)
		s.server.Append(slices.Repeat(turns(fakellm.Text("Did one:"), fakellm.Text("Did two:")), 8)...)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				answer, err := s.model.GenerateContent(t.Context(), messages, options...)
				if assert.NoError(t, err) {
					assert.Len(t, answer.Choices, 1)
				}
			})
		}
		group.Wait()
		assert.Len(t, s.requests(), 16, name)
		assert.Equal(t, wantMetadata, metadata)
		for _, option := range options[len(options):cap(options)] {
			assert.Nil(t, option)
		}
	}
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Pause("stuck"), fakellm.Text("Did two:")),
		middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 2}))
	_, err := s.model.GenerateContent(s.ctx, messages, llms.WithTools(tools))
	require.NoError(t, err)
	assert.Len(t, s.requests(), 3, "a pause is rejected")
	assert.Equal(t, make([]llms.MessageContent, 6), messages[len(messages):cap(messages)])
	assert.Equal(t, make([]llms.Tool, 7), tools[len(tools):cap(tools)])
	assert.Equal(t, make([]llms.FunctionDefinition, 7), functions[len(functions):cap(functions)])
}

func TestCase11CallsOutOfScopeAreNotContinued(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []llms.CallOption
		reason  continuation.Reason
	}{
		"JSON mode":        {[]llms.CallOption{llms.WithJSONMode()}, reasons.JSON},
		"JSON as a type":   {[]llms.CallOption{llms.WithResponseMIMEType("application/json")}, reasons.JSON},
		"no tool":          {[]llms.CallOption{llms.WithToolChoice("none")}, reasons.ToolChoice},
		"no function":      {[]llms.CallOption{llms.WithFunctionCallBehavior("none")}, reasons.ToolChoice},
		"some tool":        {[]llms.CallOption{llms.WithToolChoice("required")}, reasons.ToolChoice},
		"a tool":           {[]llms.CallOption{llms.WithToolChoice(llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: "search"}})}, reasons.ToolChoice},
		"a function":       {[]llms.CallOption{llms.WithFunctionCallBehavior(`{"name":"search"}`)}, reasons.ToolChoice},
		"two choices":      {[]llms.CallOption{llms.WithN(2)}, reasons.ManyChoices},
		"two candidates":   {[]llms.CallOption{llms.WithCandidateCount(2)}, reasons.ManyChoices},
		"no tools offered": {[]llms.CallOption{llms.WithTools(nil)}, reasons.NoTools},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, asked := speaks(says("Did one:", "stop"))
			ctx, outcomes := middleware.Capture(t.Context())
			wrapped := carrylangchain.Wrap(model, middleware.New(twoTodos))
			_, err := wrapped.GenerateContent(ctx, question(), slices.Concat([]llms.CallOption{withTools("search")}, test.options)...)
			require.NoError(t, err)
			assert.Equal(t, 1, *asked)
			assert.Equal(t, test.reason, outcomes.Last().Reason)
		})
	}
}

func TestCase11TurnsThatDidNotEndAreNotContinued(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"length", "content_filter"} {
		s := newScene(t, turns(fakellm.Text("Did one:").Finish(reason)))
		assert.Equal(t, reason, s.requireAsk(t).StopReason)
		assert.Len(t, s.requests(), 1, reason)
	}
	for _, reason := range []string{"FinishReasonMaxTokens", "FinishReasonSafety", "max_tokens", "refusal", "MALFORMED_FUNCTION_CALL"} {
		model, asked := speaks(says("Did one:", reason))
		_, err := carrylangchain.Wrap(model, middleware.New(twoTodos)).GenerateContent(t.Context(), question(), withTools("search"))
		require.NoError(t, err)
		assert.Equal(t, 1, *asked, reason)
	}
}

func TestCase12CountsAreJoinedUnderTheirOwnKeys(t *testing.T) {
	t.Parallel()
	// The googleai and mistral clients are in module conformance.
	usage := `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},` +
		`"completion_tokens_details":{"reasoning_tokens":3}}`
	s := newScene(t, turns(
		fakellm.Text("Did one:").UsageJSON(usage).Reasoning("First:"),
		fakellm.Text("Did two:").UsageJSON(usage).Reasoning("Second:")))
	choice := s.requireAsk(t)
	for key, want := range map[string]any{
		"PromptTokens": 10, "CompletionTokens": 10, "TotalTokens": 20, "ReasoningTokens": 6, "ThinkingTokens": 6,
		"CompletionReasoningTokens": 6, "PromptCachedTokens": 4, "PromptAudioTokens": 0,
		"ThinkingContent": "First:\n\nSecond:",
	} {
		assert.Equal(t, want, choice.GenerationInfo[key], key)
	}
	assert.Equal(t, 6, llms.ExtractThinkingTokens(choice.GenerationInfo).ThinkingTokens)
	assert.Equal(t, "First:\n\nSecond:", choice.ReasoningContent)
}

func TestCase12BlocksCountOnce(t *testing.T) {
	t.Parallel()
	turn := func(text string) string {
		return `{"content":[{"type":"thinking","thinking":"Hm.","signature":"sig"},{"type":"text","text":"` + text + `"}],` +
			`"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":2}}`
	}
	server := newScript(t, turn("Did one:"), turn("Did two:"))
	model := carrylangchain.Wrap(newAnthropic(t, server), middleware.New(twoTodos, unhurried))
	answer, err := model.GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	require.Len(t, answer.Choices, 1)
	assert.Equal(t, "Did one:\n\nDid two:", answer.Choices[0].Content)
	assert.Equal(t, "end_turn", answer.Choices[0].StopReason)
	info := answer.Choices[0].GenerationInfo
	for key, want := range map[string]any{
		"InputTokens": 10, "OutputTokens": 10, "CacheReadInputTokens": 2, "CacheCreationInputTokens": 0,
		"ThinkingContent": "Hm.\n\nHm.", "ThinkingSignature": "sig", "OutputContent": "Did one:\n\nDid two:",
	} {
		assert.Equal(t, want, info[key], key)
	}
}

func TestCase12WithoutInfoThereIsNone(t *testing.T) {
	t.Parallel()
	model, _ := speaks(says("Did one:", ""), says("Did two:", ""))
	answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	assert.Equal(t, "Did one:\n\nDid two:", answer.Choices[0].Content)
	assert.Nil(t, answer.Choices[0].GenerationInfo)
}

func TestCase12OnlyKeptTurnsReason(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:").Reasoning("First:"), fakellm.Text("Did two:").Reasoning("Second:"),
		fakellm.Text("Did three, too.").Reasoning("Third.").EndAfter(4)),
		middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 2}))
	choice := s.requireAsk(t, new(recording).option())
	assert.Equal(t, "Did one:\n\nDid two:", choice.Content)
	assert.Equal(t, "First:\n\nSecond:", choice.ReasoningContent)
	assert.Len(t, s.requests(), 3)
}

func TestCase12CountsOfAnyKindAreJoined(t *testing.T) {
	t.Parallel()
	type usage struct {
		PromptTokens, CompletionTokens, TotalTokens int
		Model                                       string
		hidden                                      int
	}
	first := map[string]any{
		"uTokens": uint32(1), "fTokens": 1.5, "f_tokens": float32(1), "mixedTokens": 1, "nilTokens": nil, "textTokens": "few",
		"firstTokens": 7, "usage": usage{1, 2, 3, "first", 1}, "OutputContent": "", "ThinkingContent": "Hm.",
		"ThinkingBudgetAllocated": 100, "CacheHit": false, "total_tokens": int32(3), "CachedTokens": int32(1),
	}
	second := map[string]any{
		"uTokens": uint32(2), "fTokens": 2.5, "f_tokens": float32(2), "mixedTokens": int64(2), "nilTokens": 2, "textTokens": "many",
		"secondTokens": 8, "usage": usage{10, 20, 30, "second", 1}, "OutputContent": "Two:", "ThinkingContent": 7,
		"ThinkingBudgetAllocated": 200, "CacheHit": true, "total_tokens": int32(30), "CachedTokens": int32(4),
	}
	answers := []*llms.ContentResponse{says("Did one:", "stop"), says("Did two:", "stop")}
	answers[0].Choices[0].GenerationInfo, answers[1].Choices[0].GenerationInfo = maps.Clone(first), maps.Clone(second)
	model, _ := speaks(answers...)
	ctx, outcomes := middleware.Capture(t.Context())
	answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).GenerateContent(ctx, question(), withTools("search"))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"uTokens": uint32(3), "fTokens": 4.0, "f_tokens": float32(3), "mixedTokens": int64(2), "nilTokens": 2, "textTokens": "many",
		"firstTokens": 7, "secondTokens": 8, "usage": usage{1, 22, 23, "second", 1}, "OutputContent": "Two:", "ThinkingContent": 7,
		"ThinkingBudgetAllocated": 200, "CacheHit": true, "total_tokens": int32(23), "CachedTokens": int32(1),
	}, answer.Choices[0].GenerationInfo)
	assert.Equal(t, first, answers[0].Choices[0].GenerationInfo, "the model's own")
	assert.Equal(t, second, answers[1].Choices[0].GenerationInfo)
	assert.Equal(t, []adapter.Usage{{Prompt: 1, Completion: 2, Total: 3, Cached: 1}, {Prompt: 10, Completion: 20, Total: 30, Cached: 4}}, outcomes.Last().Usage)
}

func TestCase12CountsAreReadInAnyType(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		info map[string]any
		want adapter.Usage
	}{
		"int32":    {map[string]any{"input_tokens": int32(3), "output_tokens": int32(4), "total_tokens": int32(7)}, adapter.Usage{Prompt: 3, Completion: 4, Total: 7}},
		"unsigned": {map[string]any{"InputTokens": uint64(3), "OutputTokens": uint8(4)}, adapter.Usage{Prompt: 3, Completion: 4}},
		"float":    {map[string]any{"PromptTokens": 3.0, "CompletionTokens": float32(4)}, adapter.Usage{Prompt: 3, Completion: 4}},
		"no field": {map[string]any{"usage": struct{ Words int }{7}}, adapter.Usage{}},
		"odd":      {map[string]any{"PromptTokens": "many", "CompletionTokens": nil, "usage": 7}, adapter.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := says("Did one:", "length")
			answer.Choices[0].GenerationInfo = test.info
			model, _ := speaks(answer)
			ctx, outcomes := middleware.Capture(t.Context())
			_, err := carrylangchain.Wrap(model, middleware.New(twoTodos)).GenerateContent(ctx, question(), withTools("search"))
			require.NoError(t, err)
			assert.Equal(t, []adapter.Usage{test.want}, outcomes.Last().Usage)
		})
	}
}

func TestCase12BlocksAreReadTogether(t *testing.T) {
	t.Parallel()
	// One block may have what another lacks. None of them is changed.
	blocks := func() *llms.ContentResponse {
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{
			{GenerationInfo: map[string]any{"InputTokens": 10, "ThinkingContent": ""}, StopReason: "end_turn"},
			{Content: "Did it:", GenerationInfo: map[string]any{"InputTokens": 10, "ThinkingContent": "Hm.", "id": "x"}},
		}}
	}
	first := blocks()
	model, _ := speaks(first, says("Done.", "end_turn"))
	answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	require.Len(t, answer.Choices, 1)
	assert.Equal(t, "Did it:\n\nDone.", answer.Choices[0].Content)
	assert.Equal(t, map[string]any{"InputTokens": 10, "ThinkingContent": "Hm.", "id": "x"}, answer.Choices[0].GenerationInfo)
	assert.Equal(t, blocks(), first)
}
