package middleware_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// claim is a job whose model ticks everything off and says that it works, with bugs in it.
// When it is told of a failure, it mostly looks for the cause, and finds it or not.
type claim struct {
	rng   *rand.Rand
	bugs  int     // what is wrong in truth
	lazy  float64 // the share of continuations that claim again that all is done
	finds float64 // the share of edits that mend a bug
	harms float64 // the share of edits that add one
	never bool    // the check cannot pass
	calls int
	asked int // checks
}

// Todos is the list, which says nothing of bugs.
func (*claim) Todos(context.Context) ([]todo.Todo, error) {
	return []todo.Todo{{ID: "1", Content: "Write it", Status: todo.Completed}, {ID: "2", Content: "Test it", Status: todo.Completed}}, nil
}

// check is the program's.
func (c *claim) check(context.Context, middleware.NextTurn) error {
	c.asked++
	if c.bugs == 0 && !c.never {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "ran %d tests in %d ms\n", 40+c.rng.IntN(3), c.rng.IntN(1000))
	for bug := range c.bugs {
		fmt.Fprintf(&text, "FAIL Test%c\n", 'A'+bug)
	}
	return &middleware.Unmet{Name: "make test", Text: text.String()}
}

// turn is what the model answers: an edit once it knows of a failure, or a claim.
func (c *claim) turn(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
	if k == nil || c.rng.Float64() < c.lazy {
		return says(fmt.Sprint("All done, and all tests pass. I have looked at it ", c.rng.Int(), " times.")), nil
	}
	switch p := c.rng.Float64(); {
	case p < c.finds:
		c.bugs = max(c.bugs-1, 0)
	case p < c.finds+c.harms:
		c.bugs++
	}
	c.calls++
	return calls(edit(fmt.Sprint("c", c.calls))), nil
}

// finish runs the agent until its turn ends.
func (c *claim) finish(t *testing.T, mw *middleware.Middleware) (added, wasted int) {
	t.Helper()
	for loop := 1; ; loop++ {
		request := adapter.Request{Tools: 1, Users: 1, User: "Do it.", FirstUser: "Do it.", Messages: 1 + 2*loop, History: afterCalls(loop)}
		call, _ := join.Begin(inSession(t, "s"), mw, request)
		answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()}, c.turn)
		require.NoError(t, err)
		added += call.Outcome().Attempts
		wasted += call.Outcome().Attempts
		if len(answer.Calls) == 0 {
			return added, wasted
		}
		wasted-- // the last one called a tool
	}
}

// A check finishes nearly all work of models that claim too early, for a few continuations
// each. What cannot pass costs no more than the limit, and work that is done costs nothing.
func TestFalseClaimsInASimulation(t *testing.T) {
	t.Parallel()
	const jobs = 300
	for name, tt := range map[string]struct {
		claim    claim
		finished float64 // the least share, with a check
		added    float64 // the most continuations of a job
	}{
		"all is done":              {claim{}, 1, 0},
		"one bug, a strong model":  {claim{bugs: 1, lazy: 0.05, finds: 0.8}, 0.99, 2},
		"one bug, a weak model":    {claim{bugs: 1, lazy: 0.4, finds: 0.4, harms: 0.1}, 0.8, 6},
		"three bugs":               {claim{bugs: 3, lazy: 0.2, finds: 0.7, harms: 0.05}, 0.9, 7},
		"a check that cannot pass": {claim{bugs: 1, never: true, lazy: 0.2, finds: 0.5, harms: 0.4}, 0, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var without, with, added, wasted, asked int
			for seed := range uint64(jobs) {
				for _, checks := range []bool{false, true} {
					c := tt.claim
					c.rng = rand.New(rand.NewPCG(seed, 29))
					options := []middleware.Option{middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})}
					if checks {
						options = append(options, middleware.WithCheck(c.check))
					}
					more, waste := c.finish(t, middleware.New(&c, options...))
					done := c.bugs == 0 && !c.never
					switch {
					case checks && done:
						with++
					case done:
						without++
					}
					if checks {
						added, wasted, asked = added+more, wasted+waste, asked+c.asked
						assert.LessOrEqual(t, more, 10)
					} else {
						assert.Zero(t, more)
					}
				}
			}
			t.Logf("finished: %5.1f %% without a check, %5.1f %% with one; %.2f continuations a job, of which %.2f called no tool; %.2f checks",
				100*float64(without)/jobs, 100*float64(with)/jobs, float64(added)/jobs, float64(wasted)/jobs, float64(asked)/jobs)
			assert.GreaterOrEqual(t, float64(with)/jobs, tt.finished)
			assert.LessOrEqual(t, float64(added)/jobs, tt.added)
		})
	}
}
