package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
)

func TestCommandsAnswerInASentence(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"/nope":                         "! There is no command /nope. /help lists the commands.\n",
		"/\x1b[2Jx":                     "! There is no command /x. /help",
		"/" + strings.Repeat("x", 5000): "x... /help lists the commands.\n",
		"/set":                          "Settings: todo-continuation is true, approval-mode is default.",
		"/set colour red":               "! There is no setting \"colour\". The settings are todo-continuation and approval-mode.\n",
		"/set approval-mode maybe":      "! approval-mode cannot be \"maybe\". It can be default or yolo.\n",
		"/set approval-mode yolo":       "approval-mode is now yolo.\n",
		"/SET todo_continuation off":    "todo-continuation is now false.\n",
		"/todos":                        "There are no todos.\n",
		"/tasks":                        "There are no background tasks.\n",
		"/history":                      "1 message. carryon sent 0 prompts; the messages contain 0.\n",
		"/resume":                       "Nothing is paused.\n",
		"/pause":                        "Paused until your next message, or /resume.\n",
		"/help":                         help + "\n",
		"   /todos  ":                   "There are no todos.\n",
	} {
		inPipe(t, func(s *scene) {
			s.enter(line)
			s.settle()
			assert.Contains(t, s.written(), want)
			assert.NotContains(t, s.written(), "\x1b")
		})
	}
}

// Tab completes every command that there is.
func TestEveryCommandIsCompleted(t *testing.T) {
	t.Parallel()
	for _, word := range commands() {
		inPipe(t, func(s *scene) {
			s.enter(strings.TrimSpace(word))
			s.settle()
			assert.NotContains(t, s.written(), "There is no command")
		})
	}
	assert.Contains(t, commands(), "/help")
}

func TestPauseHoldsUntilResume(t *testing.T) {
	t.Parallel()
	inTerminal(t, 80, 24, func(s *scene) {
		s.enter("Work.")
		s.pass(time.Second)
		s.enter("/pause I want to look")
		s.settle()
		assert.Contains(t, s.seen(), "-- 0 of 1 done, paused (/resume) --")
		assert.NotContains(t, s.written(), "carrying on")
		assert.Len(t, s.server.Requests(), 2)

		s.enter("/resume")
		s.settle()
		assert.Contains(t, s.seen(), "> "+resumption+"\n")
		assert.Contains(t, s.seen(), "* carrying on: Dig (attempt 1 of 4)\n")
	}, planOf("Dig"), carryontest.Text("Next, I will dig.").Delay(5*time.Second), carryontest.Text("I go on."),
		carryontest.Pause("The spade is locked away, and only you have the key."))
}

func TestResumeDuringATurnSaysNothingToTheModel(t *testing.T) {
	t.Parallel()
	inTerminal(t, 80, 24, func(s *scene) {
		s.enter("Work.")
		s.pass(time.Second)
		s.enter("/pause")
		s.enter("/resume")
		assert.Contains(t, s.seen(), "Resumed.\n")
		s.settle()
		assert.Contains(t, s.seen(), "* carrying on: Dig (attempt 1 of 4)\n")
		assert.NotContains(t, s.written(), resumption)
	}, planOf("Dig"), carryontest.Text("Next, I will dig.").Delay(5*time.Second),
		carryontest.Pause("The spade is locked away, and only you have the key."))
}

func TestPauseEndsWithTheNextMessage(t *testing.T) {
	t.Parallel()
	inTerminal(t, 80, 24, func(s *scene) {
		s.enter("Hello.")
		s.settle()
		s.enter("/pause")
		assert.Contains(t, s.seen(), "-- paused (/resume) --")
		s.enter("/resume")
		assert.Contains(t, s.seen(), "Resumed.\n")
		s.enter("/pause")
		s.enter("Again.")
		s.settle()
		assert.Contains(t, s.seen(), "-- ready (/help) --")
	}, carryontest.Text("Hello."), carryontest.Text("Hello again."))
}

func TestSettingsCountAtTheNextDecision(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("/set todo-continuation false")
		s.enter("Work.")
		s.settle()
		assert.Len(t, s.server.Requests(), 2)
		s.enter("/set todo-continuation true")
		s.enter("/set approval-mode yolo")
		s.enter("Go on.")
		s.settle()
		assert.Contains(t, s.server.Requests()[3].Last().Content, "IMMEDIATELY")
		values, err := s.mw.Settings().Load(t.Context(), session)
		require.NoError(t, err)
		assert.Equal(t, continuation.ApprovalYOLO, values.ApprovalMode)
	}, planOf("Dig"), carryontest.Text("Next, I will dig."), carryontest.Text("I am about to."),
		carryontest.Pause("The spade is locked away, and only you have the key."))
}

func TestTasksAreListed(t *testing.T) {
	t.Parallel()
	inTerminal(t, 80, 24, func(s *scene) {
		s.enter("Check.")
		s.pass(time.Second)
		s.enter("/tasks")
		assert.Contains(t, s.seen(), "1. check the files in nowhere: running\n")
		s.settle()
		s.enter("/tasks")
		assert.Contains(t, s.seen(), "1. check the files in nowhere: failed, nowhere: no such file or directory\n")
	}, carryontest.Call(checkFiles, `{"folder":"nowhere"}`), carryontest.Text("It runs."), carryontest.Text("It failed."))
}

func TestEmptyLinesAreNoMessages(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("")
		s.enter("   ")
		s.settle()
		assert.Len(t, s.agent.messages(), 1)
	})
}
