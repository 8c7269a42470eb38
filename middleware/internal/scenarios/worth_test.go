package scenarios_test

import (
	"slices"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// write is a call that writes the list.
func write(todos ...string) fakellm.Turn {
	return fakellm.Call("todo_write", scenario.TodoArguments(todos...))
}

// worthOf runs the agent until the model calls no tool, and returns what all calls were
// worth, and each.
func worthOf(t *testing.T, s *scenario.Scenario, request openai.ChatCompletionRequest) (sum middleware.Worth, each []middleware.Worth) {
	t.Helper()
	for {
		got := s.Mode.Call(s.Ctx, s.Client, request)
		require.NoError(t, got.Err)
		each, sum = append(each, got.Outcome.Worth), sum.Plus(got.Outcome.Worth)
		request = executed(request, got)
		if len(got.Calls) == 0 {
			return sum, each
		}
	}
}

// A stall counts as resumed once the list shows it, in whatever call that is.
func TestResumedStallsAreCountedOverSeveralCalls(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, todo.FromConversation())
		s.Server.Append(
			write("in_progress a", "pending b", "pending c"),
			fakellm.Text("First a."), scenario.Edit().Usage(100, 5), // stalls, and is continued
			write("completed a", "in_progress b", "pending c"),
			fakellm.Text("Next is b."), scenario.Edit().Usage(120, 6), // again
			write("completed a", "completed b", "completed c"),
			fakellm.Text("All done."),
		)
		sum, each := worthOf(t, s, scenario.Offering(scenario.Request(), "todo_write"))
		assert.Equal(t, middleware.Worth{Resumed: 2, Finished: 3, Tokens: middleware.Tokens{Input: 220, Output: 11}}, sum)
		assert.Equal(t, 0, each[1].Resumed, "a tool call is no progress yet")
		assert.Equal(t, 1, each[3].Resumed, "the next stall shows the progress of the first")
		assert.Equal(t, middleware.Worth{Resumed: 1, Finished: 2}, each[5])
	})
}

func TestUnwantedContinuationsAreCounted(t *testing.T) {
	t.Parallel()
	limits := middleware.WithLimits(continuation.Limits{MaxAttempts: 2, MinInterval: continuation.Off})
	breaksOff := fakellm.Func(func(r fakellm.Request) fakellm.Turn {
		if r.Stream {
			return fakellm.Pause(scenario.Blocked).CutAfter(3)
		}
		return fakellm.Pause(scenario.Blocked).Cut()
	})
	for name, c := range map[string]struct {
		turns []fakellm.Turn
		want  middleware.Worth
	}{
		"repeated, then text": {
			[]fakellm.Turn{fakellm.Text("First a:"), fakellm.Text("First a:"), fakellm.Text("Really, a:")},
			middleware.Worth{Repeated: 1, NoProgress: 1},
		},
		"paused": {
			[]fakellm.Turn{fakellm.Text("First a:"), fakellm.Pause(scenario.Blocked)},
			middleware.Worth{Paused: 1},
		},
		"a tool call that leads to nothing": {
			[]fakellm.Turn{fakellm.Text("First a:"), scenario.Edit(), fakellm.Text("It is hard:"), fakellm.Pause(scenario.Blocked)},
			middleware.Worth{NoProgress: 1, Paused: 1},
		},
		"pauses that break off": {
			append([]fakellm.Turn{fakellm.Text("First a:")}, slices.Repeat([]fakellm.Turn{breaksOff}, 3)...),
			middleware.Worth{},
		},
		"the provider fails": {
			[]fakellm.Turn{fakellm.Text("First a:"), scenario.Failure(400)},
			middleware.Worth{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, todo.FromConversation(), limits)
				s.Server.Append(append([]fakellm.Turn{write("in_progress a", "pending b")}, c.turns...)...)
				sum, _ := worthOf(t, s, scenario.Offering(scenario.Request(), "todo_write"))
				sum.Tokens, sum.Unreported = middleware.Tokens{}, 0
				assert.Equal(t, c.want, sum)
			})
		})
	}
}

// The user's next message ends what a continuation can be credited with.
func TestProgressOfALaterUserTurnIsNotCounted(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, todo.FromConversation())
		request := scenario.Offering(scenario.Request(), "todo_write")
		s.Server.Append(write("in_progress a"), fakellm.Text("First a:"), scenario.Edit())
		for range 2 {
			got := s.Mode.Call(s.Ctx, s.Client, request)
			require.NoError(t, got.Err)
			request = executed(request, got)
		}
		request.Messages = append(request.Messages, openai.ChatCompletionMessage{Role: "user", Content: "Now go on."})
		s.Server.Append(write("completed a"), fakellm.Text("All done."))
		sum, _ := worthOf(t, s, request)
		assert.Equal(t, middleware.Worth{}, sum)
	})
}

// With a shared store, one replica judges what another has sent.
func TestReplicasJudgeEachOthersContinuations(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		store := records.NewMemoryEngine()
		first := scenario.New(t, m, todo.FromConversation(), middleware.WithRecords(store))
		second := scenario.New(t, m, todo.FromConversation(), middleware.WithRecords(store))
		request := scenario.Offering(scenario.Request(), "todo_write")
		first.Server.Append(write("in_progress a", "pending b"), fakellm.Text("First a:"), scenario.Edit())
		for range 2 {
			got := m.Call(first.Ctx, first.Client, request)
			require.NoError(t, got.Err)
			assert.Zero(t, got.Outcome.Worth.Resumed)
			request = executed(request, got)
		}
		second.Server.Append(write("completed a", "completed b"), fakellm.Text("All done."))
		sum, _ := worthOf(t, second, request)
		assert.Equal(t, middleware.Worth{Resumed: 1, Finished: 2}, sum)
	})
}
