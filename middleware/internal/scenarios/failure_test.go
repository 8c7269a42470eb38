package scenarios_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// failingTurns are continuations that fail, in every mode.
var failingTurns = []struct {
	name    string
	turn    fakellm.Turn
	shown   string // of a stream, after the first turn's text
	problem string // what the next prompt says
}{
	{"HTTP 400", scenario.Failure(http.StatusBadRequest), "", "HTTP 400"},
	{"HTTP 401", scenario.Failure(http.StatusUnauthorized), "", "HTTP 401"},
	{"HTTP 429", scenario.Failure(http.StatusTooManyRequests), "", "HTTP 429"},
	{"HTTP 503", scenario.Failure(http.StatusServiceUnavailable), "", "HTTP 503"},
	{"HTTP 502 of a proxy", fakellm.Status(http.StatusBadGateway, "<html>the secret</html>"), "", "HTTP 502"},
	{"connection refused", fakellm.Text("Two:").Cut(), "", "transport"},
	{"cut at once", fakellm.Text("Two:").CutAfter(0), "", "transport"},
	{"cut after the role", fakellm.Text("Two:").CutAfter(1), "", "transport"},
	{"ended at once", fakellm.Text("Two:").EndAfter(0), "", "transport"},
}

// failingStreams are continuations that fail in the middle of a stream, which shows the text before the failure.
var failingStreams = []struct {
	name    string
	turn    fakellm.Turn
	shown   string
	problem string
}{
	{"cut in the text", fakellm.Text("Two three four.").CutAfter(3), "\n\nTwo three ", "transport"},
	{"cut before the finish", fakellm.Pieces("Two:").CutAfter(2), "\n\nTwo:", "transport"},
	{"error event at once", fakellm.Text("Two:").ErrorAfter(0, "the secret"), "", "transport"},
	{"error event in the text", fakellm.Text("Two three four.").ErrorAfter(3, "the secret"), "\n\nTwo three ", "transport"},
	{"ended in the text", fakellm.Text("Two three four.").EndAfter(3), "\n\nTwo three ", "transport"},
	{"no finish", fakellm.Text("Two:").With(fakellm.NoFinish), "\n\nTwo:", "transport"},
	{"no finish and no [DONE]", fakellm.Text("Two:").With(fakellm.NoFinish).NoDone(), "\n\nTwo:", "transport"},
	{"text held that may be a pause", fakellm.Pieces("Two. ", "todo_pa").With(fakellm.NoFinish), "\n\nTwo. todo_pa", "transport"},
	{"half a todo_pause", fakellm.Pause(scenario.Blocked).CutAfter(3), "", "transport"},
	{"half a name that may be todo_pause", fakellm.Call("todo_write", "{}").With(fakellm.SplitName).CutAfter(2), "", "transport"},
	{
		"broken JSON", fakellm.Chunks(`{"id":"x","choices":[{"index":0,"delta":{"content":"Two:"}}]}`, `{"id`), "\n\nTwo:",
		"transport",
	},
}

func TestFailedContinuationCostsNothingOfWhatCameBefore(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		tests := failingTurns
		if m.Streamed() {
			tests = slices.Concat(tests, failingStreams)
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				s := scenario.New(t, m, scenario.TwoTodos())
				refused := tt.problem == "HTTP 400" || tt.problem == "HTTP 401"
				turns := []fakellm.Turn{fakellm.Text("One:").Usage(100, 11), tt.turn}
				unshown := !m.Streamed() || tt.shown == ""
				if !refused && unshown {
					turns = append(turns, tt.turn, tt.turn) // it is tried three times
				}
				sent := len(turns)
				got := s.Ask(turns...)

				text := "One:"
				if m.Streamed() {
					text += tt.shown
				}
				scenario.RequireComplete(t, m, got, text, "stop")
				assert.Empty(t, got.Calls)
				require.NotNil(t, got.Usage)
				assert.Equal(t, 111, got.Usage.TotalTokens, "the usage of the first turn alone")
				assert.Equal(t, reasons.Failed, got.Outcome.Reason)
				require.Error(t, got.Outcome.Err)
				assert.Len(t, s.Server.Requests(), sent)
				failed := carryontest.Recorded[middleware.Failed](s.Events)
				require.Len(t, failed, sent-1)
				assert.Equal(t, "continuation", failed[0].Op)
				assert.Equal(t, got.Outcome.Err, failed[sent-2].Err)
				used := 1
				if unshown {
					used = 0
				}
				assert.Equal(t, used, s.State(t).Attempts, "what nobody has seen is no attempt")

				if refused {
					got = s.Ask(fakellm.Text("One:"))
					assert.Equal(t, reasons.ProviderRefused, got.Outcome.Reason)
					return
				}
				s.Server.Append(fakellm.Text("One:"), scenario.Edit())
				got = s.Ask()
				require.NoError(t, got.Err)
				prompt := s.Prompts()[sent]
				assert.Equal(t, !unshown, strings.Contains(prompt, "Previous attempt: it failed ("+tt.problem+")"))
				assert.NotContains(t, prompt, "secret", "never text from the provider")
			})
		}
	})
}

// A "no" to the hidden request is asked for once, and the answer ends as the first turn did, in the typed client as on
// the wire.
func TestRefusedContinuationIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	const quota = `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		turns := map[string]fakellm.Turn{
			"a refusal":         fakellm.Text("").Refusal("I can't help with that."),
			"a content filter":  fakellm.Text("").Finish("content_filter"),
			"a filter and text": fakellm.Text("Two").Finish("content_filter"),
		}
		if m.Streamed() {
			turns["no quota, in a stream"] = fakellm.Chunks(quota)
		} else {
			turns["no quota"] = fakellm.Status(http.StatusTooManyRequests, quota)
		}
		for name, turn := range turns {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := scenario.New(t, m, scenario.TwoTodos())
				got := s.Ask(fakellm.Text("One:"), turn)
				require.NoError(t, got.Err)
				assert.Equal(t, "stop", got.Finish)
				assert.True(t, strings.HasPrefix(got.Text, "One:"), got.Text)
				assert.NotContains(t, got.Text, "I can't")
				assert.Equal(t, reasons.Failed, got.Outcome.Reason)
				require.Error(t, got.Outcome.Err)
				assert.Len(t, s.Server.Requests(), 2)
			})
		}
	})
}

func TestFailureAfterAGoodContinuationKeepsThatOne(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:").Usage(100, 1), fakellm.Text("Two:").Usage(200, 2).Finish("end_turn"),
			scenario.Failure(http.StatusServiceUnavailable), scenario.Failure(http.StatusServiceUnavailable), scenario.Failure(http.StatusServiceUnavailable))
		scenario.RequireComplete(t, m, got, "One:\n\nTwo:", "end_turn")
		require.NotNil(t, got.Usage)
		assert.Equal(t, 103, got.Usage.TotalTokens)
		assert.Equal(t, 5, got.Outcome.Turns)
		assert.Equal(t, 4, got.Outcome.Attempts)
	})
}

func TestContinuationWithoutAFinishIsIncomplete(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		cut := fakellm.Text("Two:").With(fakellm.NoFinish)
		turns := []fakellm.Turn{fakellm.Text("One:"), cut}
		if !m.Streamed() { // nothing of it was shown
			turns = append(turns, cut, cut)
		}
		got := s.Ask(turns...)
		require.NoError(t, got.Err)
		assert.Equal(t, "stop", got.Finish)
		require.ErrorIs(t, got.Outcome.Err, middleware.ErrIncomplete)
	})
}

// Half a call must not look complete.
func TestFailureInTheCallersToolCallIsReturned(t *testing.T) {
	t.Parallel()
	call := fakellm.Call("edit_file", `{"path":"parser.go","text":"package parser"}`)
	tests := []struct {
		name string
		turn fakellm.Turn
		want error
	}{
		{"cut", call.CutAfter(3), io.ErrUnexpectedEOF},
		{"cut before the finish", call.With(fakellm.WholeCalls).CutAfter(2), io.ErrUnexpectedEOF},
		{"ended", call.EndAfter(3), middleware.ErrIncomplete},
		{"no finish", call.With(fakellm.NoFinish), middleware.ErrIncomplete},
		{"legacy call cut", call.With(fakellm.Legacy).CutAfter(2), io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
			got := s.Ask(fakellm.Text("One:"), tt.turn)
			require.ErrorIs(t, got.Err, tt.want)
			assert.Empty(t, got.Finish, "the answer does not look complete")
			assert.Equal(t, "One:", got.Text)
			require.ErrorIs(t, got.Outcome.Err, tt.want)
			assert.Equal(t, reasons.Failed, got.Outcome.Reason)
			assert.Equal(t, []string{"continuation"}, failures(s.Events))
		})
	}
}

// A continuation that breaks off after its finish is complete.
func TestFailureAfterTheFinishOfAContinuationIsNoFailureOfIt(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]fakellm.Turn{
		"text cut before [DONE]": fakellm.Text("Two:").CutAfter(-1),
		"text cut before usage":  fakellm.Text("Two:").CutAfter(-2),
		"text and an error":      fakellm.Text("Two:").ErrorAfter(-1, "late"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
			got := s.Ask(fakellm.Text("One:"), turn)
			scenario.RequireComplete(t, s.Mode, got, "One:\n\nTwo:", "stop")
			assert.Len(t, s.Server.Requests(), 2)
		})
	}
	t.Run("call cut before [DONE]", func(t *testing.T) {
		t.Parallel()
		s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:"), scenario.Edit().CutAfter(-1))
		scenario.RequireComplete(t, s.Mode, got, "One:", "tool_calls")
		require.Len(t, got.Calls, 1)
	})
}

// A first turn that goes on after its finish is not continued, and the outcome says why.
func TestATurnThatGoesOnAfterItsFinishIsNotContinued(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	got := s.Ask(fakellm.Chunks(
		`{"id":"a","choices":[{"index":0,"delta":{"content":"One:"}}]}`,
		`{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"id":"a","choices":[{"index":0,"delta":{"content":" two."}}]}`,
	))
	require.NoError(t, got.Err)
	assert.Equal(t, reasons.NotEnded, got.Outcome.Reason)
	assert.Equal(t, `The turn did not end with a plain stop: more came after the finish reason "stop"`, got.Outcome.Explanation())
}

// unusableTurns are responses without an answer.
var unusableTurns = map[string]fakellm.Turn{
	"no choices":      fakellm.Status(200, `{"id":"x","choices":[]}`),
	"not JSON":        fakellm.Status(200, `<html>`),
	"an empty object": fakellm.Status(200, `{}`),
}

func TestUnusableContinuationIsAFailure(t *testing.T) {
	t.Parallel()
	for name, turn := range unusableTurns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				got := s.Ask(fakellm.Text("One:"), turn, turn, turn)
				scenario.RequireComplete(t, m, got, "One:", "stop")
				assert.Equal(t, reasons.Failed, got.Outcome.Reason)
			})
		})
	}
}

func TestFailedContinuationIsFollowedByTheNextUserTurn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text("One:"), scenario.Failure(http.StatusServiceUnavailable), scenario.Failure(http.StatusServiceUnavailable), scenario.Failure(http.StatusServiceUnavailable))
		got := s.Call(s.Ctx, scenario.WithUserMessage(scenario.Request(), "One:", "Go on."), fakellm.Text("One:"), scenario.Edit())
		scenario.RequireComplete(t, m, got, "One:", "tool_calls")
		assert.NotContains(t, s.Prompts()[4], "Previous attempt", "that was in the previous user turn")
	})
}

func TestProviderThatRefusesTheExtraToolCostsNothing(t *testing.T) {
	t.Parallel()
	const whole = `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"One:"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`
	provider := httpmock.NewMockTransport()
	provider.RegisterMatcherResponder(http.MethodPost, "http://provider.test/v1/chat/completions",
		httpmock.BodyContainsString(`"todo_pause"`),
		httpmock.NewStringResponder(http.StatusBadRequest, `{"error":{"message":"unknown tool","type":"t"}}`))
	provider.RegisterResponder(http.MethodPost, "http://provider.test/v1/chat/completions",
		httpmock.NewStringResponder(http.StatusOK, whole))
	events := carryontest.NewRecorder()
	mw := middleware.New(scenario.TwoTodos(), middleware.WithObserver(events.Observer()))
	got := scenario.TypedUnary.Call(t.Context(), scenario.TypedUnary.Client(scenario.Config("http://provider.test/v1", provider), mw), scenario.Request())
	scenario.RequireComplete(t, scenario.TypedUnary, got, "One:", "stop")
	assert.Equal(t, 5, got.Usage.TotalTokens)
	assert.Equal(t, 2, provider.GetTotalCallCount())
	assert.Equal(t, []string{"continuation"}, failures(events))
}

// Nobody has seen any part of an answer that is not streamed, so a continuation with a tool call and no finish reason
// fails like any other.
func TestCallOfAFailedContinuationIsDroppedIfNothingWasShown(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedUnary, scenario.TwoTodos())
	cut := scenario.Edit().With(fakellm.NoFinish)
	got := s.Ask(fakellm.Text(scenario.Plan), cut, cut, cut)
	require.NoError(t, got.Err)
	assert.Equal(t, scenario.Plan, got.Text)
	assert.Equal(t, "stop", got.Finish)
	assert.Empty(t, got.Calls)
	require.ErrorIs(t, got.Outcome.Err, middleware.ErrIncomplete)
	assert.Equal(t, reasons.Failed, got.Outcome.Reason)
}
