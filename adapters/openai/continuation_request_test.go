package openai_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

// rawBody returns the members of a request's body, each as it was sent.
func rawBody(t *testing.T, request carryontest.Request) map[string]json.RawMessage {
	t.Helper()
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(request.Body, &body))
	return body
}

// elements returns the elements of a member that is an array, each as it was sent.
func elements(t *testing.T, request carryontest.Request, member string) []string {
	t.Helper()
	var raw []json.RawMessage
	require.NoError(t, json.Unmarshal(rawBody(t, request)[member], &raw))
	var list []string
	for _, element := range raw {
		list = append(list, string(element))
	}
	return list
}

// full is a request that sets all kinds of fields.
func full() openai.ChatCompletionRequest {
	seed := 7
	request := ask()
	request.MaxCompletionTokens = 900
	request.Temperature = 0.25
	request.TopP = 0.5
	request.Stop = []string{"END"}
	request.PresencePenalty = 0.125
	request.FrequencyPenalty = 0.75
	request.Seed = &seed
	request.LogitBias = map[string]int{"1639": 6}
	request.User = "user-1"
	request.ParallelToolCalls = false
	request.Metadata = map[string]string{"trace": "t-1"}
	request.ChatTemplateKwargs = map[string]any{"enable_thinking": false}
	request.ServiceTier = openai.ServiceTierFlex
	request.Verbosity = "low"
	request.SafetyIdentifier = "safe-1"
	return request
}

func TestContinuationSendsTheCallersRequestExtended(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.call(s.ctx, full(), carryontest.Text(plan), edit())
		requireComplete(t, m, got, plan, "tool_calls")

		requests := s.server.Requests()
		require.Len(t, requests, 2)
		first, second := rawBody(t, requests[0]), rawBody(t, requests[1])
		for _, extended := range []string{"messages", "tools"} {
			before, after := elements(t, requests[0], extended), elements(t, requests[1], extended)
			require.Greater(t, len(after), len(before))
			assert.Equal(t, before, after[:len(before)])
			delete(first, extended)
			delete(second, extended)
		}
		assert.Equal(t, first, second, "nothing else changes")
		assert.Len(t, elements(t, requests[1], "messages"), len(ask().Messages)+2)
		assert.Equal(t, []string{"edit_file", pause.Name}, requests[1].Tools, "last")
	})
}

func TestAnswerOfAContinuationIsNotStoredNorPredicted(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		request := ask()
		request.Store = true
		request.Prediction = &openai.Prediction{Type: "content", Content: "package parser"}
		s.call(s.ctx, request, carryontest.Text(plan), edit())

		requests := s.server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, true, requests[0].JSON()["store"])
		assert.Contains(t, requests[0].JSON(), "prediction")
		assert.NotEqual(t, true, requests[1].JSON()["store"])
		assert.NotContains(t, requests[1].JSON(), "prediction")
		assert.NotNil(t, request.Prediction)
	})
}

func TestStoreIsNeverAdded(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text(plan), edit())
		for _, request := range s.server.Requests() {
			assert.NotContains(t, request.JSON(), "store")
		}
	})
}

func TestReasoningIsMirroredOnlyIfTheHistoryCarriesIt(t *testing.T) {
	t.Parallel()
	for _, carried := range []bool{true, false} {
		t.Run(fmt.Sprintf("carried=%v", carried), func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				request := withHistory(ask(), "call_1")
				want := ""
				if carried {
					request.Messages[2].ReasoningContent = "The file must be edited."
					want = "First the parser."
				}
				s.call(s.ctx, request, carryontest.Text(plan).Reasoning("First the parser."), edit())
				requests := s.server.Requests()
				require.Len(t, requests, 2)
				message := requests[1].Messages[4]
				assert.Equal(t, plan, message.Content)
				assert.Equal(t, want, message.ReasoningContent)
			})
		})
	}
}

func TestEarlierPromptsAreNotRepeated(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text("One. "), carryontest.Text("Two.\n"), carryontest.Text("Three."), edit())

		requests := s.server.Requests()
		require.Len(t, requests, 4)
		want := []string{"One.", "One. \n\nTwo.", "One. \n\nTwo.\n\n\nThree."}
		for i, request := range requests[1:] {
			require.Len(t, request.Messages, 4, "request %d", i+2)
			assert.Equal(t, requests[0].Messages, request.Messages[:2])
			assert.Equal(t, carryontest.Message{Role: "assistant", Content: want[i]}, request.Messages[2])
			assert.Equal(t, "user", request.Messages[3].Role)
			assert.Equal(t, []string{"edit_file", pause.Name}, request.Tools, "declared once")
		}
	})
}

func TestPromptsSayWhichAttemptTheyAreAndWhatCameOfTheLast(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text("One."), carryontest.Text("Two."), edit())
		prompts := s.prompts()
		require.Len(t, prompts, 2)
		for _, prompt := range prompts {
			assert.True(t, strings.HasPrefix(prompt, continuation.PromptPreamble))
			assert.Contains(t, prompt, "'Write the parser'")
		}
		assert.NotContains(t, prompts[0], "attempt #")
		assert.NotContains(t, prompts[0], "Previous attempt")
		assert.Contains(t, prompts[1], "continuation attempt #2")
		assert.Contains(t, prompts[1], "Previous attempt: no tool was called and no todo changed")
	})
}

func TestApprovalModeOfTheSessionChoosesThePrompt(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		require.NoError(t, s.mw.Settings().SetApprovalMode("s", continuation.ApprovalYOLO))
		s.ask(carryontest.Text("One."), edit())
		assert.Contains(t, s.prompts()[0], "CONTINUE TASK IMMEDIATELY:")
	})
}

// The caller may use the rest of a slice's capacity for something else.
func TestCallersSlicesAreNotWrittenTo(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]middleware.PauseToolMode{
		"continuations only": middleware.ContinuationsOnly, "always": middleware.Always,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos, middleware.WithPauseTool(when))
				request := full()
				request.Messages = append(make([]openai.ChatCompletionMessage, 0, 8), request.Messages...)
				request.Tools = append(make([]openai.Tool, 0, 8), request.Tools...)
				request.ToolChoice = allowed("auto")
				s.call(s.ctx, request, carryontest.Text("One."), carryontest.Pause("stuck"), edit())

				require.Len(t, s.server.Requests(), 3)
				want := full()
				want.ToolChoice = allowed("auto")
				assert.Equal(t, want, request)
				assert.Equal(t, make([]openai.ChatCompletionMessage, 6), request.Messages[2:8:8])
				assert.Equal(t, make([]openai.Tool, 7), request.Tools[1:8:8])
			})
		})
	}
}

func strictTool(name string) openai.Tool {
	strict := tool(name)
	strict.Function.Strict = true
	return strict
}

func TestPauseToolIsAsStrictAsTheCallersTools(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		tools []openai.Tool
		want  bool
	}{
		{"all strict", []openai.Tool{strictTool("a"), strictTool("b")}, true},
		{"some strict", []openai.Tool{strictTool("a"), tool("b")}, false},
		{"none strict", []openai.Tool{tool("a")}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				request := ask()
				request.Tools = tt.tools
				s.call(s.ctx, request, carryontest.Text(plan), carryontest.Call("a", "{}"))

				requests := s.server.Requests()
				require.Len(t, requests, 2)
				var declared openai.Tool
				tools := elements(t, requests[1], "tools")
				require.NoError(t, json.Unmarshal([]byte(tools[len(tools)-1]), &declared))
				assert.Equal(t, openai.ToolTypeFunction, declared.Type)
				assert.Equal(t, pause.Name, declared.Function.Name)
				assert.Equal(t, pause.Description(), declared.Function.Description)
				assert.Equal(t, tt.want, declared.Function.Strict)
				schema, err := json.Marshal(declared.Function.Parameters)
				require.NoError(t, err)
				assert.JSONEq(t, string(pause.Schema(tt.want)), string(schema))
			})
		})
	}
}

func TestPauseToolIsNotAddedToAFullList(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]int{127: 128, 128: 128, 129: 129} {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				request := ask()
				request.Tools = nil
				for i := range count {
					request.Tools = append(request.Tools, tool(fmt.Sprintf("tool_%d", i)))
				}
				s.call(s.ctx, request, carryontest.Text(plan), carryontest.Call("tool_1", "{}"))
				requests := s.server.Requests()
				require.Len(t, requests, 2)
				assert.Len(t, requests[1].Tools, want)
			})
		})
	}
}

func TestTodoPauseOfTheCallersOwnIsTheirs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"todo_pause", "TODO_PAUSE"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				request := ask()
				request.Tools = append(request.Tools, tool(name))
				call := carryontest.Call(name, `{"reason":"The disk is full, nothing can be written"}`)
				got := s.call(s.ctx, request, carryontest.Text(plan), call)

				requireComplete(t, m, got, plan, "tool_calls")
				require.Len(t, got.Calls, 1)
				assert.Equal(t, name, got.Calls[0].Function.Name)
				assert.Equal(t, continuation.ReasonToolCalls, got.Outcome.Reason)
				assert.Nil(t, got.Outcome.Paused)
				assert.False(t, s.state(t).Paused.IsSet())
				requests := s.server.Requests()
				require.Len(t, requests, 2)
				assert.Equal(t, []string{"edit_file", name}, requests[1].Tools, "none is added")
			})
		})
	}
}

// The program prints its own todo_pause as text, say, in an explanation: it is not carryon's.
func TestPrintedCallOfTheCallersOwnTodoPauseIsText(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, within(continuation.Limits{MaxAttempts: 1}))
		request := ask()
		request.Tools = append(request.Tools, tool("todo_pause"))
		const printed = "todo_pause('The disk is full, nothing can be written')"
		got := s.call(s.ctx, request, texts(plan, printed)...)
		requireComplete(t, m, got, plan+"\n\n"+printed, "stop")
		assert.Nil(t, got.Outcome.Paused)
	})
}

func TestOnlyContinuationsAreMarked(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text("One."), carryontest.Text("Two."), edit())
		assert.Equal(t, []mark{
			{},
			{continuation.Marker{Session: "s", Turn: 2, Attempt: 1}, true},
			{continuation.Marker{Session: "s", Turn: 3, Attempt: 2}, true},
		}, s.wire.marks)
	})
}

func TestNoHeaderIsAdded(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text("One."), edit())
		requests := s.server.Requests()
		require.Len(t, requests, 2)
		first, second := requests[0].Header, requests[1].Header
		for _, header := range []http.Header{first, second} {
			header.Del("Content-Length") // the one that must differ
		}
		assert.Equal(t, first, second)
		assert.ElementsMatch(t, bareHeaders(t, m), slices.Collect(maps.Keys(first)), "as the SDK sends them")
	})
}

// bareHeaders returns the names of the headers that the SDK sends.
func bareHeaders(t *testing.T, m mode) []string {
	t.Helper()
	server := carryontest.NewServer(t, carryontest.Text(plan))
	m.call(t.Context(), bareOn(server), ask())
	header := server.Requests()[0].Header
	header.Del("Content-Length")
	return slices.Collect(maps.Keys(header))
}

func TestHeadersAreThoseOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.server.Append(carryontest.Text(plan).Header("X-Request-Id", "one").Header("X-Ratelimit-Remaining-Requests", "9"),
			edit().Header("X-Request-Id", "two"), carryontest.Text(plan).Header("X-Request-Id", "three"),
			edit().Header("X-Request-Id", "four"))
		got, err := open(s.ctx, s.client, ask())
		require.NoError(t, err)
		_, err = readAll(got)
		require.NoError(t, err)
		assert.Equal(t, "one", got.Header().Get("X-Request-Id"))
		assert.Equal(t, 9, got.GetRateLimitHeaders().RemainingRequests)

		response, err := s.client.answer(s.ctx, ask())
		require.NoError(t, err)
		assert.Equal(t, "three", response.Header().Get("X-Request-Id"))
	})
}
