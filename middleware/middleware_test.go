package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
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
	clock := carryontest.NewClock()
	s := newSetup([]sdkAnswer{calls(edit("c0")), says("One:"), says("One:"), calls(edit("c1"))},
		middleware.WithClock(clock))
	ctx, other := inSession(t, "s"), inSession(t, "other")
	_, _, err := s.answer(ctx) // the user turn has begun
	require.NoError(t, err)

	require.NoError(t, s.mw.Pause(ctx, "Wait\nfor \x1b[31mme"))
	state, err := s.mw.State(ctx)
	require.NoError(t, err)
	assert.Equal(t, continuation.Pause{Reason: "Wait for me", Since: clock.Now()}, state.Paused)
	state, err = s.mw.State(other)
	require.NoError(t, err)
	assert.False(t, state.Paused.IsSet(), "nothing of one session shows in another")

	answer, outcome, err := s.answer(ctx)
	require.NoError(t, err)
	assert.Equal(t, "One:", answer.Text)
	assert.Equal(t, continuation.ReasonPaused, outcome.Reason)

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
	assert.Equal(t, continuation.ReasonPaused, outcome.Reason)
}

func TestSessionKeySaysWhereTheSessionComesFrom(t *testing.T) {
	t.Parallel()
	s := newSetup(nil, middleware.WithSessionKey(func(context.Context) string { return "the only one" }))
	require.NoError(t, s.mw.Pause(t.Context(), "enough for today"))
	state, err := s.mw.State(continuation.WithSession(t.Context(), "ignored"))
	require.NoError(t, err)
	assert.Equal(t, "enough for today", state.Paused.Reason)
}

func TestPanickingSessionKeyIsNoSession(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{calls(edit("c1"))},
		middleware.WithSessionKey(func(context.Context) string { panic("no key") }))
	_, outcome, err := s.answer(continuation.WithSession(t.Context(), "s"))
	require.NoError(t, err)
	assert.Empty(t, outcome.Session)
	require.Len(t, s.events.Failures(), 1)
	assert.Equal(t, "session key", s.events.Failures()[0].Op)
}

// faultyStore fails from the given update on, in the way given.
type faultyStore struct {
	*continuation.MemoryStore

	mu     sync.Mutex
	left   int // updates that work
	fail   func() error
	heals  bool // after the first failure
	failed bool
}

func (s *faultyStore) Update(ctx context.Context, key string, f func(continuation.State) continuation.State) error {
	s.mu.Lock()
	s.left--
	broken := s.left < 0 && (!s.heals || !s.failed)
	s.failed = s.failed || broken
	s.mu.Unlock()
	if broken {
		return s.fail()
	}
	return s.MemoryStore.Update(ctx, key, f)
}

func newFaultyStore(left int, fail func() error) *faultyStore {
	return &faultyStore{
		MemoryStore: continuation.NewMemoryStore(), left: left, fail: fail,
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
				s := newSetup([]sdkAnswer{says("One:"), says("Two:")}, middleware.WithStore(newFaultyStore(left, fail)))
				answer, outcome, err := s.answer(inSession(t, "s"))

				require.NoError(t, err)
				assert.Equal(t, says("One:"), answer)
				assert.Equal(t, continuation.ReasonStore, outcome.Reason)
				assert.Len(t, s.model.requests, 1, "nothing is sent")
				require.NotEmpty(t, s.events.Failures())
				failure := s.events.Failures()[0]
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
	s := newSetup([]sdkAnswer{says("One:"), says("Two:")}, middleware.WithStore(store))
	_, outcome, err := s.answer(inSession(t, "s"))

	require.NoError(t, err)
	assert.Equal(t, continuation.ReasonStore, outcome.Reason)
	assert.Len(t, s.model.requests, 1)
	_, outcome, err = s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, continuation.ReasonStoreSkipped, outcome.Reason, "the next call does not ask the store")
}

func TestStoreThatFailsDuringAContinuationCostsNothingThatWasSaid(t *testing.T) {
	t.Parallel()
	lost := errors.New("store: connection lost")
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("c1")).saying("Two:")},
		middleware.WithStore(newFaultyStore(2, func() error { return lost })))
	answer, _, err := s.answer(inSession(t, "s"))

	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:", answer.Text)
	assert.Len(t, answer.Calls, 1)
	require.NotEmpty(t, s.events.Failures())
	assert.Equal(t, "store", s.events.Failures()[0].Op)
}

func TestStateReportsWhatTheStoreReports(t *testing.T) {
	t.Parallel()
	lost := errors.New("store: connection lost")
	ctx := inSession(t, "s")
	mw := middleware.New(buildTodos, middleware.WithStore(newFaultyStore(0, func() error { return lost })))
	_, err := mw.State(ctx)
	require.ErrorIs(t, err, lost)
	require.ErrorIs(t, mw.Pause(ctx, "reason"), lost)
	require.ErrorIs(t, mw.Resume(ctx), lost)

	mw = middleware.New(buildTodos, middleware.WithStore(newFaultyStore(0, func() error { panic("gone") })))
	_, err = mw.State(ctx)
	var panicked *middleware.PanicError
	require.ErrorAs(t, err, &panicked)
	assert.Equal(t, "gone", panicked.Value)
	assert.Equal(t, "panic: gone", panicked.Error())
}

func TestStoreSharedByTwoMiddlewares(t *testing.T) {
	t.Parallel()
	store := continuation.NewMemoryStore()
	once := middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1})
	first := newSetup([]sdkAnswer{says("One:"), says("Two:")}, once, middleware.WithStore(store))
	second := newSetup([]sdkAnswer{says("Three:")}, once, middleware.WithStore(store))
	ctx := inSession(t, "s")

	_, outcome, err := first.answer(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, outcome.Attempts)
	_, outcome, err = second.answer(ctx)
	require.NoError(t, err)
	assert.Equal(t, continuation.ReasonMaxAttempts, outcome.Reason, "the budget is the session's")

	require.NoError(t, first.mw.Pause(ctx, "enough"))
	state, err := second.mw.State(ctx)
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
			limit, want := time.Minute, continuation.ReasonSourceFailed
			if name == "slow" {
				limit, want = time.Millisecond, continuation.ReasonSourceLate
			}
			mw := middleware.New(source, unhurried, middleware.WithObserver(events.Observer()), middleware.WithTodoTimeout(limit))
			ctx, outcomes := middleware.Capture(t.Context())
			answer, err := (&client{&sdkClient{turns: []sdkAnswer{says("One:")}}, mw}).Complete(ctx, fixTheBuild)

			require.NoError(t, err)
			assert.Equal(t, says("One:"), answer)
			assert.Equal(t, want, outcomes.Last().Reason)
			require.ErrorIs(t, outcomes.Last().Err, lost, "the outcome has the error")
			require.Len(t, events.Failures(), 1)
			assert.Equal(t, "todos", events.Failures()[0].Op)
			assert.ErrorIs(t, events.Failures()[0].Err, lost)
		})
	}
}

func TestGateThatPanicsIsAVetoAndReported(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:")},
		middleware.WithGate(func(context.Context, middleware.NextTurn) error { panic("no gate") }))
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, "One:", answer.Text)
	assert.Equal(t, continuation.ReasonGate, outcome.Reason)
	var panicked *middleware.PanicError
	require.ErrorAs(t, outcome.Err, &panicked)
	assert.Equal(t, "no gate", panicked.Value)
	require.NoError(t, panicked.Unwrap(), "the value is not an error")
	require.Len(t, s.events.Failures(), 1)
	assert.Equal(t, "gate", s.events.Failures()[0].Op)
}

func TestObserverThatPanicsDoesNotReachTheCaller(t *testing.T) {
	t.Parallel()
	broken := middleware.WithObserver(middleware.Observer{
		TurnEnded: func(context.Context, middleware.TurnEnded) { panic("no observer") },
		Decision:  func(context.Context, middleware.Decision) { panic("no observer") },
	})
	after := carryontest.NewRecorder()
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("c1"))}, broken, middleware.WithObserver(after.Observer()))
	answer, _, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Len(t, answer.Calls, 1)
	assert.Equal(t, s.events.Lines(), after.Lines(), "the other observers are still called")
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
	finish := func(call *middleware.Call, id string) {
		_, err := middleware.Unary(call, &answers{usageTotals: newUsageTotals()},
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
	assert.Equal(t, continuation.ReasonSuppressed, outcomes.Last().Reason)
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
			continuation.ReasonToolCalls, continuation.ReasonActive, continuation.ReasonWithoutProgress,
		}, outcome.Reason)
	}
	state, err := s.mw.State(ctx)
	require.NoError(t, err)
	assert.Equal(t, continued, state.Continuations)
	assert.LessOrEqual(t, continued, continuation.DefaultMaxWithoutProgress)
	assert.Positive(t, continued)
	assert.Zero(t, state.Claim.Token)
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
			state, err := s.mw.State(ctx)
			require.NoError(t, err)
			assert.Equal(t, reason, state.Paused.Reason)
		})
	}
}
