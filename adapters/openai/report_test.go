package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// names returns the types of the events, with the turn each is about.
func (r *recorder) names() []string {
	var names []string
	for _, event := range r.all() {
		value := reflect.ValueOf(event)
		names = append(names, fmt.Sprintf("%s %d", value.Type().Name(), value.FieldByName("Turn").Int()))
	}
	return names
}

// firstTurn returns how a first turn that is continued is reported. That of a stream is decided on at its finish, before
// its usage is in and the turn has ended.
func firstTurn(m mode) []string {
	if m.streamed {
		return []string{"Decision 1", "TurnEnded 1"}
	}
	return []string{"TurnEnded 1", "Decision 1"}
}

func TestEventsComeInOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		turns []carryontest.Turn
		want  []string // after the first turn's
	}{
		{"answered with a call", []carryontest.Turn{carryontest.Text("One."), edit()}, []string{
			"ContinuationStarted 2", "TurnEnded 2", "ContinuationEnded 2", "Decision 2",
		}},
		{"exhausted", texts("One.", "Two.", "Three."), []string{
			"ContinuationStarted 2", "TurnEnded 2", "ContinuationEnded 2", "Decision 2",
			"ContinuationStarted 3", "TurnEnded 3", "ContinuationEnded 3", "Decision 3", "Exhausted 3",
		}},
		{"paused", []carryontest.Turn{carryontest.Text("One."), carryontest.Pause(blocked)}, []string{
			"ContinuationStarted 2", "TurnEnded 2", "ContinuationEnded 2", "Paused 2",
		}},
		{"rejected, then paused", []carryontest.Turn{
			carryontest.Text("One."), carryontest.Pause("stuck"), carryontest.Pause("stuck"),
		}, []string{
			"ContinuationStarted 2", "TurnEnded 2", "ContinuationEnded 2", "Decision 2", "PauseRejected 2",
			"ContinuationStarted 3", "TurnEnded 3", "ContinuationEnded 3", "Paused 3",
		}},
		{"failed", []carryontest.Turn{carryontest.Text("One."), failureOf(http.StatusServiceUnavailable)}, []string{
			"ContinuationStarted 2", "TurnEnded 2", "ContinuationEnded 2", "Failed 2",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos, within(continuation.Limits{MaxAttempts: 2}))
				got := s.ask(tt.turns...)
				require.NoError(t, got.Err)
				assert.Equal(t, append(firstTurn(m), tt.want...), s.events.names())
			})
		})
	}
}

func TestEventsSayWhatHappened(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text("One.").Usage(100, 10),
			edit().AndCall("edit_file", "{}").Usage(200, 20))

		first, second := middleware.Place{Session: "s", Turn: 1}, middleware.Place{Session: "s", Turn: 2, Attempt: 1}
		assert.Equal(t, []middleware.TurnEnded{
			{Place: first, Finish: "stop", Usage: middleware.Usage{Prompt: 100, Completion: 10, Total: 110}},
			{Place: second, Finish: "tool_calls", ToolCalls: 2, Usage: middleware.Usage{Prompt: 200, Completion: 20, Total: 220}},
		}, recorded[middleware.TurnEnded](s.events))
		assert.Equal(t, []middleware.ContinuationStarted{{
			Place: second, Prompt: s.prompts()[0],
			Todo: todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress},
		}}, recorded[middleware.ContinuationStarted](s.events))
		assert.Equal(t, []middleware.ContinuationEnded{{
			Place: second, ToolCalls: 2, Usage: middleware.Usage{Prompt: 200, Completion: 20, Total: 220},
		}}, recorded[middleware.ContinuationEnded](s.events))

		decisions := recorded[middleware.Decision](s.events)
		require.Len(t, decisions, 2)
		assert.True(t, decisions[0].Evaluation.Continue)
		assert.Equal(t, continuation.ReasonSatisfied, decisions[0].Evaluation.Reason)
		assert.Equal(t, 1, decisions[0].Evaluation.Attempt)
		assert.Equal(t, continuation.Met, decisions[0].Evaluation.Conditions[continuation.IntervalElapsed])
		assert.Equal(t, continuation.ReasonToolCalls, decisions[1].Evaluation.Reason)
		assert.Equal(t, "enabled in_scope unbroken !no_tool_calls", decisions[1].Evaluation.Conditions.String())
	})
}

func TestOutcomeSaysWhatBecameOfTheCall(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		ctx, outcomes := middleware.Capture(s.ctx)
		s.server.Append(carryontest.Text("One.").Usage(1, 1), edit().Usage(2, 2), edit(), carryontest.Text("Two."))
		for range 2 {
			callUncaptured(t, ctx, s)
		}
		callUncaptured(t, continuation.Suppress(ctx), s)

		all := outcomes.All()
		require.Len(t, all, 3, "in the order of the calls")
		assert.Equal(t, middleware.Outcome{
			Session: "s", Turns: 2, Attempts: 1, Reason: continuation.ReasonToolCalls, Ended: true,
			Usage: []middleware.Usage{{Prompt: 1, Completion: 1, Total: 2}, {Prompt: 2, Completion: 2, Total: 4}},
		}, all[0])
		assert.Equal(t, 1, all[1].Turns)
		assert.Zero(t, all[1].Attempts)
		assert.Equal(t, continuation.ReasonSuppressed, all[2].Reason)
		assert.Equal(t, all[2], outcomes.Last())
	})
}

// callUncaptured makes a call whose outcome nobody but ctx captures.
func callUncaptured(t *testing.T, ctx context.Context, s *scene) { //nolint:revive // t comes first in tests
	t.Helper()
	if !s.m.streamed {
		_, err := s.client.answer(ctx, ask())
		require.NoError(t, err)
		return
	}
	got, err := s.client.stream(ctx, withUsage())
	require.NoError(t, err)
	_, err = readAll(got)
	require.NoError(t, err)
}

// Wrap's own streams know of all that ends them. Elsewhere it may be the SDK that gives up, which shows when it closes.
func TestOutcomeOfAStreamIsFinalBeforeItIsClosed(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]carryontest.Turn{
		"whole": edit(), "cut": edit().CutAfter(2), "error": edit().ErrorAfter(2, "overloaded"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, typedStream, twoTodos)
			s.server.Append(turn)
			got, err := s.wrapped().CreateChatCompletionStream(s.ctx, ask())
			require.NoError(t, err)
			defer got.Close()
			for err == nil {
				_, err = got.Recv()
			}
			assert.True(t, got.Outcome().Ended)
		})
	}
}

func TestObserversThatPanicDoNotMatter(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		broken := middleware.Observer{
			TurnEnded:           func(context.Context, middleware.TurnEnded) { panic("1") },
			Decision:            func(context.Context, middleware.Decision) { panic("2") },
			ContinuationStarted: func(_ context.Context, e middleware.ContinuationStarted) { panic(e.Prompt) },
			ContinuationEnded:   func(context.Context, middleware.ContinuationEnded) { panic("4") },
			PauseRejected:       func(context.Context, middleware.PauseRejected) { panic("5") },
			Paused:              func(context.Context, middleware.Paused) { panic("6") },
			Exhausted:           func(context.Context, middleware.Exhausted) { panic("7") },
			Failed:              func(context.Context, middleware.Failed) { panic("8") },
		}
		logged := new(logBook)
		after := new(recorder)
		s := newScene(t, m, twoTodos, middleware.WithObserver(broken), middleware.WithObserver(after.observer()),
			middleware.WithLogger(logged.logger()))
		got := s.ask(carryontest.Text("One."), carryontest.Pause("stuck"), carryontest.Pause("stuck"))

		s.requirePaused(t, got, "stuck")
		want := append(firstTurn(m), "ContinuationStarted 2", "TurnEnded 2", "ContinuationEnded 2", "Decision 2",
			"PauseRejected 2", "ContinuationStarted 3", "TurnEnded 3", "ContinuationEnded 3", "Paused 3")
		told := slices.DeleteFunc(after.names(), func(name string) bool { return strings.HasPrefix(name, "Failed") })
		assert.Equal(t, want, told, "the others are told")
		assert.Equal(t, slices.Repeat([]string{"observer"}, len(want)), failures(after))
		assert.Contains(t, logged.String(), `"op":"observer"`)
		assert.NotContains(t, logged.String(), continuation.PromptPreamble, "a panic may quote what the observer was told")
	})
}

// logBook is a log in JSON.
type logBook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

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

// eventful plays a call in which everything is logged at least once.
func eventful(t *testing.T, m mode, opts ...middleware.Option) *logBook {
	t.Helper()
	logged := new(logBook)
	broken := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
		for range todo.ConversationFrom(ctx) {
			return nil, fmt.Errorf("no list for %q", "the todo of somebody")
		}
		return []todo.Todo{{ID: "1", Content: "Write the parser", Status: todo.InProgress}}, nil
	})
	s := newScene(t, m, broken, append(opts, middleware.WithLogger(logged.logger()),
		within(continuation.Limits{MaxAttempts: 2}))...)
	s.ask(carryontest.Text("One."), carryontest.Pause("stuck"), carryontest.Pause(blocked))
	s.call(s.ctx, said(ask(), "One.", "Go on."), texts("Three.", "Four.")...)
	require.NoError(t, s.mw.Resume(s.ctx))
	s.call(s.ctx, said(ask(), "Four.", "Go on."), carryontest.Text("Five."), failureOf(http.StatusServiceUnavailable))
	s.call(s.ctx, withHistory(ask(), "call_1"), carryontest.Text("Six."))
	return logged
}

func TestLogHasLevelsAndAttributes(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		logged := eventful(t, m)
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
			"carryon: turn ended": "DEBUG", "carryon: decision": "DEBUG", "carryon: continuation started": "DEBUG",
			"carryon: continuation ended": "DEBUG", "carryon: paused": "INFO", "carryon: pause rejected": "WARN",
			"carryon: exhausted": "WARN", "carryon: failed": "ERROR",
		}, levels)

		decisions := logged.withMessage(t, "carryon: decision")
		assert.Equal(t, true, decisions[0]["should_continue"])
		assert.Equal(t, continuation.ReasonSatisfied.String(), decisions[0]["reason"])
		assert.Equal(t, "1", decisions[0]["todo_id"])
		assert.Contains(t, decisions[0]["conditions"], "interval_elapsed")
		failed := logged.withMessage(t, "carryon: failed")
		require.Len(t, failed, 2)
		assert.Equal(t, "continuation", failed[0]["op"])
		assert.Contains(t, failed[0]["error"], "503")
		assert.Equal(t, "todos", failed[1]["op"])
	})
}

// private returns texts that stand in prompts, messages, todos, reasons and errors.
func private() []string {
	return []string{
		"Write the parser", "Continue working", "One.", "You write code", "stuck", "grammar.ebnf", "secret of the provider",
		"todo of somebody", "Invalid pause reason",
	}
}

func TestLogHoldsNoTextsUnlessAllowed(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		logged := eventful(t, m)
		for _, text := range append(private(), "no key", "Bearer") {
			assert.NotContains(t, logged.String(), text)
		}
	})
}

func TestLogHoldsTextsIfAllowedButNoKeys(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		logged := eventful(t, m, middleware.WithContent())
		text := logged.String()
		for _, shown := range []string{"Write the parser", "Continue working", "stuck", "grammar.ebnf", "todo of somebody"} {
			assert.Contains(t, text, shown)
		}
		assert.NotContains(t, text, "no key")
		assert.NotContains(t, text, "Bearer")
	})
}

func TestDryRunReportsAndDoesNothing(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithDryRun(), middleware.WithLimits(continuation.Limits{}),
			middleware.WithGate(func(context.Context, middleware.Turn) error {
				t.Error("the gate is asked only for what is sent")
				return nil
			}))
		for range 2 {
			got := s.ask(carryontest.Text(plan))
			requireSame(t, bareAnswerAs(t, m, got.ID, carryontest.Text(plan)), got)
			assert.True(t, got.Outcome.DryRun)
			assert.Equal(t, continuation.ReasonSatisfied, got.Outcome.Reason)
			assert.Equal(t, 1, got.Outcome.Turns)
			assert.Zero(t, got.Outcome.Attempts)
		}
		assert.Len(t, s.server.Requests(), 2)
		assert.Equal(t, continuation.State{}, s.state(t))
		decisions := recorded[middleware.Decision](s.events)
		require.Len(t, decisions, 2)
		for _, decision := range decisions {
			assert.True(t, decision.DryRun)
			assert.True(t, decision.Evaluation.Continue)
			assert.Equal(t, "Write the parser", decision.Evaluation.Todo.Content)
			assert.Equal(t, 1, decision.Evaluation.Attempt)
		}
		assert.Empty(t, attempts(s.events))
	})
}

// bareAnswerAs is bareAnswer of a server that has answered before, as the id shows.
func bareAnswerAs(t *testing.T, m mode, id string, turn carryontest.Turn) answer {
	t.Helper()
	server := carryontest.NewServer(t)
	c := bareOn(server)
	for {
		server.Append(turn)
		if got := m.call(t.Context(), c, ask()); got.ID == id {
			return got
		}
	}
}

func TestDryRunSaysWhatSpeaksAgainst(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, todo.Static(), middleware.WithDryRun())
		assert.Equal(t, continuation.ReasonNoActiveTodos, s.ask(carryontest.Text(plan)).Outcome.Reason)
		assert.Equal(t, continuation.ReasonToolCalls, s.ask(edit()).Outcome.Reason)
		request := ask()
		request.Tools = nil
		passed := s.call(s.ctx, request, carryontest.Text(plan)).Outcome
		assert.Equal(t, continuation.ReasonNoTools, passed.Reason)
		assert.True(t, passed.DryRun)
	})
}

func TestDryRunLeavesATodoPauseOfTheModelAlone(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithDryRun(), middleware.WithPauseTool(middleware.Always))
		got := s.ask(carryontest.Pause(blocked))
		requireSame(t, bareAnswer(t, m, ask(), carryontest.Pause(blocked)), got)
		assert.Nil(t, got.Outcome.Paused)
		assert.NotContains(t, string(s.server.Requests()[0].Body), pause.Name)
	})
}
