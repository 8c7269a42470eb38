package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// hangingStore is a store that cannot be reached.
type hangingStore struct{}

func (hangingStore) Update(ctx context.Context, _ string, _ records.UpdateFunc) error {
	<-ctx.Done()
	return ctx.Err()
}

// patchyStore hangs while it is ill.
type patchyStore struct {
	*records.MemoryEngine

	ill   bool
	asked int
}

func (s *patchyStore) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	s.asked++
	if s.ill {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.MemoryEngine.Update(ctx, key, f)
}

func TestStoreThatHangsCostsOneCallItsTimeAndTheOthersNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &patchyStore{MemoryEngine: records.NewMemoryEngine(), ill: true}
		var recovered []string
		s := newSetup(nil, middleware.WithRecords(store), middleware.WithLimits(continuation.Limits{
			MinInterval: continuation.Off, MaxAttempts: 1, StoreTimeout: 300 * time.Millisecond,
		}),
			middleware.WithObserver(recoveries(&recovered)))
		begun := time.Now()
		for _, step := range []struct {
			name   string
			after  time.Duration // that the last one began
			heals  bool
			took   time.Duration
			reason continuation.Reason
			asked  int // in all
		}{
			{"the first waits", 0, false, 300 * time.Millisecond, reasons.Store, 1},
			{"the next does not", time.Second, false, 0, reasons.StoreSkipped, 1},
			{"nor one just before the time is over", 4 * time.Second, false, 0, reasons.StoreSkipped, 1},
			{"one tries", time.Second, false, 300 * time.Millisecond, reasons.Store, 2},
			{"and nobody else", time.Second, true, 0, reasons.StoreSkipped, 2},
			{"the store works again", 10 * time.Second, true, 0, reasons.MaxAttempts, 0},
		} {
			begun = begun.Add(step.after)
			time.Sleep(time.Until(begun)) //nolint:forbidigo // of the bubble
			store.ill = !step.heals
			s.model.turns = append(s.model.turns, says("One:"))
			if step.asked == 0 {
				s.model.turns = append(s.model.turns, says("Two:"))
			}
			answer, outcome, err := s.answer(inSession(t, step.name))
			require.NoError(t, err)
			assert.Contains(t, answer.Text, "One:", step.name)
			assert.Equal(t, step.reason, outcome.Reason, step.name)
			assert.Equal(t, step.took, time.Since(begun), step.name)
			if step.asked > 0 {
				assert.Equal(t, step.asked, store.asked, step.name)
			}
		}
		assert.Len(t, carryontest.Recorded[middleware.Failed](s.events), 1, "the failure is reported once")
		assert.Equal(t, []string{"store"}, recovered)
	})
}

// clockSetBack is a clock that somebody sets back.
type clockSetBack struct {
	*testclock.Clock

	by time.Duration
}

func (c *clockSetBack) Now() time.Time { return c.Clock.Now().Add(-c.by) }

// A machine may get its network and the right time at once.
func TestStoreIsAskedAgainAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	clock := &clockSetBack{Clock: testclock.New()}
	store := newFaultyStore(0, func() error { return errLost })
	store.heals = true
	s := newSetup([]sdkAnswer{says("One:"), says("One:"), calls(edit("c1"))}, middleware.WithRecords(store), middleware.WithClock(clock), onceMore())
	_, outcome, err := s.answer(inSession(t, "s"))
	require.NoError(t, err)
	require.Equal(t, reasons.Store, outcome.Reason)
	clock.by = 24 * time.Hour
	clock.Advance(10 * time.Second)
	_, outcome, err = s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, reasons.ToolCalls, outcome.Reason)
}

// An engine that hangs costs a call one time-out, whichever update it hangs at.
func TestEngineThatHangsCostsACallItsTimeOnce(t *testing.T) {
	t.Parallel()
	for streamed, play := range map[bool]func(*testing.T, *join.Call) string{true: playStream, false: playUnary} {
		for healthy := range 12 {
			t.Run(fmt.Sprintf("streamed %t, after %d updates", streamed, healthy), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { hangAfter(t, healthy, play) })
			})
		}
	}
}

func hangAfter(t *testing.T, healthy int, play func(*testing.T, *join.Call) string) {
	t.Helper()
	engine := &illEngine{Records: records.NewMemoryEngine()}
	tasks := asynctask.NewManager(asynctask.WithRecords(engine))
	list := todo.NewMemory(todo.WithRecords(engine))
	events := carryontest.NewRecorder()
	mw := middleware.New(list, unhurried, middleware.WithObserver(events.Observer()), middleware.WithTasks(tasks),
		middleware.WithRecords(engine))
	ctx := inSession(t, "s")
	require.NoError(t, list.Write(ctx, []todo.Todo{{Content: "Fix the build", Status: todo.Pending}}))
	ticket, err := tasks.Begin(ctx, "1", "run the tests")
	require.NoError(t, err)
	require.NoError(t, tasks.Finish(ctx, ticket, nil))
	engine.hangAfter(healthy)

	request := describe(fixTheBuild)
	request.Messages, request.Attachable = 1, func(int) (string, bool) { return "Fix the build.", true }
	began := time.Now()
	text := play(t, begin(ctx, mw, request))
	took := time.Since(began)
	assert.Contains(t, text, "One:", "the answer is not lost")
	if took == 0 {
		assert.Greater(t, healthy, 8, "user turn, reminder, list, tasks, claim, its release, and twice the delivery")
		assert.Empty(t, carryontest.Recorded[middleware.Failed](events))
		assert.Equal(t, "One:\n\nTwo:", text)
	} else {
		assert.Equal(t, continuation.DefaultLimits().StoreTimeout, took)
		assert.Len(t, carryontest.Recorded[middleware.Failed](events), 1, "the failure is reported once")
	}

	engine.hangAfter(1000)
	<-time.After(time.Minute)
	state, err := statetest.State(ctx, mw)
	require.NoError(t, err)
	assert.Zero(t, state.Claim, "the claim is released")
	assert.Contains(t, play(t, begin(ctx, mw, describe(fixTheBuild))), "One:\n\nTwo:")
	require.NoError(t, tasks.Close(t.Context()))
}

// slowStore takes its time for each update, but is never late.
type slowStore struct {
	*records.MemoryEngine

	takes time.Duration
}

func (s slowStore) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	select {
	case <-time.After(s.takes):
		return s.MemoryEngine.Update(ctx, key, f)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Updates that are each in time do not add up to more than the time limit of one.
func TestStoreThatIsSlowCostsATurnItsTimeOnce(t *testing.T) {
	t.Parallel()
	limit := continuation.DefaultLimits().StoreTimeout
	for streamed, play := range map[bool]func(*testing.T, *join.Call) string{true: playStream, false: playUnary} {
		for name, tt := range map[string]struct {
			takes, took time.Duration // an update, and the call
			text        string
		}{
			"nearly all of the time":  {limit * 9 / 10, limit, "One:"},
			"more than half of it":    {limit * 6 / 10, limit, "One:"},
			"less than half of it":    {limit * 4 / 10, 3 * limit * 4 / 10, "One:\n\nTwo:"},
			"next to nothing of it":   {limit / 100, 3 * limit / 100, "One:\n\nTwo:"},
			"all of it, and a little": {limit + 1, limit, "One:"},
		} {
			t.Run(fmt.Sprintf("streamed %t, %s", streamed, name), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					store := slowStore{records.NewMemoryEngine(), tt.takes}
					mw := middleware.New(todo.Static(todo.Todo{Content: "Fix the build", Status: todo.Pending}), middleware.WithRecords(store), onceMore())
					began := time.Now()
					assert.Equal(t, tt.text, play(t, begin(inSession(t, "s"), mw, describe(fixTheBuild))))
					assert.Equal(t, tt.took, time.Since(began))
				})
			})
		}
	}
}

// newerState has the state of one session as a newer version of carryon wrote it.
type newerState struct{ *records.MemoryEngine }

func (s newerState) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	if key == (recordtable.Format{Kind: "state"}).Key("newer") {
		_, _, err := f(time.Now(), []byte("carryon/state/9 {}"))
		return err
	}
	return s.MemoryEngine.Update(ctx, key, f)
}

func TestStateThatCannotBeReadCostsItsOwnSessionAlone(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), says("One:"), says("One:"), says("One:"), calls(edit("c1"))},
		middleware.WithRecords(newerState{records.NewMemoryEngine()}))
	for range 3 {
		_, outcome, err := s.answer(inSession(t, "newer"))
		require.NoError(t, err)
		assert.Equal(t, reasons.Store, outcome.Reason)
		require.ErrorIs(t, outcome.Err, records.ErrNewer)
	}
	assert.Len(t, carryontest.Recorded[middleware.Failed](s.events), 1, "the failure is reported once")
	_, outcome, err := s.answer(inSession(t, "older"))
	require.NoError(t, err)
	assert.Equal(t, reasons.ToolCalls, outcome.Reason)
}

// leavingStore is a store during whose second update the caller leaves.
type leavingStore struct {
	*records.MemoryEngine

	leave   func()
	updates int
}

func (s *leavingStore) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	s.updates++
	if s.updates == 2 {
		s.leave()
		return ctx.Err()
	}
	return s.MemoryEngine.Update(ctx, key, f)
}

func TestCallerWhoLeavesDuringTheDecisionIsNoFaultOfTheStore(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(*testing.T, *join.Call) string{"stream": playStream, "unary": playUnary} {
		ctx, leave := context.WithCancel(inSession(t, "s"))
		s := newSetup(nil, middleware.WithRecords(&leavingStore{MemoryEngine: records.NewMemoryEngine(), leave: leave}))
		call := begin(ctx, s.mw, describe(fixTheBuild))
		assert.Equal(t, "One:", play(t, call), name)
		assert.Equal(t, reasons.BrokeOff, call.Outcome().Reason, name)
		assert.Empty(t, carryontest.Recorded[middleware.Failed](s.events), name)
	}
}

func TestTodoSourceThatIsLateIsLeftAloneForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, late := 0, true
		source := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			asked++
			if late {
				<-ctx.Done()
			}
			return nil, ctx.Err()
		})
		var recovered []string
		mw := middleware.New(source, middleware.WithObserver(recoveries(&recovered)))
		for i, step := range []struct {
			wait, took time.Duration
			late       bool
			asked      int
			reason     continuation.Reason
		}{
			{0, time.Second, true, 1, reasons.SourceLate},
			{time.Second, 0, true, 1, reasons.SourceLate},
			{5 * time.Second, time.Second, true, 2, reasons.SourceLate},
			{5 * time.Second, 0, false, 3, reasons.EmptyList},
			{0, 0, false, 4, reasons.EmptyList},
		} {
			time.Sleep(step.wait) //nolint:forbidigo // of the bubble
			begun := time.Now()
			late = step.late
			ctx, outcomes := middleware.Capture(t.Context())
			agent := &client{&sdkClient{turns: []sdkAnswer{says("One:")}}, mw}
			_, err := agent.Complete(ctx, fixTheBuild)
			require.NoError(t, err)
			assert.Equal(t, step.reason, outcomes.Last().Reason, i)
			assert.Equal(t, step.took, time.Since(begun), i)
			assert.Equal(t, step.asked, asked, i)
		}
		assert.Equal(t, []string{"todos"}, recovered)
	})
}

func TestStoreThatHangsIsReportedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup([]sdkAnswer{says("One:")}, middleware.WithRecords(hangingStore{}))
		answer, outcome, err := s.answer(inSession(t, "s"))
		require.NoError(t, err)
		assert.Equal(t, "One:", answer.Text)
		assert.Equal(t, reasons.Store, outcome.Reason)
		require.Len(t, carryontest.Recorded[middleware.Failed](s.events), 1, "it is asked, and reported, once")
		assert.Equal(t, "store", carryontest.Recorded[middleware.Failed](s.events)[0].Op)
	})
}

// lateStore stores what it is told to, ignores its ctx, and returns late.
type lateStore struct {
	*records.MemoryEngine

	late time.Duration
}

func (s lateStore) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	<-time.After(s.late)
	return s.MemoryEngine.Update(ctx, key, f)
}

func TestStoreThatIsLateCountsAsLate(t *testing.T) {
	t.Parallel()
	for late, reason := range map[time.Duration]continuation.Reason{
		150 * time.Millisecond: reasons.ToolCalls, 600 * time.Millisecond: reasons.Store,
	} {
		synctest.Test(t, func(t *testing.T) {
			store := lateStore{records.NewMemoryEngine(), late}
			s := newSetup([]sdkAnswer{says("One:"), calls(edit("c"))}, middleware.WithRecords(store))
			answer, outcome, err := s.answer(inSession(t, "s"))
			require.NoError(t, err)
			assert.Contains(t, answer.Text, "One:")
			assert.Equal(t, reason, outcome.Reason)
			if reason == reasons.Store {
				require.Len(t, carryontest.Recorded[middleware.Failed](s.events), 1)
				assert.ErrorIs(t, carryontest.Recorded[middleware.Failed](s.events)[0].Err, context.DeadlineExceeded)
			}
		})
	}
}

// lossyStore fails in one update: it stores nothing, or stores it and loses the answer.
type lossyStore struct {
	*records.MemoryEngine

	updates, lost int
	stores        bool // what it loses the answer to
}

func (s *lossyStore) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	s.updates++
	lost := s.updates == s.lost
	if lost && !s.stores {
		return errors.New("the connection was lost")
	}
	if err := s.MemoryEngine.Update(ctx, key, f); err != nil || !lost {
		return err
	}
	return errors.New("the connection was lost")
}

// stateAfterLoss returns the state of the session after two calls, in the first of which an update failed, and how many
// updates there were.
func stateAfterLoss(t *testing.T, lost int, stores bool) (s decision.State, updates int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { // at the same times for all
		store := &lossyStore{MemoryEngine: records.NewMemoryEngine(), lost: lost, stores: stores}
		asks := calls(pauses("Waiting for your permission to continue"))
		set := newSetup([]sdkAnswer{says("One:"), says("Two:"), asks, calls(edit("c"))}, middleware.WithRecords(store),
			middleware.WithApprovalMode(continuation.ApprovalYOLO), middleware.WithLimits(continuation.Limits{MinInterval: time.Second}))
		ctx := inSession(t, "s")
		answer, _, err := set.answer(ctx)
		require.NoError(t, err)
		assert.Contains(t, answer.Text, "One:")
		updates = store.updates
		s, err = statetest.State(ctx, set.mw)
		require.NoError(t, err)
	})
	return s, updates
}

// A claim is not kept if the store has saved it and the answer was lost: nothing was sent. The state is the one after an
// update that was not saved, but for what was learnt about the list.
func TestClaimThatWasStoredAllTheSameIsGivenUp(t *testing.T) {
	t.Parallel()
	_, updates := stateAfterLoss(t, 0, false)
	for lost := 1; lost <= updates; lost++ {
		want, _ := stateAfterLoss(t, lost, false)
		got, _ := stateAfterLoss(t, lost, true)
		assert.Zero(t, got.Claim, "update %d lost", lost)
		if lost == 1 || lost == updates { // the user turn, and the release of the last claim: what was stored counts
			continue
		}
		want.Watermarks, want.Unassessed = got.Watermarks, got.Unassessed
		assert.Equal(t, want, got, "update %d lost", lost)
	}
}

// Nor is a closing question taken for asked.
func TestQuestionWhoseClaimWasLostIsAskedLater(t *testing.T) {
	t.Parallel()
	store := &lossyStore{MemoryEngine: records.NewMemoryEngine(), lost: 2, stores: true}
	mw := middleware.New(failingTodos(todo.ErrNoList), unhurried, middleware.WithClosingQuestion(), middleware.WithRecords(store))
	request := describe(fixTheBuild)
	request.History = slices.Values([]adapter.Entry{{Call: todo.Call{ID: "c1", Name: "edit_file", Answered: true}}})
	ctx := inSession(t, "s")
	assert.Equal(t, 1, hinted(ctx, t, mw, request, says("One:"), says("Two:")))
	state, err := statetest.State(ctx, mw)
	require.NoError(t, err)
	assert.Equal(t, decision.State{UserTurn: 1, Message: state.Message, Previous: state.Previous, Users: 1}, state)
}

// panicking is a source that panics at its end.
type panicking struct{ list }

func (p *panicking) Recv() (sdkChunk, error) {
	if len(p.chunks) == 0 {
		panic("sdk: broken")
	}
	return p.list.Recv()
}

func TestTurnThatEndsInAPanicIsAccountedFor(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*setup, *join.Call){
		"a stream, in a continuation": func(_ *setup, call *join.Call) {
			stream := join.NewStream(call, newChunks(), &list{chunks: []sdkChunk{{Text: "One:"}, stop()}},
				func(context.Context, *adapter.Continuation) (adapter.Source[sdkChunk], error) {
					return &panicking{list{chunks: []sdkChunk{{Text: "Two:"}}}}, nil
				})
			defer stream.Close()
			for {
				if _, err := stream.Recv(); err != nil {
					return
				}
			}
		},
		"an answer, in a continuation": func(_ *setup, call *join.Call) {
			_, _ = join.Unary(call, &answers{usageTotals: newUsageTotals()},
				func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
					if k != nil {
						panic("sdk: broken")
					}
					return says("One:"), nil
				})
		},
		"an answer, in the caller's own turn": func(_ *setup, call *join.Call) {
			_, _ = join.Unary(call, &answers{usageTotals: newUsageTotals()},
				func(context.Context, *adapter.Continuation) (sdkAnswer, error) { panic("sdk: broken") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(nil)
			ctx := inSession(t, "s")
			call := begin(ctx, s.mw, describe(fixTheBuild))
			assert.PanicsWithValue(t, "sdk: broken", func() { run(s, call) }, "the caller gets the panic")

			outcome := call.Outcome()
			assert.True(t, outcome.Ended)
			require.Error(t, outcome.Err)
			assert.Equal(t, reasons.BrokeOff, outcome.Reason)
			assert.Len(t, outcome.Usage, outcome.Turns)
			assert.Len(t, carryontest.Recorded[middleware.TurnEnded](s.events), outcome.Turns)
			assert.Len(t, carryontest.Recorded[middleware.ContinuationStarted](s.events), outcome.Turns-1)
			state, err := statetest.State(ctx, s.mw)
			require.NoError(t, err)
			assert.Zero(t, state.Claim)
			assert.Equal(t, name == "a stream, in a continuation", state.Attempts == 1, "an attempt of which something was shown")
		})
	}
}

func TestUsageOfAChunkThatIsNotShownIsNotLost(t *testing.T) {
	t.Parallel()
	s := newSetup(nil, middleware.WithPauseTool(middleware.PauseToolAlways))
	call := usage(3, 4)
	call.Calls = []sdkCall{pauses(blocked)}
	got := drain(t, joined(inSession(t, "s"), s, newChunks(),
		&list{chunks: []sdkChunk{{ID: "a", Text: "One:"}, call, {Stop: "tools"}}}))
	require.NoError(t, got.err)
	assert.Equal(t, sdkUsage{In: 3, Out: 4}, got.answer.Usage)
}

func TestUsageDoesNotOvertakeWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	s := newSetup(nil, middleware.WithPauseTool(middleware.PauseToolAlways))
	request := describe(fixTheBuild)
	request.NoFinish = true
	got := drain(t, join.NewStream(begin(inSession(t, "s"), s.mw, request), newChunks(), &list{chunks: []sdkChunk{
		{ID: "a", Text: "One:"}, fragment(sdkCall{ID: "c", Name: "todo_"}), usage(3, 4), fragment(sdkCall{Name: "list"}),
	}}, nil))
	require.NoError(t, got.err)
	require.Len(t, got.chunks, 4)
	assert.Len(t, got.chunks[1].Calls, 1, "the first fragment comes first")
	assert.NotNil(t, got.chunks[2].Usage)
}

// An endless stream is shown whole, but only as much of it is kept as can be sent
// again.
func TestStreamTooLongToBeKeptIsShownAndNotContinued(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("x", 1<<20) + " "
	for words, reason := range map[int]continuation.Reason{31: reasons.ToolCalls, 33: reasons.TooLong} {
		s := newSetup([]sdkAnswer{says(strings.Repeat(word, words)), calls(edit("c"))})
		ctx, outcomes := middleware.Capture(inSession(t, "s"))
		stream, err := s.agent.Stream(ctx, fixTheBuild)
		require.NoError(t, err)
		got := drain(t, stream)
		require.NoError(t, got.err)
		assert.GreaterOrEqual(t, len(got.answer.Text), words*len(word))
		assert.Equal(t, reason, outcomes.Last().Reason)
	}
}

// A source that fails says nothing about the list: the list is neither done nor
// stale.
func TestSourceThatFailsIsNoProgress(t *testing.T) {
	t.Parallel()
	down := false
	source := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
		if down {
			return nil, errors.New("the database is gone")
		}
		return buildTodos.Todos(ctx)
	})
	mw := middleware.New(source, unhurried)
	ask := func(turns ...sdkAnswer) decision.State {
		agent := &client{&sdkClient{turns: turns}, mw}
		ctx := continuation.WithUserTurn(inSession(t, "s"), "one")
		_, err := agent.Complete(ctx, fixTheBuild)
		require.NoError(t, err)
		state, err := statetest.State(ctx, mw)
		require.NoError(t, err)
		return state
	}
	before := ask(says("One:"), says("Two:"), says("Three:"), says("Four:"), says("Five:"))
	require.Equal(t, 3, before.Attempts)
	require.NotZero(t, before.Stale)
	down = true
	assert.Equal(t, before, ask(says("Six:")), "no list")
	paused := ask(calls(pauses(blocked)))
	assert.Equal(t, before.Stale, paused.Stale, "the unread list does not become the stale one")
	assert.Equal(t, before.Watermarks, paused.Watermarks)
}
