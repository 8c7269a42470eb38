package agents_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// An executor whose agent has used a tool does not end before the check passes.
func TestExecutorsEndWhenTheCheckPasses(t *testing.T) {
	t.Parallel()
	done := todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.Completed})
	for _, k := range append([]kind{functions}, textKinds...) {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			search := searches("tea")
			if k.name == functions.name {
				search = fakellm.Call("search", `{"__arg1":"tea"}`)
			}
			var turns []string
			check := middleware.WithCheck(func(_ context.Context, turn middleware.NextTurn) error {
				turns = append(turns, turn.Text)
				if len(turns) == 1 {
					return &middleware.Unmet{Name: "make test", Text: "FAIL TestTea"}
				}
				return nil
			})
			s := newScene(t, k, setup{todos: done, options: []middleware.Option{check, threeTries}},
				search, fakellm.Text(k.final+"All done."), search, fakellm.Text(k.final+"Mended."))
			r := s.requireRun(t, "Do it.")
			assert.Equal(t, "Mended.", strings.TrimSpace(r.output))
			assert.Equal(t, []string{"tea", "tea"}, s.tool.inputs)
			require.Len(t, turns, 2)
			assert.Contains(t, turns[0], "All done.")
			requests := s.server.Requests()
			require.Len(t, requests, 4)
			assert.Contains(t, requests[2].Last().Content, "FAIL TestTea")
			decisions := carryontest.Recorded[middleware.Decision](s.events)
			assert.Equal(t, reasons.CheckPassed, decisions[len(decisions)-1].Reason)
		})
	}
}

// Without a step there is nothing to check.
func TestExecutorWithoutAStepIsNotChecked(t *testing.T) {
	t.Parallel()
	for _, k := range append([]kind{functions}, textKinds...) {
		s := newScene(t, k, setup{todos: todo.Static(), options: []middleware.Option{
			middleware.WithCheck(func(context.Context, middleware.NextTurn) error { t.Error("asked"); return nil }),
		}}, fakellm.Text(k.final+"Tea is a drink."))
		assert.Equal(t, "Tea is a drink.", strings.TrimSpace(s.requireRun(t, "What is tea?").output))
	}
}
