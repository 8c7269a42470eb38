package middleware_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// work is a job for an agent: a list, and a model that needs callsEach tool calls for
// each item. In any turn the model may stop in text, say nothing, or be unreachable.
// When it is asked to carry on, it stops half as often.
type work struct {
	rng                  *rand.Rand
	items, done, calls   int
	stalls, blank, fails float64
}

const callsEach = 3

// Todos is the list.
func (w *work) Todos(context.Context) ([]todo.Todo, error) {
	list := make([]todo.Todo, w.items)
	for i := range list {
		list[i] = todo.Todo{ID: strconv.Itoa(i), Content: fmt.Sprint("Item ", i), Status: todo.Pending}
		if i < w.done {
			list[i].Status = todo.Completed
		}
	}
	return list, nil
}

// turn is what the model answers.
func (w *work) turn(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
	stalls := w.stalls
	if k != nil {
		stalls /= 2
	}
	switch p := w.rng.Float64(); {
	case p < w.fails:
		return sdkAnswer{}, &adapter.StatusError{Status: 529, Err: errOverloaded}
	case p < w.fails+w.blank:
		return says(""), nil
	case w.done == w.items:
		return says("All is done."), nil
	case w.rng.Float64() < stalls:
		return says(fmt.Sprint("Next I will go on with this: ", w.rng.Int())), nil
	}
	if w.calls++; w.calls%callsEach == 0 {
		w.done++
	}
	return calls(edit(fmt.Sprint("c", w.calls))), nil
}

// finish runs an agent that goes on as long as the model calls tools, and whose SDK
// retries twice. It reports whether the work gets done, and how many continuations
// that takes.
func (w *work) finish(t *testing.T, mw *middleware.Middleware, session string) (done bool, added int) {
	t.Helper()
	for loop, tries := 0, 0; ; loop++ {
		request := adapter.Request{Tools: 1, Users: 1, User: "Do it.", Unanswered: loop == 0, Messages: 1 + 2*loop}
		call, _ := mw.Begin(inSession(t, session), request)
		answer, err := middleware.Unary(call, &answers{usageTotals: newUsageTotals()}, w.turn)
		added += call.Outcome().Attempts
		switch {
		case err != nil && tries < 2:
			tries++
			continue
		case err != nil || len(answer.Calls) == 0:
			return w.done == w.items, added
		}
		tries = 0
	}
}

// Together the rules finish nearly all of the work of models that stop too early, say
// nothing, or cannot be reached; and their cost is bounded.
func TestWorkIsFinishedInASimulation(t *testing.T) {
	t.Parallel()
	const sessions = 600
	for name, tt := range map[string]struct {
		work  work
		least float64 // share of the sessions that are finished
		most  float64 // continuations for each tool call
	}{
		"short tasks":                     {work{items: 4, stalls: 0.3}, 0.9, 0.6},
		"long tasks":                      {work{items: 20, stalls: 0.3}, 0.9, 0.6},
		"failures":                        {work{items: 20, stalls: 0.3, fails: 0.05}, 0.8, 0.6},
		"blank turns":                     {work{items: 20, stalls: 0.3, blank: 0.03}, 0.8, 0.6},
		"long tasks of better models":     {work{items: 20, stalls: 0.1}, 0.98, 0.3},
		"blank turns and failures, short": {work{items: 4, stalls: 0.3, blank: 0.03, fails: 0.05}, 0.9, 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			finished, added, made := 0, 0, 0
			for seed := range uint64(sessions) {
				w := tt.work
				w.rng = rand.New(rand.NewPCG(seed, 17))
				mw := middleware.New(&w, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off}))
				done, more := w.finish(t, mw, "s")
				if added, made = added+more, made+w.calls; done {
					finished++
				}
			}
			share := float64(finished) / sessions
			t.Logf("%.1f %% finished, %.2f continuations for each tool call", 100*share, float64(added)/float64(made))
			assert.GreaterOrEqual(t, share, tt.least)
			assert.LessOrEqual(t, float64(added)/float64(made), tt.most)
			require.Positive(t, finished)
		})
	}
}
