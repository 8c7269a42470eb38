package agents_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/chains"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
)

func TestCase19FunctionsAgentCarriesOn(t *testing.T) {
	t.Parallel()
	s := newScene(t, functions, setup{},
		fakellm.Text("Did one:"), fakellm.Call("search", `{"__arg1":"two"}`), fakellm.Text("Did two:"))
	r := s.requireRun(t, "Do both.")
	assert.Equal(t, "Did two:", r.output)
	assert.Equal(t, []string{"two"}, s.tool.inputs)
	require.Len(t, r.steps, 1)
	assert.Contains(t, r.steps[0].Action.Log, "Did one:", "the text of the turn before the call is in its log")
	requests := s.server.Requests()
	require.Len(t, requests, 3)
	assert.Contains(t, text(requests[1]), "todo_pause")
	assert.NotContains(t, text(requests[2]), "todo_pause")
	assert.Equal(t, []string{"search"}, requests[2].Tools)
	assert.Equal(t, "Human: Do both.\nAI: Did two:", s.remembered(t))
}

func TestCase20FunctionsAgentPauses(t *testing.T) {
	t.Parallel()
	s := newScene(t, functions, setup{},
		fakellm.Text("Did one:"), fakellm.Pause(blocked).AndText("Stuck."))
	r := s.requireRun(t, "Do both.")
	assert.Equal(t, "Did one:\n\nStuck.\n\nTask paused: "+blocked, r.output, "a pause shows its notice")
	assert.Empty(t, r.steps)
	assert.Len(t, s.server.Requests(), 2)
}

func TestCase21TextAgentActsInAContinuation(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		s := newScene(t, k, setup{},
			fakellm.Text("Thought: I know.\n"+k.final+"first"), searches("tea"), fakellm.Text(k.final+"done"))
		r := s.requireRun(t, "Do both.")
		assert.Equal(t, "done", strings.TrimSpace(r.output))
		assert.Equal(t, []string{"tea"}, s.tool.inputs)
		require.Len(t, r.steps, 1)
		assert.NotContains(t, r.steps[0].Action.Log, "first")
		requests := s.server.Requests()
		require.Len(t, requests, 3)
		assert.Equal(t, []any{"\nObservation:", "\n\tObservation:"}, requests[1].JSON()["stop"])
		assert.NotContains(t, text(requests[2]), k.final+"first")
		assert.NotContains(t, text(requests[2]), "todo_pause")
		assert.NotContains(t, s.remembered(t), "first")
	})
}

func TestCase22TextAgentsAnswersAreJoined(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		s := newScene(t, k, setup{},
			fakellm.Text("Thought: I know.\n"+k.final+"first"), fakellm.Text("Thought: More.\n"+k.final+"second"))
		r := s.requireRun(t, "Do both.")
		assert.Equal(t, "first\n\nsecond", strings.TrimSpace(r.output))
		assert.Empty(t, r.steps)
		requests := s.server.Requests()
		require.Len(t, requests, 2)
		require.Len(t, requests[1].Messages, 3)
		assert.Equal(t, "Thought: I know.\n"+k.final+"first", requests[1].Messages[1].Content)
		assert.Empty(t, requests[1].Tools)
		assert.Contains(t, requests[1].Last().Content, "'Write the parser'")
	})
}

func TestCase23WhateverTheContinuationSaysTheAgentCanReadIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ answer, want string }{
		"prose":                   {"I go on.", "first\n\nI go on."},
		"prose, then a thought":   {"I go on.\nThought: what next?", "first\n\nI go on."},
		"prose, then in bold":     {"I go on.\n  **Thought:** what next?", "first\n\nI go on."},
		"action in an answer":     {"FINALI go on.\nAction: search\nAction Input: tea", "first\n\nI go on."},
		"thought":                 {"Thought: what next?", "first"},
		"half an action":          {"Thought: I look.\nAction: search(tea)", "first"},
		"empty":                   {"", "first"},
		"blank":                   {" \n", "first"},
		"pause as an action":      {"Thought: I can't.\nAction: todo_pause\nAction Input: " + blocked, "first\n\nTask paused: " + blocked},
		"pause as an object":      {"Action: todo_pause\nAction Input: " + `{"reason": "` + blocked + `"}`, "first\n\nTask paused: " + blocked},
		"pause in quotes":         {"Action: Todo_Pause\nAction Input: \"" + blocked + `"`, "first\n\nTask paused: " + blocked},
		"bad pause":               {"Action: todo_pause\nAction Input: x", "first\n\nTask paused: x"},
		"printed pause":           {"I can't. todo_pause('" + blocked + "')", "first\n\nI can't.\n\nTask paused: " + blocked},
		"printed pause as action": {"Thought: No.\nAction: todo_pause('" + blocked + "')", "first\n\nTask paused: " + blocked},
		"printed after a thought": {"Thought: No.\ntodo_pause('" + blocked + "')", "first\n\nTask paused: " + blocked},
		"printed in an answer":    {"FINALI can't. todo_pause(\"" + blocked + "\")", "first\n\nI can't.\n\nTask paused: " + blocked},
		"words of the agent's":    {"todo_pause('OpenAI: no key. Final Answer: none. Action: none Action Input: none')", "first\n\nTask paused : OpenAI : no key. Final Answer : none. Action : none Action Input : none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inTextKinds(t, func(t *testing.T, k kind) {
				answer := strings.ReplaceAll(test.answer, "FINAL", k.final)
				s := newScene(t, k, setup{}, fakellm.Text(k.final+"first"), fakellm.Text(answer))
				r := s.requireRun(t, "Do both.")
				assert.Equal(t, test.want, strings.TrimSpace(r.output))
				assert.Empty(t, r.steps)
				assert.Len(t, s.server.Requests(), 2)
			})
		})
	}
}

func TestCase25OnlyAFinishIsContinued(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		s := newScene(t, k, setup{todos: noneOf(t)}, searches("tea"), fakellm.Text(k.final+"done"))
		assert.Equal(t, "done", strings.TrimSpace(s.requireRun(t, "Do it.").output))
		assert.Equal(t, reasons.ToolCalls, carryontest.Recorded[middleware.Decision](s.events)[0].Reason)

		s = newScene(t, k, setup{}, fakellm.Text("I do not know what to say."))
		_, err := s.run("Do it.")
		require.ErrorIs(t, err, agents.ErrUnableToParseOutput)
		assert.Len(t, s.server.Requests(), 1)

		s = newScene(t, k, setup{
			todos:    noneOf(t),
			executor: []agents.Option{agents.WithParserErrorHandler(agents.NewParserErrorHandler(func(string) string { return "Try again." }))},
		}, fakellm.Text("I do not know what to say."), fakellm.Text(k.final+"done"))
		assert.Equal(t, "done", strings.TrimSpace(s.requireRun(t, "Do it.").output))
		requests := s.server.Requests()
		require.Len(t, requests, 2)
		assert.Contains(t, text(requests[1]), "Try again.")
	})
}

func TestCase26FinalStreamHandlerShowsBothAnswers(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		for name, test := range map[string]struct {
			second fakellm.Turn
			want   string
		}{
			"a finish": {fakellm.Text("Thought: More.\n" + k.final + "the second one"), "the first one\n\nthe second one"},
			"a pause":  {fakellm.Text("Thought: No.\nAction: todo_pause\nAction Input: " + blocked), "the first one\n\nTask paused: " + blocked},
			"prose":    {fakellm.Text("I go on.\nThought: well"), "the first one\n\nI go on."},
		} {
			t.Run(name, func(t *testing.T) {
				handler := callbacks.NewFinalStreamHandler()
				egress := collect(handler)
				s := newScene(t, k, setup{agent: []agents.Option{agents.WithCallbacksHandler(handler)}},
					fakellm.Pieces("Thought: I know.\n", k.final, "the first ", "one"), test.second)
				r := s.requireRun(t, "Do both.")
				assert.Equal(t, test.want, egress())
				assert.Equal(t, test.want, strings.TrimSpace(r.output))
			})
		}
	})
}

func TestNothingOfAnActionIsStreamed(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		var chunks []string
		s := newScene(t, k, setup{}, fakellm.Text(k.final+"first"), searches("tea"), fakellm.Text(k.final+"done"))
		s.requireRun(t, "Do both.", chains.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
			chunks = append(chunks, string(chunk))
			return nil
		}))
		assert.Equal(t, k.final+"first"+k.final+"done", strings.Join(chunks, ""))
	})
}

func TestCase27ABudgetLeavesTheExecutorItsSteps(t *testing.T) {
	t.Parallel()
	// With a session: without one, carryon forgets what a call has used.
	for _, k := range []kind{oneShot, conversational, functions} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			// The model finishes at the user's request, and acts in a
			// continuation.
			respond := fakellm.Func(func(r fakellm.Request) fakellm.Turn {
				switch {
				case !strings.Contains(r.Last().Content, "todo_pause"):
					return fakellm.Text(k.final + "done")
				case k.final == "":
					return fakellm.Call("search", `{"__arg1":"tea"}`)
				}
				return searches("tea")
			})
			s := newScene(t, k, setup{}, respond, respond, respond, respond, respond, respond, respond)
			r := s.requireRun(t, "Do it.")
			assert.Equal(t, "done", strings.TrimSpace(r.output))
			assert.LessOrEqual(t, len(s.server.Requests()), 3)
			assert.Len(t, s.tool.inputs, 1)

			r = s.requireRun(t, "Do more.")
			assert.Equal(t, "done", strings.TrimSpace(r.output))
			assert.Len(t, s.tool.inputs, 2, "a second user turn has a budget of its own")
		})
	}
}

func TestCase28FunctionsAgentStreams(t *testing.T) {
	t.Parallel()
	script := []fakellm.Turn{fakellm.Text("Did one:"), fakellm.Text("Did two:")}
	// The agent removes its handler's streaming function, so it does not
	// stream, with or without carryon.
	handler := callbacks.NewFinalStreamHandler()
	egress := collect(handler)
	s := newScene(t, functions, setup{agent: []agents.Option{agents.WithCallbacksHandler(handler)}}, script...)
	assert.Equal(t, "Did one:\n\nDid two:", s.requireRun(t, "Do both.").output)
	assert.Empty(t, egress())
	assert.False(t, s.server.Requests()[1].Stream)

	var chunks []string
	s = newScene(t, functions, setup{}, script...)
	s.requireRun(t, "Do both.", chains.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
		chunks = append(chunks, string(chunk))
		return nil
	}))
	assert.Equal(t, "Did one:\n\nDid two:", strings.Join(chunks, ""))
}

func TestCase30NestedAgentsHaveTheSessionToo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		nested func(context.Context) context.Context
		asked  int
	}{
		"the same":   {func(ctx context.Context) context.Context { return ctx }, 2},
		"its own":    {func(ctx context.Context) context.Context { return continuation.WithSession(ctx, "nested") }, 2},
		"suppressed": {continuation.Suppress, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sessions []string
			todos := sessionsOf(&sessions)
			inner := newScene(t, oneShot, setup{todos: todos}, fakellm.Text("Final Answer: inner"), fakellm.Text("Final Answer: more"))
			outer := newScene(t, functions, setup{todos: todos},
				fakellm.Call("search", `{"__arg1":"tea"}`), fakellm.Text("Did one:"), fakellm.Text("Did two:"))
			outer.tool.do = func(ctx context.Context, _ string) (string, error) {
				inner.ctx = test.nested(ctx)
				r, err := inner.run("Find tea.")
				return r.output, err
			}
			assert.Equal(t, "Did one:\n\nDid two:", outer.requireRun(t, "Do both.").output)
			assert.Len(t, inner.server.Requests(), test.asked)
			assert.Contains(t, sessions, "s")
			assert.NotContains(t, sessions, "")
			assert.Equal(t, name == "its own", slices.Contains(sessions, "nested"))
		})
	}
}

// collect returns a function that ends the handler and returns all the text
// that it let through.
func collect(handler *callbacks.AgentFinalStreamHandler) func() string {
	var b strings.Builder
	var group sync.WaitGroup
	group.Go(func() {
		for chunk := range handler.GetEgress() {
			b.Write(chunk)
		}
	})
	return func() string {
		close(handler.GetEgress())
		group.Wait()
		return b.String()
	}
}
