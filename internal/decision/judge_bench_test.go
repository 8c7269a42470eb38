package decision_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/todo"
)

// longInput meets every condition and has n todos, of which only the last is in
// progress.
func longInput(tb testing.TB, n int) decision.Input {
	tb.Helper()
	in := satisfied(tb)
	in.Todos = make([]todo.Todo, n)
	for i := range in.Todos {
		in.Todos[i] = pending(fmt.Sprintf("Step %d: implement the retry logic of the upload client and test it", i))
		if i%3 == 0 {
			in.Todos[i].Status = todo.Completed
		}
	}
	in.Todos[n-1].Status = todo.InProgress
	in.State.Watermarks = decision.Watermarks{}
	return in
}

// decideAndPrompt does the work of carryon between two turns.
func decideAndPrompt(in *decision.Input, p *prompt.Prompter) string {
	ev := decision.Judge(*in)
	if !ev.Continue {
		return ""
	}
	return p.Prompt(prompt.Input{Task: ev.Todo.Content, Attempt: ev.Attempt})
}

func BenchmarkDecision(b *testing.B) {
	p, err := prompt.New(continuation.LongTemplates())
	require.NoError(b, err)
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("todos=%d", n), func(b *testing.B) {
			in := longInput(b, n)
			require.NotEmpty(b, decideAndPrompt(&in, p))
			b.ReportAllocs()
			for b.Loop() {
				_ = decideAndPrompt(&in, p)
			}
		})
	}
}

func BenchmarkJudge(b *testing.B) {
	known, unknown, stale := longInput(b, 100), longInput(b, 100), longInput(b, 100)
	unknown.Known = decision.SessionState
	stale.State.Stale = decision.Digest(stale.Todos)
	stale.State.Attempts = 0
	tool := longInput(b, 100)
	tool.Turn.ToolCalls = true
	for _, c := range []struct {
		name string
		in   decision.Input
	}{{"input=tool", tool}, {"input=unknown", unknown}, {"input=known", known}, {"input=stale", stale}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = decision.Judge(c.in)
			}
		})
	}
}

func TestDecisionAllocatesNoMoreThanThePrompt(t *testing.T) {
	if measure.RaceDetector {
		t.Log("the race detector allocates")
		return
	}
	p, err := prompt.New(continuation.LongTemplates())
	require.NoError(t, err)
	in := longInput(t, 100)
	require.NotEmpty(t, decideAndPrompt(&in, p))
	assert.LessOrEqual(t, measure.Allocations(func() { _ = decideAndPrompt(&in, p) }), 2.0)
	assert.Zero(t, measure.Allocations(func() { _ = decision.Judge(in) }))
	in.State.Stale = decision.Digest(in.Todos)
	assert.Zero(t, measure.Allocations(func() { _ = decision.Judge(in) }))
}
