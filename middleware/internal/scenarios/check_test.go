package scenarios_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// worked returns a request of a user turn that has called a tool.
func worked() openai.ChatCompletionRequest { return scenario.WithEdit(scenario.Request(), "call_1") }

// says returns a check that says these things, one after the other, and passes after that.
func says(asked *atomic.Int32, said ...error) middleware.Option {
	return middleware.WithCheck(func(context.Context, middleware.NextTurn) error {
		if n := int(asked.Add(1)); n <= len(said) {
			return said[n-1]
		}
		return nil
	})
}

func unmet(text string) error { return &middleware.Unmet{Name: "make test", Text: text} }

func finished() todo.Provider { return todo.Static(scenario.Completed("Write the parser")) }

func TestCheckThatFailsContinuesTheTurnUntilItPasses(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		var asked atomic.Int32
		s := scenario.New(t, m, finished(), says(&asked, unmet("FAIL TestAdd"), unmet("FAIL TestSub")))
		got := s.Call(s.Ctx, worked(), scenario.Texts("All done.", "Mended.", "Now it passes.")...)
		scenario.RequireComplete(t, m, got, "All done.\n\nMended.\n\nNow it passes.", "stop")
		assert.Equal(t, int32(3), asked.Load())
		assert.Equal(t, reasons.CheckPassed, got.Outcome.Reason)
		assert.Equal(t, continuation.CheckPassed, got.Outcome.Check)
		assert.Equal(t, 2, got.Outcome.Attempts)
		assert.Equal(t, 2, got.Outcome.Worth.ChecksFailed)
		assert.Equal(t, 1, got.Outcome.Worth.ChecksMended)
		assert.Zero(t, got.Outcome.Worth.Unwanted(), "a list says nothing about them")
		prompts := s.Prompts()
		require.Len(t, prompts, 2)
		assert.Contains(t, prompts[0], "'Make this check pass: make test'")
		assert.Contains(t, prompts[0], "```\nFAIL TestAdd\n```")
		assert.Contains(t, prompts[1], "```\nFAIL TestSub\n```")
		assert.Zero(t, s.State(t).Check.Failed)
	})
}

func TestCheckThatPassesChangesNothing(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		turn := fakellm.Text("All done.")
		want := scenario.SDKAnswer(t, m, worked(), turn)
		var asked atomic.Int32
		s := scenario.New(t, m, finished(), says(&asked))
		got := s.Call(s.Ctx, worked(), turn)
		scenario.RequireSame(t, want, got)
		assert.Equal(t, int32(1), asked.Load())
		assert.Equal(t, reasons.CheckPassed, got.Outcome.Reason)
		assert.Zero(t, got.Outcome.Worth)
	})
}

func TestCheckIsNotAsked(t *testing.T) {
	t.Parallel()
	open := todo.Static(scenario.Pending("Write the parser"))
	for name, c := range map[string]struct {
		todos   todo.Provider
		request openai.ChatCompletionRequest
		turns   []fakellm.Turn
		options []middleware.Option
		want    continuation.Reason
	}{
		"no tool was called":          {finished(), scenario.Request(), scenario.Texts("Done."), nil, reasons.NoActiveTodos},
		"the user has written since":  {finished(), scenario.WithUserMessage(worked(), "Done.", "Thanks!"), scenario.Texts("You are welcome."), nil, reasons.NoActiveTodos},
		"a tool is called":            {finished(), worked(), []fakellm.Turn{scenario.Edit()}, nil, reasons.ToolCalls},
		"it is cut off":               {finished(), worked(), []fakellm.Turn{fakellm.Text("Do").Finish("length")}, nil, reasons.NotEnded},
		"the user is asked":           {finished(), worked(), scenario.Texts("Shall I commit it?"), []middleware.Option{middleware.WithApprovalMode(continuation.ApprovalDefault)}, reasons.AsksUser},
		"work is left, and no budget": {open, worked(), scenario.Texts("One:", "Two:", "Three:", "Four:"), nil, reasons.MaxAttempts},
		"the work goes on elsewhere":  {finished(), worked(), scenario.Texts("The build is still running in the background; I will report when it completes."), nil, reasons.Background},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				var asked atomic.Int32
				s := scenario.New(t, m, c.todos, append(c.options, says(&asked, unmet("no")))...)
				got := s.Call(s.Ctx, c.request, c.turns...)
				assert.Equal(t, c.want, got.Outcome.Reason)
				assert.Equal(t, continuation.NoCheck, got.Outcome.Check)
				assert.Zero(t, asked.Load())
			})
		})
	}
}

func TestCheckIsAskedWithoutAList(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var asked atomic.Int32
		s := scenario.New(t, m, todo.FromConversation(), says(&asked, unmet("no")))
		got := s.Call(s.Ctx, worked(), scenario.Texts("I did it.", "Now it works.")...)
		assert.Equal(t, "I did it.\n\nNow it works.", got.Text)
		assert.Equal(t, int32(2), asked.Load())
	})
}

// A model that says that nothing is open is believed only if the check agrees.
func TestCheckFollowsTheClosingQuestion(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		var asked atomic.Int32
		s := scenario.New(t, m, todo.FromConversation(), middleware.WithClosingQuestion(), says(&asked, unmet("no")))
		got := s.Call(s.Ctx, worked(), scenario.Texts("I did it.", "Nothing is open.", "Mended.")...)
		scenario.RequireComplete(t, m, got, "I did it.\n\nMended.", "stop")
		assert.Equal(t, reasons.CheckPassed, got.Outcome.Reason)
		assert.Equal(t, int32(2), asked.Load())
	})
}

// Agents shorten their history within a user turn; the session remembers the call.
func TestCheckRemembersThatToolsWereCalled(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var asked atomic.Int32
		s := scenario.New(t, m, finished(), says(&asked, unmet("no")))
		s.Call(s.Ctx, worked(), scenario.Edit())
		short := scenario.Request()
		short.Messages = append(short.Messages,
			openai.ChatCompletionMessage{Role: "assistant", Content: "What was done so far: the parser."},
			openai.ChatCompletionMessage{Role: "user", Content: "<system-reminder>Go on.</system-reminder>"})
		got := s.Call(s.Ctx, short, scenario.Texts("Done.", "Mended.")...)
		assert.Equal(t, reasons.CheckPassed, got.Outcome.Reason)
		assert.Equal(t, int32(2), asked.Load())
	})
}

func TestCheckThatNobodyUnderstandsIsReportedAndEndsTheTurn(t *testing.T) {
	t.Parallel()
	broken := errors.New("make: not found")
	for name, check := range map[string]middleware.Check{
		"an error": func(context.Context, middleware.NextTurn) error { return broken },
		"a panic":  func(context.Context, middleware.NextTurn) error { panic(broken) },
		"nothing":  func(context.Context, middleware.NextTurn) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, finished(), middleware.WithCheck(check))
				got := s.Call(s.Ctx, worked(), fakellm.Text("All done."))
				scenario.RequireComplete(t, m, got, "All done.", "stop")
				assert.Equal(t, reasons.CheckUnknown, got.Outcome.Reason)
				assert.Equal(t, continuation.CheckUnknown, got.Outcome.Check)
				assert.Equal(t, []string{"check"}, failures(s.Events))
				if name == "nothing" {
					assert.Error(t, got.Outcome.Err)
				} else {
					assert.ErrorIs(t, got.Outcome.Err, broken)
				}
			})
		})
	}
}

// A check that fails in the same way for ever costs as many attempts as any stall, and one
// that always fails in another way ten continuations.
func TestCheckThatNeverPassesEnds(t *testing.T) {
	t.Parallel()
	words := []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	for name, c := range map[string]struct {
		text func(n int) string
		want int
	}{
		"in the same way": {func(int) string { return "FAIL" }, 3},
		"but for numbers": {func(n int) string {
			return words[0] + " failed after 1." + string(rune('0'+n%10)) + "s at 0xc0001" + words[n%5][:1]
		}, 3},
		"always in another way": {func(n int) string { return words[n] + " failed" }, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				n := 0
				s := scenario.New(t, m, finished(), middleware.WithCheck(func(context.Context, middleware.NextTurn) error {
					n++
					return unmet(c.text(n - 1))
				}))
				got := s.Call(s.Ctx, worked(), scenario.Texts(words...)...)
				assert.Equal(t, c.want, got.Outcome.Attempts)
				assert.Equal(t, c.want, n, "it is not asked when no attempt is left")
				assert.Equal(t, reasons.CheckExhausted, got.Outcome.Reason)
				assert.Equal(t, c.want, got.Outcome.Worth.ChecksFailed)
				assert.Zero(t, got.Outcome.Worth.ChecksMended)
				assert.Len(t, exhaustions(s.Events), 1)
			})
		})
	}
}

// The cap counts the whole user turn: an agent that calls tools after every continuation
// must not go on for ever.
func TestCheckThatNeverPassesEndsOverManyCalls(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		n := 0
		s := scenario.New(t, m, finished(), middleware.WithCheck(func(context.Context, middleware.NextTurn) error {
			n++
			return unmet("FAIL " + string(rune('a'+n)))
		}))
		edits := 0
		for range 30 {
			s.Server.Append(fakellm.Func(func(r fakellm.Request) fakellm.Turn {
				if !strings.HasPrefix(r.Last().Content, continuation.PromptPreamble) {
					return fakellm.Text("Done.")
				}
				edits++
				return fakellm.Call("edit_file", `{"path":"`+strings.Repeat("x", edits)+`.go"}`)
			}))
		}
		var got scenario.Answer
		for range 12 {
			got = s.Call(s.Ctx, worked())
		}
		assert.Equal(t, 10, n)
		assert.Equal(t, reasons.CheckExhausted, got.Outcome.Reason)
		got = s.Call(s.Ctx, scenario.WithEdit(scenario.WithUserMessage(worked(), "Done.", "Try again."), "call_2"))
		assert.Equal(t, 11, n, "the user has written")
		assert.Equal(t, 1, got.Outcome.Attempts)
	})
}

func TestCheckInADryRunSendsNothing(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		var asked atomic.Int32
		s := scenario.New(t, m, finished(), middleware.WithDryRun(), says(&asked, unmet("no")))
		got := s.Call(s.Ctx, worked(), fakellm.Text("All done."))
		scenario.RequireComplete(t, m, got, "All done.", "stop")
		assert.Equal(t, int32(1), asked.Load())
		assert.Equal(t, reasons.CheckFailed, got.Outcome.Reason)
		assert.Equal(t, continuation.CheckFailed, got.Outcome.Check)
		assert.Equal(t, 1, got.Outcome.Worth.Unsent)
		assert.Zero(t, got.Outcome.Attempts)
		assert.Zero(t, s.State(t))
	})
}

// The check says in both groups how the work has ended.
func TestCheckIsAskedInTheControlGroup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		todos todo.Provider
		said  []error
		want  continuation.Reason
		check continuation.CheckResult
	}{
		"it fails":                   {finished(), []error{unmet("no")}, reasons.Holdout, continuation.CheckFailed},
		"it passes":                  {finished(), nil, reasons.CheckPassed, continuation.CheckPassed},
		"work is left, it passes":    {scenario.TwoTodos(), nil, reasons.Holdout, continuation.CheckPassed},
		"work is left, and it fails": {scenario.TwoTodos(), []error{unmet("no")}, reasons.Holdout, continuation.CheckFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
				var asked atomic.Int32
				s := scenario.New(t, m, c.todos, middleware.WithHoldout(1), says(&asked, c.said...))
				got := s.Call(s.Ctx, worked(), fakellm.Text("All done:"))
				scenario.RequireComplete(t, m, got, "All done:", "stop")
				assert.Equal(t, int32(1), asked.Load())
				assert.Equal(t, c.want, got.Outcome.Reason)
				assert.Equal(t, c.check, got.Outcome.Check)
				assert.Zero(t, got.Outcome.Worth.ChecksMended)
			})
		})
	}
}

func TestCheckMayCallTheWrappedClient(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		var s *scenario.Scenario
		asked := 0
		s = scenario.New(t, m, finished(), middleware.WithCheck(func(ctx context.Context, turn middleware.NextTurn) error {
			asked++
			assert.Equal(t, "s", continuation.Session(ctx))
			answer := s.Mode.Call(ctx, s.Client, worked())
			without := s.Mode.Call(t.Context(), s.Client, worked()) // only the stack tells
			assert.NotEmpty(t, without.Text)
			if turn.Attempt == 1 {
				return unmet(answer.Text)
			}
			return nil
		}))
		got := s.Call(s.Ctx, worked(), scenario.Texts("All done.", "A judge says no.", "So does this.", "Mended.", "Yes.", "Yes, too.")...)
		assert.Equal(t, "All done.\n\nMended.", got.Text)
		assert.Equal(t, 2, asked)
		assert.Len(t, s.Server.Requests(), 6)
		assert.Contains(t, s.Prompts()[2], "A judge says no.")
	})
}

// After a pause that is rejected, what was missing is still missing: the check does not
// run once more for that.
func TestCheckIsNotAskedAboutARejectedPause(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		var asked atomic.Int32
		s := scenario.New(t, m, finished(), says(&asked, unmet("no")))
		got := s.Call(s.Ctx, worked(), fakellm.Text("Done."), fakellm.Call("todo_pause", `{"reason":"stuck"}`), fakellm.Text("Mended."))
		assert.Equal(t, "Done.\n\nMended.", got.Text)
		assert.Equal(t, int32(2), asked.Load())
		assert.Equal(t, 1, got.Outcome.Worth.ChecksFailed)
		assert.Contains(t, s.Prompts()[1], "'Make this check pass: make test'")
	})
}

func TestCheckAndAPause(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		var asked atomic.Int32
		s := scenario.New(t, m, finished(), says(&asked, unmet("no")))
		const reason = "The tests need a database that does not run here"
		got := s.Call(s.Ctx, worked(), fakellm.Text("Done."), fakellm.Call("todo_pause", `{"reason":"`+reason+`"}`))
		assert.Equal(t, "Done.\n\nTask paused: "+reason, got.Text)
		assert.Equal(t, reasons.Paused, got.Outcome.Reason)
		assert.Equal(t, int32(1), asked.Load())
	})
}

// A continuation that fails before anything of it was shown is sent again, and the check is
// not run again for that.
func TestCheckIsNotAskedAgainForASecondTry(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		var asked atomic.Int32
		s := scenario.New(t, m, finished(), says(&asked, unmet("no")))
		got := s.Call(s.Ctx, worked(), fakellm.Text("Done."), scenario.Failure(503), fakellm.Text("Mended."))
		assert.Equal(t, "Done.\n\nMended.", got.Text)
		assert.Equal(t, int32(2), asked.Load())
		assert.Equal(t, 1, got.Outcome.Worth.ChecksFailed)
		assert.Equal(t, 1, got.Outcome.Worth.ChecksMended)
	})
}

func TestGateSeesTheFailureOfACheck(t *testing.T) {
	t.Parallel()
	veto := errors.New("enough")
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var asked atomic.Int32
		s := scenario.New(t, m, finished(), says(&asked, unmet("no")), middleware.WithGate(func(_ context.Context, turn middleware.NextTurn) error {
			assert.Equal(t, &middleware.Unmet{Name: "make test", Text: "no"}, turn.Unmet)
			return veto
		}))
		got := s.Call(s.Ctx, worked(), fakellm.Text("Done."))
		assert.Equal(t, reasons.Gate, got.Outcome.Reason)
		assert.Equal(t, 1, got.Outcome.Worth.ChecksFailed)
	})
}

func TestNoCheckIsRefused(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, "carryon/middleware: nil check", func() { middleware.New(finished(), middleware.WithCheck(nil)) })
}

// A sub-agent's end is not checked; neither that of a conversation that begins with what a
// sub-agent has said. The main conversation is, whatever its model has given to tools.
func TestCheckIsOfTheMainConversation(t *testing.T) {
	t.Parallel()
	const task, summary = "Look for all callers of parse and list them.", "So far, I have found two callers of parse in main.go."
	from := func(message string) openai.ChatCompletionRequest {
		request := scenario.Request()
		request.Messages[1].Content = message
		return scenario.WithEdit(request, "call_1")
	}
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		var asked atomic.Int32
		s := scenario.New(t, m, finished(), says(&asked))
		in := func(name string) context.Context { return continuation.WithSession(s.Ctx, name) }
		main := worked()
		s.Call(in("main"), main, fakellm.Call("task", `{"prompt":"`+task+`","copy":"`+main.Messages[1].Content+`"}`))
		got := s.Call(in("sub"), from("You are a sub-agent.\n"+task), fakellm.Text(summary))
		assert.Equal(t, reasons.NoActiveTodos, got.Outcome.Reason)
		s.Call(in("sub, shortened"), from("What you did before:\n"+summary), fakellm.Text("Three."))
		assert.Zero(t, asked.Load())
		got = s.Call(in("main"), main, fakellm.Text("All done."))
		assert.Equal(t, reasons.CheckPassed, got.Outcome.Reason)
		assert.Equal(t, int32(1), asked.Load())
	})
}

// Sub-agents that share the name of their session neither renew the failures that a check
// may have, nor count as work of the main conversation.
func TestSubAgentsOfOneSessionRenewNoFailures(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		n := 0
		s := scenario.New(t, m, finished(), middleware.WithCheck(func(context.Context, middleware.NextTurn) error {
			n++
			return unmet("FAIL " + string(rune('a'+n)))
		}))
		part := 0
		task := func() string { return "Look for all callers of parse and list them, part " + strings.Repeat("x", part) }
		for range 60 {
			s.Server.Append(fakellm.Func(func(r fakellm.Request) fakellm.Turn {
				if !strings.HasPrefix(r.Last().Content, continuation.PromptPreamble) {
					return fakellm.Text("Done.")
				}
				part++
				return fakellm.Call("task", `{"prompt":"`+task()+`"}`)
			}))
		}
		var got scenario.Answer
		for range 14 {
			got = s.Call(s.Ctx, worked())
			sub := scenario.Request()
			sub.Messages[1].Content = task()
			s.Call(s.Ctx, scenario.WithEdit(sub, "call_2"))
		}
		assert.Equal(t, reasons.CheckExhausted, got.Outcome.Reason)
		assert.Equal(t, 10, n)
	})
}
