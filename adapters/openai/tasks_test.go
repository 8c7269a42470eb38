package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// noTodos is a list with nothing on it, so that no call is continued.
var noTodos = todo.Static()

// question is the user's message of the request that [ask] returns.
const question = "Write and test the parser."

// taskScene is a scene with background tasks, which begin and end when the test says so.
type taskScene struct {
	*scene

	tasks *asynctask.Manager
	clock *carryontest.Clock // of the tasks
	told  *carryontest.Recorder
}

func newTaskScene(t *testing.T, m mode, todos todo.Provider, opts ...middleware.Option) *taskScene {
	t.Helper()
	return taskSceneOf(t, m, todos, nil, opts...)
}

func taskSceneOf(
	t *testing.T, m mode, todos todo.Provider, tasks []asynctask.Option, opts ...middleware.Option,
) *taskScene {
	t.Helper()
	s := &taskScene{clock: carryontest.NewClock(), told: carryontest.NewRecorder()}
	s.tasks = asynctask.NewManager(append([]asynctask.Option{asynctask.WithClock(s.clock)}, tasks...)...)
	t.Cleanup(func() { assert.NoError(t, s.tasks.Close(context.WithoutCancel(t.Context()))) })
	s.scene = newScene(t, m, todos, append([]middleware.Option{
		middleware.WithTasks(s.tasks), middleware.WithObserver(s.told.Observer()),
	}, opts...)...)
	return s
}

// begins begins tasks of the scene's session that are named like their ids.
func (s *taskScene) begins(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		_, err := s.tasks.Begin(s.ctx, id, id)
		require.NoError(t, err)
	}
}

// ends has tasks of the scene's session begin, and end with a message.
func (s *taskScene) ends(t *testing.T, ids ...string) {
	t.Helper()
	s.begins(t, ids...)
	for _, id := range ids {
		require.NoError(t, s.tasks.Finish(id, asynctask.Message("The result of "+id+".")))
	}
}

// content returns the text of a message of the i-th request.
func (s *scene) content(t *testing.T, i, message int) string {
	t.Helper()
	requests := s.server.Requests()
	require.Greater(t, len(requests), i)
	require.Greater(t, len(requests[i].Messages), message)
	return requests[i].Messages[message].Content
}

// body returns the body of the i-th request.
func (s *scene) body(t *testing.T, i int) string {
	t.Helper()
	requests := s.server.Requests()
	require.Greater(t, len(requests), i)
	return string(requests[i].Body)
}

// plainBody returns the body of the request as it is sent without background tasks.
func plainBody(t *testing.T, m mode, request openai.ChatCompletionRequest, opts ...middleware.Option) string {
	t.Helper()
	s := newScene(t, m, noTodos, opts...)
	s.call(s.ctx, request, carryontest.Text("Well."))
	return s.body(t, 0)
}

// plainPrompt returns the first prompt as it is sent without background tasks.
func plainPrompt(t *testing.T, m mode) string {
	t.Helper()
	s := newScene(t, m, twoTodos)
	s.ask(carryontest.Text(plan), edit())
	return s.prompts()[0]
}

// completionOf is what the model is told of a task that has ended with a message.
func completionOf(id string) string {
	return "{\n  \"agent_id\": \"" + id + "\",\n  \"terminate_reason\": \"GOAL\",\n  \"emitted_vars\": {},\n" +
		"  \"final_message\": \"The result of " + id + ".\"\n}"
}

// reminderOf is the reminder of a task that has ended with a message.
func reminderOf(id string) string {
	return "---\nSystem Note: Async Task Status\n\n1 async task(s) completed:\n\n" + completionOf(id) + "\n---"
}

// summaryOf is a status summary; a line is the rest of a task's behind its number.
func summaryOf(lines ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "[ASYNC TASKS: %d total]", len(lines))
	for i, line := range lines {
		fmt.Fprintf(&text, "\n[%d] %s", i+1, line)
	}
	return text.String()
}

// requireSameUpTo checks that requests are the same, to the byte, up to the end of a text in them.
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
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, noTodos)
		_, err := s.tasks.Begin(s.ctx, "job-7", "run the tests")
		require.NoError(t, err)
		require.NoError(t, s.tasks.Finish("job-7", asynctask.Message("All 214 tests pass.")))

		request := ask()
		requireComplete(t, m, s.call(s.ctx, request, carryontest.Text("Good.")), "Good.", "stop")
		assert.Equal(t, ask(), request, "the request is the caller's")
		next := said(ask(), "Good.", "Thanks.")
		requireComplete(t, m, s.call(s.ctx, next, carryontest.Text("Bye.")), "Bye.", "stop")

		first := s.server.Requests()[0]
		require.Len(t, first.Messages, 2, "it is no message of its own")
		assert.Equal(t, "You write code.", first.Messages[0].Content)
		assert.Equal(t, `Write and test the parser.

---
System Note: Async Task Status

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
		assert.Equal(t, plainBody(t, m, next), s.body(t, 1))
		assert.Equal(t, []middleware.ReminderDelivered{
			{Place: middleware.Place{Session: "s", Turn: 1}, Tasks: []string{"job-7"}},
		}, s.told.Reminders())
		assert.Contains(t, s.told.Lines(), "[s] turn 1 reminder delivered: 1 task(s)")
	})
}

func TestReminderStaysInItsPlaceUntilATurnEndsInText(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, noTodos)
		s.ends(t, "job-7")
		loop := ask()
		s.call(s.ctx, loop, edit().ID("call_1"))
		s.ends(t, "job-8")
		for _, id := range []string{"call_1", "call_2"} { // job-8 is told with the first of their results
			loop = withHistory(loop, id)
			s.call(s.ctx, loop, edit().ID("call_"+id))
		}
		loop = withHistory(loop, "call_3")
		s.call(s.ctx, loop, carryontest.Text("Done."))
		loop = said(loop, "Done.", "Thanks.")
		s.call(s.ctx, loop, carryontest.Text("Bye."))

		first := question + "\n\n" + reminderOf("job-7") + "\n\n" + summaryOf("job-7 - [DONE] (job-7)")
		second := "saved\n\n" + reminderOf("job-8") + "\n\n" +
			summaryOf("job-7 - [DONE] (job-7)", "job-8 - [DONE] (job-8)")
		requireSameUpTo(t, first, s.body(t, 0), s.body(t, 1), s.body(t, 2), s.body(t, 3))
		requireSameUpTo(t, second, s.body(t, 1), s.body(t, 2), s.body(t, 3))
		assert.Equal(t, "saved", s.content(t, 3, 5))
		assert.Equal(t, "saved", s.content(t, 3, 7))
		assert.Equal(t, plainBody(t, m, loop), s.body(t, 4))

		var tasks [][]string
		for _, e := range s.told.Reminders() {
			tasks = append(tasks, e.Tasks)
		}
		assert.Equal(t, [][]string{{"job-7"}, {"job-8"}}, tasks, "what is repeated is not delivered again")
	})
}

func TestReminderOfACallThatFailedIsSaidAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		fail func(*taskScene) answer
	}{
		{"refused", func(s *taskScene) answer { return s.ask(carryontest.Status(http.StatusBadGateway, `{}`)) }},
		{"cut before its answer", func(s *taskScene) answer { return s.ask(carryontest.Text(plan).Cut()) }},
		{"cut in its answer", func(s *taskScene) answer { return s.ask(carryontest.Text(plan).CutAfter(1)) }},
		{"cancelled", func(s *taskScene) answer {
			ctx, cancel := context.WithCancel(s.ctx)
			turn, came, letGo := reached(carryontest.Text(plan))
			defer letGo()
			done := meanwhile(func() answer { return s.call(ctx, ask(), turn) })
			<-came
			cancel()
			return <-done
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newTaskScene(t, m, noTodos)
				s.ends(t, "job-7")
				require.Error(t, tt.fail(s).Err)
				assert.Empty(t, s.told.Reminders())

				require.NoError(t, s.ask(carryontest.Text("Good.")).Err)
				assert.Equal(t, s.body(t, 0), s.body(t, 1))
				assert.Contains(t, s.content(t, 1, 1), reminderOf("job-7"))
				assert.Len(t, s.told.Reminders(), 1)

				require.NoError(t, s.ask(carryontest.Text("Good.")).Err)
				assert.Equal(t, question, s.content(t, 2, 1))
			})
		})
	}
}

// chunks is a stream of either client.
type chunks interface {
	Recv() (openai.ChatCompletionStreamResponse, error)
	Close() error
}

// inBothStreams runs a test with a stream of either client, the request of which is under way.
func inBothStreams(t *testing.T, turn carryontest.Turn, test func(t *testing.T, s *taskScene, stream chunks)) {
	t.Helper()
	for name, open := range map[string]func(openai.ClientConfig, *taskScene) (chunks, error){
		"typed": func(config openai.ClientConfig, s *taskScene) (chunks, error) {
			return carryopenai.Wrap(openai.NewClientWithConfig(config), s.mw).CreateChatCompletionStream(s.ctx, ask())
		},
		"wire": func(config openai.ClientConfig, s *taskScene) (chunks, error) {
			return carryopenai.NewClientWithConfig(config, s.mw).CreateChatCompletionStream(s.ctx, ask())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTaskScene(t, typedUnary, noTodos)
			s.ends(t, "job-7")
			s.server.Append(turn)
			config := openai.DefaultConfig("no key")
			config.BaseURL = s.server.URL()
			stream, err := open(config, s)
			require.NoError(t, err)
			test(t, s, stream)
		})
	}
}

func TestReminderOfAStreamThatWasClosedBeforeItsFinishIsSaidAgain(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	inBothStreams(t, carryontest.Text(plan).GateAfter(2, never), func(t *testing.T, s *taskScene, stream chunks) {
		_, err := stream.Recv()
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		assert.Empty(t, s.told.Reminders())

		s.ask(carryontest.Text("Good."))
		assert.Equal(t, s.content(t, 0, 1), s.content(t, 1, 1))
		assert.Len(t, s.told.Reminders(), 1)
	})
}

func TestReminderOfAStreamThatWasClosedAfterItsFinishIsDelivered(t *testing.T) {
	t.Parallel()
	inBothStreams(t, carryontest.Text(plan), func(t *testing.T, s *taskScene, stream chunks) {
		for {
			chunk, err := stream.Recv()
			require.NoError(t, err)
			if len(chunk.Choices) > 0 && chunk.Choices[0].FinishReason != "" {
				break
			}
		}
		require.NoError(t, stream.Close())
		assert.Len(t, s.told.Reminders(), 1)

		s.ask(carryontest.Text("Good."))
		assert.Equal(t, question, s.content(t, 1, 1))
	})
}

func TestOneOfTwoCallsAtOnceTells(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		for name, first := range map[string]carryontest.Turn{
			"the one that tells ends well": carryontest.Text("One."), "it fails": carryontest.Status(http.StatusBadGateway, `{}`),
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newTaskScene(t, m, noTodos)
				s.ends(t, "job-7")
				turn, came, letGo := reached(first)
				defer letGo()
				done := meanwhile(func() answer { return s.ask(turn) })
				<-came
				s.ask(carryontest.Text("Two."))
				letGo()
				<-done
				s.ask(carryontest.Text("Three."))

				assert.Contains(t, s.content(t, 0, 1), reminderOf("job-7"))
				assert.NotContains(t, s.content(t, 1, 1), "agent_id", "somebody else is telling")
				assert.Equal(t, name == "it fails", strings.Contains(s.content(t, 2, 1), reminderOf("job-7")))
				assert.Len(t, s.told.Reminders(), 1)
			})
		}
	})
}

func TestTaskThatEndsDuringACallIsToldInTheNext(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, noTodos)
		s.ends(t, "job-7")
		s.ask(then(func() { s.ends(t, "job-8") }, carryontest.Text("One.")))
		s.ask(carryontest.Text("Two."))
		s.ask(carryontest.Text("Three."))
		assert.Contains(t, s.content(t, 0, 1), reminderOf("job-7"))
		assert.Equal(t, question+"\n\n"+reminderOf("job-8")+"\n\n"+
			summaryOf("job-7 - [DONE] (job-7)", "job-8 - [DONE] (job-8)"), s.content(t, 1, 1))
		assert.Equal(t, question, s.content(t, 2, 1))
	})
}

func TestTaskThatEndsDuringTheFirstTurnIsToldWithThePrompt(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, twoTodos)
		s.ends(t, "job-7")
		got := s.ask(then(func() { s.ends(t, "job-8") }, carryontest.Text(plan)), edit().ID("call_1"))
		requireComplete(t, m, got, plan, "tool_calls")
		loop := withHistory(ask(), "call_1")
		s.call(s.ctx, loop, carryontest.Text(plan).Finish("length"))
		s.call(s.ctx, loop, edit())

		own := question + "\n\n" + reminderOf("job-7") + "\n\n" + summaryOf("job-7 - [DONE] (job-7)")
		news := "\n\n" + reminderOf("job-8") + "\n\n" + summaryOf("job-7 - [DONE] (job-7)", "job-8 - [DONE] (job-8)")
		assert.Equal(t, own, s.content(t, 0, 1))
		requireSameUpTo(t, own, s.body(t, 0), s.body(t, 1))
		require.Len(t, s.server.Requests()[1].Messages, 4)
		assert.Equal(t, plainPrompt(t, m)+news, s.content(t, 1, 3))
		assert.Equal(t, s.content(t, 1, 3), s.told.Started()[0].Prompt)
		assert.Equal(t, own+news, s.content(t, 2, 1), "nobody has the prompt, so that it stands here")
		assert.Equal(t, question, s.content(t, 3, 1))

		assert.Equal(t, []middleware.ReminderDelivered{
			{Place: middleware.Place{Session: "s", Turn: 1}, Tasks: []string{"job-7"}},
			{Place: middleware.Place{Session: "s", Turn: 2, Attempt: 1}, Tasks: []string{"job-8"}},
		}, s.told.Reminders())
	})
}

func TestPromptDoesNotRepeatWhatTheRequestCarries(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, twoTodos)
		s.ends(t, "job-7")
		s.ask(carryontest.Text("One."), carryontest.Text("Two."), edit())
		for i := range 3 {
			assert.Equal(t, s.content(t, 0, 1), s.content(t, i, 1))
			assert.Equal(t, 1, strings.Count(s.body(t, i), "ASYNC TASKS"), "request %d", i)
			assert.Equal(t, 1, strings.Count(s.body(t, i), "agent_id"), "request %d", i)
		}
		assert.Equal(t, plainPrompt(t, m), s.content(t, 1, 3))
	})
}

func TestTextOfACallDoesNotEndWhatAnotherOneTold(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, twoTodos, within(continuation.Limits{MaxAttempts: 1}))
		turn, came, letGo := reached(carryontest.Text("One."))
		defer letGo()
		done := meanwhile(func() answer { return s.ask(turn) })
		<-came
		s.ends(t, "job-7")
		s.ask(edit().ID("call_1"))
		s.server.Append(carryontest.Text("Two."))
		letGo()
		requireComplete(t, m, <-done, "One.\n\nTwo.", "stop")
		s.call(s.ctx, withHistory(ask(), "call_1"), edit())
		assert.NotContains(t, s.body(t, 2), "agent_id", "it is another call's to tell")
		requireSameUpTo(t, s.content(t, 1, 1), s.body(t, 1), s.body(t, 3))
	})
}

// What the first turn was told is told, even if nobody is there to answer the prompt.
func TestNewsOfAContinuationThatFailedAreSaidAgain(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, twoTodos)
		s.ends(t, "job-7")
		got := s.ask(then(func() { s.ends(t, "job-8") }, carryontest.Text(plan)), carryontest.Status(http.StatusBadGateway, `{}`))
		requireComplete(t, m, got, plan, "stop")
		s.ask(edit())
		assert.Contains(t, s.content(t, 1, 3), reminderOf("job-8"))
		assert.Contains(t, s.content(t, 2, 1), reminderOf("job-8"))
		assert.NotContains(t, s.content(t, 2, 1), completionOf("job-7"))
	})
}

func TestSummaryIsToldWhereItHasChanged(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, noTodos)
		answers := func() { s.ask(carryontest.Text("Well.")) }
		answers()
		s.begins(t, "job-7")
		answers()
		answers()
		require.NoError(t, s.tasks.Cancel("job-7"))
		answers()
		answers()
		for i, want := range []string{
			question,
			question + "\n\n---\nSystem Note: Async Task Status\n\n1 async task(s) still running.\n---\n\n" +
				summaryOf("job-7 - [RUNNING] (job-7)"),
			question,
			question + "\n\n" + summaryOf("job-7 - [CANCELLED] (job-7)"),
			question,
		} {
			assert.Equal(t, want, s.content(t, i, 1), "request %d", i)
		}
		assert.Empty(t, s.told.Reminders(), "nothing has ended that is told of")
	})
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
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newTaskScene(t, m, noTodos, middleware.WithTaskSummary(middleware.SummaryInSystem))
				request := ask()
				request.Messages[0] = message
				answers := func() { s.call(s.ctx, request, carryontest.Text("Well.")) }
				answers()
				s.begins(t, "job-7")
				answers()
				answers()
				require.NoError(t, s.tasks.Finish("job-7", asynctask.Message("The result of job-7.")))
				answers()
				answers()
				running := "\n\n" + summaryOf("job-7 - [RUNNING] (job-7)")
				done := "\n\n" + summaryOf("job-7 - [DONE] (job-7)")
				for i, want := range []struct{ system, user string }{
					{"", ""},
					{running, "\n\n---\nSystem Note: Async Task Status\n\n1 async task(s) still running.\n---"},
					{running, ""},
					{done, "\n\n" + reminderOf("job-7")},
					{done, ""},
				} {
					assert.Equal(t, "You write code."+want.system, s.content(t, i, 0), "request %d", i)
					assert.Equal(t, question+want.user, s.content(t, i, 1), "request %d", i)
				}
				assert.Equal(t, message, request.Messages[0])
			})
		})
	}
}

func TestSummaryIsToldOnChangeWithoutASystemMessage(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, noTodos, middleware.WithTaskSummary(middleware.SummaryInSystem))
		s.ends(t, "job-7")
		request := ask()
		request.Messages = request.Messages[1:]
		s.call(s.ctx, request, carryontest.Text("Well."))
		s.call(s.ctx, request, carryontest.Text("Well."))
		assert.Equal(t, question+"\n\n"+reminderOf("job-7")+"\n\n"+summaryOf("job-7 - [DONE] (job-7)"), s.content(t, 0, 0))
		assert.Equal(t, question, s.content(t, 1, 0))
	})
}

func TestCallIsNotContinuedWhileTasksOfItsSessionRun(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		clock := carryontest.NewClock()
		s := taskSceneOf(t, m, twoTodos, []asynctask.Option{asynctask.WithClock(clock)}, middleware.WithClock(clock))
		s.begins(t, "job-7")
		got := s.ask(carryontest.Text(plan))
		requireComplete(t, m, got, plan, "stop")
		assert.Equal(t, continuation.ReasonBackground, got.Outcome.Reason)
		state := s.state(t)
		assert.Zero(t, state.Attempts)
		assert.Zero(t, state.Continuations)
		assert.Zero(t, state.LastPrompt)

		clock.Advance(continuation.DefaultMaxTaskAge)
		requireComplete(t, m, s.ask(carryontest.Text(plan), edit()), plan, "tool_calls") // not for ever
		assert.Equal(t, continuation.ReasonToolCalls, s.ask(edit()).Outcome.Reason)
	})
}

func TestCallIsContinuedWithATaskThatHasEndedOrIsAnothers(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, twoTodos)
		_, err := s.tasks.Begin(continuation.WithSession(s.ctx, "other"), "job-6", "job-6")
		require.NoError(t, err)
		s.begins(t, "job-7")
		got := s.ask(then(func() { require.NoError(t, s.tasks.Finish("job-7", nil)) }, carryontest.Text(plan)), edit())
		requireComplete(t, m, got, plan, "tool_calls")
		assert.Contains(t, s.content(t, 1, 3), `"agent_id": "job-7"`)
	})
}

func TestNothingOfASessionShowsInAnother(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		var log bytes.Buffer
		s := newTaskScene(t, m, twoTodos, middleware.WithContent(),
			middleware.WithLogger(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		theirs := continuation.WithSession(t.Context(), "theirs")
		for _, id := range []string{"secret-running", "secret-ended", "secret-failed"} {
			_, err := s.tasks.Begin(theirs, id, "secret work")
			require.NoError(t, err)
		}
		require.NoError(t, s.tasks.Finish("secret-ended", asynctask.Message("secret output")))
		require.NoError(t, s.tasks.Fail("secret-failed", errors.New("secret error")))
		s.ends(t, "job-7")

		got := s.ask(carryontest.Text("One."), carryontest.Pause("stuck"), edit())
		require.NoError(t, got.Err)
		for _, ctx := range []context.Context{s.ctx, t.Context()} {
			got := s.call(ctx, withHistory(ask(), "call_1"), edit())
			require.NoError(t, got.Err)
			answered, handled := s.tasks.Handle(ctx, asynctask.CheckTool().Name, `{}`)
			require.True(t, handled)
			assert.NotContains(t, answered, "secret")
			assert.NotContains(t, fmt.Sprintf("%+v", got), "secret")
		}
		for i := range s.server.Requests() {
			assert.NotContains(t, s.body(t, i), "secret")
		}
		assert.NotContains(t, fmt.Sprintf("%+v", s.told.Events()), "secret")
		assert.NotContains(t, log.String(), "secret")

		s.call(theirs, ask(), edit())
		last := s.server.Requests()[5].Last().Content
		for _, want := range []string{"secret work - [RUNNING] (secret-r...)", "secret-ended", "secret output", "secret error"} {
			assert.Contains(t, last, want)
		}
		assert.NotContains(t, last, "job-7")
	})
}

func TestWithoutASessionOnlyTheOneConversationIsTold(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		for name, opts := range map[string][]asynctask.Option{
			"sessions": nil, "one conversation": {asynctask.WithOneConversation()},
		} {
			s := taskSceneOf(t, m, noTodos, opts)
			_, err := s.tasks.Begin(t.Context(), "job-7", "job-7")
			require.NoError(t, err)
			require.NoError(t, s.tasks.Finish("job-7", nil))
			s.call(t.Context(), ask(), carryontest.Text("Well."))
			s.call(t.Context(), ask(), carryontest.Text("Well."))
			assert.Equal(t, opts != nil, strings.Contains(s.content(t, 0, 1), "job-7"), name)
			assert.Equal(t, question, s.content(t, 1, 1), name)
		}
	})
}

func TestRequestsWithNothingToTellAreTheSame(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		for _, mode := range []middleware.SummaryMode{middleware.SummaryOnChange, middleware.SummaryInSystem} {
			s := newTaskScene(t, m, twoTodos, middleware.WithTaskSummary(mode))
			_, err := s.tasks.Begin(continuation.WithSession(s.ctx, "other"), "job-6", "job-6")
			require.NoError(t, err)
			plain := newScene(t, m, twoTodos)
			s.ask(carryontest.Text(plan), edit())
			plain.ask(carryontest.Text(plan), edit())
			assert.Equal(t, plain.body(t, 0), s.body(t, 0))
			assert.Equal(t, plain.body(t, 1), s.body(t, 1))
		}
	})
}

func TestReminderIsJoinedToTheLastMessageThatCanHoldIt(t *testing.T) {
	t.Parallel()
	system := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: "You write code."}
	user := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: question}
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
		{"a tool's", withHistory(ask(), "call_1").Messages, 3, 0},
		{"before the assistant's", []openai.ChatCompletionMessage{user, {Role: "assistant", Content: "The parser"}}, 0, 0},
		{"empty", []openai.ChatCompletionMessage{user, {Role: "assistant", Content: "Done."}, {Role: "user"}}, 2, 0},
		{"in parts", []openai.ChatCompletionMessage{{Role: "user", MultiContent: []openai.ChatMessagePart{
			{Type: openai.ChatMessagePartTypeText, Text: question}, picture,
		}}}, 0, 3},
		{"a picture", []openai.ChatCompletionMessage{
			user, {Role: "user", MultiContent: []openai.ChatMessagePart{picture}},
		}, 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s, plain := newTaskScene(t, m, noTodos), newScene(t, m, noTodos)
				s.ends(t, "job-7")
				request := ask()
				request.Messages = slices.Clone(tt.messages)
				s.call(s.ctx, request, carryontest.Text("Well."))
				plain.call(plain.ctx, request, carryontest.Text("Well."))
				assert.Equal(t, tt.messages, request.Messages)

				want := plain.server.Requests()[0].Messages
				want[tt.at].Content += "\n\n" + reminderOf("job-7") + "\n\n" + summaryOf("job-7 - [DONE] (job-7)")
				assert.Equal(t, want, s.server.Requests()[0].Messages)
				messages, _ := s.server.Requests()[0].JSON()["messages"].([]any)
				message, _ := messages[tt.at].(map[string]any)
				parts, _ := message["content"].([]any)
				assert.Len(t, parts, tt.parts)
			})
		})
	}
}

func TestRequestWithNoPlaceForAReminderLeavesItToTheNext(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, noTodos)
		s.ends(t, "job-7")
		request := ask()
		request.Messages = request.Messages[:1]
		s.call(s.ctx, request, carryontest.Text("Well."))
		s.ask(carryontest.Text("Well."))
		assert.Equal(t, plainBody(t, m, request), s.body(t, 0))
		assert.Contains(t, s.content(t, 1, 1), reminderOf("job-7"))
	})
}

func TestOutputsReachTheModelAsTheyAre(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, noTodos)
		s.begins(t, "job-7", "job-8")
		require.NoError(t, s.tasks.Finish("job-7", asynctask.Message("<a href=\"x\">\t&\\ \u2028 \xff\x00 grüße</a>")))
		require.NoError(t, s.tasks.Finish("job-8", asynctask.Message(strings.Repeat("ab<", 1<<20))))
		s.ask(carryontest.Text("Well."))
		text := s.content(t, 0, 1)
		assert.True(t, utf8.ValidString(s.body(t, 0)))
		assert.Contains(t, text, `"final_message": "<a href=\"x\">\t&\\ `)
		assert.Contains(t, text, `grüße</a>"`)
		assert.Contains(t, text, `ab<ab<ab<`)
		assert.Less(t, len(text), asynctask.MaxReminder)
		assert.True(t, strings.HasSuffix(text, summaryOf("job-7 - [DONE] (job-7)", "job-8 - [DONE] (job-8)")))
	})
}

func TestRequestsOutOfScopeTellNothing(t *testing.T) {
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
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newTaskScene(t, m, noTodos)
				s.ends(t, "job-7")
				request := ask()
				ctx := change(s.ctx, &request)
				require.NoError(t, s.call(ctx, request, carryontest.Text("Well.")).Err)
				assert.Equal(t, plainBody(t, m, request), s.body(t, 0))
				assert.Empty(t, s.told.Reminders())
				s.ask(carryontest.Text("Well."))
				assert.Contains(t, s.content(t, 1, 1), reminderOf("job-7"))
			})
		})
	}
}

func TestDryRunTellsNothing(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, twoTodos, middleware.WithDryRun())
		s.ends(t, "job-7")
		require.NoError(t, s.ask(carryontest.Text(plan)).Err)
		assert.Equal(t, plainBody(t, m, ask()), s.body(t, 0))
		assert.Empty(t, s.told.Reminders())
		assert.Equal(t, []string{"job-7"}, s.tasks.Remind("s").Tasks())
	})
}

func TestReminderGoesWithADeclaredPause(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, noTodos, middleware.WithPauseTool(middleware.Always))
		s.ends(t, "job-7")
		s.ask(carryontest.Text("Well."))
		s.ask(carryontest.Text("Well."))
		assert.Contains(t, s.content(t, 0, 1), reminderOf("job-7"))
		assert.Equal(t, []string{"edit_file", "todo_pause"}, s.server.Requests()[0].Tools)
		assert.Equal(t, plainBody(t, m, ask(), middleware.WithPauseTool(middleware.Always)), s.body(t, 1))
	})
}

func TestAnswerToARejectedPauseTellsTheNews(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s, plain := newTaskScene(t, m, twoTodos), newScene(t, m, twoTodos)
		s.ask(carryontest.Text(plan), then(func() { s.ends(t, "job-7") }, carryontest.Pause("stuck")), edit())
		plain.ask(carryontest.Text(plan), carryontest.Pause("stuck"), edit())
		assert.Equal(t, plain.prompts()[0], s.prompts()[0])
		assert.Equal(t, "tool", s.server.Requests()[2].Last().Role)
		assert.Equal(t, plain.prompts()[1]+"\n\n"+reminderOf("job-7")+"\n\n"+summaryOf("job-7 - [DONE] (job-7)"),
			s.prompts()[1])
		assert.Equal(t, s.prompts()[1], s.told.Started()[1].Prompt)
	})
}

func TestLogOfADeliveryHoldsNoTexts(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		var log bytes.Buffer
		s := newTaskScene(t, m, noTodos,
			middleware.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		s.ends(t, "job-7", "job-8")
		s.ask(carryontest.Text("Well."))
		assert.Contains(t, log.String(), `level=DEBUG msg="carryon: reminder delivered" tasks=2 attempt=0 session=s turn=1`)
		assert.NotContains(t, log.String(), "job-7")
		assert.NotContains(t, log.String(), "The result of")
	})
}

// compacted is the request as a program sends it that has rewritten its history.
func compacted() openai.ChatCompletionRequest {
	request := ask()
	request.Messages[1].Content = "So far the parser was begun. Go on."
	return withHistory(request, "call_1")
}

func TestReminderMovesToTheLastMessageIfTheHistoryIsRewritten(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		for name, second := range map[string][]carryontest.Turn{
			"a call": {edit().ID("call_2")}, "continued": {carryontest.Text(plan), edit().ID("call_2")},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newTaskScene(t, m, twoTodos)
				s.ends(t, "job-7")
				s.ask(edit().ID("call_1"))
				s.call(s.ctx, compacted(), second...)
				s.call(s.ctx, withHistory(compacted(), "call_2"), carryontest.Text("Done.").Finish("length"))
				s.call(s.ctx, compacted(), edit())

				own, moved := s.content(t, 0, 1), s.content(t, 1, 3)
				assert.Equal(t, strings.Replace(own, question, "saved", 1), moved)
				n := len(s.server.Requests())
				for i := range n - 2 {
					assert.Equal(t, 1, strings.Count(s.body(t, i+1)+s.body(t, 0), "agent_id")-1, "request %d", i+1)
				}
				requireSameUpTo(t, moved, s.body(t, 1), s.body(t, n-2))
				assert.Equal(t, "saved", s.content(t, n-2, 5))
				assert.NotContains(t, s.body(t, n-1), "agent_id")
			})
		}
	})
}

func TestTurnThatATaskStartedIsNotToldTwice(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newTaskScene(t, m, noTodos)
		answered := make(chan answer)
		trigger := asynctask.NewAutoTrigger(s.ctx, s.tasks, asynctask.Host{
			Busy: func() bool { return false },
			Trigger: func(ctx context.Context, message string) error {
				got := s.call(ctx, said(ask(), "Well.", message), carryontest.Text("Good."))
				answered <- got
				return got.Err
			},
		})
		s.begins(t, "job-7")
		require.NoError(t, s.tasks.Finish("job-7", asynctask.Message("The result of job-7.")))
		require.NoError(t, s.clock.BlockUntil(t.Context(), 1))
		s.clock.Advance(asynctask.TriggerWindow)
		requireComplete(t, m, <-answered, "Good.", "stop")
		require.NoError(t, trigger.Stop(t.Context()))

		s.ask(carryontest.Text("Well."))
		assert.Equal(t, reminderOf("job-7")+"\n\n"+summaryOf("job-7 - [DONE] (job-7)"), s.content(t, 0, 3))
		assert.Equal(t, question, s.content(t, 1, 1))
		assert.Empty(t, s.told.Reminders(), "it was the program that told")
	})
}
