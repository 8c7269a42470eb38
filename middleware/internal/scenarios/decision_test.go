package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// requestCase is a change to [scenario.Request], and the reason why the changed
// request is not continued, if it is not.
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

// rawSchema is a JSON schema that is sent byte for byte.
type rawSchema string

func (s rawSchema) MarshalJSON() ([]byte, error) { return []byte(s), nil }

// outOfScope are requests that are never continued.
var outOfScope = []requestCase{
	{"no tools", func(r *openai.ChatCompletionRequest) { r.Tools = nil }, reasons.NoTools},
	{"tool choice none", choose("none"), reasons.ToolChoice},
	{"tool choice required", choose("required"), reasons.ToolChoice},
	{"tool choice any", choose("any"), reasons.ToolChoice},
	{"named tool", choose(openai.ToolChoice{
		Type: openai.ToolTypeFunction, Function: openai.ToolFunction{Name: "edit_file"},
	}), reasons.ToolChoice},
	{"named tool as a map", choose(map[string]any{
		"type": "function", "function": map[string]any{"name": "edit_file"},
	}), reasons.ToolChoice},
	{"one of the allowed tools required", choose(scenario.AllowedTools("required")), reasons.ToolChoice},
	{"two choices", func(r *openai.ChatCompletionRequest) { r.N = 2 }, reasons.ManyChoices},
	{"JSON object", format(openai.ChatCompletionResponseFormatTypeJSONObject), reasons.JSON},
	{"JSON schema", format(openai.ChatCompletionResponseFormatTypeJSONSchema), reasons.JSON},
	{"legacy functions", func(r *openai.ChatCompletionRequest) {
		//nolint:staticcheck // deprecated, and still sent
		r.Functions = []openai.FunctionDefinition{{Name: "edit_file", Parameters: rawSchema(`{}`)}}
	}, reasons.LegacyFunctions},
	{"legacy function call", func(r *openai.ChatCompletionRequest) {
		r.FunctionCall = "auto" //nolint:staticcheck // deprecated, and still sent
	}, reasons.LegacyFunctions},
}

func TestRequestOutOfScopeIsNotContinued(t *testing.T) {
	t.Parallel()
	for _, tt := range outOfScope {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				todos := scenario.NewList(scenario.InProgress("Write the parser"))
				s := scenario.New(t, m, todos)
				request := scenario.Request()
				tt.change(&request)
				got := s.Call(s.Ctx, request, fakellm.Text(scenario.Plan))

				scenario.RequireSame(t, scenario.SDKAnswer(t, m, request, fakellm.Text(scenario.Plan)), got)
				assert.Equal(t, middleware.Outcome{Session: "s", Turns: 1, Reason: tt.reason, Ended: true}, got.Outcome)
				assert.Len(t, s.Server.Requests(), 1)
				assert.Zero(t, todos.Reads(), "the todos are not read")
				decisions := carryontest.Recorded[middleware.Decision](s.Events)
				require.Len(t, decisions, 1)
				assert.Equal(t, tt.reason, decisions[0].Reason)
			})
		})
	}
}

// inScope are requests that are continued.
var inScope = []requestCase{
	{name: "tool choice auto", change: choose("auto")},
	{name: "one choice", change: func(r *openai.ChatCompletionRequest) { r.N = 1 }},
	{name: "text format", change: format(openai.ChatCompletionResponseFormatTypeText)},
	{name: "some of the allowed tools", change: choose(scenario.AllowedTools("auto"))},
}

func TestRequestInScopeIsContinued(t *testing.T) {
	t.Parallel()
	for _, tt := range inScope {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				request := scenario.Request()
				tt.change(&request)
				got := s.Call(s.Ctx, request, fakellm.Text(scenario.Plan), scenario.Edit())

				scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
				assert.Len(t, s.Server.Requests(), 2)
			})
		})
	}
}

func TestToollessCallIsContinuedOnRequest(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.NewList(scenario.Pending("Tell the end")), middleware.WithToollessCalls(),
			middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1}))
		request := scenario.Request()
		request.Tools = nil
		got := s.Call(s.Ctx, request, scenario.Texts("Once upon a time.", "The end.")...)

		scenario.RequireComplete(t, m, got, "Once upon a time.\n\nThe end.", "stop")
		requests := s.Server.Requests()
		require.Len(t, requests, 2)
		assert.NotContains(t, requests[1].JSON(), "tools", "a first tool is never added")
	})
}

func TestDisabledSettingKeepsTurnsFromBeingContinued(t *testing.T) {
	t.Parallel()
	for name, session := range map[string]string{"for the session": "s", "for all": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				require.NoError(t, s.Middleware.Settings().SetTodoContinuation(t.Context(), session, false))
				got := s.Ask(fakellm.Text(scenario.Plan))
				scenario.RequireSame(t, scenario.SDKAnswer(t, m, scenario.Request(), fakellm.Text(scenario.Plan)), got)
				assert.Equal(t, reasons.Disabled, got.Outcome.Reason)

				require.NoError(t, s.Middleware.Settings().SetTodoContinuation(t.Context(), session, true))
				got = s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
				assert.Equal(t, 1, got.Outcome.Attempts, "it is on again")
				assert.Len(t, s.Server.Requests(), 3)
			})
		})
	}
}

func TestSettingCountsFromTheNextDecisionOn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		off := func() { assert.NoError(t, s.Middleware.Settings().SetTodoContinuation(t.Context(), "s", false)) }
		got := s.Ask(fakellm.Text("One:"), doFirst(off, fakellm.Text("Two:")))

		scenario.RequireComplete(t, m, got, "One:\n\nTwo:", "stop")
		assert.Equal(t, reasons.Disabled, got.Outcome.Reason)
		assert.Len(t, s.Server.Requests(), 2)
	})
}

func TestSettingOfAnotherSessionHasNoEffect(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		require.NoError(t, s.Middleware.Settings().SetTodoContinuation(t.Context(), "another", false))
		got := s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
	})
}

func TestSuppressedCallIsNotContinued(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Call(continuation.Suppress(s.Ctx), scenario.Request(), fakellm.Text(scenario.Plan))
		scenario.RequireSame(t, scenario.SDKAnswer(t, m, scenario.Request(), fakellm.Text(scenario.Plan)), got)
		assert.Equal(t, reasons.Suppressed, got.Outcome.Reason)
		assert.Len(t, s.Server.Requests(), 1)
	})
}

// A transport below the client makes a call of its own with the ctx of the outer call, such as a summary, or a retry
// with another model.
func TestOuterLayerActsAndInnerDoesNot(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		inner := carryontest.NewRecorder()
		below := s.ClientWith(middleware.New(scenario.TwoTodos(), scenario.NoInterval(), middleware.WithObserver(inner.Observer())))
		asked := 0
		above := m.Client(scenario.Config(s.Transport.URL, scenario.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
			asked++
			if asked == 1 {
				nested := m.Call(r.Context(), below, scenario.Request())
				assert.Equal(t, "Inner.", nested.Text)
			}
			return s.Transport.RoundTrip(r)
		})), s.Middleware)
		s.Server.Append(fakellm.Text("Inner."), fakellm.Text(scenario.Plan), scenario.Edit())
		got := m.Call(s.Ctx, above, scenario.Request())

		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
		assert.Len(t, s.Server.Requests(), 3)
		assert.Empty(t, attempts(inner))
		assert.Equal(t, []int{1}, attempts(s.Events))
	})
}

// turnCase is a first turn that is not continued.
type turnCase struct {
	name   string
	turn   fakellm.Turn
	reason continuation.Reason
}

func TestTurnThatIsNoPlainAnswerIsNotContinued(t *testing.T) {
	t.Parallel()
	text := fakellm.Text(scenario.Plan)
	tests := []turnCase{
		{"a tool call", scenario.Edit(), reasons.ToolCalls},
		{"text and a tool call", scenario.Edit().AndText("Now:"), reasons.ToolCalls},
		{"a tool call that reports stop", scenario.Edit().Finish("stop"), reasons.ToolCalls},
		{"a tool call that reports length", scenario.Edit().Finish("length"), reasons.ToolCalls},
		{"a tool call without a finish", scenario.Edit().With(fakellm.NoFinish), reasons.ToolCalls},
		{
			"a todo_pause that was not offered", fakellm.Pause("The disk is full, nothing can be written"),
			reasons.ToolCalls,
		},
		{"a legacy function call", scenario.Edit().With(fakellm.Legacy), reasons.ToolCalls},
		{"finish length", text.Finish("length"), reasons.NotEnded},
		{"finish content_filter", text.Finish("content_filter"), reasons.NotEnded},
		{"finish tool_calls without a call", text.Finish("tool_calls"), reasons.NotEnded},
		{"an unknown finish", text.Finish("exploded"), reasons.NotEnded},
		{"no finish", text.With(fakellm.NoFinish), reasons.NotEnded},
		{"a refusal", fakellm.Text("").Refusal("I can't help with that."), reasons.Refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				todos := scenario.NewList(scenario.InProgress("Write the parser"))
				s := scenario.New(t, m, todos)
				got := s.Ask(tt.turn)

				scenario.RequireSame(t, scenario.SDKAnswer(t, m, scenario.Request(), tt.turn), got)
				assert.Equal(t, tt.reason, got.Outcome.Reason)
				assert.Zero(t, got.Outcome.Attempts)
				assert.Len(t, s.Server.Requests(), 1)
				assert.Zero(t, todos.Reads(), "the todos are not read")
			})
		})
	}
}

func TestProvidersSpellingsOfStopAreContinued(t *testing.T) {
	t.Parallel()
	for _, finish := range []string{"stop", "STOP", "end_turn", "eos", "COMPLETE"} {
		t.Run(finish, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				got := s.Ask(fakellm.Text(scenario.Plan).Finish(finish), scenario.Edit())
				scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
			})
		})
	}
}

func TestTurnThatBrokeOffIsReturnedAsItCame(t *testing.T) {
	t.Parallel()
	text := fakellm.Text("One two three.")
	tests := []struct {
		name     string
		turn     fakellm.Turn
		streamed bool // streams only
	}{
		{name: "HTTP 400", turn: fakellm.Status(http.StatusBadRequest, `{"error":{"message":"no","type":"t"}}`)},
		{name: "HTTP 503", turn: fakellm.Status(http.StatusServiceUnavailable, `<html>`)},
		{name: "cut before the answer", turn: text.Cut()},
		{name: "cut in the answer", turn: text.CutAfter(1)},
		{name: "cut in the text", turn: text.CutAfter(3), streamed: true},
		{name: "cut after the finish", turn: text.CutAfter(-2), streamed: true},
		{name: "cut before the end", turn: text.CutAfter(-1), streamed: true},
		{name: "error event", turn: text.ErrorAfter(2, "overloaded")},
		{name: "error event after the finish", turn: text.ErrorAfter(-2, "overloaded"), streamed: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				if tt.streamed && !m.Streamed() {
					return
				}
				s := scenario.New(t, m, scenario.TwoTodos())
				got := s.Ask(tt.turn)

				want := scenario.SDKAnswer(t, m, scenario.Request(), tt.turn)
				require.Error(t, want.Err)
				scenario.RequireSame(t, want, got)
				assert.Equal(t, reasons.BrokeOff, got.Outcome.Reason)
				assert.Equal(t, got.Err, got.Outcome.Err)
				assert.True(t, got.Outcome.Ended)
				assert.Len(t, s.Server.Requests(), 1)
			})
		})
	}
}

func TestEmptyTurnsAreContinuedLikeAnyOther(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithLimits(continuation.Limits{MaxAttempts: 2, MinInterval: continuation.Off}))
		got := s.Ask(fakellm.Text(" "), fakellm.Text(""), fakellm.Text("\n"))

		require.NoError(t, got.Err)
		assert.Equal(t, "stop", got.Finish)
		assert.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)
		requests := s.Server.Requests()
		require.Len(t, requests, 3)
		for _, request := range requests[1:] {
			answer := request.Messages[2]
			assert.Equal(t, "assistant", answer.Role)
			assert.Equal(t, "(no answer)", answer.Content, "providers refuse an empty message")
		}
	})
}

func TestEmptyTurnThenTextIsContinued(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text(""), fakellm.Text(scenario.Plan), scenario.Edit())

		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
		assert.Len(t, s.Server.Requests(), 3)
	})
}

func TestPausedSessionIsNotContinuedUntilItIsResumed(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		todos := scenario.NewList(scenario.InProgress("Write the parser"))
		s := scenario.New(t, m, todos)
		require.NoError(t, s.Middleware.Pause(s.Ctx, "waiting for the reviewer"))
		got := s.Ask(fakellm.Text(scenario.Plan))
		scenario.RequireSame(t, scenario.SDKAnswer(t, m, scenario.Request(), fakellm.Text(scenario.Plan)), got)
		assert.Equal(t, reasons.Paused, got.Outcome.Reason)
		assert.Nil(t, got.Outcome.Paused, "the model did not pause")
		assert.Zero(t, todos.Reads())

		require.NoError(t, s.Middleware.Resume(s.Ctx))
		got = s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
	})
}

func TestPauseBetweenTheCallsOfAUserTurnHolds(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text(scenario.Plan), scenario.Edit().ID("call_1"))
		require.Equal(t, 1, got.Outcome.Attempts)
		require.NoError(t, s.Middleware.Pause(s.Ctx, "waiting for the reviewer"))

		got = s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_1"), fakellm.Text("Saved."))
		assert.Equal(t, reasons.Paused, got.Outcome.Reason)
		got = s.Call(s.Ctx, scenario.WithUserMessage(scenario.Request(), "Saved.", "Go on."), fakellm.Text(scenario.Plan),
			scenario.Edit())
		assert.Equal(t, 1, got.Outcome.Attempts, "a new user turn ends the pause")
	})
}

func TestPauseDuringAContinuationKeepsTheNextFromBeingSent(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		stop := func() { assert.NoError(t, s.Middleware.Pause(s.Ctx, "enough")) }
		got := s.Ask(fakellm.Text("One:"), doFirst(stop, fakellm.Text("Two:")))
		scenario.RequireComplete(t, m, got, "One:\n\nTwo:", "stop")
		assert.Equal(t, reasons.Paused, got.Outcome.Reason)
	})
}

func TestCallOfAnOlderUserTurnIsSuperseded(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		first, arrived, release := gatedTurn(fakellm.Text(scenario.Plan))
		s.Server.Append(first, scenario.Edit())
		older := inBackground(func() scenario.Answer { return s.Mode.Call(s.Ctx, s.Client, scenario.Request()) })
		<-arrived
		newer := s.Mode.Call(s.Ctx, s.Client, scenario.WithUserMessage(scenario.Request(), "", "Write the lexer first."))
		require.NoError(t, newer.Err)
		release()

		got := <-older
		scenario.RequireComplete(t, m, got, scenario.Plan, "stop")
		assert.Equal(t, reasons.Superseded, got.Outcome.Reason)
		assert.Len(t, s.Server.Requests(), 2)
	})
}

func TestNewUserTurnKeepsAnOlderCallFromItsNextContinuation(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		second, arrived, release := gatedTurn(fakellm.Text("Two:"))
		s.Server.Append(fakellm.Text("One:"), second, scenario.Edit())
		older := inBackground(func() scenario.Answer { return s.Mode.Call(s.Ctx, s.Client, scenario.Request()) })
		<-arrived
		newer := s.Mode.Call(s.Ctx, s.Client, scenario.WithUserMessage(scenario.Request(), "", "Write the lexer first."))
		require.NoError(t, newer.Err)
		release()

		got := <-older
		scenario.RequireComplete(t, m, got, "One:\n\nTwo:", "stop")
		assert.Equal(t, reasons.Superseded, got.Outcome.Reason)
		assert.Len(t, s.Server.Requests(), 3)
	})
}

func TestListWithoutActiveTodosIsNotContinued(t *testing.T) {
	t.Parallel()
	failing := func(context.Context) ([]todo.Todo, error) {
		return []todo.Todo{scenario.Pending("Write")}, errors.New("database is gone")
	}
	panicking := func(context.Context) ([]todo.Todo, error) { panic("no list") }
	hanging := func(ctx context.Context) ([]todo.Todo, error) {
		<-ctx.Done()
		return []todo.Todo{scenario.Pending("Write")}, ctx.Err()
	}
	tests := []struct {
		name  string
		todos todo.Provider
		want  continuation.Reason
		fails error // the failure that is reported, if there is one
	}{
		{name: "no todos", todos: todo.Static(), want: reasons.EmptyList},
		{
			name: "all done", want: reasons.NoActiveTodos,
			todos: todo.Static(scenario.Completed("Write"), todo.Todo{Content: "Test", Status: todo.Cancelled}),
		},
		{name: "unknown status", todos: todo.Static(todo.Todo{Content: "Write", Status: "later"}), want: reasons.UnknownStatus},
		{name: "no list", todos: todo.FromConversation(), want: reasons.NoList},
		{
			name: "a source that fails", todos: todo.ProviderFunc(failing),
			want: reasons.SourceFailed, fails: errors.New("database is gone"),
		},
		{
			name: "a source that panics", todos: todo.ProviderFunc(panicking),
			want: reasons.SourceFailed, fails: &middleware.PanicError{Value: "no list"},
		},
		{
			name: "a source that hangs", todos: todo.ProviderFunc(hanging),
			want: reasons.SourceLate, fails: fmt.Errorf("no list within 20ms: %w", context.DeadlineExceeded),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				within := time.Minute
				if tt.want == reasons.SourceLate {
					within = 20 * time.Millisecond
				}
				s := scenario.New(t, m, tt.todos, scenario.Within(continuation.Limits{MaxAttempts: 3, TodoTimeout: within}))
				got := s.Ask(fakellm.Text(scenario.Plan))

				scenario.RequireSame(t, scenario.SDKAnswer(t, m, scenario.Request(), fakellm.Text(scenario.Plan)), got)
				assert.Equal(t, tt.want, got.Outcome.Reason, got.Outcome)
				failed := carryontest.Recorded[middleware.Failed](s.Events)
				if tt.fails == nil {
					assert.Empty(t, failed)
					require.NoError(t, got.Outcome.Err)
					return
				}
				require.Len(t, failed, 1)
				assert.Equal(t, "todos", failed[0].Op)
				require.EqualError(t, failed[0].Err, tt.fails.Error())
				assert.Equal(t, failed[0].Err, got.Outcome.Err)
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
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var seen []todo.Call
		s := scenario.New(t, m, todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			_, hasDeadline := ctx.Deadline()
			assert.True(t, hasDeadline)
			assert.Equal(t, "s", continuation.Session(ctx))
			for call := range todo.ConversationFrom(ctx) {
				seen = append(seen, call)
			}
			return nil, nil
		}))
		s.Call(s.Ctx, scenario.WithEdit(scenario.WithEdit(scenario.Request(), "call_1"), "call_2"), fakellm.Text(scenario.Plan))
		newest := todo.Call{ID: "call_2", Name: "edit_file", Arguments: "{}", Result: "saved", Answered: true}
		older := newest
		older.ID = "call_1"
		assert.Equal(t, []todo.Call{newest, older}, seen)
	})
}

func TestSecondCallOfASessionThatIsBeingContinuedIsNot(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		held, arrived, release := gatedTurn(scenario.Edit())
		s.Server.Append(fakellm.Text("First:"), held, fakellm.Text("Second:"))
		first := inBackground(func() scenario.Answer { return s.Mode.Call(s.Ctx, s.Client, scenario.Request()) })
		<-arrived
		second := s.Mode.Call(s.Ctx, s.Client, scenario.Request())
		release()

		scenario.RequireComplete(t, m, second, "Second:", "stop")
		assert.Equal(t, reasons.Active, second.Outcome.Reason)
		scenario.RequireComplete(t, m, <-first, "First:", "tool_calls")
		assert.Len(t, s.Server.Requests(), 3)
	})
}

func TestCallsOfOtherSessionsAreContinuedMeanwhile(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		held, arrived, release := gatedTurn(scenario.Edit())
		s.Server.Append(fakellm.Text("First:"), held, fakellm.Text("Second:"), scenario.Edit())
		first := inBackground(func() scenario.Answer { return s.Mode.Call(s.Ctx, s.Client, scenario.Request()) })
		<-arrived
		second := s.Mode.Call(continuation.WithSession(s.Ctx, "another"), s.Client, scenario.Request())
		release()

		scenario.RequireComplete(t, m, second, "Second:", "tool_calls")
		assert.Equal(t, "another", second.Outcome.Session)
		scenario.RequireComplete(t, m, <-first, "First:", "tool_calls")
	})
}

func TestListOfBlankTodosIsNotContinued(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, todo.Static(scenario.Pending(" "), scenario.InProgress("\n\t")))
		got := s.Ask(fakellm.Text(scenario.Plan))
		scenario.RequireSame(t, scenario.SDKAnswer(t, m, scenario.Request(), fakellm.Text(scenario.Plan)), got)
		assert.Equal(t, reasons.NoSuitableTodo, got.Outcome.Reason)
	})
}

func TestTodoInProgressIsChosenBeforePendingOnes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		todos []todo.Todo
		want  string
	}{
		{"first pending", []todo.Todo{scenario.Completed("A"), scenario.Pending("B"), scenario.Pending("C")}, "B"},
		{"first in progress", []todo.Todo{scenario.Pending("A"), scenario.InProgress("B"), scenario.InProgress("C")}, "B"},
		{"blank ones are skipped", []todo.Todo{scenario.InProgress(" "), scenario.Pending(""), scenario.Pending("C")}, "C"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, todo.Static(tt.todos...))
				s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
				started := carryontest.Recorded[middleware.ContinuationStarted](s.Events)
				require.Len(t, started, 1)
				assert.Equal(t, tt.want, started[0].Todo.Content)
				assert.Equal(t, started[0].Prompt, s.Prompts()[0])
			})
		})
	}
}
