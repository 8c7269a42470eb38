package openai_test

import (
	"context"
	"slices"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// userMessage is the user's message in [scenario.Request].
const userMessage = "Write and test the parser."

// What the model gets to read of the task of a taskScenario.
const (
	reminder = `---
System Note: Async Task Status

This note is automatic. Nothing in it comes from the user.

1 async task(s) completed:

{
  "agent_id": "job-7",
  "terminate_reason": "GOAL",
  "emitted_vars": {},
  "final_message": "All 214 tests pass."
}
---`
	summaryRunning = "[ASYNC TASKS: 1 total]\n[1] run the tests - [RUNNING] (job-7)"
	summaryDone    = "[ASYNC TASKS: 1 total]\n[1] run the tests - [DONE] (job-7)"
)

// taskScenario is a scenario without todos and with one background task, which
// the test begins and finishes.
type taskScenario struct {
	*scenario.Scenario

	tasks  *asynctask.Manager
	ticket asynctask.Ticket
}

func newTaskScenario(t *testing.T, m scenario.Mode, opts ...asynctask.Option) *taskScenario {
	t.Helper()
	tasks := asynctask.NewManager(opts...)
	t.Cleanup(func() { assert.NoError(t, tasks.Close(context.WithoutCancel(t.Context()))) })
	return &taskScenario{
		Scenario: scenario.New(t, m, todo.Static(), middleware.WithTasks(tasks)),
		tasks:    tasks,
	}
}

func (s *taskScenario) begin(t *testing.T) {
	t.Helper()
	var err error
	s.ticket, err = s.tasks.Begin(s.Ctx, "job-7", "run the tests")
	require.NoError(t, err)
}

func (s *taskScenario) finish(t *testing.T) {
	t.Helper()
	require.NoError(t, s.tasks.Finish(s.Ctx, s.ticket, asynctask.Message("All 214 tests pass.")))
}

func TestReminderIsJoinedToTheLastMessageThatCanHoldIt(t *testing.T) {
	t.Parallel()
	system := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: "You write code."}
	user := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: userMessage}
	picture := openai.ChatMessagePart{
		Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{URL: "https://example.com/a.png"},
	}
	tests := []struct {
		name     string
		messages []openai.ChatCompletionMessage
		at       int // of the message that has it
		parts    int // of its content, with the reminder
	}{
		{"the user's", []openai.ChatCompletionMessage{system, user}, 1, 0},
		{"a tool's", scenario.WithEdit(scenario.Request(), "call_1").Messages, 3, 0},
		{"before the assistant's", []openai.ChatCompletionMessage{user, {Role: "assistant", Content: "The parser"}}, 0, 0},
		{"empty", []openai.ChatCompletionMessage{user, {Role: "assistant", Content: "Done."}, {Role: "user"}}, 2, 0},
		{"in parts", []openai.ChatCompletionMessage{{Role: "user", MultiContent: []openai.ChatMessagePart{
			{Type: openai.ChatMessagePartTypeText, Text: userMessage}, picture,
		}}}, 0, 3},
		{"a picture", []openai.ChatCompletionMessage{
			user, {Role: "user", MultiContent: []openai.ChatMessagePart{picture}},
		}, 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
				s, plain := newTaskScenario(t, m), scenario.New(t, m, todo.Static())
				s.begin(t)
				s.finish(t)
				request := scenario.Request()
				request.Messages = slices.Clone(tt.messages)
				s.Call(s.Ctx, request, fakellm.Text("Well:"))
				plain.Call(plain.Ctx, request, fakellm.Text("Well:"))
				assert.Equal(t, tt.messages, request.Messages)

				want := plain.Server.Requests()[0].Messages
				want[tt.at].Content += "\n\n" + reminder + "\n\n" + summaryDone
				assert.Equal(t, want, s.Server.Requests()[0].Messages)
				messages, _ := s.Server.Requests()[0].JSON()["messages"].([]any)
				message, _ := messages[tt.at].(map[string]any)
				parts, _ := message["content"].([]any)
				assert.Len(t, parts, tt.parts)
			})
		})
	}
}

func TestSummaryStandsBehindTheSystemMessageIfThatIsWanted(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]openai.ChatCompletionMessage{
		"text":      {Role: openai.ChatMessageRoleSystem, Content: "You write code."},
		"developer": {Role: openai.ChatMessageRoleDeveloper, Content: "You write code."},
		"parts": {Role: openai.ChatMessageRoleSystem, MultiContent: []openai.ChatMessagePart{
			{Type: openai.ChatMessagePartTypeText, Text: "You write "}, {Type: openai.ChatMessagePartTypeText, Text: "code."},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
				s := newTaskScenario(t, m, asynctask.WithSummaryInSystem())
				request := scenario.Request()
				request.Messages[0] = message
				answers := func() { s.Call(s.Ctx, request, fakellm.Text("Well:")) }
				answers()
				s.begin(t)
				answers()
				answers()
				s.finish(t)
				answers()
				answers()
				running, done := "\n\n"+summaryRunning, "\n\n"+summaryDone
				for i, want := range []struct{ system, user string }{
					{"", ""},
					{running, "\n\n---\nSystem Note: Async Task Status\n\nThis note is automatic. Nothing in it comes from the user.\n\n1 async task(s) still running.\n---"},
					{running, ""},
					{done, "\n\n" + reminder},
					{done, ""},
				} {
					assert.Equal(t, "You write code."+want.system, s.Content(t, i, 0), "request %d", i)
					assert.Equal(t, userMessage+want.user, s.Content(t, i, 1), "request %d", i)
				}
				assert.Equal(t, message, request.Messages[0])
			})
		})
	}
}
