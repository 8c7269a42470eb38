package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/fakellm"
	"github.com/carryon-go/carryon/internal/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// spanKey is the key of the names of what encloses a ctx.
type spanKey struct{}

func inSpan(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, spanKey{}, spanOf(ctx)+"/"+name)
}

func spanOf(ctx context.Context) string {
	name, _ := ctx.Value(spanKey{}).(string)
	return name
}

// spans writes down what happens in which span.
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
			s.add("%s: %s", spanOf(ctx), e.Evaluation.Reason.Code())
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
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		var seen spans
		todos := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			seen.add("%s: todos", spanOf(ctx))
			return []todo.Todo{{Content: "Write it", Status: todo.Pending}}, nil
		})
		s := scenario.New(t, m, todos, middleware.WithObserver(seen.observer()))
		s.Transport.Base = roundTripper{&seen, s.Transport.Base}
		require.NoError(t, s.Ask(fakellm.Text("One."), scenario.Edit()).Err)

		first := []string{"/call/turn1: turn 1 ended", "/call: todos", "/call: satisfied"}
		if m.Streamed() {
			first = []string{"/call: todos", "/call: satisfied", "/call/turn1: turn 1 ended"}
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
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
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
		answer := s.Ask(fakellm.Text("One."), scenario.Edit())
		require.NoError(t, answer.Err)
		assert.Equal(t, 2, answer.Outcome.Turns)

		ctx, cancel := context.WithCancelCause(s.Ctx)
		cancel(errors.New("the caller's own"))
		assert.ErrorIs(t, s.Call(ctx, scenario.Request(), fakellm.Text("One.")).Err, context.Canceled, "the caller's ctx still ends the call")
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
				require.NoError(t, s.Ask(fakellm.Text("One.").Delay(time.Second), scenario.Edit().Delay(3*time.Second)).Err)

				require.Len(t, seen.turns, 2)
				first, second := seen.turns[0].Times, seen.turns[1].Times
				assert.Equal(t, began, first.Began)
				assert.Equal(t, time.Second, first.FirstChunk.Sub(first.Began))
				assert.False(t, first.Finished.Before(first.FirstChunk))
				assert.False(t, first.Ended.Before(first.Finished))
				assert.Equal(t, 3*time.Second, second.FirstChunk.Sub(second.Began))
			})
		})
	}
}
