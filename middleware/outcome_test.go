package middleware_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// An outcome stored as JSON is restored whole, its errors as texts.
func TestOutcomeComesBackFromJSON(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, outcome := range map[string]middleware.Outcome{
		"zero": {},
		"paused": {
			Session: "conversation-42", Turns: 2, Attempts: 1, Reason: reasons.Paused, Ended: true,
			List: continuation.List{
				Origin: todo.Origin{Place: origins.ToolCall, Tool: "todo_write"}, Todos: 4, Active: 1, Completed: 1, Cancelled: 1, UnknownStatus: "parked",
			},
			Paused: &pause.Result{Reason: blocked, Message: "Task paused: " + blocked, Time: at},
			Usage:  []adapter.Usage{{Prompt: 10, Completion: 5, Total: 15}, {Prompt: 20, Completion: 6, Total: 26, Cached: 10, Reasoning: 3}},
		},
		"failed": {
			Turns: 1, Reason: reasons.NotEnded, Finish: "length", Limit: 3, DryRun: true,
			List: continuation.List{Err: errors.New("todo: no list")}, Err: errors.New("connection reset"),
		},
	} {
		data, err := json.Marshal(outcome)
		require.NoError(t, err, name)
		var back middleware.Outcome
		require.NoError(t, json.Unmarshal(data, &back), name)
		assert.Equal(t, outcome, back, name)
		assert.Equal(t, outcome.String(), back.String(), name)
	}
	var back middleware.Outcome
	require.Error(t, json.Unmarshal([]byte(`{"reason":"of a newer version"}`), &back))
}

// Whatever a provider reports, a program can add up the usage of many calls.
func TestUsageThatCannotBeIsBounded(t *testing.T) {
	t.Parallel()
	for name, usage := range map[string]sdkUsage{"more than any": {In: math.MaxInt, Out: math.MaxInt}, "less than none": {In: math.MinInt, Out: math.MinInt}} {
		one, two := says("One:"), calls(edit("c1"))
		one.Usage, two.Usage = usage, usage
		_, outcome, err := newSetup([]sdkAnswer{one, two}, onceMore()).answer(t.Context())
		require.NoError(t, err)
		require.Len(t, outcome.Usage, 2, name)
		for _, u := range outcome.Usage {
			for _, count := range []int{u.Prompt, u.Completion, u.Total, u.Cached, u.Reasoning} {
				assert.Equal(t, count, min(max(count, 0), math.MaxInt32), name)
			}
		}
	}
}

// An outcome is plain data: a program can log it or keep it as JSON.
func ExampleOutcome_MarshalJSON() {
	outcome := middleware.Outcome{
		Session: "conversation-42", Turns: 2, Attempts: 1, Reason: reasons.Failed,
		Err: errors.New("connection reset"), Ended: true,
	}
	data, err := json.Marshal(outcome)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))
	// Output:
	// {"session":"conversation-42","turns":2,"attempts":1,"reason":"failed","ended":true,"error":"connection reset"}
}

// An outcome with nothing but a reason, as a program may make one in its tests, has a text too.
func TestEveryReasonIsExplained(t *testing.T) {
	t.Parallel()
	for r := reasons.None; !strings.HasPrefix(r.String(), "continuation.Reason("); r++ {
		for _, turns := range []int{1, 2} {
			o := middleware.Outcome{Reason: r, Turns: turns}
			assert.NotPanics(t, func() { assert.Contains(t, o.String(), o.Explanation(), r) }, r)
		}
	}
}
