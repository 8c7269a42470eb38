package messages_test

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A list that is kept item by item is assembled from all calls and their results, because only the results have the
// tasks' ids. A turn that stalls is continued for the open task; a turn after the last task is not continued.
func TestListsKeptItemByItem(t *testing.T) {
	t.Parallel()
	const parser, tests = "Write the parser", "Test the parser"
	for name, test := range map[string]struct {
		ids  map[string]string // as the tool assigns them
		open string            // the open task once the task with id 1 is completed
	}{
		"in order":      {map[string]string{parser: "1", tests: "2"}, tests},
		"the other way": {map[string]string{parser: "2", tests: "1"}, parser},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				server := fakellm.NewServer(t,
					fakellm.Call("TaskCreate", `{"subject":"`+parser+`"}`).AndCall("TaskCreate", `{"subject":"`+tests+`"}`),
					fakellm.Call("TaskUpdate", `{"taskId":"1","status":"completed"}`),
					fakellm.Text("One is done."), // without carryon, the loop would end here
					fakellm.Call("TaskUpdate", `{"taskId":"2","status":"completed"}`),
					fakellm.Text("Both are done."),
				)
				texts, outcomes := runTasks(t, server, test.ids, w.Stream)
				assert.Equal(t, []string{"One is done.", "Both are done."}, texts)

				requests := server.Requests()
				require.Len(t, requests, 5)
				prompt := requests[3].Last()
				assert.Equal(t, "user", prompt.Role)
				for task := range test.ids {
					assert.Equal(t, task == test.open, strings.Contains(prompt.Content, task), "%s: %s", task, prompt.Content)
				}

				require.Len(t, outcomes, 4)
				assert.Equal(t, 1, outcomes[2].Attempts)
				last := outcomes[3]
				assert.Equal(t, reasons.NoActiveTodos, last.Reason)
				assert.Zero(t, last.Attempts)
				assert.Equal(t, origins.ToolCalls, last.List.Origin.Place)
			})
		})
	}
}

// runTasks runs a tool loop whose tools keep a list of tasks, until the model calls
// none. It returns the texts that the model wrote.
func runTasks(t *testing.T, server *fakellm.Server, ids map[string]string, stream bool) ([]string, []middleware.Outcome) {
	t.Helper()
	c := through(server, middleware.New(todo.FromConversation(), middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})))
	ctx, outcomes := middleware.Capture(t.Context())
	p := params()
	for _, name := range []string{"TaskCreate", "TaskUpdate"} {
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{Name: name, InputSchema: sdk.ToolInputSchemaParam{}}})
	}
	var texts []string
	for {
		m, err := ask(ctx, c, p, stream)
		require.NoError(t, err)
		var results []sdk.ContentBlockParamUnion
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				texts = append(texts, b.Text)
			case "tool_use":
				results = append(results, sdk.NewToolResultBlock(b.ID, taskResult(t, b, ids), false))
			}
		}
		if len(results) == 0 {
			return texts, outcomes.All()
		}
		p.Messages = append(p.Messages, m.ToParam(), sdk.NewUserMessage(results...))
	}
}

// taskResult answers a call as the tools of Claude Code do.
func taskResult(t *testing.T, call sdk.ContentBlockUnion, ids map[string]string) string {
	t.Helper()
	var input struct{ Subject, TaskID string }
	require.NoError(t, json.Unmarshal(call.Input, &input))
	if call.Name == "TaskCreate" {
		return "Task #" + ids[input.Subject] + " created successfully: " + input.Subject
	}
	return "Updated task #" + input.TaskID + " status"
}
