package main

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

func TestConversationInAPipe(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		for _, line := range []string{request, "Ada Lovelace", "/history", "/tasks", "/todos"} {
			s.enter(line)
			s.settle()
		}
		s.quit()
		requireGolden(t, "pipe.txt", s.written())
		assert.Equal(t, -1, strings.IndexFunc(s.written(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }),
			"an escape sequence or the like")
		assert.Contains(t, s.file("tea/outline.md"), "On tea")
		assert.True(t, strings.HasSuffix(s.file("tea/guide.md"), "\nBy Ada Lovelace\n"))
		assert.Empty(t, open(s.todos.Read(continuation.WithSession(t.Context(), session))))
		assert.Zero(t, prompts(s.agent.messages()))
	})
}

func TestAllOfAPipeIsReadAtOnce(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		go func() {
			_, _ = s.keys.Write([]byte(request + "\nAda Lovelace\n/history\n/tasks\n/todos\n"))
			_ = s.keys.Close()
		}()
		<-s.ended
		requireGolden(t, "pipe.txt", s.written())
	})
}

func TestConversationOnAScreen(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"80x24": {80, 24}, "40x12": {40, 12}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inTerminal(t, size[0], size[1], func(s *scene) {
				var screens strings.Builder
				look := func(title string) {
					screens.WriteString("=== " + title + "\n" + s.seen())
				}
				look("begun")
				s.enter(request)
				s.pass(700 * time.Millisecond)
				look("at work")
				s.pass(2 * time.Second)
				look("in the background")
				s.settle()
				look("paused")
				s.enter("Ada Lovelace")
				s.settle()
				look("done")
				s.enter("/help")
				look("help")
				s.press("\x04")
				<-s.ended
				look("left")
				requireGolden(t, "screen-"+name+".txt", screens.String())
			})
		})
	}
}

func TestCtrlCStopsTheTurnAndNotTheProgram(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]carryontest.Turn{
		"before the first byte": carryontest.Text("").Hang(),
		"in the middle":         carryontest.Text("This is only the beginning of it").HangAfter(4),
		"between words":         carryontest.Text(strings.Repeat("word ", 500)).Delay(10 * time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inTerminal(t, 80, 24, func(s *scene) {
				s.enter("Hello.")
				s.pass(time.Minute)
				require.True(t, s.busy())

				begin := time.Now()
				s.press("\x03")
				assert.Less(t, time.Since(begin), 100*time.Millisecond)
				assert.False(t, s.busy())
				assert.Contains(t, s.seen(), "* stopped\n")

				s.press("half a line\x03")
				assert.Contains(t, s.seen(), "* nothing to stop; Ctrl-D or /quit leaves\n")
				assert.NotContains(t, s.seen(), "half a line")
				s.press("\x1b[A")
				assert.Contains(t, s.seen(), "\n> half a line\n", "it can be had again")
				s.press("\x15")

				s.enter("Are you there?")
				s.settle()
				assert.Contains(t, s.seen(), "I am.\n")
			}, turn, carryontest.Text("I am."))
		})
	}
}

func TestWhatWasSaidBeforeCtrlCIsKept(t *testing.T) {
	t.Parallel()
	inTerminal(t, 80, 24, func(s *scene) {
		s.enter("Hello.")
		s.press("\x03")
		s.enter("Again.")
		s.press("\x03")
		s.enter("And?")
		s.settle()
		var texts []string
		for _, m := range s.server.Requests()[2].Messages[1:] {
			texts = append(texts, m.Role+": "+m.Content)
		}
		assert.Equal(t, []string{"user: Hello.", "assistant: This is ", "user: And?"}, texts,
			"what was not answered at all is not there twice")
	}, carryontest.Text("This is the beginning").HangAfter(3), carryontest.Text("").Hang(), carryontest.Text("Well."))
}

func TestHalfACallIsNotKept(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("Hello.")
		s.settle()
		assert.Contains(t, s.written(), "I write.\n! ")
		s.enter("And?")
		s.settle()
		messages := s.server.Requests()[1].Messages
		assert.Equal(t, "I write.", messages[2].Content)
		assert.Empty(t, messages[2].ToolCalls)
	}, carryontest.Text("I write.").AndCall(writeFile, `{"path":"a.txt","content":"x"}`).CutAfter(5), carryontest.Text("Well."))
}

func TestCtrlCStopsAContinuation(t *testing.T) {
	t.Parallel()
	inTerminal(t, 80, 24, func(s *scene) {
		s.enter("Work.")
		s.pass(time.Minute)
		assert.Contains(t, s.seen(), "* carrying on: Dig (attempt 1 of 4)\n")
		s.press("\x03")
		assert.False(t, s.busy())
		assert.Contains(t, s.seen(), "* stopped\n")
		assert.Contains(t, s.seen(), "[ ] Dig\n")
	}, planOf("Dig"), carryontest.Text("Next, I will dig."), carryontest.Text("").Hang())
}

func TestCommandsWorkDuringATurn(t *testing.T) {
	t.Parallel()
	inTerminal(t, 80, 24, func(s *scene) {
		s.enter("Work.")
		s.pass(time.Second)
		s.enter("/set todo-continuation false")
		s.enter("And then rest.")
		assert.Contains(t, s.seen(), "* will be sent after this turn; Ctrl-C stops the turn\n")
		s.settle()
		assert.Len(t, s.server.Requests(), 3, "the list is open, and nobody is asked to carry on")
		assert.Equal(t, "And then rest.", s.server.Requests()[2].Last().Content)
		assert.NotContains(t, s.written(), "carrying on")
	}, planOf("Dig"), carryontest.Text("Next, I will dig.").Delay(5*time.Second), carryontest.Text("Yes."))
}

func TestModelThatGetsNowhere(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("Work.")
		s.settle()
		for _, line := range []string{
			"* carrying on: Dig (attempt 1 of 4)\n", "* carrying on: Dig (attempt 2 of 4)\n",
			"* carrying on: Dig (attempt 3 of 4)\n", "* carrying on: Dig (attempt 4 of 4)\n", "* gave up: Maximum continuation attempts exceeded\n",
		} {
			assert.Contains(t, s.written(), line)
		}
	}, planOf("Dig"), carryontest.Text("I will."), carryontest.Text("I shall."), carryontest.Text("I will dig."),
		carryontest.Text("Next, I will dig."), carryontest.Text("Let me dig."))
}

func TestPauseThatIsNone(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("Work.")
		s.settle()
		assert.Contains(t, s.written(), "* no reason to pause: \"stuck\"\n")
		assert.Contains(t, s.written(), "* paused: The spade is locked away, and only you have the key.\n")
	}, planOf("Dig"), carryontest.Text("I will."), carryontest.Pause("stuck"),
		carryontest.Pause("The spade is locked away, and only you have the key."))
}

func TestResultOfABackgroundTaskStartsATurn(t *testing.T) {
	t.Parallel()
	inTerminal(t, 80, 24, func(s *scene) {
		s.enter("Check.")
		s.pass(time.Second)
		assert.False(t, s.busy())
		assert.Contains(t, s.seen(), "-- 1 task in background --")
		s.settle()
		assert.Contains(t, s.seen(), "* background result: check the files in . (completed)\nAll is well.\n")
		last := s.server.Requests()[2].Last().Content
		assert.True(t, strings.HasPrefix(last, taskNote))
		assert.Contains(t, last, "0 files with 0 words.")
	}, carryontest.Call(checkFiles, `{"folder":"."}`), carryontest.Text("It runs."), carryontest.Text("All is well."))
}

func TestCtrlCStopsTheTurnOfABackgroundTask(t *testing.T) {
	t.Parallel()
	inTerminal(t, 80, 24, func(s *scene) {
		s.enter("Check.")
		s.pass(time.Minute)
		require.True(t, s.busy(), "the turn hangs")
		s.press("\x03")
		assert.True(t, s.quiet())
		s.pass(time.Hour)
		assert.True(t, s.quiet())
		assert.Len(t, s.server.Requests(), 3, "it is not started again")
	}, carryontest.Call(checkFiles, `{"folder":"."}`), carryontest.Text("It runs."), carryontest.Text("").Hang())
}

func TestTurnsThatStartTurnsComeToAnEnd(t *testing.T) {
	t.Parallel()
	var turns []carryontest.Turn
	for range 1 + maxAutomatic {
		turns = append(turns, carryontest.Call(checkFiles, `{"folder":"."}`), carryontest.Text("It runs."))
	}
	inTerminal(t, 80, 24, func(s *scene) {
		s.enter("Check for ever.")
		s.pass(time.Hour)
		assert.Len(t, s.server.Requests(), len(turns))
		assert.Equal(t, 1, strings.Count(s.written(), "* the result waits for your next message"))
		s.server.Append(carryontest.Text("I see."))
		s.enter("And?")
		s.settle()
		requests := s.server.Requests()
		assert.Contains(t, requests[len(requests)-1].Last().Content, "0 files with 0 words.", "it comes with the next message")
	}, turns...)
}

func TestLeavingEndsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"Ctrl-D": "\x04", "quit": "/quit\r"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inTerminal(t, 80, 24, func(s *scene) {
				s.enter("Check.")
				s.pass(time.Second)
				require.True(t, s.busy())
				begin := time.Now()
				s.press(keys)
				<-s.ended
				assert.Less(t, time.Since(begin), 100*time.Millisecond)
			}, carryontest.Call(checkFiles, `{}`), carryontest.Text("").Hang())
		})
	}
}

func TestErrorsOfTheEndpointAreSentences(t *testing.T) {
	t.Parallel()
	for want, turn := range map[string]carryontest.Turn{
		"! The endpoint answered HTTP 401: Incorrect key.\n": carryontest.Status(401, `{"error":{"message":"Incorrect \u001b[2Jkey."}}`),
		"! The endpoint answered HTTP 502, with a body":      carryontest.Status(502, `<html>`),
		"! The model gave no answer.\n":                      carryontest.Chunks(`{"choices":[]}`),
	} {
		inTerminal(t, 80, 24, func(s *scene) {
			s.enter("Hello.")
			s.settle()
			assert.Contains(t, s.seen(), want)
			assert.Len(t, s.agent.messages(), 1, "it can be said again")
			s.press("\x1b[A")
			assert.Contains(t, s.seen(), "\n> Hello.\n", "and can be recalled")
		}, turn)
	}
}

func TestEscapeSequencesOfTheModelAreNotShown(t *testing.T) {
	t.Parallel()
	evil := "\x1b[2J\x1b]0;title\a\x1b[31mred\x1b[0m \u202eright\u009b5A\r\x00end"
	inTerminal(t, 80, 24, func(s *scene) {
		before := s.written()
		s.enter("Hello.")
		s.settle()
		got := strings.TrimPrefix(s.written(), before)
		for _, bad := range []string{"\x1b[2J", "[2J", "title", "\x1b[31mred", "\u202e", "\u009b", "\x00"} {
			assert.NotContains(t, got, bad)
		}
		assert.Contains(t, s.seen(), "red rightend\n")
		assert.Contains(t, s.seen(), "[ ] red rightend\n")
		assert.Contains(t, s.seen(), "The model is scripted.", "nothing was erased")
	}, planOf(evil), carryontest.Text(evil), carryontest.Text(evil+" again"), carryontest.Pause("I can not go on, because "+evil))
}

func TestHistoryHasNoPrompt(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("Work.")
		s.settle()
		sent := s.server.Requests()[2]
		assert.Contains(t, sent.Last().Content, continuation.PromptPreamble)
		s.enter("/history")
		s.settle()
		assert.Contains(t, s.written(), "carryon sent 1 prompt; the messages contain 0.\n")
		assert.NotContains(t, s.written(), continuation.PromptPreamble)
	}, planOf("Dig"), carryontest.Text("I will."), listOf(todo.Completed, "Dig"), carryontest.Text("Done."))
}

func TestPromptInTheHistoryWouldBeCounted(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("I say: " + continuation.PromptPreamble)
		s.settle()
		s.enter("/history")
		s.settle()
		assert.Contains(t, s.written(), "carryon sent 0 prompts; the messages contain 1.\n")
	}, carryontest.Text("Well."))
}

func planOf(contents ...string) carryontest.Turn { return listOf(todo.Pending, contents...) }

func listOf(status todo.Status, contents ...string) carryontest.Turn {
	list := make([]todo.Todo, len(contents))
	for i, content := range contents {
		list[i] = todo.Todo{Content: content, Status: status}
	}
	return carryontest.Call(todo.WriteTool().Name, encode(map[string]any{"todos": list}))
}
