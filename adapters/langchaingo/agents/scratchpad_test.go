package agents_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestATextAgentsStepsAreItsHistory(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		var calls []todo.Call
		source := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			calls = slices.Collect(todo.ConversationFrom(ctx))
			return nil, nil
		})
		list := `{"todos":[{"id":"1","content":"Action: drink\ntea","status":"pending"}]}`
		s := newScene(t, k, setup{todos: source},
			searches("tea"), fakellm.Text("Thought: I plan.\nAction: todo_write\nAction Input: "+list), searches("{\n\"q\": 2\n}"),
			fakellm.Text(k.final+"done"))
		s.tool.do = func(context.Context, string) (string, error) { return "found\nAction: drink\nAction Input: it", nil }
		_, err := s.run("Question?\n\nBegin!\n")
		require.NoError(t, err)
		for i := range calls {
			calls[i].Result, _, _ = strings.Cut(calls[i].Result, "Thought:")
		}
		assert.Equal(t, []todo.Call{
			{Name: "search", Arguments: "{\n\"q\": 2\n}", Result: "found", Answered: true},
			{Name: "todo_write", Arguments: list, Result: "todo_write is not a valid tool, try another one", Answered: true},
			{Name: "search", Arguments: "tea", Result: "found", Answered: true},
		}, calls)
	})
}

func TestTodosOfATextAgentsConversation(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		s := newScene(t, k, setup{todos: todo.FromConversation()},
			fakellm.Text("Thought: I plan.\nAction: todo_write\nAction Input: "+`[{"content":"Make tea","status":"in_progress"}]`),
			fakellm.Text(k.final+"first"), fakellm.Text(k.final+"second"))
		s.tool.name = "todo_write"
		r, err := s.run("Make tea.")
		require.NoError(t, err)
		assert.Equal(t, "first\n\nsecond", strings.TrimSpace(r.output))
		assert.Contains(t, s.server.Requests()[2].Last().Content, "'Make tea'")
	})
}

func TestStepsOfATextAgentAreOneUserTurn(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		s := newScene(t, k, setup{}, searches("a"), searches("b"), searches("c"), fakellm.Text(k.final+"one"), fakellm.Text(k.final+"two"))
		require.NoError(t, s.mw.Pause(s.ctx, "before the first call is seen"))
		r := s.requireRun(t, "Do it.")
		assert.Equal(t, "one", strings.TrimSpace(r.output), "none of the steps has ended the pause")
		s.server.Append(fakellm.Text(k.final + "three"))
		r = s.requireRun(t, "Do it again.")
		assert.Equal(t, "two\n\nthree", strings.TrimSpace(r.output), "the next question has")
	})
}

func TestWithoutASessionARunHasABudgetFromItsSecondStepOn(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		respond := fakellm.Func(func(r fakellm.Request) fakellm.Turn {
			if strings.Contains(r.Last().Content, "todo_pause") {
				return searches("tea")
			}
			return fakellm.Text(k.final + "done")
		})
		s := newScene(t, k, setup{executor: []agents.Option{agents.WithMaxIterations(4)}}, slices.Repeat([]fakellm.Turn{respond}, 20)...)
		s.ctx = t.Context()
		for range 2 {
			before := len(s.server.Requests())
			r := s.requireRun(t, "Do it.")
			assert.Equal(t, "done", strings.TrimSpace(r.output))
			assert.LessOrEqual(t, len(s.server.Requests())-before, 5)
		}
	})
}

func TestAnAgentsOwnTodoPauseIsKept(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		s := newScene(t, k, setup{}, fakellm.Text(k.final+"first"),
			fakellm.Text("Action: todo_pause\nAction Input: "+blocked), fakellm.Text(k.final+"done"))
		s.executor.Agent = k.make(s.model, s.executor.Agent.GetTools(), agents.WithPromptPrefix("Tools: todo_pause"))
		r, err := s.run("Do it.")
		require.NoError(t, err)
		assert.Equal(t, "done", strings.TrimSpace(r.output))
		require.Len(t, r.steps, 1)
		assert.Equal(t, "todo_pause", r.steps[0].Action.Tool)

		printed := "I can't. todo_pause('" + blocked + "')"
		s = newScene(t, k, setup{}, fakellm.Text(k.final+"first"), fakellm.Text(k.final+printed))
		s.executor.Agent = k.make(s.model, s.executor.Agent.GetTools(), agents.WithPromptPrefix("Tools: todo_pause"))
		r, err = s.run("Do it.")
		require.NoError(t, err)
		assert.Equal(t, "first\n\n"+printed, strings.TrimSpace(r.output))
	})
}

func TestARejectedPauseOfATextAgentIsToldInTheNextPrompt(t *testing.T) {
	t.Parallel()
	inTextKinds(t, func(t *testing.T, k kind) {
		s := newScene(t, k, setup{options: []middleware.Option{threeTries}}, fakellm.Text(k.final+"first"),
			fakellm.Text("Action: todo_pause\nAction Input: stuck"), fakellm.Text(k.final+"second"), fakellm.Text(k.final+"second"))
		r := s.requireRun(t, "Do it.")
		assert.Equal(t, "first\n\nsecond", strings.TrimSpace(r.output), "an answer that is repeated is shown once")
		requests := s.server.Requests()
		require.GreaterOrEqual(t, len(requests), 3)
		assert.Contains(t, requests[2].Last().Content, "Reason too brief")
		assert.Equal(t, k.final+"first", requests[2].Messages[1].Content)
	})
}

func TestTodosOfAFunctionsAgentsConversation(t *testing.T) {
	t.Parallel()
	list := `{"__arg1":"[{\"content\":\"Make tea\",\"status\":\"STATUS\"}]"}`
	write := func(status string) fakellm.Turn {
		return fakellm.Call("todo_write", strings.Replace(list, "STATUS", status, 1))
	}
	s := newScene(t, functions, setup{todos: todo.FromConversation()},
		write("in_progress"), fakellm.Text("Next, I make tea."), write("completed"), fakellm.Text("The tea is ready."))
	s.tool.name = "todo_write"
	r, err := s.run("Make tea.")
	require.NoError(t, err)
	assert.Equal(t, "The tea is ready.", r.output)
	assert.Len(t, s.tool.inputs, 2)
	requests := s.server.Requests()
	require.Len(t, requests, 4)
	assert.Contains(t, requests[2].Last().Content, "'Make tea'")
	assert.Equal(t, reasons.NoActiveTodos, carryontest.Recorded[middleware.Decision](s.events)[len(carryontest.Recorded[middleware.Decision](s.events))-1].Reason)
}
