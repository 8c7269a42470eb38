package scenarios_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/autotrigger"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// noTodos is an empty list: no call is continued.
var noTodos = todo.Static()

// question is the user's message in [scenario.Request].
const question = "Write and test the parser."

// taskScenario is a scenario with background tasks, which the test begins and ends.
type taskScenario struct {
	*scenario.Scenario

	tasks *asynctask.Manager
	clock *testclock.Clock // of the tasks
}

func newTaskScenario(t *testing.T, m scenario.Mode, todos todo.Provider, opts ...middleware.Option) *taskScenario {
	t.Helper()
	return taskScenarioWith(t, m, todos, nil, opts...)
}

func taskScenarioWith(
	t *testing.T, m scenario.Mode, todos todo.Provider, tasks []asynctask.Option, opts ...middleware.Option,
) *taskScenario {
	t.Helper()
	s := &taskScenario{clock: testclock.New()}
	s.tasks = asynctask.NewManager(append([]asynctask.Option{testclock.Option[asynctask.Option](s.clock)}, tasks...)...)
	t.Cleanup(func() { assert.NoError(t, s.tasks.Close(context.WithoutCancel(t.Context()))) })
	s.Scenario = scenario.New(t, m, todos, append([]middleware.Option{middleware.WithTasks(s.tasks)}, opts...)...)
	return s
}

// begins begins tasks of the scenario's session. Their names are their ids.
func (s *taskScenario) begins(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		_, err := s.tasks.Begin(s.Ctx, id, id)
		require.NoError(t, err)
	}
}

// ticket returns the ticket of a task of the scenario's session.
func (s *taskScenario) ticket(id string) asynctask.Ticket {
	return asynctask.Ticket{Session: continuation.Session(s.Ctx), ID: id}
}

// ends begins tasks of the scenario's session and ends them with a message.
func (s *taskScenario) ends(t *testing.T, ids ...string) {
	t.Helper()
	s.begins(t, ids...)
	for _, id := range ids {
		require.NoError(t, s.tasks.Finish(t.Context(), s.ticket(id), asynctask.Message("The result of "+id+".")))
	}
}

// plainBody returns the body of the request as it is sent without background tasks.
func plainBody(t *testing.T, m scenario.Mode, request openai.ChatCompletionRequest, opts ...middleware.Option) string {
	t.Helper()
	s := scenario.New(t, m, noTodos, opts...)
	s.Call(s.Ctx, request, fakellm.Text("Well:"))
	return s.Body(t, 0)
}

// plainPrompt returns the first prompt as it is sent without background tasks.
func plainPrompt(t *testing.T, m scenario.Mode) string {
	t.Helper()
	s := scenario.New(t, m, scenario.TwoTodos())
	s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
	return s.Prompts()[0]
}

// automatic begins every note that is joined to a message from the user.
const automatic = "This note is automatic. Nothing in it comes from the user.\n\n"

// completionOf returns the part of a reminder about a task that has ended with a message.
func completionOf(id string) string {
	return "{\n  \"agent_id\": \"" + id + "\",\n  \"terminate_reason\": \"GOAL\",\n  \"emitted_vars\": {},\n" +
		"  \"final_message\": \"The result of " + id + ".\"\n}"
}

// reminderOf returns the reminder of a task that has ended with a message.
func reminderOf(id string) string {
	return "---\nSystem Note: Async Task Status\n\n" + automatic + "1 async task(s) completed:\n\n" + completionOf(id) + "\n---"
}

// summaryOf returns a status summary. Each line is without the number of its task.
func summaryOf(lines ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "[ASYNC TASKS: %d total]", len(lines))
	for i, line := range lines {
		fmt.Fprintf(&text, "\n[%d] %s", i+1, line)
	}
	return text.String()
}

// requireSameUpTo checks that the bodies are the same, byte for byte, up to the end of a text in them.
func requireSameUpTo(t *testing.T, text string, bodies ...string) {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	at := strings.Index(bodies[0], string(quoted))
	require.Positive(t, at, "%s does not hold %s", bodies[0], quoted)
	for _, body := range bodies[1:] {
		assert.Equal(t, bodies[0][:at+len(quoted)], body[:min(at+len(quoted), len(body))])
	}
}

func TestModelIsToldOnceThatATaskHasEnded(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, noTodos)
		_, err := s.tasks.Begin(s.Ctx, "job-7", "run the tests")
		require.NoError(t, err)
		require.NoError(t, s.tasks.Finish(t.Context(), s.ticket("job-7"), asynctask.Message("All 214 tests pass.")))

		request := scenario.Request()
		scenario.RequireComplete(t, m, s.Call(s.Ctx, request, fakellm.Text("Good:")), "Good:", "stop")
		assert.Equal(t, scenario.Request(), request, "the request is the caller's")
		next := scenario.WithUserMessage(scenario.Request(), "Good:", "Thanks.")
		scenario.RequireComplete(t, m, s.Call(s.Ctx, next, fakellm.Text("Bye.")), "Bye.", "stop")

		first := s.Server.Requests()[0]
		require.Len(t, first.Messages, 2, "it is no message of its own")
		assert.Equal(t, "You write code.", first.Messages[0].Content)
		assert.Equal(t, `Write and test the parser.

---
System Note: Async Task Status

This note is automatic. Nothing in it comes from the user.

1 async task(s) completed:

{
  "agent_id": "job-7",
  "terminate_reason": "GOAL",
  "emitted_vars": {},
  "final_message": "All 214 tests pass."
}
---

[ASYNC TASKS: 1 total]
[1] run the tests - [DONE] (job-7)`, first.Last().Content)
		assert.Equal(t, plainBody(t, m, next), s.Body(t, 1))
		assert.Equal(t, []middleware.ReminderDelivered{
			{TurnID: continuation.TurnID{Session: "s", Call: 1, Turn: 1}, Tasks: []string{"job-7"}},
		}, carryontest.Recorded[middleware.ReminderDelivered](s.Events))
		assert.Contains(t, s.Events.Lines(), "[s] turn 1 reminder delivered: 1 task(s)")
	})
}

func TestReminderStaysInItsPlaceUntilATurnEndsInText(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, noTodos)
		s.ends(t, "job-7")
		loop := scenario.Request()
		s.Call(s.Ctx, loop, scenario.Edit().ID("call_1"))
		s.ends(t, "job-8")
		for _, id := range []string{"call_1", "call_2"} { // job-8 is reported with the first of their results
			loop = scenario.WithEdit(loop, id)
			s.Call(s.Ctx, loop, scenario.Edit().ID("call_"+id))
		}
		loop = scenario.WithEdit(loop, "call_3")
		s.Call(s.Ctx, loop, fakellm.Text("Done."))
		loop = scenario.WithUserMessage(loop, "Done.", "Thanks.")
		s.Call(s.Ctx, loop, fakellm.Text("Bye."))

		first := question + "\n\n" + reminderOf("job-7") + "\n\n" + summaryOf("job-7 - [DONE] (job-7)")
		second := "saved\n\n" + reminderOf("job-8") + "\n\n" +
			summaryOf("job-7 - [DONE] (job-7)", "job-8 - [DONE] (job-8)")
		requireSameUpTo(t, first, s.Body(t, 0), s.Body(t, 1), s.Body(t, 2), s.Body(t, 3))
		requireSameUpTo(t, second, s.Body(t, 1), s.Body(t, 2), s.Body(t, 3))
		assert.Equal(t, "saved", s.Content(t, 3, 5))
		assert.Equal(t, "saved", s.Content(t, 3, 7))
		assert.Equal(t, plainBody(t, m, loop), s.Body(t, 4))

		var tasks [][]string
		for _, e := range carryontest.Recorded[middleware.ReminderDelivered](s.Events) {
			tasks = append(tasks, e.Tasks)
		}
		assert.Equal(t, [][]string{{"job-7"}, {"job-8"}}, tasks, "a repeated reminder is not delivered again")
	})
}

func TestReminderOfACallThatFailedIsSentAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		fail func(*taskScenario) scenario.Answer
	}{
		{"refused", func(s *taskScenario) scenario.Answer { return s.Ask(fakellm.Status(http.StatusBadGateway, `{}`)) }},
		{"cut before its answer", func(s *taskScenario) scenario.Answer { return s.Ask(fakellm.Text(scenario.Plan).Cut()) }},
		{"cut in its answer", func(s *taskScenario) scenario.Answer { return s.Ask(fakellm.Text(scenario.Plan).CutAfter(1)) }},
		{"cancelled", func(s *taskScenario) scenario.Answer {
			ctx, cancel := context.WithCancel(s.Ctx)
			turn, arrived, release := gatedTurn(fakellm.Text(scenario.Plan))
			defer release()
			done := inBackground(func() scenario.Answer { return s.Call(ctx, scenario.Request(), turn) })
			<-arrived
			cancel()
			return <-done
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := newTaskScenario(t, m, noTodos)
				s.ends(t, "job-7")
				require.Error(t, tt.fail(s).Err)
				assert.Empty(t, carryontest.Recorded[middleware.ReminderDelivered](s.Events))

				require.NoError(t, s.Ask(fakellm.Text("Good:")).Err)
				assert.Equal(t, s.Body(t, 0), s.Body(t, 1))
				assert.Contains(t, s.Content(t, 1, 1), reminderOf("job-7"))
				assert.Len(t, carryontest.Recorded[middleware.ReminderDelivered](s.Events), 1)

				require.NoError(t, s.Ask(fakellm.Text("Good:")).Err)
				assert.Equal(t, question, s.Content(t, 2, 1))
			})
		})
	}
}

// inBothStreams runs a test with an open stream of each client. One task has ended before.
func inBothStreams(t *testing.T, turn fakellm.Turn, test func(t *testing.T, s *taskScenario, stream scenario.Receiver)) {
	t.Helper()
	s := newTaskScenario(t, scenario.TypedUnary, noTodos)
	s.ends(t, "job-7")
	s.Server.Append(turn)
	stream, err := scenario.TypedStream.HTTPClient(s.Server, s.Middleware).Stream(s.Ctx, scenario.Request())
	require.NoError(t, err)
	test(t, s, stream)
}

func TestReminderOfAStreamThatWasClosedBeforeItsFinishIsSentAgain(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	inBothStreams(t, fakellm.Text(scenario.Plan).GateAfter(2, never), func(t *testing.T, s *taskScenario, stream scenario.Receiver) {
		_, err := stream.Recv()
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		assert.Empty(t, carryontest.Recorded[middleware.ReminderDelivered](s.Events))

		s.Ask(fakellm.Text("Good:"))
		assert.Equal(t, s.Content(t, 0, 1), s.Content(t, 1, 1))
		assert.Len(t, carryontest.Recorded[middleware.ReminderDelivered](s.Events), 1)
	})
}

func TestReminderOfAStreamThatWasClosedAfterItsFinishIsDelivered(t *testing.T) {
	t.Parallel()
	inBothStreams(t, fakellm.Text(scenario.Plan), func(t *testing.T, s *taskScenario, stream scenario.Receiver) {
		for {
			chunk, err := stream.Recv()
			require.NoError(t, err)
			if len(chunk.Choices) > 0 && chunk.Choices[0].FinishReason != "" {
				break
			}
		}
		require.NoError(t, stream.Close())
		assert.Len(t, carryontest.Recorded[middleware.ReminderDelivered](s.Events), 1)

		s.Ask(fakellm.Text("Good:"))
		assert.Equal(t, question, s.Content(t, 1, 1))
	})
}

func TestOneOfTwoConcurrentCallsCarriesTheReminder(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		for name, first := range map[string]fakellm.Turn{
			"the one that carries it ends well": fakellm.Text("One:"), "it fails": fakellm.Status(http.StatusBadGateway, `{}`),
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newTaskScenario(t, m, noTodos)
				s.ends(t, "job-7")
				turn, arrived, release := gatedTurn(first)
				defer release()
				done := inBackground(func() scenario.Answer { return s.Ask(turn) })
				<-arrived
				s.Ask(fakellm.Text("Two:"))
				release()
				<-done
				s.Ask(fakellm.Text("Three:"))

				assert.Contains(t, s.Content(t, 0, 1), reminderOf("job-7"))
				assert.NotContains(t, s.Content(t, 1, 1), "agent_id", "the other call carries it")
				assert.Equal(t, name == "it fails", strings.Contains(s.Content(t, 2, 1), reminderOf("job-7")))
				assert.Len(t, carryontest.Recorded[middleware.ReminderDelivered](s.Events), 1)
			})
		}
	})
}

func TestTaskThatEndsDuringACallIsReportedByTheNext(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, noTodos)
		s.ends(t, "job-7")
		s.Ask(doFirst(func() { s.ends(t, "job-8") }, fakellm.Text("One:")))
		s.Ask(fakellm.Text("Two:"))
		s.Ask(fakellm.Text("Three:"))
		assert.Contains(t, s.Content(t, 0, 1), reminderOf("job-7"))
		assert.Equal(t, question+"\n\n"+reminderOf("job-8")+"\n\n"+
			summaryOf("job-7 - [DONE] (job-7)", "job-8 - [DONE] (job-8)"), s.Content(t, 1, 1))
		assert.Equal(t, question, s.Content(t, 2, 1))
	})
}

func TestTaskThatEndsDuringTheFirstTurnIsReportedWithThePrompt(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, scenario.TwoTodos())
		s.ends(t, "job-7")
		got := s.Ask(doFirst(func() { s.ends(t, "job-8") }, fakellm.Text(scenario.Plan)), scenario.Edit().ID("call_1"))
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
		loop := scenario.WithEdit(scenario.Request(), "call_1")
		s.Call(s.Ctx, loop, fakellm.Text(scenario.Plan).Finish("length"))
		s.Call(s.Ctx, loop, scenario.Edit())

		own := question + "\n\n" + reminderOf("job-7") + "\n\n" + summaryOf("job-7 - [DONE] (job-7)")
		later := "\n\n" + reminderOf("job-8") + "\n\n" + summaryOf("job-7 - [DONE] (job-7)", "job-8 - [DONE] (job-8)")
		assert.Equal(t, own, s.Content(t, 0, 1))
		requireSameUpTo(t, own, s.Body(t, 0), s.Body(t, 1))
		require.Len(t, s.Server.Requests()[1].Messages, 4)
		assert.Equal(t, plainPrompt(t, m)+later, s.Content(t, 1, 3))
		assert.Equal(t, s.Content(t, 1, 3), carryontest.Recorded[middleware.ContinuationStarted](s.Events)[0].Prompt)
		assert.Equal(t, own+later, s.Content(t, 2, 1), "the prompt is in nobody's history")
		assert.Equal(t, question, s.Content(t, 3, 1))

		assert.Equal(t, []middleware.ReminderDelivered{
			{TurnID: continuation.TurnID{Session: "s", Call: 1, Turn: 1}, Tasks: []string{"job-7"}},
			{TurnID: continuation.TurnID{Session: "s", Call: 1, Turn: 2, Attempt: 1}, Tasks: []string{"job-8"}},
		}, carryontest.Recorded[middleware.ReminderDelivered](s.Events))
	})
}

func TestPromptDoesNotRepeatWhatTheRequestCarries(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, scenario.TwoTodos())
		s.ends(t, "job-7")
		s.Ask(fakellm.Text("One:"), fakellm.Text("Two:"), scenario.Edit())
		for i := range 3 {
			assert.Equal(t, s.Content(t, 0, 1), s.Content(t, i, 1))
			assert.Equal(t, 1, strings.Count(s.Body(t, i), "ASYNC TASKS"), "request %d", i)
			assert.Equal(t, 1, strings.Count(s.Body(t, i), "agent_id"), "request %d", i)
		}
		assert.Equal(t, plainPrompt(t, m), s.Content(t, 1, 3))
	})
}

func TestTextOfACallDoesNotEndTheReminderOfAnother(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, scenario.TwoTodos(), scenario.Within(continuation.Limits{MaxAttempts: 1}))
		turn, arrived, release := gatedTurn(fakellm.Text("One:"))
		defer release()
		done := inBackground(func() scenario.Answer { return s.Ask(turn) })
		<-arrived
		s.ends(t, "job-7")
		s.Ask(scenario.Edit().ID("call_1"))
		s.Server.Append(fakellm.Text("Two:"))
		release()
		scenario.RequireComplete(t, m, <-done, "One:\n\nTwo:", "stop")
		s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_1"), scenario.Edit())
		assert.NotContains(t, s.Body(t, 2), "agent_id", "another call carries it")
		requireSameUpTo(t, s.Content(t, 1, 1), s.Body(t, 1), s.Body(t, 3))
	})
}

// The reminder of the first turn was delivered, though the prompt had no answer.
func TestReminderOfAContinuationThatFailedIsSentAgain(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, scenario.TwoTodos())
		s.ends(t, "job-7")
		got := s.Ask(doFirst(func() { s.ends(t, "job-8") }, fakellm.Text(scenario.Plan)),
			fakellm.Status(http.StatusBadGateway, `{}`), fakellm.Status(http.StatusBadGateway, `{}`), fakellm.Status(http.StatusBadGateway, `{}`))
		scenario.RequireComplete(t, m, got, scenario.Plan, "stop")
		s.Ask(scenario.Edit())
		assert.Contains(t, s.Content(t, 1, 3), reminderOf("job-8"))
		assert.Contains(t, s.Content(t, 2, 3), reminderOf("job-8"), "sent once more, with all that it said")
		assert.Contains(t, s.Content(t, 4, 1), reminderOf("job-8"))
		assert.NotContains(t, s.Content(t, 4, 1), completionOf("job-7"))
	})
}

func TestSummaryIsSentWhenItHasChanged(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, noTodos)
		answers := func() { s.Ask(fakellm.Text("Well:")) }
		answers()
		s.begins(t, "job-7")
		answers()
		answers()
		require.NoError(t, s.tasks.Cancel(t.Context(), s.ticket("job-7")))
		answers()
		answers()
		for i, want := range []string{
			question,
			question + "\n\n---\nSystem Note: Async Task Status\n\n" + automatic + "1 async task(s) still running.\n---\n\n" +
				summaryOf("job-7 - [RUNNING] (job-7)"),
			question,
			question + "\n\n" + automatic + summaryOf("job-7 - [CANCELLED] (job-7)"),
			question,
		} {
			assert.Equal(t, want, s.Content(t, i, 1), "request %d", i)
		}
		assert.Empty(t, carryontest.Recorded[middleware.ReminderDelivered](s.Events), "no task has ended with a result")
	})
}

func TestSummaryIsSentOnChangeWithoutASystemMessage(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := taskScenarioWith(t, m, noTodos, []asynctask.Option{asynctask.WithSummaryInSystem()})
		s.ends(t, "job-7")
		request := scenario.Request()
		request.Messages = request.Messages[1:]
		s.Call(s.Ctx, request, fakellm.Text("Well:"))
		s.Call(s.Ctx, request, fakellm.Text("Well:"))
		assert.Equal(t, question+"\n\n"+reminderOf("job-7")+"\n\n"+summaryOf("job-7 - [DONE] (job-7)"), s.Content(t, 0, 0))
		assert.Equal(t, question, s.Content(t, 1, 0))
	})
}

func TestCallIsNotContinuedWhileTasksOfItsSessionRun(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		clock := testclock.New()
		s := taskScenarioWith(t, m, scenario.TwoTodos(), []asynctask.Option{testclock.Option[asynctask.Option](clock)}, testclock.Option[middleware.Option](clock))
		s.begins(t, "job-7")
		got := s.Ask(fakellm.Text(scenario.Plan))
		scenario.RequireComplete(t, m, got, scenario.Plan, "stop")
		assert.Equal(t, reasons.Background, got.Outcome.Reason)
		state := s.State(t)
		assert.Zero(t, state.Attempts)
		assert.Zero(t, state.Continuations)
		assert.Zero(t, state.LastPrompt)

		clock.Advance(continuation.DefaultLimits().MaxTaskAge)
		got = s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls") // a task does not block forever
		assert.Equal(t, reasons.ToolCalls, s.Ask(scenario.Edit()).Outcome.Reason)
	})
}

func TestCallIsContinuedWithATaskThatHasEndedOrIsAnothers(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, scenario.TwoTodos())
		_, err := s.tasks.Begin(continuation.WithSession(s.Ctx, "other"), "job-6", "job-6")
		require.NoError(t, err)
		s.begins(t, "job-7")
		finish := func() { assert.NoError(t, s.tasks.Finish(t.Context(), s.ticket("job-7"), nil)) }
		got := s.Ask(doFirst(finish, fakellm.Text(scenario.Plan)), scenario.Edit())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
		assert.Contains(t, s.Content(t, 1, 3), `"agent_id": "job-7"`)
	})
}

func TestNothingOfASessionShowsInAnother(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var log bytes.Buffer
		s := newTaskScenario(t, m, scenario.TwoTodos(),
			middleware.WithLogger(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))), middleware.WithLogContent())
		theirs := continuation.WithSession(t.Context(), "theirs")
		for _, id := range []string{"secret-running", "secret-ended", "secret-failed"} {
			_, err := s.tasks.Begin(theirs, id, "secret work")
			require.NoError(t, err)
		}
		ended, failed := asynctask.Ticket{Session: "theirs", ID: "secret-ended"}, asynctask.Ticket{Session: "theirs", ID: "secret-failed"}
		require.NoError(t, s.tasks.Finish(t.Context(), ended, asynctask.Message("secret output")))
		require.NoError(t, s.tasks.Fail(t.Context(), failed, errors.New("secret error")))
		s.ends(t, "job-7")

		got := s.Ask(fakellm.Text("One:"), fakellm.Pause("stuck"), scenario.Edit())
		require.NoError(t, got.Err)
		for _, ctx := range []context.Context{s.Ctx, t.Context()} {
			got := s.Call(ctx, scenario.WithEdit(scenario.Request(), "call_1"), scenario.Edit())
			require.NoError(t, got.Err)
			answered, handled, _ := s.tasks.Handle(ctx, asynctask.CheckTool().Name, `{}`)
			require.True(t, handled)
			assert.NotContains(t, answered, "secret")
			assert.NotContains(t, fmt.Sprintf("%+v", got), "secret")
		}
		for i := range s.Server.Requests() {
			assert.NotContains(t, s.Body(t, i), "secret")
		}
		assert.NotContains(t, fmt.Sprintf("%+v", s.Events.Events()), "secret")
		assert.NotContains(t, log.String(), "secret")

		s.Call(theirs, scenario.Request(), scenario.Edit())
		last := s.Server.Requests()[5].Last().Content
		for _, want := range []string{"secret work - [RUNNING] (secret-r...)", "secret-ended", "secret output", "secret error"} {
			assert.Contains(t, last, want)
		}
		assert.NotContains(t, last, "job-7")
	})
}

func TestWithoutASessionOnlyTheOneConversationGetsReminders(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		for name, opts := range map[string][]asynctask.Option{
			"sessions": nil, "one conversation": {asynctask.WithOneConversation()},
		} {
			s := taskScenarioWith(t, m, noTodos, opts)
			ticket, err := s.tasks.Begin(t.Context(), "job-7", "job-7")
			require.NoError(t, err)
			require.NoError(t, s.tasks.Finish(t.Context(), ticket, nil))
			s.Call(t.Context(), scenario.Request(), fakellm.Text("Well:"))
			s.Call(t.Context(), scenario.Request(), fakellm.Text("Well:"))
			assert.Equal(t, opts != nil, strings.Contains(s.Content(t, 0, 1), "job-7"), name)
			assert.Equal(t, question, s.Content(t, 1, 1), name)
		}
	})
}

func TestRequestsWithoutAReminderAreTheSame(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		for _, opts := range [][]asynctask.Option{nil, {asynctask.WithSummaryInSystem()}} {
			s := taskScenarioWith(t, m, scenario.TwoTodos(), opts)
			_, err := s.tasks.Begin(continuation.WithSession(s.Ctx, "other"), "job-6", "job-6")
			require.NoError(t, err)
			plain := scenario.New(t, m, scenario.TwoTodos())
			s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
			plain.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
			assert.Equal(t, plain.Body(t, 0), s.Body(t, 0))
			assert.Equal(t, plain.Body(t, 1), s.Body(t, 1))
		}
	})
}

func TestRequestWithNoPlaceForAReminderLeavesItToTheNext(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, noTodos)
		s.ends(t, "job-7")
		request := scenario.Request()
		request.Messages = request.Messages[:1]
		s.Call(s.Ctx, request, fakellm.Text("Well:"))
		s.Ask(fakellm.Text("Well:"))
		assert.Equal(t, plainBody(t, m, request), s.Body(t, 0))
		assert.Contains(t, s.Content(t, 1, 1), reminderOf("job-7"))
	})
}

func TestOutputsReachTheModelAsTheyAre(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, noTodos)
		s.begins(t, "job-7", "job-8")
		require.NoError(t, s.tasks.Finish(t.Context(), s.ticket("job-7"),
			asynctask.Message("<a href=\"x\">\t&\\ \u2028 \xff\x00 grüße</a>")))
		require.NoError(t, s.tasks.Finish(t.Context(), s.ticket("job-8"), asynctask.Message(strings.Repeat("ab<", 1<<20))))
		s.Ask(fakellm.Text("Well:"))
		text := s.Content(t, 0, 1)
		assert.True(t, utf8.ValidString(s.Body(t, 0)))
		assert.Contains(t, text, `"final_message": "<a href=\"x\">\t&\\ `)
		assert.Contains(t, text, `grüße</a>"`)
		assert.Contains(t, text, `ab<ab<ab<`)
		assert.Less(t, len(text), 64<<10)
		assert.True(t, strings.HasSuffix(text, summaryOf("job-7 - [DONE] (job-7)", "job-8 - [DONE] (job-8)")))
	})
}

func TestRequestsOutOfScopeCarryNoReminder(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(context.Context, *openai.ChatCompletionRequest) context.Context{
		"suppressed": func(ctx context.Context, _ *openai.ChatCompletionRequest) context.Context {
			return continuation.Suppress(ctx)
		},
		"no tools": func(ctx context.Context, r *openai.ChatCompletionRequest) context.Context { r.Tools = nil; return ctx },
		"a tool is required": func(ctx context.Context, r *openai.ChatCompletionRequest) context.Context {
			r.ToolChoice = "required"
			return ctx
		},
		"an answer in JSON": func(ctx context.Context, r *openai.ChatCompletionRequest) context.Context {
			r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := newTaskScenario(t, m, noTodos)
				s.ends(t, "job-7")
				request := scenario.Request()
				ctx := change(s.Ctx, &request)
				require.NoError(t, s.Call(ctx, request, fakellm.Text("Well:")).Err)
				assert.Equal(t, plainBody(t, m, request), s.Body(t, 0))
				assert.Empty(t, carryontest.Recorded[middleware.ReminderDelivered](s.Events))
				s.Ask(fakellm.Text("Well:"))
				assert.Contains(t, s.Content(t, 1, 1), reminderOf("job-7"))
			})
		})
	}
}

func TestDryRunSendsNoReminder(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, scenario.TwoTodos(), middleware.WithDryRun())
		s.ends(t, "job-7")
		require.NoError(t, s.Ask(fakellm.Text(scenario.Plan)).Err)
		assert.Equal(t, plainBody(t, m, scenario.Request()), s.Body(t, 0))
		assert.Empty(t, carryontest.Recorded[middleware.ReminderDelivered](s.Events))
		reminder, err := s.tasks.Deliveries().Remind(t.Context(), "s")
		require.NoError(t, err)
		assert.Equal(t, []string{"job-7"}, reminder.Tasks)
	})
}

func TestReminderGoesWithADeclaredPause(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, noTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
		s.ends(t, "job-7")
		s.Ask(fakellm.Text("Well:"))
		s.Ask(fakellm.Text("Well:"))
		assert.Contains(t, s.Content(t, 0, 1), reminderOf("job-7"))
		assert.Equal(t, []string{"edit_file", "todo_pause"}, s.Server.Requests()[0].Tools)
		assert.Equal(t, plainBody(t, m, scenario.Request(), middleware.WithPauseTool(middleware.PauseToolAlways)), s.Body(t, 1))
	})
}

func TestAnswerToARejectedPauseCarriesTheReminder(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s, plain := newTaskScenario(t, m, scenario.TwoTodos()), scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text(scenario.Plan), doFirst(func() { s.ends(t, "job-7") }, fakellm.Pause("stuck")), scenario.Edit())
		plain.Ask(fakellm.Text(scenario.Plan), fakellm.Pause("stuck"), scenario.Edit())
		assert.Equal(t, plain.Prompts()[0], s.Prompts()[0])
		assert.Equal(t, "tool", s.Server.Requests()[2].Last().Role)
		assert.Equal(t, plain.Prompts()[1]+"\n\n"+reminderOf("job-7")+"\n\n"+summaryOf("job-7 - [DONE] (job-7)"),
			s.Prompts()[1])
		assert.Equal(t, s.Prompts()[1], carryontest.Recorded[middleware.ContinuationStarted](s.Events)[1].Prompt)
	})
}

func TestLogOfADeliveryHoldsNoTexts(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var log bytes.Buffer
		s := newTaskScenario(t, m, noTodos,
			middleware.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		s.ends(t, "job-7", "job-8")
		s.Ask(fakellm.Text("Well:"))
		assert.Contains(t, log.String(), `level=DEBUG msg="carryon: reminder delivered" tasks=2 attempt=0 session=s turn=1`)
		assert.NotContains(t, log.String(), "job-7")
		assert.NotContains(t, log.String(), "The result of")
	})
}

// rewrittenRequest returns the request of a program that has rewritten its history.
func rewrittenRequest() openai.ChatCompletionRequest {
	request := scenario.Request()
	request.Messages[1].Content = "So far the parser was begun. Go on."
	return scenario.WithEdit(request, "call_1")
}

func TestReminderMovesToTheLastMessageIfTheHistoryIsRewritten(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		for name, second := range map[string][]fakellm.Turn{
			"a call": {scenario.Edit().ID("call_2")}, "continued": {fakellm.Text(scenario.Plan), scenario.Edit().ID("call_2")},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newTaskScenario(t, m, scenario.TwoTodos())
				s.ends(t, "job-7")
				s.Ask(scenario.Edit().ID("call_1"))
				s.Call(s.Ctx, rewrittenRequest(), second...)
				s.Call(s.Ctx, scenario.WithEdit(rewrittenRequest(), "call_2"), fakellm.Text("Done.").Finish("length"))
				s.Call(s.Ctx, rewrittenRequest(), scenario.Edit())

				own, moved := s.Content(t, 0, 1), s.Content(t, 1, 3)
				assert.Equal(t, strings.Replace(own, question, "saved", 1), moved)
				n := len(s.Server.Requests())
				for i := range n - 2 {
					assert.Equal(t, 1, strings.Count(s.Body(t, i+1)+s.Body(t, 0), "agent_id")-1, "request %d", i+1)
				}
				requireSameUpTo(t, moved, s.Body(t, 1), s.Body(t, n-2))
				assert.Equal(t, "saved", s.Content(t, n-2, 5))
				assert.NotContains(t, s.Body(t, n-1), "agent_id")
			})
		}
	})
}

func TestTaskThatStartedATurnIsNotReportedTwice(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := newTaskScenario(t, m, noTodos)
		answered := make(chan scenario.Answer)
		trigger := autotrigger.New(s.Ctx, s.tasks, autotrigger.Host{
			Busy: func() bool { return false },
			Trigger: func(ctx context.Context, message string) error {
				got := s.Call(ctx, scenario.WithUserMessage(scenario.Request(), "Well:", message), fakellm.Text("Good:"))
				answered <- got
				return got.Err
			},
		})
		s.begins(t, "job-7")
		require.NoError(t, s.tasks.Finish(t.Context(), s.ticket("job-7"), asynctask.Message("The result of job-7.")))
		require.NoError(t, s.clock.BlockUntil(t.Context(), 1))
		s.clock.Advance(200 * time.Millisecond)
		scenario.RequireComplete(t, m, <-answered, "Good:", "stop")
		require.NoError(t, trigger.Stop(t.Context()))

		s.Ask(fakellm.Text("Well:"))
		assert.Equal(t, reminderOf("job-7")+"\n\n"+automatic+summaryOf("job-7 - [DONE] (job-7)"), s.Content(t, 0, 3))
		assert.Equal(t, question, s.Content(t, 1, 1))
		assert.Empty(t, carryontest.Recorded[middleware.ReminderDelivered](s.Events), "the program has reported it")
	})
}
