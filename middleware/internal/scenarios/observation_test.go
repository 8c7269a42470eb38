package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// spanKey is the key of the names of the spans around a ctx.
type spanKey struct{}

func inSpan(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, spanKey{}, spanOf(ctx)+"/"+name)
}

func spanOf(ctx context.Context) string {
	name, _ := ctx.Value(spanKey{}).(string)
	return name
}

// spans records what happens in which span.
type spans struct {
	mu    sync.Mutex
	lines []string
	turns []middleware.TurnEnded
}

func (s *spans) add(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *spans) observer() middleware.Observer {
	return middleware.Observer{
		CallStarted: func(ctx context.Context, e middleware.CallStarted) context.Context {
			s.add("call of %s at %s, streamed %t", e.Model, e.Provider, e.Streamed)
			return inSpan(ctx, "call")
		},
		TurnStarted: func(ctx context.Context, e middleware.TurnStarted) context.Context {
			s.add("%s: turn %d", spanOf(ctx), e.Turn)
			return inSpan(ctx, fmt.Sprint("turn", e.Turn))
		},
		TurnEnded: func(ctx context.Context, e middleware.TurnEnded) {
			s.add("%s: turn %d ended", spanOf(ctx), e.Turn)
			s.turns = append(s.turns, e)
		},
		Decision: func(ctx context.Context, e middleware.Decision) {
			s.add("%s: %s", spanOf(ctx), e.Reason.Code())
		},
		CallEnded: func(ctx context.Context, e middleware.CallEnded) {
			s.add("%s: ended after %d turns", spanOf(ctx), e.Outcome.Turns)
		},
	}
}

// roundTripper reports the spans of the requests that pass it.
type roundTripper struct {
	*spans

	base http.RoundTripper
}

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	r.add("%s: request", spanOf(request.Context()))
	return r.base.RoundTrip(request)
}

func TestObserversEncloseCallsAndTurns(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var seen spans
		todos := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			seen.add("%s: todos", spanOf(ctx))
			return []todo.Todo{{Content: "Write it", Status: todo.Pending}}, nil
		})
		s := scenario.New(t, m, todos, middleware.WithObserver(seen.observer()))
		s.Transport.Base = roundTripper{&seen, s.Transport.Base}
		require.NoError(t, s.Ask(fakellm.Text("One:"), scenario.Edit()).Err)

		first := []string{"/call/turn1: turn 1 ended", "/call: todos", "/call: satisfied"}
		if m.Streamed() { // the list tells whether the finish is held back
			first = []string{"/call: todos", "/call/turn1: turn 1 ended", "/call: satisfied"}
		}
		assert.Equal(t, append(append([]string{
			fmt.Sprintf("call of %s at openai, streamed %t", scenario.Request().Model, m.Streamed()),
			"/call: turn 1", "/call/turn1: request",
		}, first...),
			"/call: turn 2", "/call/turn2: request", "/call/turn2: turn 2 ended", "/call: tool_calls", "/call: ended after 2 turns",
		), seen.lines)
		assert.Equal(t, seen.turns[0].Call, seen.turns[1].Call)
		require.NoError(t, s.Ask(scenario.Edit()).Err)
		assert.NotEqual(t, seen.turns[0].Call, seen.turns[2].Call)
	})
}

func TestObserversCannotBreakACall(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		ended, end := context.WithCancel(t.Context())
		end()
		broken := middleware.Observer{
			CallStarted: func(context.Context, middleware.CallStarted) context.Context {
				return inSpan(ended, "not derived, and over")
			},
			TurnStarted: func(context.Context, middleware.TurnStarted) context.Context { panic("turn") },
		}
		forgetful := middleware.Observer{
			CallStarted: func(context.Context, middleware.CallStarted) context.Context { return nil },
		}
		list := todo.Static(todo.Todo{Content: "Write it", Status: todo.Pending})
		s := scenario.New(t, m, list, middleware.WithObserver(broken), middleware.WithObserver(forgetful))
		answer := s.Ask(fakellm.Text("One:"), scenario.Edit())
		require.NoError(t, answer.Err)
		assert.Equal(t, 2, answer.Outcome.Turns)

		ctx, cancel := context.WithCancelCause(s.Ctx)
		cancel(errors.New("the caller's own"))
		assert.ErrorIs(t, s.Call(ctx, scenario.Request(), fakellm.Text("One:")).Err, context.Canceled, "the caller's ctx still ends the call")
	})
}

func TestTurnsHaveTimes(t *testing.T) {
	t.Parallel()
	for _, m := range scenario.StreamModes() {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var seen spans
				list := todo.Static(todo.Todo{Content: "Write it", Status: todo.Pending})
				s := scenario.NewInBubble(t, m, list, middleware.WithObserver(seen.observer()),
					middleware.WithLimits(continuation.Limits{MaxAttempts: 1}))
				began := time.Now()
				require.NoError(t, s.Ask(fakellm.Text("One:").Delay(time.Second), scenario.Edit().Delay(3*time.Second)).Err)

				require.Len(t, seen.turns, 2)
				first, second := seen.turns[0].Times, seen.turns[1].Times
				assert.Equal(t, began, first.Began)
				assert.Equal(t, time.Second, first.FirstChunk.Sub(first.Began))
				assert.False(t, first.Finished.Before(first.FirstChunk))
				assert.False(t, first.Ended.Before(first.Finished))
				assert.Equal(t, 3*time.Second, second.FirstChunk.Sub(second.Began))
				assert.Zero(t, first.Join)
				assert.Equal(t, second.FirstChunk.Sub(first.Finished), second.Join)
				assert.Greater(t, second.Join, 3*time.Second, "Join includes the wait")
			})
		})
	}
}

// A whole answer comes at its end, and so does one of which nothing came. No time is zero.
func TestTurnsWithoutChunksHaveTimes(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		require.NoError(t, s.Ask(fakellm.Text("One:").Delay(time.Second), scenario.Failure(http.StatusBadRequest).Delay(time.Second)).Err)
		turns := carryontest.Recorded[middleware.TurnEnded](s.Events)
		require.Len(t, turns, 2)
		if m.Streamed() {
			turns = turns[1:] // the refused one
		}
		for _, turn := range turns {
			assert.False(t, turn.Times.Began.IsZero())
			assert.True(t, turn.Times.Ended.After(turn.Times.Began))
			assert.Equal(t, turn.Times.Ended, turn.Times.FirstChunk)
			assert.Equal(t, turn.Times.Ended, turn.Times.Finished)
			assert.Zero(t, turn.Times.Join)
		}
	})
}

func TestJoinsBeginWhereTheAnswerStoodStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos())
		require.NoError(t, s.Ask(fakellm.Text("One:"), scenario.Failure(http.StatusServiceUnavailable).Delay(time.Second), scenario.Edit()).Err)
		turns := carryontest.Recorded[middleware.TurnEnded](s.Events)
		require.Len(t, turns, 3)
		assert.Zero(t, turns[1].Times.Join, "nothing was read of it")
		assert.Equal(t, turns[2].Times.FirstChunk.Sub(turns[0].Times.Finished), turns[2].Times.Join, "Join includes the failed continuation")
	})
}

// waitingStore, in a bubble, takes a tenth of a second each time.
type waitingStore struct{ records.Records }

func (s waitingStore) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	<-time.After(100 * time.Millisecond)
	return s.Records.Update(ctx, key, f)
}

func TestObserversAreToldWhatTheSourceAndTheStoreTook(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var read, answered []middleware.Answered
		observer := middleware.Observer{Answered: func(_ context.Context, e middleware.Answered) {
			if e.Op == "todos" {
				read = append(read, e)
			} else {
				answered = append(answered, e)
			}
		}}
		todos := todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
			<-time.After(500 * time.Millisecond)
			if len(read) == 0 {
				return []todo.Todo{scenario.Pending("A")}, nil
			}
			return nil, errors.New("no list")
		})
		s := scenario.NewInBubble(t, m, todos, middleware.WithObserver(observer), middleware.WithRecords(waitingStore{records.NewMemoryEngine()}))
		require.NoError(t, s.Ask(fakellm.Text("One:"), fakellm.Text("Two:")).Err)

		require.Len(t, read, 2)
		assert.Equal(t, continuation.TurnID{Session: "s", Call: 1, Turn: 1}, read[0].TurnID)
		assert.Equal(t, 500*time.Millisecond, read[0].Took)
		assert.Equal(t, 1, read[0].Todos)
		require.NoError(t, read[0].Err)
		assert.Zero(t, read[1].Todos)
		require.ErrorContains(t, read[1].Err, "no list")

		assert.Len(t, answered, 3, "the user turn, the claim, and its release with the decision that follows")
		for _, e := range answered {
			assert.Equal(t, middleware.Answered{TurnID: continuation.TurnID{Session: "s"}, Op: "store", Took: 100 * time.Millisecond}, e)
		}
	})
}

func TestFailuresOfTheStoreAreTold(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var answered []middleware.Answered
		mw := middleware.New(scenario.TwoTodos(), middleware.WithRecords(brokenStore{}), middleware.WithObserver(middleware.Observer{
			Answered: func(_ context.Context, e middleware.Answered) { answered = append(answered, e) },
		}))
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Client = s.ClientWith(mw)
		require.NoError(t, s.Ask(fakellm.Text("One:")).Err)
		require.Len(t, answered, 1, "a store that has failed is not asked again")
		assert.Error(t, answered[0].Err)
	})
}

// countingClock counts how often it is looked at.
type countingClock struct {
	clock.Clock

	looks *int
}

func (c countingClock) Now() time.Time { *c.looks++; return c.Clock.Now() }

// clockLooks returns how often a call looks at the clock with these observers.
func clockLooks(t *testing.T, m scenario.Mode, observers ...middleware.Observer) (looks int) {
	t.Helper()
	options := []middleware.Option{
		clock.Option[middleware.Option](countingClock{clock.System(), &looks}), middleware.WithRecords(records.NewMemoryEngine()), scenario.NoInterval(),
	}
	for _, observer := range observers {
		options = append(options, middleware.WithObserver(observer))
	}
	s := scenario.New(t, m, scenario.TwoTodos())
	s.Client = s.ClientWith(middleware.New(scenario.TwoTodos(), options...))
	require.NoError(t, s.Ask(fakellm.Text("One:"), scenario.Edit()).Err)
	return looks
}

func TestTimesAreTakenOnlyForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	events := 0
	none, idle := clockLooks(t, scenario.TypedUnary), clockLooks(t, scenario.TypedUnary, middleware.Observer{})
	assert.Less(t, none, idle, "a turn has times if somebody observes")
	asked := clockLooks(t, scenario.TypedUnary, middleware.Observer{
		Answered: func(context.Context, middleware.Answered) { events++ },
	})
	assert.Positive(t, events)
	assert.Equal(t, idle+2*events, asked)
}

func TestContinuationsHaveResults(t *testing.T) {
	t.Parallel()
	pause := fakellm.Call("todo_pause", `{"reason":"The file go.mod is missing from the workspace"}`)
	for result, turn := range map[string]fakellm.Turn{
		"tool_call": scenario.Edit(),
		"text":      fakellm.Text("Two:"),
		"paused":    pause,
		"failed":    scenario.Failure(http.StatusBadRequest),
	} {
		t.Run(result, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithLimits(continuation.Limits{MaxAttempts: 1, MinInterval: continuation.Off}))
				require.NoError(t, s.Ask(fakellm.Text("One:"), turn).Err)
				require.NotEmpty(t, continuationsEnded(s.Events))
				assert.Equal(t, result, continuationsEnded(s.Events)[0].Result)
			})
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
			s := scenario.New(t, m, scenario.TwoTodos())
			ctx, cancel := context.WithCancel(s.Ctx)
			defer cancel()
			answer := s.Call(ctx, scenario.Request(), fakellm.Text("One:"), doFirst(cancel, fakellm.Text("Two:").Hang()))
			require.ErrorIs(t, answer.Err, context.Canceled)
			require.Len(t, continuationsEnded(s.Events), 1)
			assert.Equal(t, "interrupted", continuationsEnded(s.Events)[0].Result)
		})
	})
}

// The closing question can be told from other continuations, and what became of it.
func TestQuestionsHaveResults(t *testing.T) {
	t.Parallel()
	for name, scene := range map[string]struct {
		second    fakellm.Turn
		result    string
		toolCalls int
	}{
		"nothing is open": {fakellm.Text("Nothing is open.").Usage(200, 3), "nothing_open", 0},
		"something is":    {fakellm.Text("Nothing is open, except for a test.").Usage(200, 3), "text", 0},
		"it goes on":      {scenario.Edit().AndText("Nothing is open.").Usage(200, 3), "tool_call", 1},
		"it pauses":       {fakellm.Pause(scenario.Blocked).AndText("Nothing is open.").Usage(200, 3), "paused", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				logged := new(logBook)
				s := scenario.New(t, m, todo.FromConversation(), middleware.WithClosingQuestion(), middleware.WithLogger(logged.logger()))
				answer := s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_1"), fakellm.Text("Done."), scene.second)
				require.NoError(t, answer.Err)
				continuations := continuationsEnded(s.Events)
				require.Len(t, continuations, 1)
				assert.Equal(t, continuation.TurnID{Session: "s", Call: 1, Turn: 2, Attempt: 1}, continuations[0].TurnID)
				assert.True(t, continuations[0].Asked)
				assert.Equal(t, scene.result, continuations[0].Result)
				assert.Equal(t, scene.toolCalls, continuations[0].ToolCalls)
				assert.Equal(t, adapter.Usage{Prompt: 200, Completion: 3, Total: 203}, continuations[0].Usage)
				started, ended := logged.withMessage(t, "carryon: continuation started"), logged.withMessage(t, "carryon: continuation ended")
				require.Len(t, started, 1)
				require.Len(t, ended, 1)
				assert.Equal(t, true, started[0]["closing_question"])
				assert.Equal(t, true, ended[0]["closing_question"])
				assert.Equal(t, scene.result, ended[0]["result"])
			})
		})
	}
}

// slowAndBroken returns an observer each of whose functions takes a minute and then panics.
func slowAndBroken(called map[string]bool) middleware.Observer {
	var o middleware.Observer
	fields := reflect.ValueOf(&o).Elem()
	for i := range fields.NumField() {
		name, field := fields.Type().Field(i).Name, fields.Field(i)
		field.Set(reflect.MakeFunc(field.Type(), func([]reflect.Value) []reflect.Value {
			called[name] = true
			<-time.After(time.Minute)
			panic(name)
		}))
	}
	return o
}

func TestSlowAndBrokenObserversCannotBreakACall(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		called := make(map[string]bool)
		s := scenario.NewInBubble(t, m, scenario.TwoTodos(), middleware.WithObserver(slowAndBroken(called)),
			middleware.WithRecords(records.NewMemoryEngine()),
			middleware.WithLimits(continuation.Limits{FirstByteTimeout: 20 * time.Second, ResponseTimeout: 20 * time.Second}))
		answer := s.Ask(fakellm.Text("One:"), scenario.Edit())
		require.NoError(t, answer.Err)
		assert.Equal(t, 2, answer.Outcome.Turns, "the time of observers counts against no limit")
		assert.Equal(t, reasons.ToolCalls, answer.Outcome.Reason)
		for _, name := range []string{
			"CallStarted", "TurnStarted", "TurnEnded", "Decision", "Answered", "ContinuationStarted",
			"CallEnded", "Failed",
		} {
			assert.True(t, called[name], name)
		}
	})
}
