package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// Request returns a request in scope.
func Request() openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model: "test-model",
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: "You write code."},
			{Role: openai.ChatMessageRoleUser, Content: "Write and test the parser."},
		},
		Tools: []openai.Tool{Tool("edit_file")},
	}
}

// RequestWithUsage returns [Request] for a stream that reports its usage.
func RequestWithUsage() openai.ChatCompletionRequest {
	request := Request()
	request.StreamOptions = usageIncluded()
	return request
}

func usageIncluded() *openai.StreamOptions { return &openai.StreamOptions{IncludeUsage: true} }

// FullRequest returns [Request] with all kinds of fields set.
func FullRequest() openai.ChatCompletionRequest {
	seed := 7
	request := Request()
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

// Tool declares a tool without parameters.
func Tool(name string) openai.Tool {
	return openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
		Name: name, Parameters: map[string]any{"type": "object", "properties": map[string]any{}},
	}}
}

// StrictTool declares a strict tool without parameters.
func StrictTool(name string) openai.Tool {
	tool := Tool(name)
	tool.Function.Strict = true
	return tool
}

// AllowedTools returns a tool choice that allows edit_file and the tools named.
func AllowedTools(mode string, more ...string) map[string]any {
	tools := make([]any, 0, 1+len(more))
	for _, name := range append([]string{"edit_file"}, more...) {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": name}})
	}
	return map[string]any{"type": "allowed_tools", "allowed_tools": map[string]any{"mode": mode, "tools": tools}}
}

// withToolCall returns the request with a tool call and its result added.
func withToolCall(request openai.ChatCompletionRequest, call openai.ToolCall, result string) openai.ChatCompletionRequest {
	request.Messages = slices.Concat(request.Messages, []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleAssistant, ToolCalls: []openai.ToolCall{call}},
		{Role: openai.ChatMessageRoleTool, ToolCallID: call.ID, Content: result},
	})
	return request
}

// WithEdit returns the request with a call of edit_file and its result added.
func WithEdit(request openai.ChatCompletionRequest, id string) openai.ChatCompletionRequest {
	return withToolCall(request, openai.ToolCall{
		ID: id, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: "edit_file", Arguments: "{}"},
	}, "saved")
}

// WithTodos returns the request with a call of a todo tool and its result added,
// and with the tool unless it offers that already.
func WithTodos(request openai.ChatCompletionRequest, name, arguments, result string) openai.ChatCompletionRequest {
	request = Offering(request, name)
	return withToolCall(request, openai.ToolCall{
		ID: fmt.Sprint("call_", len(request.Messages)), Type: openai.ToolTypeFunction,
		Function: openai.FunctionCall{Name: name, Arguments: arguments},
	}, result)
}

// Offering returns the request with a tool of that name, unless it has one.
func Offering(request openai.ChatCompletionRequest, name string) openai.ChatCompletionRequest {
	if !slices.ContainsFunc(request.Tools, func(t openai.Tool) bool { return t.Function != nil && t.Function.Name == name }) {
		request.Tools = slices.Concat(request.Tools, []openai.Tool{Tool(name)})
	}
	return request
}

// TodoArguments returns the arguments of a call that writes todos, each given as
// "status content".
func TodoArguments(todos ...string) string {
	items := make([]string, 0, len(todos))
	for _, t := range todos {
		status, content, _ := strings.Cut(t, " ")
		items = append(items, fmt.Sprintf(`{"content":%q,"status":%q}`, content, status))
	}
	return `{"todos":[` + strings.Join(items, ",") + `]}`
}

// WithUserMessage returns the request with the model's answer and the user's next
// message added.
func WithUserMessage(request openai.ChatCompletionRequest, answer, message string) openai.ChatCompletionRequest {
	request.Messages = slices.Concat(request.Messages, []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleAssistant, Content: answer},
		{Role: openai.ChatMessageRoleUser, Content: message},
	})
	return request
}

// RawBody returns the members of a request's body, each as it was sent.
func RawBody(t *testing.T, request fakellm.Request) map[string]json.RawMessage {
	t.Helper()
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(request.Body, &body))
	return body
}

// Elements returns the elements of a member that is an array, each as it was
// sent.
func Elements(t *testing.T, request fakellm.Request, member string) []string {
	t.Helper()
	var raw []json.RawMessage
	require.NoError(t, json.Unmarshal(RawBody(t, request)[member], &raw))
	list := make([]string, 0, len(raw))
	for _, element := range raw {
		list = append(list, string(element))
	}
	return list
}
