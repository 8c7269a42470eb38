package carryontest_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// tellAll sends one event of each kind to an observer.
func tellAll(ctx context.Context, o middleware.Observer) {
	first := continuation.TurnID{Turn: 1}
	second := continuation.TurnID{Session: "s", Turn: 2, Attempt: 1}
	err := errors.New("out of luck")
	o.TurnEnded(ctx, middleware.TurnEnded{TurnID: first, Finish: "stop", ToolCalls: 2, Err: err})
	o.Decision(ctx, middleware.Decision{
		TurnID: first, Reason: reasons.Satisfied, DryRun: true,
	})
	o.ContinuationStarted(ctx, middleware.ContinuationStarted{TurnID: second, Todo: todo.Todo{ID: "7"}})
	o.ContinuationStarted(ctx, middleware.ContinuationStarted{TurnID: second, Todo: todo.Todo{Content: "Write"}})
	o.TurnEnded(ctx, middleware.TurnEnded{TurnID: second, Result: "tool_call", ToolCalls: 1})
	o.PauseCalled(ctx, middleware.PauseCalled{TurnID: second, Result: pause.Result{Reason: "stuck"}, Err: err})
	o.PauseCalled(ctx, middleware.PauseCalled{TurnID: second, Result: pause.Result{Reason: "no key", Message: "Paused."}})
	o.Decision(ctx, middleware.Decision{TurnID: second, Reason: reasons.MaxAttempts, Exhausted: true})
	o.Answered(ctx, middleware.Answered{TurnID: second, Op: "todos", Err: err})
	o.Failed(ctx, middleware.Failed{TurnID: second, Op: "todos", Err: err})
	o.Answered(ctx, middleware.Answered{TurnID: second, Op: "todos", Recovered: true})
}

func TestRecorderKeepsEventsInOrder(t *testing.T) {
	t.Parallel()
	var recorder carryontest.Recorder
	tellAll(t.Context(), recorder.Observer())

	assert.Equal(t, []string{
		"turn 1 ended: stop, 2 tool calls, error: out of luck",
		"turn 1 decided: All continuation conditions satisfied (dry run)",
		"[s] turn 2 started: attempt 1, todo 7",
		`[s] turn 2 started: attempt 1, todo "Write"`,
		"[s] turn 2 ended: 1 tool call",
		`[s] turn 2 pause rejected: "stuck", out of luck`,
		"[s] turn 2 paused: no key",
		"[s] turn 2 decided: Maximum continuation attempts exceeded (exhausted)",
		"[s] turn 2 failed: todos: out of luck",
		"recovered: todos",
	}, recorder.Lines())
	require.Len(t, recorder.Events(), 10)
	assert.IsType(t, middleware.TurnEnded{}, recorder.Events()[0])
	assert.IsType(t, middleware.Failed{}, recorder.Events()[8])
}

func TestRecorderSortsEventsByKind(t *testing.T) {
	t.Parallel()
	recorder := carryontest.NewRecorder()
	tellAll(t.Context(), recorder.Observer())

	assert.Len(t, carryontest.Recorded[middleware.TurnEnded](recorder), 2)
	assert.Len(t, carryontest.Recorded[middleware.Decision](recorder), 2)
	assert.Len(t, carryontest.Recorded[middleware.ContinuationStarted](recorder), 2)
	paused := carryontest.Recorded[middleware.PauseCalled](recorder)
	require.Len(t, paused, 2)
	assert.Equal(t, pause.Result{Reason: "no key", Message: "Paused."}, paused[1].Result)
	assert.Len(t, carryontest.Recorded[middleware.Answered](recorder), 1, "an answer that is no recovery is left out")
	assert.Len(t, carryontest.Recorded[middleware.Failed](recorder), 1)
}

func TestRecorderGivesCopiesAndForgets(t *testing.T) {
	t.Parallel()
	recorder := carryontest.NewRecorder()
	tellAll(t.Context(), recorder.Observer())
	turns, events := carryontest.Recorded[middleware.TurnEnded](recorder), recorder.Events()
	turns[0].Finish, events[0] = "changed", nil

	assert.Equal(t, "stop", carryontest.Recorded[middleware.TurnEnded](recorder)[0].Finish)
	assert.NotNil(t, recorder.Events()[0])

	recorder.Clear()
	assert.Empty(t, recorder.Events())
	assert.Empty(t, recorder.Lines())
	assert.Len(t, events, 10, "returned events do not change")
	tellAll(t.Context(), recorder.Observer())
	assert.Len(t, recorder.Events(), 10)
}

func TestRecorderHasAFunctionForEveryEvent(t *testing.T) {
	t.Parallel()
	observer := carryontest.NewRecorder().Observer()
	functions := reflect.ValueOf(observer)
	for i := range functions.NumField() {
		switch functions.Type().Field(i).Name {
		case "CallStarted", "TurnStarted":
			continue // they only enclose what is recorded
		}
		assert.False(t, functions.Field(i).IsNil(), functions.Type().Field(i).Name)
	}
}

func TestRecorderIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	recorder := carryontest.NewRecorder()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			tellAll(t.Context(), recorder.Observer())
			_, _ = recorder.Lines(), carryontest.Recorded[middleware.PauseCalled](recorder)
		})
	}
	wait.Wait()
	assert.Len(t, recorder.Events(), 80)
}

// reply is a whole answer of text, which stops.
type reply struct{ text string }

// replies is the dialect of replies.
type replies struct{}

func (replies) Read(r *reply, t adapter.TurnReader) {
	t.Text(r.text)
	t.Finish("stop")
}

func (replies) AppendShown(dst []reply, r *reply, e *adapter.Edit) []reply {
	return append(dst, reply{e.Text})
}
func (replies) Clone(r *reply) reply { return *r }
func (replies) EndTurn(bool)         {}

func TestRecorderSeesACall(t *testing.T) {
	t.Parallel()
	recorder := carryontest.NewRecorder()
	mw := middleware.New(todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.Pending}),
		testclock.Option[middleware.Option](testclock.New(time.Unix(0, 0))),
		middleware.WithLimits(continuation.Limits{MaxAttempts: 1}),
		middleware.WithObserver(recorder.Observer()))
	call, _ := join.Begin(t.Context(), mw, adapter.Request{Tools: 1})
	assert.Empty(t, carryontest.Recorded[middleware.CallEnded](recorder))
	_, err := join.Unary(call, replies{},
		func(_ context.Context, k *adapter.Continuation) (reply, error) {
			text := "One."
			if k != nil {
				text = "Two."
			}
			return reply{text}, nil
		})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"turn 1 ended: stop",
		"turn 1 decided: All continuation conditions satisfied",
		"turn 2 started: attempt 1, todo 1",
		"turn 2 ended: stop",
		"turn 2 decided: Maximum continuation attempts exceeded (exhausted)",
	}, recorder.Lines())
	require.Len(t, carryontest.Recorded[middleware.CallEnded](recorder), 1)
	assert.Equal(t, call.Outcome(), carryontest.Recorded[middleware.CallEnded](recorder)[0].Outcome)
	recorder.Clear()
	assert.Empty(t, carryontest.Recorded[middleware.CallEnded](recorder))
}

func TestRecorderTellsQuestionsFromContinuations(t *testing.T) {
	t.Parallel()
	var recorder carryontest.Recorder
	o := recorder.Observer()
	for _, e := range []middleware.TurnEnded{
		{Result: "text"},
		{Result: "text", Asked: true},
		{Result: "nothing_open", Asked: true},
		{Result: "tool_call", Asked: true, ToolCalls: 2},
	} {
		e.TurnID = continuation.TurnID{Turn: 2}
		o.TurnEnded(t.Context(), e)
	}
	assert.Equal(t, []string{
		"turn 2 ended",
		"turn 2 ended: closing question",
		"turn 2 ended: nothing is open",
		"turn 2 ended: 2 tool calls, closing question",
	}, recorder.Lines())
}
