package decision_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/todo"
)

// turn7 is the user turn of the inputs that satisfied returns.
const turn7 = 7

var noon = time.Date(2030, time.January, 1, 12, 0, 0, 0, time.UTC)

func withDefaults(tb testing.TB, l continuation.Limits) continuation.Limits {
	tb.Helper()
	l, err := l.WithDefaults()
	require.NoError(tb, err)
	return l
}

func pending(content string) todo.Todo {
	return todo.Todo{ID: content, Content: content, Status: todo.Pending}
}

func inProgress(content string) todo.Todo {
	return todo.Todo{ID: content, Content: content, Status: todo.InProgress}
}

func completed(content string) todo.Todo {
	return todo.Todo{ID: content, Content: content, Status: todo.Completed}
}

// satisfied returns an input that meets every condition: for the second continuation
// of its user turn, at the first moment that the interval allows.
func satisfied(tb testing.TB) decision.Input {
	tb.Helper()
	return decision.Input{
		Known:    decision.TodoList | decision.BackgroundWork | decision.SessionState,
		Settings: continuation.DefaultValues(),
		Turn:     decision.Turn{Finish: "stop"},
		UserTurn: turn7,
		Todos:    []todo.Todo{pending("write")},

		Limits: withDefaults(tb, continuation.Limits{TokenBudget: 1000}),
		State: decision.State{
			UserTurn: turn7, Attempts: 1, Continuations: 1, Tokens: 10,
			LastPrompt: noon.Add(-continuation.DefaultLimits().MinInterval),
			Watermarks: decision.Watermarks{Set: true, Active: 1},
		},
		Now: noon,
	}
}

// marks returns the conditions up to last as met and the others as not looked
// at.
func marks(last decision.Condition) decision.Conditions {
	var c decision.Conditions
	for i := decision.ConditionEnabled; i <= last; i++ {
		c[i] = decision.Met
	}
	return c
}

// marksNotMet returns the conditions before failed as met and that one as not.
func marksNotMet(failed decision.Condition) decision.Conditions {
	c := marks(failed)
	c[failed] = decision.NotMet
	return c
}
