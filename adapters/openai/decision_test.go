package openai_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// requestCase is a request, as a change to [ask], and what is to become of it.
type requestCase struct {
	name   string
	change func(*openai.ChatCompletionRequest)
	reason continuation.Reason
}

func choose(choice any) func(*openai.ChatCompletionRequest) {
	return func(r *openai.ChatCompletionRequest) { r.ToolChoice = choice }
}

func format(kind openai.ChatCompletionResponseFormatType) func(*openai.ChatCompletionRequest) {
	return func(r *openai.ChatCompletionRequest) {
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: kind}
		if kind == openai.ChatCompletionResponseFormatTypeJSONSchema {
			r.ResponseFormat.JSONSchema = &openai.ChatCompletionResponseFormatJSONSchema{
				Name: "answer", Schema: rawSchema(`{"type":"object"}`),
			}
		}
	}
}

// rawSchema is a JSON schema as it is.
type rawSchema string

func (s rawSchema) MarshalJSON() ([]byte, error) { return []byte(s), nil }

// allowed is a tool choice among allowed tools: edit_file, and those named.
func allowed(mode string, more ...string) map[string]any {
	var tools []any
	for _, name := range append([]string{"edit_file"}, more...) {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": name}})
	}
	return map[string]any{"type": "allowed_tools", "allowed_tools": map[string]any{"mode": mode, "tools": tools}}
}

// outOfScope are requests that are not ours.
var outOfScope = []requestCase{
	{"no tools", func(r *openai.ChatCompletionRequest) { r.Tools = nil }, continuation.ReasonNoTools},
	{"tool choice none", choose("none"), continuation.ReasonToolChoice},
	{"tool choice required", choose("required"), continuation.ReasonToolChoice},
	{"tool choice any", choose("any"), continuation.ReasonToolChoice},
	{"named tool", choose(openai.ToolChoice{
		Type: openai.ToolTypeFunction, Function: openai.ToolFunction{Name: "edit_file"},
	}), continuation.ReasonToolChoice},
	{"named tool as a map", choose(map[string]any{
		"type": "function", "function": map[string]any{"name": "edit_file"},
	}), continuation.ReasonToolChoice},
	{"one of the allowed tools required", choose(allowed("required")), continuation.ReasonToolChoice},
	{"two choices", func(r *openai.ChatCompletionRequest) { r.N = 2 }, continuation.ReasonManyChoices},
	{"JSON object", format(openai.ChatCompletionResponseFormatTypeJSONObject), continuation.ReasonJSON},
	{"JSON schema", format(openai.ChatCompletionResponseFormatTypeJSONSchema), continuation.ReasonJSON},
	{"legacy functions", func(r *openai.ChatCompletionRequest) {
		//nolint:staticcheck // deprecated, and still sent
		r.Functions = []openai.FunctionDefinition{{Name: "edit_file", Parameters: rawSchema(`{}`)}}
	}, continuation.ReasonLegacyFunctions},
	{"legacy function call", func(r *openai.ChatCompletionRequest) {
		r.FunctionCall = "auto" //nolint:staticcheck // deprecated, and still sent
	}, continuation.ReasonLegacyFunctions},
}

func TestRequestOutOfScopeIsNotContinued(t *testing.T) {
	t.Parallel()
	for _, tt := range outOfScope {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				todos := newList(inProgress("Write the parser"))
				s := newScene(t, m, todos)
				request := ask()
				tt.change(&request)
				got := s.call(s.ctx, request, carryontest.Text(plan))

				requireSame(t, bareAnswer(t, m, request, carryontest.Text(plan)), got)
				assert.Equal(t, middleware.Outcome{Session: "s", Turns: 1, Reason: tt.reason, Ended: true}, got.Outcome)
				assert.Len(t, s.server.Requests(), 1)
				assert.Zero(t, todos.asks(), "the todos are not asked for")
				decisions := recorded[middleware.Decision](s.events)
				require.Len(t, decisions, 1)
				assert.Equal(t, tt.reason, decisions[0].Evaluation.Reason)
			})
		})
	}
}

// inScope are requests that are continued.
var inScope = []requestCase{
	{name: "tool choice auto", change: choose("auto")},
	{name: "one choice", change: func(r *openai.ChatCompletionRequest) { r.N = 1 }},
	{name: "text format", change: format(openai.ChatCompletionResponseFormatTypeText)},
	{name: "some of the allowed tools", change: choose(allowed("auto"))},
}

func TestRequestInScopeIsContinued(t *testing.T) {
	t.Parallel()
	for _, tt := range inScope {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				request := ask()
				tt.change(&request)
				got := s.call(s.ctx, request, carryontest.Text(plan), edit())

				requireComplete(t, m, got, plan, "tool_calls")
				assert.Len(t, s.server.Requests(), 2)
			})
		})
	}
}

func TestPauseIsAmongTheAllowedToolsOfAContinuation(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		request := ask()
		request.ToolChoice = allowed("auto")
		got := s.call(s.ctx, request, carryontest.Text(plan), edit())

		requireComplete(t, m, got, plan, "tool_calls")
		requests := s.server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, allowed("auto"), requests[0].JSON()["tool_choice"])
		assert.Equal(t, allowed("auto", "todo_pause"), requests[1].JSON()["tool_choice"])
		assert.Equal(t, allowed("auto"), request.ToolChoice, "the caller's is not changed")
	})
}

func TestToollessCallIsContinuedOnRequest(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, newList(pending("Tell the end")), middleware.WithToollessCalls(),
			middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1}))
		request := ask()
		request.Tools = nil
		got := s.call(s.ctx, request, texts("Once upon a time.", "The end.")...)

		requireComplete(t, m, got, "Once upon a time.\n\nThe end.", "stop")
		requests := s.server.Requests()
		require.Len(t, requests, 2)
		assert.NotContains(t, requests[1].JSON(), "tools", "a first tool is never added")
	})
}

func TestDisabledSettingKeepsTurnsFromBeingContinued(t *testing.T) {
	t.Parallel()
	for name, session := range map[string]string{"for the session": "s", "for all": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				s.mw.Settings().SetTodoContinuation(session, false)
				got := s.ask(carryontest.Text(plan))
				requireSame(t, bareAnswer(t, m, ask(), carryontest.Text(plan)), got)
				assert.Equal(t, continuation.ReasonDisabled, got.Outcome.Reason)

				s.mw.Settings().SetTodoContinuation(session, true)
				got = s.ask(carryontest.Text(plan), edit())
				assert.Equal(t, 1, got.Outcome.Attempts, "switched on again")
				assert.Len(t, s.server.Requests(), 3)
			})
		})
	}
}

func TestSettingCountsFromTheNextDecisionOn(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		off := func() { s.mw.Settings().SetTodoContinuation("s", false) }
		got := s.ask(carryontest.Text("One."), then(off, carryontest.Text("Two.")))

		requireComplete(t, m, got, "One.\n\nTwo.", "stop")
		assert.Equal(t, continuation.ReasonDisabled, got.Outcome.Reason)
		assert.Len(t, s.server.Requests(), 2)
	})
}

func TestSettingOfAnotherSessionHasNoEffect(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.mw.Settings().SetTodoContinuation("another", false)
		got := s.ask(carryontest.Text(plan), edit())
		requireComplete(t, m, got, plan, "tool_calls")
	})
}

func TestSuppressedCallIsNotContinued(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.call(continuation.Suppress(s.ctx), ask(), carryontest.Text(plan))
		requireSame(t, bareAnswer(t, m, ask(), carryontest.Text(plan)), got)
		assert.Equal(t, continuation.ReasonSuppressed, got.Outcome.Reason)
		assert.Len(t, s.server.Requests(), 1)
	})
}

// A transport under the client makes calls of its own while a call of the outer layer is under way, with that call's
// ctx: a summary, a retry by another model.
func TestOuterLayerActsAndInnerDoesNot(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		inner := new(recorder)
		below := s.wrap(middleware.New(twoTodos, unhurried, middleware.WithObserver(inner.observer())))
		asked := 0
		above := m.client(configOf(s.wire.url, roundTrip(func(r *http.Request) (*http.Response, error) {
			if asked++; asked == 1 {
				nested := m.call(r.Context(), below, ask())
				assert.Equal(t, "Inner.", nested.Text)
			}
			return s.wire.RoundTrip(r)
		})), s.mw)
		s.server.Append(carryontest.Text("Inner."), carryontest.Text(plan), edit())
		got := m.call(s.ctx, above, ask())

		requireComplete(t, m, got, plan, "tool_calls")
		assert.Len(t, s.server.Requests(), 3)
		assert.Empty(t, attempts(inner))
		assert.Equal(t, []int{1}, attempts(s.events))
	})
}

// turnCase is a first turn that is not continued.
type turnCase struct {
	name   string
	turn   carryontest.Turn
	reason continuation.Reason
}

func TestTurnThatIsNoPlainAnswerIsNotContinued(t *testing.T) {
	t.Parallel()
	said := carryontest.Text(plan)
	tests := []turnCase{
		{"a tool call", edit(), continuation.ReasonToolCalls},
		{"text and a tool call", edit().AndText("Now:"), continuation.ReasonToolCalls},
		{"a tool call that reports stop", edit().Finish("stop"), continuation.ReasonToolCalls},
		{"a tool call that reports length", edit().Finish("length"), continuation.ReasonToolCalls},
		{"a tool call without a finish", edit().NoFinish(), continuation.ReasonToolCalls},
		{
			"a todo_pause that was not offered", carryontest.Pause("The disk is full, nothing can be written"),
			continuation.ReasonToolCalls,
		},
		{"a legacy function call", edit().Legacy(), continuation.ReasonToolCalls},
		{"finish length", said.Finish("length"), continuation.ReasonNotEnded},
		{"finish content_filter", said.Finish("content_filter"), continuation.ReasonNotEnded},
		{"finish tool_calls without a call", said.Finish("tool_calls"), continuation.ReasonNotEnded},
		{"an unknown finish", said.Finish("exploded"), continuation.ReasonNotEnded},
		{"no finish", said.NoFinish(), continuation.ReasonNotEnded},
		{"a refusal", carryontest.Text("").Refusal("I can't help with that."), continuation.ReasonRefused},
		{"no text", carryontest.Text(""), continuation.ReasonEmpty},
		{"white space", carryontest.Pieces(" ", "\n\t", "\u00a0"), continuation.ReasonEmpty},
		{"reasoning only", carryontest.Text("").Reasoning("Hm."), continuation.ReasonEmpty},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				todos := newList(inProgress("Write the parser"))
				s := newScene(t, m, todos)
				got := s.ask(tt.turn)

				requireSame(t, bareAnswer(t, m, ask(), tt.turn), got)
				assert.Equal(t, tt.reason, got.Outcome.Reason)
				assert.Zero(t, got.Outcome.Attempts)
				assert.Len(t, s.server.Requests(), 1)
				assert.Zero(t, todos.asks(), "the todos are not asked for")
			})
		})
	}
}

func TestProvidersSpellingsOfStopAreContinued(t *testing.T) {
	t.Parallel()
	for _, finish := range []string{"stop", "STOP", "end_turn", "eos", "COMPLETE"} {
		t.Run(finish, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				got := s.ask(carryontest.Text(plan).Finish(finish), edit())
				requireComplete(t, m, got, plan, "tool_calls")
			})
		})
	}
}

func TestTurnThatBrokeOffIsReturnedAsItCame(t *testing.T) {
	t.Parallel()
	said := carryontest.Text("One two three.")
	tests := []struct {
		name     string
		turn     carryontest.Turn
		streamed bool // only
	}{
		{name: "HTTP 400", turn: carryontest.Status(http.StatusBadRequest, `{"error":{"message":"no","type":"t"}}`)},
		{name: "HTTP 503", turn: carryontest.Status(http.StatusServiceUnavailable, `<html>`)},
		{name: "cut before the answer", turn: said.Cut()},
		{name: "cut in the answer", turn: said.CutAfter(1)},
		{name: "cut in the text", turn: said.CutAfter(3), streamed: true},
		{name: "cut after the finish", turn: said.CutAfter(-2), streamed: true},
		{name: "cut before the end", turn: said.CutAfter(-1), streamed: true},
		{name: "error event", turn: said.ErrorAfter(2, "overloaded")},
		{name: "error event after the finish", turn: said.ErrorAfter(-2, "overloaded"), streamed: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				if tt.streamed && !m.streamed {
					return
				}
				s := newScene(t, m, twoTodos)
				got := s.ask(tt.turn)

				want := bareAnswer(t, m, ask(), tt.turn)
				require.Error(t, want.Err)
				requireSame(t, want, got)
				assert.Equal(t, continuation.ReasonBrokeOff, got.Outcome.Reason)
				if m.wire {
					require.Error(t, got.Outcome.Err) // as it is on the wire, where no SDK has worded it
				} else {
					assert.Equal(t, got.Err, got.Outcome.Err)
				}
				assert.True(t, got.Outcome.Ended)
				assert.Len(t, s.server.Requests(), 1)
			})
		})
	}
}

func TestEmptyTurnIsContinuedOnceOnRequest(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithEmptyTurns())
		got := s.ask(carryontest.Text(" "), carryontest.Text(""))

		require.NoError(t, got.Err)
		assert.Equal(t, "stop", got.Finish)
		assert.Equal(t, continuation.ReasonEmpty, got.Outcome.Reason)
		requests := s.server.Requests()
		require.Len(t, requests, 2)
		said := requests[1].Messages[2]
		assert.Equal(t, "assistant", said.Role)
		assert.Equal(t, "(no answer)", said.Content, "providers refuse an empty message")
	})
}

func TestEmptyTurnThenTextIsContinued(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithEmptyTurns())
		got := s.ask(carryontest.Text(""), carryontest.Text(plan), edit())

		requireComplete(t, m, got, plan, "tool_calls")
		assert.Len(t, s.server.Requests(), 3)
	})
}

func TestPausedSessionIsNotContinuedUntilItIsResumed(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		todos := newList(inProgress("Write the parser"))
		s := newScene(t, m, todos)
		require.NoError(t, s.mw.Pause(s.ctx, "waiting for the reviewer"))
		got := s.ask(carryontest.Text(plan))
		requireSame(t, bareAnswer(t, m, ask(), carryontest.Text(plan)), got)
		assert.Equal(t, continuation.ReasonPaused, got.Outcome.Reason)
		assert.Nil(t, got.Outcome.Paused, "the model did not pause")
		assert.Zero(t, todos.asks())

		require.NoError(t, s.mw.Resume(s.ctx))
		got = s.ask(carryontest.Text(plan), edit())
		requireComplete(t, m, got, plan, "tool_calls")
	})
}

func TestPauseBetweenTheCallsOfAUserTurnHolds(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text(plan), edit().ID("call_1"))
		require.Equal(t, 1, got.Outcome.Attempts)
		require.NoError(t, s.mw.Pause(s.ctx, "waiting for the reviewer"))

		got = s.call(s.ctx, withHistory(ask(), "call_1"), carryontest.Text("Saved."))
		assert.Equal(t, continuation.ReasonPaused, got.Outcome.Reason)
		got = s.call(s.ctx, said(ask(), "Saved.", "Go on."), carryontest.Text(plan), edit())
		assert.Equal(t, 1, got.Outcome.Attempts, "a new user turn ends the pause")
	})
}

func TestPauseDuringAContinuationKeepsTheNextFromBeingSent(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		stop := func() { assert.NoError(t, s.mw.Pause(s.ctx, "enough")) }
		got := s.ask(carryontest.Text("One."), then(stop, carryontest.Text("Two.")))
		requireComplete(t, m, got, "One.\n\nTwo.", "stop")
		assert.Equal(t, continuation.ReasonPaused, got.Outcome.Reason)
	})
}

func TestCallOfAnOlderUserTurnIsSuperseded(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		first, arrived, letGo := reached(carryontest.Text(plan))
		s.server.Append(first, edit())
		older := meanwhile(func() answer { return s.m.call(s.ctx, s.client, ask()) })
		<-arrived
		newer := s.m.call(s.ctx, s.client, said(ask(), "", "Write the lexer first."))
		require.NoError(t, newer.Err)
		letGo()

		got := <-older
		requireComplete(t, m, got, plan, "stop")
		assert.Equal(t, continuation.ReasonSuperseded, got.Outcome.Reason)
		assert.Len(t, s.server.Requests(), 2)
	})
}

func TestNewUserTurnKeepsAnOlderCallFromItsNextContinuation(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		second, arrived, letGo := reached(carryontest.Text("Two."))
		s.server.Append(carryontest.Text("One."), second, edit())
		older := meanwhile(func() answer { return s.m.call(s.ctx, s.client, ask()) })
		<-arrived
		newer := s.m.call(s.ctx, s.client, said(ask(), "", "Write the lexer first."))
		require.NoError(t, newer.Err)
		letGo()

		got := <-older
		requireComplete(t, m, got, "One.\n\nTwo.", "stop")
		assert.Equal(t, continuation.ReasonSuperseded, got.Outcome.Reason)
		assert.Len(t, s.server.Requests(), 3)
	})
}

func TestListWithoutActiveTodosIsNotContinued(t *testing.T) {
	t.Parallel()
	failing := func(context.Context) ([]todo.Todo, error) {
		return []todo.Todo{pending("Write")}, errors.New("database is gone")
	}
	panicking := func(context.Context) ([]todo.Todo, error) { panic("no list") }
	hanging := func(ctx context.Context) ([]todo.Todo, error) {
		<-ctx.Done()
		return []todo.Todo{pending("Write")}, ctx.Err()
	}
	tests := []struct {
		name  string
		todos todo.Provider
		fails error // what the failure is, if there is one
	}{
		{name: "no todos", todos: todo.Static()},
		{name: "all done", todos: todo.Static(completed("Write"), todo.Todo{Content: "Test", Status: todo.Cancelled})},
		{name: "unknown status", todos: todo.Static(todo.Todo{Content: "Write", Status: "blocked"})},
		{name: "a source that fails", todos: todo.ProviderFunc(failing), fails: errors.New("database is gone")},
		{name: "a source that panics", todos: todo.ProviderFunc(panicking), fails: &middleware.PanicError{Value: "no list"}},
		{name: "a source that hangs", todos: todo.ProviderFunc(hanging), fails: context.DeadlineExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, tt.todos, middleware.WithTodoTimeout(20*time.Millisecond))
				got := s.ask(carryontest.Text(plan))

				requireSame(t, bareAnswer(t, m, ask(), carryontest.Text(plan)), got)
				assert.Equal(t, continuation.ReasonNoActiveTodos, got.Outcome.Reason)
				failed := recorded[middleware.Failed](s.events)
				if tt.fails == nil {
					assert.Empty(t, failed)
					return
				}
				require.Len(t, failed, 1)
				assert.Equal(t, "todos", failed[0].Op)
				require.EqualError(t, failed[0].Err, tt.fails.Error())
				var panicked *middleware.PanicError
				if errors.As(tt.fails, &panicked) {
					require.ErrorAs(t, failed[0].Err, &panicked)
					assert.Equal(t, "no list", panicked.Value)
					assert.Contains(t, string(panicked.Stack), "TestListWithoutActiveTodosIsNotContinued", "where it was")
				}
			})
		})
	}
}

func TestTodosAreAskedForWithSessionDeadlineAndConversation(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		var seen []todo.Call
		s := newScene(t, m, todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			_, hasDeadline := ctx.Deadline()
			assert.True(t, hasDeadline)
			assert.Equal(t, "s", continuation.Session(ctx))
			for call := range todo.ConversationFrom(ctx) {
				seen = append(seen, call)
			}
			return nil, nil
		}))
		s.call(s.ctx, withHistory(withHistory(ask(), "call_1"), "call_2"), carryontest.Text(plan))
		newest := todo.Call{ID: "call_2", Name: "edit_file", Arguments: "{}", Result: "saved", Answered: true}
		older := newest
		older.ID = "call_1"
		assert.Equal(t, []todo.Call{newest, older}, seen)
	})
}

func TestSecondCallOfASessionThatIsBeingContinuedIsNot(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		held, arrived, letGo := reached(edit())
		s.server.Append(carryontest.Text("First."), held, carryontest.Text("Second."))
		first := meanwhile(func() answer { return s.m.call(s.ctx, s.client, ask()) })
		<-arrived
		second := s.m.call(s.ctx, s.client, ask())
		letGo()

		requireComplete(t, m, second, "Second.", "stop")
		assert.Equal(t, continuation.ReasonActive, second.Outcome.Reason)
		requireComplete(t, m, <-first, "First.", "tool_calls")
		assert.Len(t, s.server.Requests(), 3)
	})
}

func TestCallsOfOtherSessionsAreContinuedMeanwhile(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		held, arrived, letGo := reached(edit())
		s.server.Append(carryontest.Text("First."), held, carryontest.Text("Second."), edit())
		first := meanwhile(func() answer { return s.m.call(s.ctx, s.client, ask()) })
		<-arrived
		second := s.m.call(continuation.WithSession(s.ctx, "another"), s.client, ask())
		letGo()

		requireComplete(t, m, second, "Second.", "tool_calls")
		assert.Equal(t, "another", second.Outcome.Session)
		requireComplete(t, m, <-first, "First.", "tool_calls")
	})
}

func TestListOfBlankTodosIsNotContinued(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, todo.Static(pending(" "), inProgress("\n\t")))
		got := s.ask(carryontest.Text(plan))
		requireSame(t, bareAnswer(t, m, ask(), carryontest.Text(plan)), got)
		assert.Equal(t, continuation.ReasonNoSuitableTodo, got.Outcome.Reason)
	})
}

func TestTodoInProgressIsChosenBeforePendingOnes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		todos []todo.Todo
		want  string
	}{
		{"first pending", []todo.Todo{completed("A"), pending("B"), pending("C")}, "B"},
		{"first in progress", []todo.Todo{pending("A"), inProgress("B"), inProgress("C")}, "B"},
		{"blank ones are skipped", []todo.Todo{inProgress(" "), pending(""), pending("C")}, "C"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, todo.Static(tt.todos...))
				s.ask(carryontest.Text(plan), edit())
				started := recorded[middleware.ContinuationStarted](s.events)
				require.Len(t, started, 1)
				assert.Equal(t, tt.want, started[0].Todo.Content)
				assert.Equal(t, started[0].Prompt, s.prompts()[0])
			})
		})
	}
}
