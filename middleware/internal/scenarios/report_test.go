package scenarios_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/internal/testkit/syncbuf"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// eventNames returns the types of the events, with the turn of each.
func eventNames(r *carryontest.Recorder) []string {
	var names []string
	for _, event := range r.Events() {
		value := reflect.ValueOf(event)
		names = append(names, fmt.Sprintf("%s %d", value.Type().Name(), value.FieldByName("Turn").Int()))
	}
	return names
}

// firstTurn returns the events of a first turn that is continued.
func firstTurn() []string { return []string{"TurnEnded 1", "Decision 1"} }

func TestEventsComeInOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		turns []fakellm.Turn
		want  []string // after the first turn's
	}{
		{"answered with a call", []fakellm.Turn{fakellm.Text("One:"), scenario.Edit()}, []string{
			"ContinuationStarted 2", "TurnEnded 2", "Decision 2",
		}},
		{"exhausted", scenario.Texts("One:", "Two:", "Three:"), []string{
			"ContinuationStarted 2", "TurnEnded 2", "Decision 2",
			"ContinuationStarted 3", "TurnEnded 3", "Decision 3",
		}},
		{"paused", []fakellm.Turn{fakellm.Text("One:"), fakellm.Pause(scenario.Blocked)}, []string{
			"ContinuationStarted 2", "TurnEnded 2", "PauseCalled 2",
		}},
		{"rejected, then paused", []fakellm.Turn{
			fakellm.Text("One:"), fakellm.Pause("stuck"), fakellm.Pause("stuck"),
		}, []string{
			"ContinuationStarted 2", "TurnEnded 2", "Decision 2", "PauseCalled 2",
			"ContinuationStarted 3", "TurnEnded 3", "PauseCalled 3",
		}},
		{"failed three times", []fakellm.Turn{
			fakellm.Text("One:"), scenario.Failure(http.StatusServiceUnavailable), scenario.Failure(http.StatusServiceUnavailable), scenario.Failure(http.StatusServiceUnavailable),
		}, []string{
			"ContinuationStarted 2", "TurnEnded 2", "Failed 2", "Decision 2",
			"ContinuationStarted 3", "TurnEnded 3", "Failed 3", "Decision 3",
			"ContinuationStarted 4", "TurnEnded 4", "Failed 4",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos(), scenario.Within(continuation.Limits{MaxAttempts: 2}))
				got := s.Ask(tt.turns...)
				require.NoError(t, got.Err)
				assert.Equal(t, append(firstTurn(), tt.want...), eventNames(s.Events))
			})
		})
	}
}

// timeless returns the ends of turns without their times.
func timeless(turns []middleware.TurnEnded) []middleware.TurnEnded {
	for i := range turns {
		turns[i].Times = middleware.Times{}
	}
	return turns
}

func TestEventsSayWhatHappened(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text("One:").Usage(100, 10),
			scenario.Edit().AndCall("edit_file", "{}").Usage(200, 20))

		first, second := continuation.TurnID{Session: "s", Call: 1, Turn: 1}, continuation.TurnID{Session: "s", Call: 1, Turn: 2, Attempt: 1}
		assert.Equal(t, []middleware.TurnEnded{
			{
				TurnID: first, ResponseID: "chatcmpl-1", ResponseModel: "test-model", Finish: "stop",
				Usage: adapter.Usage{Prompt: 100, Completion: 10, Total: 110},
			},
			{
				TurnID: second, ResponseID: "chatcmpl-2", ResponseModel: "test-model", Finish: "tool_calls", ToolCalls: 2, Result: "tool_call",
				Usage: adapter.Usage{Prompt: 200, Completion: 20, Total: 220},
			},
		}, timeless(carryontest.Recorded[middleware.TurnEnded](s.Events)))
		assert.Equal(t, []middleware.ContinuationStarted{{
			TurnID: second, Prompt: s.Prompts()[0],
			Todo: todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress},
		}}, carryontest.Recorded[middleware.ContinuationStarted](s.Events))

		decisions := carryontest.Recorded[middleware.Decision](s.Events)
		require.Len(t, decisions, 2)
		assert.True(t, decisions[0].Continue)
		assert.Equal(t, reasons.Satisfied, decisions[0].Reason)
		assert.Equal(t, 1, decisions[0].Attempt)
		assert.Contains(t, decisions[0].Conditions, " interval_elapsed")
		assert.Equal(t, reasons.ToolCalls, decisions[1].Reason)
		assert.Equal(t, "enabled in_scope unbroken !no_tool_calls", decisions[1].Conditions)
	})
}

func TestOutcomeSaysWhatBecameOfTheCall(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		ctx, outcomes := middleware.Capture(s.Ctx)
		s.Server.Append(fakellm.Text("One:").Usage(1, 1), scenario.Edit().Usage(2, 2), scenario.Edit(), fakellm.Text("Two:"))
		for range 2 {
			callUncaptured(t, ctx, s)
		}
		callUncaptured(t, continuation.Suppress(ctx), s)

		all := outcomes.All()
		require.Len(t, all, 3, "in the order of the calls")
		assert.Equal(t, middleware.Outcome{
			Session: "s", Turns: 2, Attempts: 1, Reason: reasons.ToolCalls, Wrote: true, Ended: true,
			List:  continuation.List{Todos: 2, Active: 2},
			Worth: middleware.Worth{Tokens: middleware.Tokens{Input: 2, Output: 2}},
			Usage: []adapter.Usage{{Prompt: 1, Completion: 1, Total: 2}, {Prompt: 2, Completion: 2, Total: 4}},
		}, all[0])
		assert.Equal(t, 1, all[1].Turns)
		assert.Zero(t, all[1].Attempts)
		assert.Equal(t, reasons.Suppressed, all[2].Reason)
		assert.Equal(t, all[2], outcomes.Last())
	})
}

// callUncaptured makes a call whose outcome only ctx captures.
func callUncaptured(t *testing.T, ctx context.Context, s *scenario.Scenario) { //nolint:revive // t comes first in tests
	t.Helper()
	if !s.Mode.Streamed() {
		_, err := s.Client.Complete(ctx, scenario.Request())
		require.NoError(t, err)
		return
	}
	got, err := s.Client.Stream(ctx, scenario.RequestWithUsage())
	require.NoError(t, err)
	_, err = scenario.ReadAll(got)
	require.NoError(t, err)
}

func TestObserversThatPanicDoNotMatter(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		broken := middleware.Observer{
			TurnEnded:           func(context.Context, middleware.TurnEnded) { panic("1") },
			Decision:            func(context.Context, middleware.Decision) { panic("2") },
			ContinuationStarted: func(_ context.Context, e middleware.ContinuationStarted) { panic(e.Prompt) },
			PauseCalled:         func(context.Context, middleware.PauseCalled) { panic("4") },
			Failed:              func(context.Context, middleware.Failed) { panic("5") },
		}
		logged := new(logBook)
		after := carryontest.NewRecorder()
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithObserver(broken), middleware.WithObserver(after.Observer()),
			middleware.WithLogger(logged.logger()))
		got := s.Ask(fakellm.Text("One:"), fakellm.Pause("stuck"), fakellm.Pause("stuck"))

		requirePaused(t, s, got, "stuck")
		want := append(firstTurn(), "ContinuationStarted 2", "TurnEnded 2", "Decision 2",
			"PauseCalled 2", "ContinuationStarted 3", "TurnEnded 3", "PauseCalled 3")
		others := slices.DeleteFunc(eventNames(after), func(name string) bool { return strings.HasPrefix(name, "Failed") })
		assert.Equal(t, want, others, "the other observers get all events")
		assert.Equal(t, slices.Repeat([]string{"observer"}, len(want)), failures(after))
		assert.Contains(t, logged.String(), `"op":"observer"`)
		assert.NotContains(t, logged.String(), continuation.PromptPreamble, "a panic may quote the event")
	})
}

// logBook is a log in JSON, for tests to read.
type logBook struct{ syncbuf.Buffer }

func (l *logBook) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func (l *logBook) lines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for line := range strings.Lines(l.String()) {
		var attrs map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &attrs))
		lines = append(lines, attrs)
	}
	return lines
}

func (l *logBook) withMessage(t *testing.T, message string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for _, line := range l.lines(t) {
		if line["msg"] == message {
			found = append(found, line)
		}
	}
	return found
}

// loggedCalls makes calls in which everything is logged at least once.
func loggedCalls(t *testing.T, m scenario.Mode, opts ...middleware.Option) *logBook {
	t.Helper()
	logged := new(logBook)
	broken := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
		for range todo.ConversationFrom(ctx) {
			return nil, fmt.Errorf("no list for %q", "the todo of somebody")
		}
		return []todo.Todo{{ID: "1", Content: "Write the parser", Status: todo.InProgress}}, nil
	})
	options := append(opts, middleware.WithLogger(logged.logger()), scenario.Within(continuation.Limits{MaxAttempts: 2}))
	scenario.New(t, m, broken, options...).Ask(scenario.Texts("One:", "Two:", "Three:")...)
	s := scenario.New(t, m, broken, options...)
	s.Ask(fakellm.Text("One:"), fakellm.Pause("stuck"), fakellm.Pause(scenario.Blocked))
	s.Call(s.Ctx, scenario.WithUserMessage(scenario.Request(), "One:", "Go on."), scenario.Texts("Three:", "Four:")...)
	require.NoError(t, s.Middleware.Resume(s.Ctx))
	s.Call(s.Ctx, scenario.WithUserMessage(scenario.Request(), "Four:", "Go on."), fakellm.Text("Five:"),
		scenario.Failure(http.StatusServiceUnavailable), scenario.Failure(http.StatusServiceUnavailable), scenario.Failure(http.StatusServiceUnavailable))
	s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_1"), fakellm.Text("Six:"))
	return logged
}

func TestLogHasLevelsAndAttributes(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		logged := loggedCalls(t, m)
		levels := map[string]string{}
		for _, line := range logged.lines(t) {
			message, level := fmt.Sprint(line["msg"]), fmt.Sprint(line["level"])
			if before, ok := levels[message]; ok {
				assert.Equal(t, before, level)
			}
			levels[message] = level
			assert.Equal(t, "s", line["session"])
			assert.Contains(t, line, "turn")
			assert.Contains(t, line, "attempt")
		}
		assert.Equal(t, map[string]string{
			"carryon: turn ended": "DEBUG", "carryon: worth": "DEBUG", "carryon: decision": "DEBUG", "carryon: continuation started": "INFO",
			"carryon: continuation ended": "DEBUG", "carryon: paused": "INFO", "carryon: pause rejected": "WARN",
			"carryon: exhausted": "WARN", "carryon: failed": "ERROR",
		}, levels)

		decisions := logged.withMessage(t, "carryon: decision")
		assert.Equal(t, true, decisions[0]["should_continue"])
		assert.Equal(t, reasons.Satisfied.String(), decisions[0]["reason"])
		assert.Equal(t, "satisfied", decisions[0]["code"])
		assert.Equal(t, "1", decisions[0]["todo_id"])
		assert.EqualValues(t, 1, decisions[0]["todos"])
		assert.EqualValues(t, 1, decisions[0]["active"])
		assert.Equal(t, "the program's source", decisions[0]["list_from"])
		assert.Len(t, logged.withMessage(t, "carryon: continuation started"), 8, "a line for each request that was added")
		assert.Contains(t, decisions[0]["conditions"], "interval_elapsed")
		failed := logged.withMessage(t, "carryon: failed")
		require.Len(t, failed, 4, "it was tried three times")
		assert.Equal(t, "continuation", failed[0]["op"])
		assert.Contains(t, failed[0]["error"], "503")
		assert.Equal(t, "HTTP status 503", failed[0]["error"])
		assert.Equal(t, "todos", failed[3]["op"])
		assert.Equal(t, `no list for "the todo of somebody"`, failed[3]["error"], "the program's own errors, as they are")
	})
}

// privateTexts returns texts of prompts, messages, todos, reasons and errors.
func privateTexts() []string {
	return []string{
		"Write the parser", "continue working", "One:", "You write code", "stuck", "grammar.ebnf", "secret of the provider",
		"Invalid pause reason",
	}
}

func TestLogHoldsNoTextsUnlessAllowed(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		logged := loggedCalls(t, m)
		for _, text := range append(privateTexts(), "no key", "Bearer") {
			assert.NotContains(t, logged.String(), text)
		}
	})
}

func TestLogHoldsTextsIfAllowedButNoKeys(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		logged := loggedCalls(t, m, middleware.WithLogContent())
		text := logged.String()
		for _, shown := range []string{"Write the parser", "continue working", "stuck", "grammar.ebnf", "todo of somebody"} {
			assert.Contains(t, text, shown)
		}
		assert.NotContains(t, text, "no key")
		assert.NotContains(t, text, "Bearer")
	})
}

func TestDryRunReportsAndDoesNothing(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithDryRun(), middleware.WithLimits(continuation.Limits{}),
			middleware.WithGate(func(context.Context, middleware.NextTurn) error {
				t.Error("the gate is asked only before a prompt is sent")
				return nil
			}))
		for range 2 {
			got := s.Ask(fakellm.Text(scenario.Plan))
			scenario.RequireSame(t, sdkAnswerWithID(t, m, got.ID, fakellm.Text(scenario.Plan)), got)
			assert.True(t, got.Outcome.DryRun)
			assert.Equal(t, reasons.Satisfied, got.Outcome.Reason)
			assert.Equal(t, 1, got.Outcome.Turns)
			assert.Zero(t, got.Outcome.Attempts)
		}
		assert.Len(t, s.Server.Requests(), 2)
		assert.Equal(t, decision.State{}, s.State(t))
		decisions := carryontest.Recorded[middleware.Decision](s.Events)
		require.Len(t, decisions, 2)
		for _, decision := range decisions {
			assert.True(t, decision.DryRun)
			assert.True(t, decision.Continue)
			assert.Equal(t, "Write the parser", decision.Todo.Content)
			assert.Equal(t, 1, decision.Attempt)
		}
		assert.Empty(t, attempts(s.Events))
	})
}

// sdkAnswerWithID returns the SDK's own reading of a turn, from a server that has answered often enough for the answer
// to have this id.
func sdkAnswerWithID(t *testing.T, m scenario.Mode, id string, turn fakellm.Turn) scenario.Answer {
	t.Helper()
	server := fakellm.NewServer(t)
	c := scenario.SDKClient(scenario.HTTPConfig(server))
	for {
		server.Append(turn)
		if got := m.Call(t.Context(), c, scenario.Request()); got.ID == id {
			return got
		}
	}
}

func TestDryRunSaysWhatSpeaksAgainst(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, todo.Static(), middleware.WithDryRun())
		assert.Equal(t, reasons.EmptyList, s.Ask(fakellm.Text(scenario.Plan)).Outcome.Reason)
		assert.Equal(t, reasons.ToolCalls, s.Ask(scenario.Edit()).Outcome.Reason)
		request := scenario.Request()
		request.Tools = nil
		passed := s.Call(s.Ctx, request, fakellm.Text(scenario.Plan)).Outcome
		assert.Equal(t, reasons.NoTools, passed.Reason)
		assert.True(t, passed.DryRun)
	})
}

func TestDryRunLeavesATodoPauseOfTheModelAlone(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithDryRun(), middleware.WithPauseTool(middleware.PauseToolAlways))
		got := s.Ask(fakellm.Pause(scenario.Blocked))
		scenario.RequireSame(t, scenario.SDKAnswer(t, m, scenario.Request(), fakellm.Pause(scenario.Blocked)), got)
		assert.Nil(t, got.Outcome.Paused)
		assert.NotContains(t, string(s.Server.Requests()[0].Body), pause.ToolName)
	})
}
