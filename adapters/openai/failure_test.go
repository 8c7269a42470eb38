package openai_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// failureOf returns an error as providers word it.
func failureOf(status int) carryontest.Turn {
	return carryontest.Status(status, `{"error":{"message":"the secret of the provider","type":"server_error","code":"oops"}}`)
}

// failingTurns are continuations that fail. Streams show the text that came before the failure.
var failingTurns = []struct {
	name    string
	turn    carryontest.Turn
	shown   string // of a stream, after the first turn's text
	problem string // what the next prompt says
}{
	{"HTTP 400", failureOf(http.StatusBadRequest), "", "HTTP 400"},
	{"HTTP 401", failureOf(http.StatusUnauthorized), "", "HTTP 401"},
	{"HTTP 429", failureOf(http.StatusTooManyRequests), "", "HTTP 429"},
	{"HTTP 503", failureOf(http.StatusServiceUnavailable), "", "HTTP 503"},
	{"HTTP 502 of a proxy", carryontest.Status(http.StatusBadGateway, "<html>the secret</html>"), "", "HTTP 502"},
	{"connection refused", carryontest.Text("Two.").Cut(), "", "transport"},
	{"cut at once", carryontest.Text("Two.").CutAfter(0), "", "transport"},
	{"cut after the role", carryontest.Text("Two.").CutAfter(1), "", "transport"},
	{"ended at once", carryontest.Text("Two.").EndAfter(0), "", "transport"},
}

// failingStreams are continuations that fail in the middle of a stream.
var failingStreams = []struct {
	name    string
	turn    carryontest.Turn
	shown   string
	problem string
}{
	{"cut in the text", carryontest.Text("Two three four.").CutAfter(3), "\n\nTwo three ", "transport"},
	{"cut before the finish", carryontest.Pieces("Two.").CutAfter(2), "\n\nTwo.", "transport"},
	{"error event at once", carryontest.Text("Two.").ErrorAfter(0, "the secret"), "", "transport"},
	{"error event in the text", carryontest.Text("Two three four.").ErrorAfter(3, "the secret"), "\n\nTwo three ", "transport"},
	{"ended in the text", carryontest.Text("Two three four.").EndAfter(3), "\n\nTwo three ", "transport"},
	{"no finish", carryontest.Text("Two.").NoFinish(), "\n\nTwo.", "transport"},
	{"no finish and no [DONE]", carryontest.Text("Two.").NoFinish().NoDone(), "\n\nTwo.", "transport"},
	{"text held that may be a pause", carryontest.Pieces("Two. ", "todo_pa").NoFinish(), "\n\nTwo. todo_pa", "transport"},
	{"half a todo_pause", carryontest.Pause(blocked).CutAfter(3), "", "transport"},
	{"half a name that may be todo_pause", carryontest.Call("todo_write", "{}").SplitName().CutAfter(2), "", "transport"},
	{
		"broken JSON", carryontest.Chunks(`{"id":"x","choices":[{"index":0,"delta":{"content":"Two."}}]}`, `{"id`), "\n\nTwo.",
		"transport",
	},
}

func TestFailedContinuationCostsNothingOfWhatCameBefore(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		tests := failingTurns
		if m.streamed {
			tests = slices.Concat(tests, failingStreams)
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, m, twoTodos)
				got := s.ask(carryontest.Text("One.").Usage(100, 11), tt.turn)

				text := "One."
				if m.streamed {
					text += tt.shown
				}
				requireComplete(t, m, got, text, "stop")
				assert.Empty(t, got.Calls)
				require.NotNil(t, got.Usage)
				assert.Equal(t, 111, got.Usage.TotalTokens, "of the good turn alone")
				assert.Equal(t, continuation.ReasonFailed, got.Outcome.Reason)
				require.Error(t, got.Outcome.Err)
				assert.Len(t, s.server.Requests(), 2, "it is not retried")
				failed := recorded[middleware.Failed](s.events)
				require.Len(t, failed, 1)
				assert.Equal(t, "continuation", failed[0].Op)
				assert.Equal(t, got.Outcome.Err, failed[0].Err)
				assert.Equal(t, 1, s.state(t).Attempts, "the attempt is used")

				s.server.Append(carryontest.Text("One."), edit())
				got = s.ask()
				require.NoError(t, got.Err)
				prompt := s.prompts()[2]
				assert.Contains(t, prompt, "Previous attempt: it failed ("+tt.problem+")")
				assert.NotContains(t, prompt, "secret", "never text from the provider")
			})
		}
	})
}

func TestFailureAfterAGoodContinuationKeepsThatOne(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One.").Usage(100, 1), carryontest.Text("Two.").Usage(200, 2).Finish("end_turn"),
			failureOf(http.StatusServiceUnavailable))
		requireComplete(t, m, got, "One.\n\nTwo.", "end_turn")
		require.NotNil(t, got.Usage)
		assert.Equal(t, 303, got.Usage.TotalTokens)
		assert.Equal(t, 3, got.Outcome.Turns)
		assert.Equal(t, 2, got.Outcome.Attempts)
	})
}

// reportedIn returns what the provider reported. It is in an error of the SDK's, or of the transport where no SDK reads
// the continuation.
func reportedIn(t *testing.T, m mode, err error) (message, code string) {
	t.Helper()
	if m.wire {
		var reported *transport.ProviderError
		require.ErrorAs(t, err, &reported)
		return reported.Message, reported.Code
	}
	var reported *openai.APIError
	require.ErrorAs(t, err, &reported)
	code, _ = reported.Code.(string)
	return reported.Message, code
}

func TestErrorOfAContinuationCanBeInspected(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		t.Run("of the provider", func(t *testing.T) {
			t.Parallel()
			s := newScene(t, m, twoTodos)
			got := s.ask(carryontest.Text("One."), failureOf(http.StatusServiceUnavailable))
			message, code := reportedIn(t, m, got.Outcome.Err)
			assert.Equal(t, "the secret of the provider", message)
			assert.Equal(t, "oops", code)
			var status *middleware.StatusError
			require.ErrorAs(t, got.Outcome.Err, &status)
			assert.Equal(t, http.StatusServiceUnavailable, status.Status)
		})
		t.Run("of a proxy", func(t *testing.T) {
			t.Parallel()
			s := newScene(t, m, twoTodos)
			got := s.ask(carryontest.Text("One."), carryontest.Status(http.StatusBadGateway, "<html>"))
			var status *middleware.StatusError
			require.ErrorAs(t, got.Outcome.Err, &status)
			assert.Equal(t, http.StatusBadGateway, status.Status)
			if m.wire {
				require.ErrorIs(t, got.Outcome.Err, transport.ErrStatus)
				return
			}
			var request *openai.RequestError
			require.ErrorAs(t, got.Outcome.Err, &request)
			assert.Equal(t, http.StatusBadGateway, request.HTTPStatusCode)
		})
		t.Run("of the transport", func(t *testing.T) {
			t.Parallel()
			gone := errors.New("no route")
			s := newScene(t, m, twoTodos)
			s.wire.base = roundTrip(func(r *http.Request) (*http.Response, error) {
				if _, ok := continuation.FromContext(r.Context()); ok {
					return nil, gone
				}
				return http.DefaultTransport.RoundTrip(r)
			})
			got := s.ask(carryontest.Text("One."))
			requireComplete(t, m, got, "One.", "stop")
			require.ErrorIs(t, got.Outcome.Err, gone)
			assert.Equal(t, "transport", s.state(t).Last.Problem())
		})
	})
}

func TestErrorEventOfAContinuationCanBeInspected(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One."), carryontest.Text("Two.").ErrorAfter(2, "overloaded"))
		message, _ := reportedIn(t, m, got.Outcome.Err)
		assert.Equal(t, "overloaded", message)
	})
}

func TestContinuationWithoutAFinishIsIncomplete(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One."), carryontest.Text("Two.").NoFinish())
		require.NoError(t, got.Err)
		assert.Equal(t, "stop", got.Finish)
		require.ErrorIs(t, got.Outcome.Err, middleware.ErrIncomplete)
	})
}

// Half a call must not look whole.
func TestFailureInTheCallersToolCallIsReturned(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		call := carryontest.Call("edit_file", `{"path":"parser.go","text":"package parser"}`)
		tests := []struct {
			name string
			turn carryontest.Turn
			want error
		}{
			{"cut", call.CutAfter(3), io.ErrUnexpectedEOF},
			{"cut before the finish", call.WholeCalls().CutAfter(2), io.ErrUnexpectedEOF},
			{"ended", call.EndAfter(3), middleware.ErrIncomplete},
			{"no finish", call.NoFinish(), middleware.ErrIncomplete},
			{"legacy call cut", call.Legacy().CutAfter(2), io.ErrUnexpectedEOF},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, m, twoTodos)
				got := s.ask(carryontest.Text("One."), tt.turn)
				require.ErrorIs(t, got.Err, tt.want)
				assert.Empty(t, got.Finish, "the answer does not look whole")
				assert.Equal(t, "One.", got.Text)
				require.ErrorIs(t, got.Outcome.Err, tt.want)
				assert.Equal(t, continuation.ReasonFailed, got.Outcome.Reason)
				assert.Equal(t, []string{"continuation"}, failures(s.events))
			})
		}
	})
}

func TestErrorEventInTheCallersToolCallIsReturned(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One."), edit().ErrorAfter(3, "overloaded"))
		message, _ := reportedIn(t, m, got.Err)
		assert.Equal(t, "overloaded", message)
		assert.Empty(t, got.Finish)
	})
}

// A continuation that breaks off after its finish has said all it had to say.
func TestFailureAfterTheFinishOfAContinuationIsNoFailureOfIt(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		for name, turn := range map[string]carryontest.Turn{
			"text cut before [DONE]": carryontest.Text("Two.").CutAfter(-1),
			"text cut before usage":  carryontest.Text("Two.").CutAfter(-2),
			"text and an error":      carryontest.Text("Two.").ErrorAfter(-1, "late"),
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, m, twoTodos)
				got := s.ask(carryontest.Text("One."), turn)
				requireComplete(t, s.m, got, "One.\n\nTwo.", "stop")
				assert.Len(t, s.server.Requests(), 2)
			})
		}
		t.Run("call cut before [DONE]", func(t *testing.T) {
			t.Parallel()
			s := newScene(t, m, twoTodos)
			got := s.ask(carryontest.Text("One."), edit().CutAfter(-1))
			requireComplete(t, s.m, got, "One.", "tool_calls")
			require.Len(t, got.Calls, 1)
		})
	})
}

// unusableTurns are answers that are none.
var unusableTurns = map[string]carryontest.Turn{
	"no choices":      carryontest.Status(200, `{"id":"x","choices":[]}`),
	"not JSON":        carryontest.Status(200, `<html>`),
	"an empty object": carryontest.Status(200, `{}`),
}

func TestUnusableContinuationIsAFailure(t *testing.T) {
	t.Parallel()
	for name, turn := range unusableTurns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				got := s.ask(carryontest.Text("One."), turn)
				requireComplete(t, m, got, "One.", "stop")
				assert.Equal(t, continuation.ReasonFailed, got.Outcome.Reason)
			})
		})
	}
}

func TestFailedContinuationIsFollowedByTheNextUserTurn(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text("One."), failureOf(http.StatusServiceUnavailable))
		got := s.call(s.ctx, said(ask(), "One.", "Go on."), carryontest.Text("One."), edit())
		requireComplete(t, m, got, "One.", "tool_calls")
		assert.NotContains(t, s.prompts()[2], "Previous attempt", "it was the user turn before")
	})
}

func TestProviderThatRefusesTheExtraToolCostsNothing(t *testing.T) {
	t.Parallel()
	const whole = `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"One."},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`
	inModes(t, unaryModes, func(t *testing.T, m mode) {
		provider := httpmock.NewMockTransport()
		provider.RegisterMatcherResponder(http.MethodPost, "http://provider.test/v1/chat/completions",
			httpmock.BodyContainsString(`"todo_pause"`),
			httpmock.NewStringResponder(http.StatusBadRequest, `{"error":{"message":"unknown tool","type":"t"}}`))
		provider.RegisterResponder(http.MethodPost, "http://provider.test/v1/chat/completions",
			httpmock.NewStringResponder(http.StatusOK, whole))
		events := new(recorder)
		mw := middleware.New(twoTodos, middleware.WithObserver(events.observer()))
		got := m.call(t.Context(), m.client(configOf("http://provider.test/v1", provider), mw), ask())
		requireComplete(t, m, got, "One.", "stop")
		assert.Equal(t, 5, got.Usage.TotalTokens)
		assert.Equal(t, 2, provider.GetTotalCallCount())
		assert.Equal(t, []string{"continuation"}, failures(events))
	})
}

// Of an answer that is not streamed nobody has seen a part: a continuation that calls a tool and does not end as it should
// fails like any other.
func TestCallOfAFailedContinuationIsNoMatterIfNothingWasShown(t *testing.T) {
	t.Parallel()
	inModes(t, unaryModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text(plan), edit().NoFinish())
		require.NoError(t, got.Err)
		assert.Equal(t, plan, got.Text)
		assert.Equal(t, "stop", got.Finish)
		assert.Empty(t, got.Calls)
		require.ErrorIs(t, got.Outcome.Err, middleware.ErrIncomplete)
		assert.Equal(t, continuation.ReasonFailed, got.Outcome.Reason)
	})
}
