package openai_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

func TestContinuationSendsTheCallersRequestExtended(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Call(s.Ctx, scenario.FullRequest(), fakellm.Text(scenario.Plan), scenario.Edit())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")

		requests := s.Server.Requests()
		require.Len(t, requests, 2)
		first, second := scenario.RawBody(t, requests[0]), scenario.RawBody(t, requests[1])
		for _, extended := range []string{"messages", "tools"} {
			before, after := scenario.Elements(t, requests[0], extended), scenario.Elements(t, requests[1], extended)
			require.Greater(t, len(after), len(before))
			assert.Equal(t, before, after[:len(before)])
			delete(first, extended)
			delete(second, extended)
		}
		assert.Equal(t, first, second, "nothing else changes")
		assert.Len(t, scenario.Elements(t, requests[1], "messages"), len(scenario.Request().Messages)+2)
		assert.Equal(t, []string{"edit_file", pause.ToolName}, requests[1].Tools, "last")
	})
}

func TestAnswerOfAContinuationIsNotStoredNorPredicted(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		request := scenario.Request()
		request.Store, request.Metadata = true, map[string]string{"run": "7"}
		request.Prediction = &openai.Prediction{Type: "content", Content: "package parser"}
		s.Call(s.Ctx, request, fakellm.Text(scenario.Plan), scenario.Edit())

		requests := s.Server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, true, requests[0].JSON()["store"])
		assert.Contains(t, requests[0].JSON(), "prediction")
		assert.NotEqual(t, true, requests[1].JSON()["store"])
		assert.NotContains(t, requests[1].JSON(), "prediction")
		assert.Contains(t, requests[0].JSON(), "metadata")
		assert.NotContains(t, requests[1].JSON(), "metadata", "which is refused where nothing is stored")
		assert.NotNil(t, request.Prediction)
		assert.NotNil(t, request.Metadata)
	})
}

// Some servers read metadata although they store nothing.
func TestMetadataStaysWhereNothingWasToBeStored(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		request := scenario.Request()
		request.Metadata = map[string]string{"run": "7"}
		s.Call(s.Ctx, request, fakellm.Text(scenario.Plan), scenario.Edit())
		requests := s.Server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, requests[0].JSON()["metadata"], requests[1].JSON()["metadata"])
		assert.NotContains(t, requests[1].JSON(), "store")
	})
}

func TestStoreIsNeverAdded(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		for _, request := range s.Server.Requests() {
			assert.NotContains(t, request.JSON(), "store")
		}
	})
}

func TestReasoningIsSentBackOnlyIfTheHistoryCarriesIt(t *testing.T) {
	t.Parallel()
	for _, carried := range []bool{true, false} {
		t.Run(fmt.Sprintf("carried=%v", carried), func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				request := scenario.WithEdit(scenario.Request(), "call_1")
				want := ""
				if carried {
					request.Messages[2].ReasoningContent = "The file must be edited."
					want = "First the parser."
				}
				s.Call(s.Ctx, request, fakellm.Text(scenario.Plan).Reasoning("First the parser."), scenario.Edit())
				requests := s.Server.Requests()
				require.Len(t, requests, 2)
				message := requests[1].Messages[4]
				assert.Equal(t, scenario.Plan, message.Content)
				assert.Equal(t, want, message.ReasoningContent)
			})
		})
	}
}

// The caller may use the spare capacity of a slice for something else.
func TestCallersSlicesAreNotWrittenTo(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]middleware.PauseToolMode{
		"continuations only": middleware.PauseToolInContinuations, "always": middleware.PauseToolAlways,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPauseTool(when))
				request := scenario.FullRequest()
				request.Messages = append(make([]openai.ChatCompletionMessage, 0, 8), request.Messages...)
				request.Tools = append(make([]openai.Tool, 0, 8), request.Tools...)
				request.ToolChoice = scenario.AllowedTools("auto")
				s.Call(s.Ctx, request, fakellm.Text("One:"), fakellm.Pause("stuck"), scenario.Edit())

				require.Len(t, s.Server.Requests(), 3)
				want := scenario.FullRequest()
				want.ToolChoice = scenario.AllowedTools("auto")
				assert.Equal(t, want, request)
				assert.Equal(t, make([]openai.ChatCompletionMessage, 6), request.Messages[2:8:8])
				assert.Equal(t, make([]openai.Tool, 7), request.Tools[1:8:8])
			})
		})
	}
}

func TestPauseToolIsAsStrictAsTheCallersTools(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		tools []openai.Tool
		want  bool
	}{
		{"all strict", []openai.Tool{scenario.StrictTool("a"), scenario.StrictTool("b")}, true},
		{"some strict", []openai.Tool{scenario.StrictTool("a"), scenario.Tool("b")}, false},
		{"none strict", []openai.Tool{scenario.Tool("a")}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				request := scenario.Request()
				request.Tools = tt.tools
				s.Call(s.Ctx, request, fakellm.Text(scenario.Plan), fakellm.Call("a", "{}"))

				requests := s.Server.Requests()
				require.Len(t, requests, 2)
				var declared openai.Tool
				tools := scenario.Elements(t, requests[1], "tools")
				require.NoError(t, json.Unmarshal([]byte(tools[len(tools)-1]), &declared))
				assert.Equal(t, openai.ToolTypeFunction, declared.Type)
				assert.Equal(t, pause.ToolName, declared.Function.Name)
				assert.Equal(t, pausetool.Description(), declared.Function.Description)
				assert.Equal(t, tt.want, declared.Function.Strict)
				schema, err := json.Marshal(declared.Function.Parameters)
				require.NoError(t, err)
				assert.JSONEq(t, string(pausetool.Schema(tt.want)), string(schema))
			})
		})
	}
}

func TestNoHeaderIsAdded(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text("One:"), scenario.Edit())
		requests := s.Server.Requests()
		require.Len(t, requests, 2)
		first, second := requests[0].Header, requests[1].Header
		for _, header := range []http.Header{first, second} {
			header.Del("Content-Length") // the one that must differ
		}
		assert.Equal(t, first, second)
		assert.ElementsMatch(t, sdkHeaders(t, m), slices.Collect(maps.Keys(first)), "as the SDK sends them")
	})
}

// sdkHeaders returns the names of the headers that the SDK sends.
func sdkHeaders(t *testing.T, m scenario.Mode) []string {
	t.Helper()
	server := fakellm.NewServer(t, fakellm.Text(scenario.Plan))
	m.Call(t.Context(), scenario.SDKClient(scenario.HTTPConfig(server)), scenario.Request())
	header := server.Requests()[0].Header
	header.Del("Content-Length")
	return slices.Collect(maps.Keys(header))
}

func TestPauseIsAmongTheAllowedToolsOfAContinuation(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		request := scenario.Request()
		request.ToolChoice = scenario.AllowedTools("auto")
		got := s.Call(s.Ctx, request, fakellm.Text(scenario.Plan), scenario.Edit())

		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
		requests := s.Server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, scenario.AllowedTools("auto"), requests[0].JSON()["tool_choice"])
		assert.Equal(t, scenario.AllowedTools("auto", "todo_pause"), requests[1].JSON()["tool_choice"])
		assert.Equal(t, scenario.AllowedTools("auto"), request.ToolChoice, "the caller's is not changed")
	})
}

func TestPauseToolAlwaysAllowsItselfAmongAllowedTools(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPauseTool(middleware.PauseToolAlways))
		request := scenario.Request()
		request.ToolChoice = scenario.AllowedTools("auto")
		s.Call(s.Ctx, request, fakellm.Text(scenario.Plan), scenario.Edit())
		requests := s.Server.Requests()
		require.Len(t, requests, 2)
		assert.Contains(t, string(scenario.RawBody(t, requests[0])["tool_choice"]), "todo_pause")
		assert.Equal(t, scenario.RawBody(t, requests[0])["tool_choice"], scenario.RawBody(t, requests[1])["tool_choice"])
	})
}
