package scenarios_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// countingEngine counts the updates of each kind of record. Each is at least one round trip to a server.
type countingEngine struct {
	*records.MemoryEngine

	mu      sync.Mutex
	updates map[string]int
}

func newCountingEngine() *countingEngine {
	return &countingEngine{MemoryEngine: records.NewMemoryEngine(), updates: map[string]int{}}
}

func (e *countingEngine) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	kind := strings.Split(key, ":")[1] // carryon:state:9f86d081...
	e.mu.Lock()
	e.updates[kind]++
	e.mu.Unlock()
	return e.MemoryEngine.Update(ctx, key, f)
}

// count returns the updates since the last count.
func (e *countingEngine) count() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	counted := maps.Clone(e.updates)
	clear(e.updates)
	return counted
}

// cost is the cost of a kind of call, in updates of the session's state, tasks and shared list.
type cost struct{ state, tasks, todos int }

func costOf(counted map[string]int) cost {
	return cost{state: counted["state"], tasks: counted["tasks"], todos: counted["todos"]}
}

// updateCase is a kind of call.
type updateCase struct {
	name  string
	opts  []middleware.Option
	turns []fakellm.Turn
	todos []todo.Todo
	cost  cost
	told  int // updates of the tasks, if one has ended that the model is told of
}

func updateCases() []updateCase {
	var (
		open     = []todo.Todo{scenario.InProgress("Write it"), scenario.Pending("Test it")}
		done     = []todo.Todo{scenario.Completed("Write it"), scenario.Completed("Test it")}
		interval = middleware.WithLimits(continuation.Limits{MaxAttempts: 3})
		gate     = middleware.WithGate(func(context.Context, middleware.NextTurn) error { return nil })
	)
	texts := scenario.Texts("One:", "Two:", "Three:", "Four:")
	return []updateCase{
		{"a tool call", nil, []fakellm.Turn{scenario.Edit()}, open, cost{1, 1, 0}, 2},
		{"text, the list is done", nil, texts[:1], done, cost{2, 1, 1}, 2},
		{"text, no list", nil, texts[:1], nil, cost{2, 1, 1}, 2},
		{"paused by the model", nil, []fakellm.Turn{texts[0], fakellm.Pause(scenario.Blocked)}, open, cost{3, 3, 1}, 5},
		{"continued once, then a tool call", nil, []fakellm.Turn{texts[0], scenario.Edit()}, open, cost{3, 3, 1}, 5},
		{"the same, behind a gate", []middleware.Option{gate}, []fakellm.Turn{texts[0], scenario.Edit()}, open, cost{4, 4, 1}, 6},
		{"continued three times, exhausted", nil, texts, open, cost{5, 8, 4}, 10},
		{"the same, with the interval between", []middleware.Option{interval}, texts, open, cost{7, 10, 6}, 12},
	}
}

// A call with a shared engine costs few updates, whichever way it is made.
func TestUpdatesPerCall(t *testing.T) {
	t.Parallel()
	for _, c := range updateCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				engine := newCountingEngine()
				list := todo.NewMemory(todo.WithRecords(engine))
				tasks := asynctask.NewManager(asynctask.WithRecords(engine))
				s := scenario.NewInBubble(t, m, list, append([]middleware.Option{
					scenario.NoInterval(), middleware.WithRecords(engine), middleware.WithTasks(tasks),
				}, c.opts...)...)
				if c.todos != nil {
					require.NoError(t, list.Write(s.Ctx, c.todos))
				}
				engine.count()
				require.NoError(t, s.Ask(c.turns...).Err)
				assert.Equal(t, c.cost, costOf(engine.count()))
				assert.Len(t, s.Server.Requests(), len(c.turns), "the script was played")

				s.Ctx = continuation.WithSession(t.Context(), "told")
				ticket, err := tasks.Begin(s.Ctx, "1", "run the tests")
				require.NoError(t, err)
				require.NoError(t, tasks.Finish(s.Ctx, ticket, nil))
				require.NoError(t, list.Write(s.Ctx, c.todos))
				engine.count()
				require.NoError(t, s.Ask(c.turns...).Err)
				assert.Equal(t, c.told, costOf(engine.count()).tasks)
				require.NoError(t, tasks.Close(t.Context()))
			})
		})
	}
}
