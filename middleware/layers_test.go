package middleware_test

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestContinuationOfAnotherProcessIsLeftAlone(t *testing.T) {
	t.Parallel()
	const prompt = continuation.PromptPreamble + "\n\nYou have an active task."
	rejected := callsOf(todo.Call{Name: "todo_pause", Result: "Invalid pause reason: Reason is required\n\nThe task"})
	accepted := callsOf(todo.Call{Name: "todo_pause", Result: "paused"})
	for name, c := range map[string]struct {
		request adapter.Request
		nested  bool
	}{
		"a prompt beside todo_pause":         {adapter.Request{Tools: 2, OwnPause: true, User: prompt}, true},
		"a prompt that a user quotes":        {adapter.Request{Tools: 2, User: prompt}, false},
		"a message beside todo_pause":        {adapter.Request{Tools: 2, OwnPause: true, User: "Go on. " + prompt}, false},
		"a prompt without tools":             {adapter.Request{Toolless: true, User: prompt}, true},
		"a prompt beside as many as may be":  {adapter.Request{Tools: 128, User: prompt}, true},
		"the answer to a rejected pause":     {adapter.Request{Tools: 2, OwnPause: true, User: "Go on.", History: rejected}, true},
		"a pause of the program's own":       {adapter.Request{Tools: 2, OwnPause: true, User: "Go on.", History: accepted}, false},
		"a new message after a rejected one": {adapter.Request{Tools: 2, OwnPause: true, User: "Go on.", Unanswered: true, History: rejected}, false},
	} {
		call, outcome := newSetup(nil).mw.Begin(t.Context(), c.request)
		assert.Equal(t, c.nested, call == nil, name)
		if c.nested {
			assert.Equal(t, continuation.ReasonNested, outcome.Reason, name)
		}
	}
}

// A source may ask a model which of the todos are done, with a ctx of its own.
func TestSourceOrGateThatAsksTheModelDoesNotRecurse(t *testing.T) {
	t.Parallel()
	list := []todo.Todo{{Content: "Write", Status: todo.Pending}}
	model := &sdkClient{turns: slices.Repeat([]sdkAnswer{says("One:")}, 40)}
	var agent *client
	asks := func() error {
		_, err := agent.Complete(t.Context(), fixTheBuild)
		return err
	}
	source := todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { return list, asks() })
	gate := func(context.Context, middleware.NextTurn) error { return asks() }
	agent = &client{model, middleware.New(source, middleware.WithGate(gate), onceMore())}
	ctx, outcomes := middleware.Capture(t.Context())
	_, err := agent.Complete(ctx, fixTheBuild)
	require.NoError(t, err)
	assert.Equal(t, continuation.ReasonMaxAttempts, outcomes.Last().Reason)
	assert.Len(t, model.requests, 5, "two turns: the list is read twice and the gate asked once")
}

// callsOf is a history of the calls, newest first.
func callsOf(newestFirst ...todo.Call) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		for _, c := range newestFirst {
			if !yield(adapter.Entry{Call: c}) {
				return
			}
		}
	}
}
