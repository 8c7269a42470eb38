package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
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
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

func TestStatePauseAndResumeNeedASession(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos)
	_, err := mw.State(t.Context())
	require.ErrorIs(t, err, middleware.ErrNoSession)
	require.ErrorIs(t, mw.Pause(t.Context(), "reason"), middleware.ErrNoSession)
	require.ErrorIs(t, mw.Resume(t.Context()), middleware.ErrNoSession)
}

func TestPauseKeepsTheSessionFromBeingContinuedUntilResume(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	s := newSetup([]sdkAnswer{calls(edit("c0")), says("One:"), says("One:"), calls(edit("c1"))},
		middleware.WithClock(clock))
	ctx, other := inSession(t, "s"), inSession(t, "other")
	_, _, err := s.answer(ctx) // the user turn has begun
	require.NoError(t, err)

	require.NoError(t, s.mw.Pause(ctx, "Wait\nfor \x1b[31mme"))
	state, err := statetest.State(ctx, s.mw)
	require.NoError(t, err)
	assert.Equal(t, "Wait for me", state.Paused.Reason)
	assert.True(t, clock.Now().Equal(state.Paused.Since), state.Paused.Since)
	state, err = statetest.State(other, s.mw)
	require.NoError(t, err)
	assert.False(t, state.Paused.IsSet(), "nothing of one session shows in another")

	answer, outcome, err := s.answer(ctx)
	require.NoError(t, err)
	assert.Equal(t, "One:", answer.Text)
	assert.Equal(t, reasons.Paused, outcome.Reason)

	require.NoError(t, s.mw.Resume(ctx))
	answer, outcome, err = s.answer(ctx)
	require.NoError(t, err)
	assert.Len(t, answer.Calls, 1)
	assert.Equal(t, 1, outcome.Attempts)
}

func TestPauseBeforeTheFirstCallHolds(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), says("Two:")})
	ctx := continuation.Automatic(continuation.WithSession(t.Context(), "s"))
	require.NoError(t, s.mw.Pause(ctx, "not yet"))
	_, outcome, err := s.answer(ctx)
	require.NoError(t, err)
	assert.Equal(t, reasons.Paused, outcome.Reason)
}

// faultyStore fails from the given update on, in the way given.
type faultyStore struct {
	*records.MemoryEngine

	mu     sync.Mutex
	left   int // updates that work
	fail   func() error
	heals  bool // after the first failure
	failed bool
}

func (s *faultyStore) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	s.mu.Lock()
	s.left--
	broken := s.left < 0 && (!s.heals || !s.failed)
	s.failed = s.failed || broken
	s.mu.Unlock()
	if broken {
		return s.fail()
	}
	return s.MemoryEngine.Update(ctx, key, f)
}

func newFaultyStore(left int, fail func() error) *faultyStore {
	return &faultyStore{
		MemoryEngine: records.NewMemoryEngine(), left: left, fail: fail,
	}
}

func TestStoreThatFailsCostsTheContinuationAndNotTheAnswer(t *testing.T) {
	t.Parallel()
	lost := errors.New("store: connection lost")
	ways := map[string]func() error{
		"error": func() error { return lost },
		"panic": func() error { panic(lost) },
	}
	for way, fail := range ways {
		// The updates before the prompt: the arrival, and the decision with the claim.
		for left := range 2 {
			t.Run(fmt.Sprintf("%s after %d updates", way, left), func(t *testing.T) {
				t.Parallel()
				s := newSetup([]sdkAnswer{says("One:"), says("Two:")}, middleware.WithRecords(newFaultyStore(left, fail)))
				answer, outcome, err := s.answer(inSession(t, "s"))

				require.NoError(t, err)
				assert.Equal(t, says("One:"), answer)
				assert.Equal(t, reasons.Store, outcome.Reason)
				assert.Len(t, s.model.requests, 1, "nothing is sent")
				require.NotEmpty(t, carryontest.Recorded[middleware.Failed](s.events))
				failure := carryontest.Recorded[middleware.Failed](s.events)[0]
				assert.Equal(t, "store", failure.Op)
				require.ErrorIs(t, failure.Err, lost)
				var panicked *middleware.PanicError
				assert.Equal(t, way == "panic", errors.As(failure.Err, &panicked))
			})
		}
	}
}

func TestStoreThatFailedOnceCostsTheContinuationsOfTheCall(t *testing.T) {
	t.Parallel()
	// Whether the user turn is a new one is not known then.
	lost := errors.New("store: connection lost")
	store := newFaultyStore(0, func() error { return lost })
	store.heals = true
	s := newSetup([]sdkAnswer{says("One:"), says("Two:")}, middleware.WithRecords(store))
	_, outcome, err := s.answer(inSession(t, "s"))

	require.NoError(t, err)
	assert.Equal(t, reasons.Store, outcome.Reason)
	assert.Len(t, s.model.requests, 1)
	_, outcome, err = s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, reasons.StoreSkipped, outcome.Reason, "the next call does not ask the store")
}

func TestStoreThatFailsDuringAContinuationCostsNothingThatWasSaid(t *testing.T) {
	t.Parallel()
	lost := errors.New("store: connection lost")
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("c1")).saying("Two:")},
		middleware.WithRecords(newFaultyStore(2, func() error { return lost })))
	answer, _, err := s.answer(inSession(t, "s"))

	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:", answer.Text)
	assert.Len(t, answer.Calls, 1)
	require.NotEmpty(t, carryontest.Recorded[middleware.Failed](s.events))
	assert.Equal(t, "store", carryontest.Recorded[middleware.Failed](s.events)[0].Op)
}

func TestStateReportsWhatTheStoreReports(t *testing.T) {
	t.Parallel()
	lost := errors.New("store: connection lost")
	ctx := inSession(t, "s")
	mw := middleware.New(buildTodos, middleware.WithRecords(newFaultyStore(0, func() error { return lost })))
	_, err := mw.State(ctx)
	require.ErrorIs(t, err, lost)
	require.ErrorIs(t, mw.Pause(ctx, "reason"), lost)
	require.ErrorIs(t, mw.Resume(ctx), lost)

	mw = middleware.New(buildTodos, middleware.WithRecords(newFaultyStore(0, func() error { panic("gone") })))
	_, err = mw.State(ctx)
	var panicked *middleware.PanicError
	require.ErrorAs(t, err, &panicked)
	assert.Equal(t, "gone", panicked.Value)
	assert.Equal(t, "panic: gone", panicked.Error())
}

func TestStoreSharedByTwoMiddlewares(t *testing.T) {
	t.Parallel()
	store := records.NewMemoryEngine()
	once := middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1})
	first := newSetup([]sdkAnswer{says("One:"), says("Two:")}, once, middleware.WithRecords(store))
	second := newSetup([]sdkAnswer{says("Three:")}, once, middleware.WithRecords(store))
	ctx := inSession(t, "s")

	_, outcome, err := first.answer(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, outcome.Attempts)
	_, outcome, err = second.answer(ctx)
	require.NoError(t, err)
	assert.Equal(t, reasons.MaxAttempts, outcome.Reason, "the budget is the session's")

	require.NoError(t, first.mw.Pause(ctx, "enough"))
	state, err := statetest.State(ctx, second.mw)
	require.NoError(t, err)
	assert.Equal(t, "enough", state.Paused.Reason)
}

func TestTodoSourceThatFailsHasNoTodos(t *testing.T) {
	t.Parallel()
	lost := errors.New("todos: no such file")
	for name, source := range map[string]todo.Provider{
		"error": failingTodos(lost),
		"panic": todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { panic(lost) }),
		"slow": todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			<-ctx.Done()
			return nil, errors.Join(lost, context.Cause(ctx))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := carryontest.NewRecorder()
			limit, want := time.Minute, reasons.SourceFailed
			if name == "slow" {
				limit, want = time.Millisecond, reasons.SourceLate
			}
			mw := middleware.New(source, middleware.WithObserver(events.Observer()),
				middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, TodoTimeout: limit}))
			ctx, outcomes := middleware.Capture(t.Context())
			answer, err := (&client{&sdkClient{turns: []sdkAnswer{says("One:")}}, mw}).Complete(ctx, fixTheBuild)

			require.NoError(t, err)
			assert.Equal(t, says("One:"), answer)
			assert.Equal(t, want, outcomes.Last().Reason)
			require.ErrorIs(t, outcomes.Last().Err, lost, "the outcome has the error")
			require.Len(t, carryontest.Recorded[middleware.Failed](events), 1)
			assert.Equal(t, "todos", carryontest.Recorded[middleware.Failed](events)[0].Op)
			assert.ErrorIs(t, carryontest.Recorded[middleware.Failed](events)[0].Err, lost)
		})
	}
}

func TestStatusErrorShowsTheSDKsOwn(t *testing.T) {
	t.Parallel()
	own := errors.New("sdk: overloaded")
	err := fmt.Errorf("wrapped: %w", &adapter.StatusError{Status: 503, Err: own})
	var status *adapter.StatusError
	require.ErrorAs(t, err, &status)
	assert.Equal(t, 503, status.Status)
	assert.Equal(t, "sdk: overloaded", status.Error())
	assert.ErrorIs(t, err, own)
}

func TestOutcomesComeInTheOrderOfTheCalls(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	ctx, outcomes := middleware.Capture(t.Context())
	assert.Equal(t, middleware.Outcome{}, outcomes.Last())
	finish := func(call *join.Call, id string) {
		_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
			func(context.Context, *adapter.Continuation) (sdkAnswer, error) { return calls(edit(id)), nil })
		require.NoError(t, err)
	}
	first := begin(continuation.WithSession(ctx, "first"), s.mw, describe(fixTheBuild))
	second := begin(continuation.WithSession(ctx, "second"), s.mw, describe(fixTheBuild))
	_ = begin(continuation.Suppress(continuation.WithSession(ctx, "third")), s.mw, describe(fixTheBuild))
	sessions := func() (list []string) {
		for _, outcome := range outcomes.All() {
			list = append(list, outcome.Session)
		}
		return list
	}
	assert.Equal(t, []string{"third"}, sessions())
	finish(second, "c2")
	assert.Equal(t, []string{"second", "third"}, sessions())
	finish(first, "c1")
	assert.Equal(t, []string{"first", "second", "third"}, sessions())
	assert.Equal(t, "third", outcomes.Last().Session)
	assert.Equal(t, reasons.Suppressed, outcomes.Last().Reason)
}

func TestOneSessionManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	const many = 16
	s := newSetup(nil)
	ctx := inSession(t, "s")
	ctx, outcomes := middleware.Capture(ctx)
	var wait sync.WaitGroup
	texts, errs := make([]string, many), make([]error, many)
	for i := range many {
		wait.Go(func() {
			agent := &client{&sdkClient{turns: []sdkAnswer{says("One:"), calls(edit(fmt.Sprint("c", i)))}}, s.mw}
			answer, err := agent.Complete(ctx, fixTheBuild)
			texts[i], errs[i] = answer.Text, err
		})
	}
	wait.Wait()
	require.NoError(t, errors.Join(errs...))
	assert.Equal(t, slices.Repeat([]string{"One:"}, many), texts)
	require.Len(t, outcomes.All(), many)
	continued := 0
	for _, outcome := range outcomes.All() {
		continued += outcome.Attempts
		assert.Contains(t, []continuation.Reason{
			reasons.ToolCalls, reasons.Active, reasons.WithoutProgress,
		}, outcome.Reason)
	}
	state, err := statetest.State(ctx, s.mw)
	require.NoError(t, err)
	assert.Equal(t, continued, state.Continuations)
	assert.LessOrEqual(t, continued, continuation.DefaultLimits().MaxWithoutProgress)
	assert.Positive(t, continued)
	assert.Zero(t, state.Claim)
}

func TestManySessionsAtOnceAreKeptApart(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	for i := range 16 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			session := strconv.Itoa(i)
			reason := blocked + " for " + session
			model := &sdkClient{turns: []sdkAnswer{says("One:"), calls(pauses(reason))}}
			ctx, outcomes := middleware.Capture(inSession(t, session))
			stream, err := (&client{model, s.mw}).Stream(ctx, fixTheBuild)
			require.NoError(t, err)
			got := drain(t, stream)
			require.NoError(t, got.err)
			assert.Equal(t, "One:\n\nTask paused: "+reason, got.answer.Text)
			assert.Equal(t, session, outcomes.Last().Session)
			state, err := statetest.State(ctx, s.mw)
			require.NoError(t, err)
			assert.Equal(t, reason, state.Paused.Reason)
		})
	}
}

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
		call, outcome := join.Begin(t.Context(), newSetup(nil).mw, c.request)
		assert.Equal(t, c.nested, call == nil, name)
		if c.nested {
			assert.Equal(t, reasons.Nested, outcome.Reason, name)
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
	assert.Equal(t, reasons.MaxAttempts, outcomes.Last().Reason)
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

// arms returns which of many sessions are held out.
func arms(t *testing.T, share float64) []bool {
	t.Helper()
	mw := middleware.New(todo.Static(), middleware.WithHoldout(share))
	held := make([]bool, 2000)
	for i := range held {
		ctx, outcomes := middleware.Capture(inSession(t, fmt.Sprintf("conversation-%d", i)))
		join.Pass(ctx, mw, reasons.Path)
		held[i] = outcomes.Last().Holdout
	}
	return held
}

func count(held []bool) (n int) {
	for _, one := range held {
		if one {
			n++
		}
	}
	return n
}

func TestHoldoutIsAShareOfTheSessions(t *testing.T) {
	t.Parallel()
	assert.Zero(t, count(arms(t, 0)))
	assert.Equal(t, 2000, count(arms(t, 1)))
	assert.InDelta(t, 600, count(arms(t, 0.3)), 100) // five standard deviations
}

// Replicas and restarted programs have nothing in common but the share.
func TestASessionStaysInItsArm(t *testing.T) {
	t.Parallel()
	low := arms(t, 0.3)
	assert.Equal(t, low, arms(t, 0.3))
	for i, held := range arms(t, 0.6) {
		assert.True(t, held || !low[i], "a higher share takes nobody out of the holdout")
	}
	assert.Equal(t, []bool{false, false, false, false, false, true, false, true}, low[:8], "a new version of carryon must not change the arms")
}

func TestHeldOutSessionIsDecidedAndNotContinued(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), says("Two:")}, middleware.WithHoldout(1), middleware.WithPauseTool(middleware.PauseToolAlways))
	for range 2 {
		_, outcome, err := s.answer(inSession(t, "conversation-42"))
		require.NoError(t, err)
		assert.Equal(t, reasons.Holdout, outcome.Reason)
		assert.True(t, outcome.Holdout)
		assert.Equal(t, 1, outcome.Turns)
		assert.Equal(t, 2, outcome.List.Active)
	}
	require.Len(t, s.model.requests, 2)
	for _, request := range s.model.requests {
		assert.NotContains(t, fmt.Sprint(request.Tools), pause.ToolName, "the control group is left as it is")
	}
	require.Len(t, carryontest.Recorded[middleware.Decision](s.events), 2)
	for _, decision := range carryontest.Recorded[middleware.Decision](s.events) {
		assert.True(t, decision.Holdout)
		assert.False(t, decision.Continue)
		assert.Equal(t, "Fix the build", decision.Todo.Content, "what would have been done")
		assert.Equal(t, 1, decision.Attempt)
	}
}

// A session that was continued before the holdout must not make its callers wait.
func TestHeldOutSessionDoesNotWaitForTheInterval(t *testing.T) {
	t.Parallel()
	store := records.NewMemoryEngine()
	live := newSetup([]sdkAnswer{says("One:"), calls(edit("1"))}, middleware.WithRecords(store))
	_, outcome, err := live.answer(inSession(t, "s"))
	require.NoError(t, err)
	require.Equal(t, 1, outcome.Attempts)
	held := newSetup([]sdkAnswer{says("One:")}, middleware.WithRecords(store), middleware.WithHoldout(1),
		middleware.WithLimits(continuation.Limits{MinInterval: time.Hour}))
	_, outcome, err = held.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, reasons.Holdout, outcome.Reason)
}

func TestHeldOutSessionKeepsOtherReasons(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{calls(edit("1"))}, middleware.WithHoldout(1))
	_, outcome, err := s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, reasons.ToolCalls, outcome.Reason)
	assert.Contains(t, outcome.String(), "(holdout)")
}

func TestCallWithoutASessionIsNeverHeldOut(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("1"))}, middleware.WithHoldout(1))
	_, outcome, err := s.answer(t.Context())
	require.NoError(t, err)
	assert.False(t, outcome.Holdout)
	assert.Equal(t, 1, outcome.Attempts)
}

func TestHoldoutRefusesWhatIsNoShare(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		text := panicText(func() { middleware.New(todo.Static(), middleware.WithHoldout(share)) })
		assert.Contains(t, text, "is not between 0 and 1", share)
	}
}

// What is not sent is counted, with an estimate of its tokens.
func TestUnsentContinuationsAreEstimated(t *testing.T) {
	t.Parallel()
	unreported := says("One:")
	unreported.Usage = sdkUsage{}
	for name, option := range map[string]middleware.Option{"dry run": middleware.WithDryRun(), "holdout": middleware.WithHoldout(1)} {
		s := newSetup([]sdkAnswer{says("One:"), calls(edit("1")), unreported}, option)
		_, stalled, err := s.answer(inSession(t, "s"))
		require.NoError(t, err, name)
		assert.Equal(t, 1, stalled.Worth.Unsent, name)
		assert.Zero(t, stalled.Worth.Tokens, name)
		assert.Greater(t, stalled.Worth.Estimate.Input, 10+5, "%s: the turn and the prompt", name)
		assert.Equal(t, 5, stalled.Worth.Estimate.Output, name)
		_, working, err := s.answer(inSession(t, "s"))
		require.NoError(t, err, name)
		assert.Zero(t, working.Worth, name)
		_, stalled, err = s.answer(inSession(t, "s"))
		require.NoError(t, err, name)
		assert.Equal(t, 1, stalled.Worth.Unsent, name)
		assert.Positive(t, stalled.Worth.Estimate.Input, "%s: no usage was reported", name)
	}
}

// Which calls begin a user turn, and which messages only say go on: what both arms are compared by.
func TestOutcomeSaysThatTheUserWrote(t *testing.T) {
	t.Parallel()
	request := func(users int, text string) adapter.Request {
		return adapter.Request{Tools: 1, Users: users, User: text}
	}
	for name, test := range map[string]struct {
		ctx     context.Context
		options []middleware.Option
		want    [][2]bool // Wrote and GoOn, of each call
	}{
		"in a session":      {inSession(t, "s"), nil, [][2]bool{{true, false}, {false, false}, {true, true}, {false, false}}},
		"held out":          {inSession(t, "s"), []middleware.Option{middleware.WithHoldout(1)}, [][2]bool{{true, false}, {false, false}, {true, true}, {false, false}}},
		"without a session": {t.Context(), nil, make([][2]bool, 4)},
		"in a dry run":      {inSession(t, "s"), []middleware.Option{middleware.WithDryRun()}, make([][2]bool, 4)},
		"automatic":         {continuation.Automatic(inSession(t, "s")), nil, make([][2]bool, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mw := middleware.New(todo.Static(), test.options...)
			var got [][2]bool
			for _, r := range []adapter.Request{request(1, "Fix the build."), request(1, "Fix the build."), request(2, "continue, please"), request(2, "continue, please")} {
				call := begin(test.ctx, mw, r)
				require.NotNil(t, call)
				got = append(got, [2]bool{call.Outcome().Wrote, call.Outcome().GoOn})
				call.Abort(errors.New("refused"))
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// The rules change for the calls that begin after that.
func TestRulesAreChangedBetweenCalls(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("1")), says("Two:"), says("Three:"), says("Four:"), says("Five:")})
	change := func(change func(*middleware.Rules)) {
		rules := s.mw.Rules()
		change(&rules)
		require.NoError(t, s.mw.SetRules(rules))
	}
	ask := func(user string) middleware.Outcome {
		_, outcome, err := s.answer(continuation.WithUserTurn(inSession(t, "s"), user))
		require.NoError(t, err)
		return outcome
	}
	assert.Equal(t, 1, ask("1").Attempts)
	change(func(r *middleware.Rules) { r.DryRun = true })
	assert.True(t, ask("2").DryRun)
	change(func(r *middleware.Rules) { r.DryRun, r.Holdout = false, 1 })
	assert.Equal(t, reasons.Holdout, ask("3").Reason)
	change(func(r *middleware.Rules) { r.Holdout, r.Limits.MaxAttempts = 0, 1 })
	last := ask("4")
	assert.Equal(t, 1, last.Attempts)
	assert.Equal(t, reasons.MaxAttempts, last.Reason)
}

// A call that has begun is decided by one set of rules to its end.
func TestACallKeepsItsRules(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("1"))})
	call := begin(inSession(t, "s"), s.mw, describe(fixTheBuild))
	require.NoError(t, s.mw.SetRules(middleware.Rules{DryRun: true}))
	assert.False(t, call.Outcome().DryRun)
	later := begin(inSession(t, "t"), s.mw, describe(fixTheBuild))
	assert.True(t, later.Outcome().DryRun)
	call.Abort(errors.New("not sent"))
	later.Abort(errors.New("not sent"))
}

func TestWrongRulesChangeNothing(t *testing.T) {
	t.Parallel()
	mw := middleware.New(todo.Static(), middleware.WithHoldout(0.5))
	before := mw.Rules()
	require.ErrorContains(t, mw.SetRules(middleware.Rules{Holdout: 2}), "middleware: the holdout's share 2 is not between 0 and 1")
	require.ErrorContains(t, mw.SetRules(middleware.Rules{Limits: continuation.Limits{MaxAttempts: -2}}), "MaxAttempts is negative")
	require.ErrorContains(t, mw.SetRules(middleware.Rules{Handback: continuation.Handback{Questions: 9}}), "middleware: ")
	assert.Equal(t, before, mw.Rules())
	require.NoError(t, mw.SetRules(middleware.Rules{Limits: continuation.Limits{MaxSessions: 7}}))
	assert.Equal(t, before.Limits.MaxSessions, mw.Rules().Limits.MaxSessions, "the store was made for that many")
}

// A session whose hash lies between the two shares changes its group; all others stay.
func TestAnotherShareMovesTheFewestSessions(t *testing.T) {
	t.Parallel()
	mw := middleware.New(todo.Static(), middleware.WithHoldout(0.3))
	held := func() []bool {
		all := make([]bool, 2000)
		for i := range all {
			ctx, outcomes := middleware.Capture(inSession(t, fmt.Sprintf("conversation-%d", i)))
			join.Pass(ctx, mw, reasons.Path)
			all[i] = outcomes.Last().Holdout
		}
		return all
	}
	low := held()
	require.NoError(t, mw.SetRules(middleware.Rules{Holdout: 0.6}))
	assert.Equal(t, arms(t, 0.6), held())
	require.NoError(t, mw.SetRules(middleware.Rules{Holdout: 0.3}))
	assert.Equal(t, low, held(), "back in the groups that they had")
}
