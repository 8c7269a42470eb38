package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// What is shown of a second turn "Done." after draft, in the plainest manner.
var doneShown = []string{`"\n\nDone."`, "finish stop", "usage 20/10/30 alone"}

func done() carryontest.Turn { return carryontest.Text("Done.") }

func TestSpliceOfText(t *testing.T) {
	t.Parallel()
	plain := lines(draftShown, doneShown)
	runSpliceCases(t, []spliceCase{
		{name: "finish and usage in chunks of their own", turns: pair(draft, done()), want: plain},
		{name: "without a final DONE", turns: pair(draft.NoDone(), done().NoDone()), want: plain},
		{name: "lines end with CRLF", turns: pair(draft.CRLF(), done().CRLF()), want: plain},
		{name: "comments between events", turns: pair(draft.Comments(), done().Comments()), want: plain},
		{name: "finish twice", turns: pair(draft.FinishTwice(), done().FinishTwice()), want: plain},
		{name: "a chunk without finish after it", turns: pair(draft.NullFinishLast(), done().NullFinishLast()), want: plain},
		{name: "finish with the last text", turns: pair(draft.FinishWithText(), done().FinishWithText()), want: plain},
		{
			name: "finish with the last text, twice", want: plain,
			turns: pair(draft.FinishWithText().FinishTwice(), done().FinishWithText().FinishTwice()),
		},
		{
			name: "everything in one chunk", turns: pair(draft.OneChunk(), done().OneChunk()),
			want: []string{`role "Plan."`, `"\n\nDone."`, "finish stop usage 20/10/30"},
		},
		{
			name: "role in every chunk", turns: pair(draft.RoleEveryChunk(), done().RoleEveryChunk()),
			want: lines([]string{"role", `role "Plan."`}, doneShown),
		},
		{
			name:  "the separator once, before the first text",
			turns: pair(draft, carryontest.Pieces("", "All ", "is ", "done.")),
			want: lines(draftShown, []string{
				`"\n\nAll "`, `"is "`, `"done."`, "finish stop", "usage 20/10/30 alone",
			}),
		},
		{
			name:  "the separator also before text that begins with lines",
			turns: pair(draft, carryontest.Pieces("\n", "Done.")),
			want:  lines(draftShown, []string{`"\n\n\n"`, `"Done."`, "finish stop", "usage 20/10/30 alone"}),
		},
		{
			name:  "no separator without text",
			turns: pair(draft, carryontest.Call("edit_file", `{}`)),
			want: lines(draftShown, []string{
				"[0 call_2_1 function edit_file _]", "[0 _ _ _ {}]", "finish tool_calls", "usage 20/10/30 alone",
			}),
		},
		{
			name:  "text before calls",
			turns: pair(draft, done().AndCall("edit_file", `{}`)),
			want: lines(draftShown, []string{
				`"\n\nDone."`, "[0 call_2_1 function edit_file _]", "[0 _ _ _ {}]", "finish tool_calls", "usage 20/10/30 alone",
			}),
		},
		{
			name:  "text after calls",
			turns: pair(draft, done().AndCall("edit_file", `{}`).TextLast()),
			want: lines(draftShown, []string{
				"[0 call_2_1 function edit_file _]", "[0 _ _ _ {}]", `"\n\nDone."`, "finish tool_calls", "usage 20/10/30 alone",
			}),
		},
		{
			name:  "finish of the last turn",
			turns: pair(draft.Finish("end_turn"), done().Finish("length")),
			want:  lines(draftShown, []string{`"\n\nDone."`, "finish length", "usage 20/10/30 alone"}),
		},
		{
			name:  "text that may begin a printed call is shown when it does not",
			turns: pair(draft, carryontest.Pieces("See todo_", "list.")),
			want:  lines(draftShown, []string{`"\n\nSee "`, `"todo_list."`, "finish stop", "usage 20/10/30 alone"}),
		},
		{
			name:  "text that may begin a printed call is shown at the end",
			turns: pair(draft, carryontest.Pieces("See todo_pause(")),
			want:  lines(draftShown, []string{`"\n\nSee "`, `"todo_pause("`, "finish stop", "usage 20/10/30 alone"}),
		},
		{
			name:  "a printed pause becomes the notice",
			turns: pair(draft, carryontest.Pieces("I am blocked. ", "todo_", "pause('", goodReason, "')")),
			want: lines(draftShown, []string{
				`"\n\nI am blocked. "`, `"\n\n` + goodNotice + `"`, "finish stop", "usage 20/10/30 alone",
			}),
		},
		{
			name:  "a chain of turns",
			turns: []carryontest.Turn{draft, done().FinishWithText(), carryontest.Text("Again."), carryontest.Text("Last.").OneChunk()},
			want: lines(draftShown, []string{
				`"\n\nDone."`, `"\n\nAgain."`, `"\n\nLast."`, "finish stop usage 40/20/60",
			}),
		},
	})
}

func TestSpliceOfEnvelopes(t *testing.T) {
	t.Parallel()
	noID := func(payload string) string { return strings.Replace(payload, `"id":"chatcmpl-other",`, "", 1) }
	emptyID := func(payload string) string { return strings.Replace(payload, `"chatcmpl-other"`, `""`, 1) }
	otherDraft := []string{says(`{"role":"assistant"}`), says(`{"content":"Plan."}`), ends(`{}`, "stop")}
	otherShown := lines(draftShown, []string{`"\n\nDone."`, "finish stop", "usage 10/5/15 alone"})
	with := func(change func(string) string, payloads []string) carryontest.Turn {
		changed := make([]string, 0, len(payloads))
		for _, p := range payloads {
			changed = append(changed, change(p))
		}
		return carryontest.Chunks(changed...)
	}
	runSpliceCases(t, []spliceCase{
		{
			name: "another model, object and time in the second turn",
			turns: pair(draft.Model("model-1"), carryontest.Chunks(
				says(`{"role":"assistant","content":"Done."}`), ends(`{}`, "stop"))),
			want: otherShown,
		},
		{
			name:  "a first chunk without id and choices in both turns",
			turns: pair(draft.AzureFirst(), done().AzureFirst()),
			want:  lines([]string{"no choices"}, draftShown, doneShown),
		},
		{name: "ids that change", turns: pair(draft.ChangeID(), done().ChangeID()), want: lines(draftShown, doneShown)},
		{
			name:  "ids that change, with usage in the second turn only",
			turns: pair(draft.ChangeID().NoUsage(), done().ChangeID()),
			want:  lines(draftShown, []string{`"\n\nDone."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "ids that change, with usage in the first turn only",
			turns: pair(draft.ChangeID(), done().ChangeID().NoUsage()),
			want:  otherShown,
		},
		{name: "ids that change, with text in the finish", turns: pair(
			draft.ChangeID().FinishWithText(), done().ChangeID().FinishWithText()), want: lines(draftShown, doneShown)},
		{name: "no id in the first turn", turns: pair(with(noID, otherDraft), done()), want: otherShown},
		{name: "an empty id in the first turn", turns: pair(with(emptyID, otherDraft), done()), want: otherShown},
		{
			name:  "no id in the second turn",
			turns: pair(draft, with(noID, []string{says(`{"content":"Done."}`), ends(`{}`, "stop")})),
			want:  otherShown,
		},
		{
			name: "no id anywhere",
			turns: pair(with(noID, otherDraft), with(noID, []string{
				strings.Replace(says(`{"content":"Done."}`), "other-model", "model-2", 1),
				strings.Replace(ends(`{}`, "stop", tokens(10, 5)), "other-model", "model-2", 1),
			})),
			want: lines(draftShown, []string{`"\n\nDone."`, "finish stop usage 10/5/15"}),
		},
		{
			name: "an id from the second chunk on",
			turns: pair(carryontest.Chunks(emptyID(otherDraft[0]), otherDraft[1], otherDraft[2]),
				done().OneChunk()),
			want: lines(draftShown, []string{`"\n\nDone."`, "finish stop usage 10/5/15"}),
		},
	})
}

func TestSpliceOfOtherContent(t *testing.T) {
	t.Parallel()
	second := func(payloads ...string) []carryontest.Turn { return pair(draft, carryontest.Chunks(payloads...)) }
	first := func(payloads ...string) []carryontest.Turn {
		return pair(carryontest.Chunks(payloads...), done().NoUsage())
	}
	doneAlone := []string{`"\n\nDone."`, "finish stop"}
	otherChoice := `{"index":1,"delta":{"content":"Other."},"finish_reason":null}`
	runSpliceCases(t, []spliceCase{
		{
			name:  "reasoning of both turns",
			turns: pair(draft.Reasoning("Hm, hm."), done().Reasoning("So, so.")),
			want: lines([]string{"role", `thinks "Hm, "`, `thinks "hm."`, `"Plan."`, `thinks "So, "`, `thinks "so."`},
				doneShown),
		},
		{
			name:  "reasoning in the finish chunk of the first turn",
			turns: first(says(`{"content":"Plan."}`), ends(`{"reasoning_content":"Hm."}`, "stop")),
			want:  lines([]string{`"Plan."`, `thinks "Hm."`}, doneAlone),
		},
		{
			name:  "reasoning and text in the finish chunk of the first turn",
			turns: first(says(`{"role":"assistant"}`), ends(`{"reasoning_content":"Hm.","content":"Plan."}`, "stop")),
			want:  lines([]string{"role", `thinks "Hm." "Plan."`}, doneAlone),
		},
		{
			name:  "reasoning in the finish chunk of the second turn",
			turns: second(says(`{"content":"Done."}`), ends(`{"reasoning_content":"Hm."}`, "stop")),
			want:  lines(draftShown, []string{`"\n\nDone."`, `thinks "Hm."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "reasoning and text in the finish chunk of the second turn",
			turns: second(ends(`{"reasoning_content":"Hm.","content":"Done."}`, "stop", tokens(1, 2))),
			want:  lines(draftShown, []string{`thinks "Hm." "\n\nDone."`, "finish stop usage 11/7/18"}),
		},
		{
			name:  "reasoning after the finish of the second turn",
			turns: second(says(`{"content":"Done."}`), ends(`{}`, "stop"), says(`{"reasoning_content":"Hm."}`)),
			want:  lines(draftShown, []string{`"\n\nDone."`, `thinks "Hm."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "text after the finish of the second turn comes before it",
			turns: second(says(`{"content":"Do"}`), ends(`{}`, "stop"), says(`{"content":"ne."}`)),
			want:  lines(draftShown, []string{`"\n\nDo"`, `"ne."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "a refusal in the second turn",
			turns: pair(draft, carryontest.Turn{}.Refusal("No.")),
			want:  lines(draftShown, []string{`refuses "No."`, "finish stop", "usage 20/10/30 alone"}),
		},
		{
			name:  "a refusal in the finish chunk of the second turn",
			turns: second(ends(`{"refusal":"No."}`, "stop")),
			want:  lines(draftShown, []string{`refuses "No."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "a refusal after the finish of the second turn",
			turns: second(ends(`{"content":"Done."}`, "stop"), says(`{"refusal":"No."}`)),
			want:  lines(draftShown, []string{`"\n\nDone."`, `refuses "No."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name: "a second choice in a chunk of its own",
			turns: second(says(`{"content":"Done."}`), rawChunk(otherChoice),
				ends(`{}`, "stop")),
			want: lines(draftShown, []string{
				`"\n\nDone."`, `choice 1: "Other."`, "finish stop", "usage 10/5/15 alone",
			}),
		},
		{
			name:  "a second choice in the finish chunk",
			turns: second(rawChunk(`{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"},` + otherChoice)),
			want: lines(draftShown, []string{
				`"\n\nDone." choice 1: "Other."`, "finish stop", "usage 10/5/15 alone",
			}),
		},
		{
			name:  "a second choice after the finish",
			turns: second(ends(`{"content":"Done."}`, "stop"), rawChunk(otherChoice)),
			want: lines(draftShown, []string{
				`"\n\nDone."`, `choice 1: "Other."`, "finish stop", "usage 10/5/15 alone",
			}),
		},
		{
			name:  "a legacy function call",
			turns: pair(draft, carryontest.Call("edit_file", `{}`).Legacy()),
			want: lines(draftShown, []string{
				"function edit_file _", "function _ {}", "finish function_call", "usage 20/10/30 alone",
			}),
		},
		{
			name:  "a legacy function call in the finish chunk",
			turns: second(ends(`{"function_call":{"name":"edit_file","arguments":"{}"}}`, "function_call")),
			want: lines(draftShown, []string{
				"function edit_file {}", "finish function_call", "usage 10/5/15 alone",
			}),
		},
		{
			name: "a legacy function call after the finish",
			turns: second(ends(`{"content":"Done."}`, "stop"),
				says(`{"function_call":{"name":"edit_file","arguments":"{}"}}`)),
			want: lines(draftShown, []string{
				`"\n\nDone."`, "function edit_file {}", "finish stop", "usage 10/5/15 alone",
			}),
		},
		{
			name:  "an empty list of calls beside text",
			turns: second(says(`{"content":"Done.","tool_calls":[]}`), ends(`{"tool_calls":[]}`, "stop")),
			want:  lines(draftShown, []string{`"\n\nDone."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "an empty list of calls in the first turn",
			turns: first(says(`{"content":"Plan.","tool_calls":[]}`), ends(`{"tool_calls":[]}`, "stop")),
			want:  lines([]string{`"Plan."`}, doneAlone),
		},
		{
			name: "log probabilities stay with their text",
			turns: second(rawChunk(`{"index":0,"delta":{"content":"Done."},"finish_reason":"stop",` +
				`"logprobs":{"content":[{"token":"Done.","logprob":-1,"top_logprobs":[]}]}}`)),
			want: lines(draftShown, []string{`"\n\nDone."`, "finish stop", "usage 10/5/15 alone"}),
		},
	})
}

func TestLogProbabilitiesAppearOnce(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		got := joinOn(t.Context(), m, pair(draft, carryontest.Chunks(rawChunk(
			`{"index":0,"delta":{"content":"Done."},"finish_reason":"stop",`+
				`"logprobs":{"content":[{"token":"Done.","logprob":-1,"top_logprobs":[]}]}}`))))
		require.NoError(t, got.Err)
		found := 0
		for _, c := range got.Chunks {
			for _, choice := range c.Choices {
				if choice.Logprobs != nil {
					found++
					assert.Equal(t, "\n\nDone.", choice.Delta.Content)
				}
			}
		}
		assert.Equal(t, 1, found)
	})
}

// spliceShapes are manners of providers that any answer may come in.
var spliceShapes = map[string]func(carryontest.Turn) carryontest.Turn{
	"plain":           func(t carryontest.Turn) carryontest.Turn { return t },
	"OneChunk":        carryontest.Turn.OneChunk,
	"RoleEveryChunk":  carryontest.Turn.RoleEveryChunk,
	"TextLast":        carryontest.Turn.TextLast,
	"Legacy":          carryontest.Turn.Legacy,
	"WholeCalls":      carryontest.Turn.WholeCalls,
	"SplitName":       carryontest.Turn.SplitName,
	"RepeatName":      carryontest.Turn.RepeatName,
	"EmptyFragments":  carryontest.Turn.EmptyFragments,
	"Interleaved":     carryontest.Turn.Interleaved,
	"Batched":         carryontest.Turn.Batched,
	"NoIndex":         carryontest.Turn.NoIndex,
	"SameIndex":       carryontest.Turn.SameIndex,
	"StartIndex 5":    func(t carryontest.Turn) carryontest.Turn { return t.StartIndex(5) },
	"StartIndex -1":   func(t carryontest.Turn) carryontest.Turn { return t.StartIndex(-1) },
	"NoType":          carryontest.Turn.NoType,
	"RepeatType":      carryontest.Turn.RepeatType,
	"RepeatID":        carryontest.Turn.RepeatID,
	"NoFinish":        carryontest.Turn.NoFinish,
	"FinishWithText":  carryontest.Turn.FinishWithText,
	"FinishTwice":     carryontest.Turn.FinishTwice,
	"NullFinishLast":  carryontest.Turn.NullFinishLast,
	"UsageOnFinish":   carryontest.Turn.UsageOnFinish,
	"UsageEveryChunk": carryontest.Turn.UsageEveryChunk,
	"UsageTwice":      carryontest.Turn.UsageTwice,
	"NoUsage":         carryontest.Turn.NoUsage,
	"AzureFirst":      carryontest.Turn.AzureFirst,
	"ChangeID":        carryontest.Turn.ChangeID,
	"NoDone":          carryontest.Turn.NoDone,
	"Comments":        carryontest.Turn.Comments,
	"CRLF":            carryontest.Turn.CRLF,
	"everything at odds": func(t carryontest.Turn) carryontest.Turn {
		return t.SplitName().RepeatID().RepeatType().EmptyFragments().FinishTwice().NullFinishLast().UsageTwice().
			AzureFirst().ChangeID().Comments().RoleEveryChunk()
	},
}

func TestUncontinuedStreamIsUntouched(t *testing.T) {
	t.Parallel()
	contents := map[string]carryontest.Turn{
		"text":                draft,
		"reasoning":           draft.Reasoning("Hm, hm."),
		"refusal":             draft.Refusal("No."),
		"cut short":           draft.Finish("length"),
		"call":                carryontest.Call("edit_file", `{"path":"parser.go","mode":"w"}`),
		"text and calls":      draft.AndCall("edit_file", `{"path":"parser.go"}`).AndCall("todo_list", `{}`),
		"a pause of its own":  draft.AndCall("todo_pause", goodArgs).AndCall("edit_file", `{"path":"parser.go"}`),
		"a pause and no more": carryontest.Pause(goodReason),
		"nothing":             {},
	}
	nothingToDo := todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.Completed})
	for content, turn := range contents {
		for shape, in := range spliceShapes {
			t.Run(content+", "+shape, func(t *testing.T) {
				t.Parallel()
				inModes(t, streamModes, func(t *testing.T, m mode) { requireUntouched(t, m, in(turn), nothingToDo) })
			})
		}
	}
}

func TestTurnThatGoesOnAfterItsFinishIsReleasedAsItCame(t *testing.T) {
	t.Parallel()
	first := func(after ...string) carryontest.Turn {
		return carryontest.Chunks(append([]string{
			says(`{"role":"assistant","content":"Plan."}`), ends(`{}`, "stop", tokens(1, 2)),
		}, after...)...)
	}
	withText := carryontest.Chunks(says(`{"role":"assistant"}`),
		rawChunk(`{"index":0,"delta":{},"finish_reason":"stop"}`), says(calls("0 a function edit_file {}")))
	for name, turn := range map[string]carryontest.Turn{
		"a call":                first(says(calls("0 a function edit_file {}")), ends(`{}`, "tool_calls")),
		"a call and usage":      first(rawChunk("", tokens(3, 4)), says(calls("0 a function edit_file {}"))),
		"a call without text":   withText,
		"a legacy call":         first(says(`{"function_call":{"name":"edit_file","arguments":"{}"}}`)),
		"a refusal":             first(says(`{"refusal":"No."}`)),
		"a second choice":       first(rawChunk(`{"index":1,"delta":{"content":"Other."},"finish_reason":"stop"}`)),
		"reasoning":             first(says(`{"reasoning_content":"Hm."}`)),
		"text":                  first(says(`{"content":" More."}`), rawChunk("", tokens(3, 4))),
		"an error":              first(`{"error":{"message":"overloaded","type":"server_error"}}`, says(`{}`)),
		"a chunk and an error":  first(rawChunk("", tokens(3, 4)), `{"error":{"message":"overloaded"}}`, says(`{}`)),
		"a broken connection":   draft.CutAfter(3),
		"the same after usage":  draft.CutAfter(4),
		"an error event":        draft.ErrorAfter(3, "overloaded"),
		"an error event, later": draft.ErrorAfter(4, "overloaded"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, streamModes, func(t *testing.T, m mode) { requireUntouched(t, m, turn, twoTodos) })
		})
	}
}

// The SDK fails on such a line, and what fails is not continued. On the wire it is
// no more than a comment.
func TestLineWithoutJSONAfterTheFinish(t *testing.T) {
	t.Parallel()
	turn := carryontest.Chunks(says(`{"content":"Plan."}`), ends(`{}`, "stop"), "ping")
	requireUntouched(t, typedStream, turn, twoTodos)
	got := joinOn(t.Context(), wireStream, pair(turn, done()))
	require.NoError(t, got.Err)
	assert.Equal(t, "Plan.\n\nDone.", got.Text)
	assert.Equal(t, "stop", got.Finish)
}

// requireUntouched checks that the wrapped stream of a turn is what the SDK's
// own client gives, error included.
func requireUntouched(t *testing.T, m mode, turn carryontest.Turn, todos todo.Provider) {
	t.Helper()
	want, wantErr := alone(t, turn)
	server := carryontest.NewServer(t, turn)
	s, err := open(t.Context(), m.clientIn(server, middleware.New(todos, unhurried)), withUsage())
	require.NoError(t, err)
	got, err := readAll(s)
	if wantErr == nil {
		require.NoError(t, err)
	} else {
		require.EqualError(t, err, wantErr.Error())
	}
	require.Equal(t, want, got)
	outcome := s.Outcome()
	assert.Equal(t, 1, outcome.Turns)
	assert.True(t, outcome.Ended)
	assert.NotEqual(t, continuation.ReasonSatisfied, outcome.Reason)
}

// gated opens a stream on turns that wait before each of their chunks, and
// returns what has been received when the turns can't go on without a step.
type gated struct {
	wire   bool
	mu     sync.Mutex
	chunks []chunk
	err    error
	steps  []chan struct{}
}

// chunksOf is how many chunks the texts of the gated turns may have.
const chunksOf = 6

func startGated(t *testing.T, m mode, turns ...carryontest.Turn) *gated {
	t.Helper()
	g := &gated{wire: m.wire}
	for i := range turns {
		for n := 1; n <= chunksOf; n++ {
			step := make(chan struct{})
			g.steps = append(g.steps, step)
			turns[i] = turns[i].GateAfter(n, step)
		}
	}
	server := carryontest.Start(turns...)
	t.Cleanup(server.Close)
	s, err := open(t.Context(), m.clientIn(server, middleware.New(twoTodos, atMost(len(turns)-1))), withUsage())
	require.NoError(t, err)
	go func() {
		defer s.Close()
		for {
			c, err := s.Recv()
			g.mu.Lock()
			if err != nil {
				g.err = err
				g.mu.Unlock()
				return
			}
			g.chunks = append(g.chunks, c)
			g.mu.Unlock()
		}
	}()
	return g
}

// step lets the server send one more chunk and returns all that was received
// by the time that everybody waits again.
func (g *gated) step() []string {
	close(g.steps[0])
	g.steps = g.steps[1:]
	return g.received()
}

// lastStep is step for the [DONE] of a turn. On the wire, the end of the answer
// is waited for after that, but not for longer than a moment.
func (g *gated) lastStep() []string {
	shown := g.step()
	if !g.wire {
		return shown
	}
	<-time.After(50 * time.Millisecond)
	return g.received()
}

func (g *gated) received() []string {
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return showAll(g.chunks)
}

func TestNothingIsDelayedButTheEnding(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		g := startGated(t, m, carryontest.Pieces("One ", "two."), carryontest.Pieces("Three ", "four."))
		shown := []string{"role"}
		assert.Equal(t, shown, g.received(), "role of turn 1")
		for _, text := range []string{`"One "`, `"two."`} {
			shown = append(shown, text)
			assert.Equal(t, shown, g.step())
		}
		assert.Equal(t, shown, g.step(), "finish of turn 1")
		assert.Equal(t, shown, g.step(), "usage of turn 1")
		assert.Equal(t, shown, g.lastStep(), "DONE of turn 1, and role of turn 2")
		g.steps = g.steps[1:] // after the last chunk, when nobody reads on
		for _, text := range []string{`"\n\nThree "`, `"four."`} {
			shown = append(shown, text)
			assert.Equal(t, shown, g.step())
		}
		assert.Equal(t, shown, g.step(), "finish of turn 2")
		assert.Equal(t, shown, g.step(), "usage of turn 2")
		shown = append(shown, "finish stop", "usage 20/10/30 alone")
		assert.Equal(t, shown, g.lastStep(), "DONE of turn 2")
		assert.Equal(t, io.EOF, g.err)
	})
}

func TestTextOfTheFinishChunkIsShownBeforeTheDecisionEnds(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		g := startGated(t, m, draft.FinishWithText(), done().FinishWithText())
		assert.Equal(t, []string{"role"}, g.received())
		assert.Equal(t, draftShown, g.step(), "text and finish of turn 1")
		assert.Equal(t, draftShown, g.step(), "usage of turn 1")
		assert.Equal(t, draftShown, g.lastStep(), "DONE of turn 1, and role of turn 2")
		g.steps = g.steps[chunksOf-3:]
		assert.Equal(t, lines(draftShown, doneShown[:1]), g.step(), "text and finish of turn 2")
		assert.Equal(t, lines(draftShown, doneShown[:1]), g.step(), "usage of turn 2")
		assert.Equal(t, lines(draftShown, doneShown), g.lastStep(), "DONE of turn 2")
		assert.Equal(t, io.EOF, g.err)
	})
}

func TestUncontinuedEndingIsNotDelayed(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		step := make(chan struct{})
		server := carryontest.Start(draft.Finish("length").GateAfter(3, step))
		t.Cleanup(server.Close)
		s, err := open(t.Context(), m.clientIn(server, middleware.New(twoTodos)), withUsage())
		require.NoError(t, err)
		defer s.Close()
		for _, want := range lines(draftShown, []string{"finish length"}) {
			c, err := s.Recv()
			require.NoError(t, err)
			assert.Equal(t, want, show(c))
		}
		close(step)
	})
}

// spliceFault is a way to fail after n chunks.
type spliceFault struct {
	name string
	in   func(turn carryontest.Turn, n int) carryontest.Turn
}

var spliceFaults = []spliceFault{
	{"cut", carryontest.Turn.CutAfter},
	{"end", carryontest.Turn.EndAfter},
	{"hang", carryontest.Turn.HangAfter},
	{"error", func(turn carryontest.Turn, n int) carryontest.Turn { return turn.ErrorAfter(n, "overloaded") }},
}

// secondTurns are second turns in manners that matter to how they fail.
var secondTurns = map[string]carryontest.Turn{
	"text":                  carryontest.Text("Work goes on, and on."),
	"finish with text":      carryontest.Text("Work goes on.").FinishWithText(),
	"finish twice":          carryontest.Text("Work goes on.").FinishTwice().NullFinishLast(),
	"one chunk":             carryontest.Text("Work goes on.").OneChunk(),
	"reasoning":             carryontest.Text("Work goes on.").Reasoning("So it does."),
	"usage in every chunk":  carryontest.Text("Work goes on.").UsageEveryChunk(),
	"usage on the finish":   carryontest.Text("Work goes on.").UsageOnFinish(),
	"without DONE":          carryontest.Text("Work goes on.").NoDone(),
	"held text":             carryontest.Pieces("The todo_", "list, see `todo_pause(", "' and more", "."),
	"call":                  carryontest.Call("edit_file", `{"path":"parser.go","mode":"w"}`),
	"call, split name":      carryontest.Call("todo_list", `{"path":"parser.go"}`).SplitName(),
	"text and calls":        carryontest.Text("So. ").AndCall("edit_file", `{"path":"parser.go"}`).AndCall("todo", `{}`),
	"text after calls":      carryontest.Text("So. ").AndCall("edit_file", `{"path":"parser.go"}`).TextLast(),
	"legacy call":           carryontest.Call("edit_file", `{"path":"parser.go"}`).Legacy(),
	"pause":                 carryontest.Pause(goodReason),
	"pause, split name":     carryontest.Pause(goodReason).SplitName(),
	"pause and text":        carryontest.Pause(goodReason).AndText("I am blocked."),
	"pause and call":        carryontest.Pause(goodReason).AndCall("edit_file", `{"path":"parser.go"}`),
	"call and pause":        carryontest.Call("edit_file", `{"path":"parser.go"}`).AndCall("todo_pause", goodArgs),
	"interleaved with call": carryontest.Pause(goodReason).AndCall("edit_file", `{"path":"parser.go"}`).Interleaved(),
}

func TestFailedContinuationKeepsWhatCameBefore(t *testing.T) {
	t.Parallel()
	for name, turn := range secondTurns {
		whole, err := alone(t, turn)
		require.NoError(t, err)
		for _, f := range spliceFaults {
			for n := range len(whole) + 2 {
				t.Run(fmt.Sprintf("%s, %s after %d", name, f.name, n), func(t *testing.T) {
					t.Parallel()
					got := scriptOf(pair(draft.Usage(100, 50), f.in(turn, n)), atMost(1)).sameOnTheWire(t, true)
					requireFailedAfter(t, got.answer, whole[:min(n, len(whole))])
				})
			}
		}
	}
}

// requireFailedAfter checks the stream of draft and a turn of which no more
// than these chunks were sent.
func requireFailedAfter(t *testing.T, got answer, sent []chunk) {
	t.Helper()
	ended, called := false, false
	var used *openai.Usage
	for _, c := range sent {
		ended, called = ended || hasFinish(c), called || hasCall(c)
		if c.Usage != nil {
			used = c.Usage
		}
	}
	require.True(t, strings.HasPrefix(got.Text, "Plan."), "text %q", got.Text)
	if !ended && called {
		require.Error(t, got.Err)
		require.NotErrorIs(t, got.Err, io.EOF)
		assert.Empty(t, got.Finish, "half a call must not look whole")
		return
	}
	require.NoError(t, got.Err)
	requireWellFormedEnd(t, got.Chunks)
	want := openai.Usage{PromptTokens: 100, CompletionTokens: 50, TotalTokens: 150}
	if !ended {
		assert.Equal(t, "stop", got.Finish)
		assert.Empty(t, got.Calls)
		assert.Equal(t, continuation.ReasonFailed, got.Outcome.Reason)
		require.Error(t, got.Outcome.Err)
		assert.Equal(t, joinTexts("Plan.", textOf(sent)), got.Text)
	} else if used != nil {
		want.PromptTokens += used.PromptTokens
		want.CompletionTokens += used.CompletionTokens
		want.TotalTokens += used.TotalTokens
	}
	require.NotNil(t, got.Usage)
	assert.Equal(t, want, *got.Usage)
	for _, call := range got.Calls {
		assert.NotEqual(t, "todo_pause", call.Function.Name)
		assert.True(t, strings.HasSuffix(call.Function.Arguments, "}"), "arguments %q", call.Function.Arguments)
	}
}

// joinTexts is what the text of two turns is to be.
func joinTexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// hasCall reports whether the chunk shows a part of a caller's call.
func hasCall(c chunk) bool {
	for _, choice := range c.Choices {
		if choice.Delta.FunctionCall != nil {
			return true
		}
		for _, call := range choice.Delta.ToolCalls {
			if name := call.Function.Name; name != "" && !strings.HasPrefix("todo_pause", name) && name != "pause" {
				return true
			}
		}
	}
	return false
}

// requireWellFormedEnd checks that a stream has one finish, in its last chunk
// with choices, and no usage before that of the end that a summing client
// would count twice.
func requireWellFormedEnd(t *testing.T, chunks []chunk) {
	t.Helper()
	finishes, usages := 0, 0
	for i, c := range chunks {
		if len(c.Choices) > 0 {
			assert.Zero(t, finishes, "choice after the finish in chunk %d", i)
		}
		if hasFinish(c) {
			finishes++
		}
		if c.Usage != nil {
			usages++
		}
	}
	assert.Equal(t, 1, finishes, "finishes")
	assert.LessOrEqual(t, usages, 1, "usages")
}

func TestFailureLateInAChainKeepsAllTurnsBefore(t *testing.T) {
	t.Parallel()
	third := carryontest.Text("Three and four.")
	for _, f := range spliceFaults {
		for n := range 6 { // role, three words and what comes before the finish
			t.Run(fmt.Sprintf("%s after %d", f.name, n), func(t *testing.T) {
				t.Parallel()
				inBubbles(t, streamModes, func(t *testing.T, m mode) {
					got := joinOn(t.Context(), m, []carryontest.Turn{
						draft.Usage(100, 50), carryontest.Text("Two.").Usage(10, 5).Finish("end_turn"), f.in(third.NoFinish(), n),
					})
					require.NoError(t, got.Err)
					requireWellFormedEnd(t, got.Chunks)
					assert.True(t, strings.HasPrefix(got.Text, "Plan.\n\nTwo."), got.Text)
					assert.Equal(t, "end_turn", got.Finish)
					require.NotNil(t, got.Usage)
					assert.Equal(t, 110, got.Usage.PromptTokens)
					assert.Equal(t, 55, got.Usage.CompletionTokens)
				})
			})
		}
	}
}

func TestContinuationThatCannotBeOpenedCostsNothing(t *testing.T) {
	t.Parallel()
	want, err := alone(t, draft)
	require.NoError(t, err)
	for name, turn := range map[string]carryontest.Turn{
		"refused":              carryontest.Status(400, `{"error":{"message":"no such tool"}}`),
		"overloaded":           carryontest.Status(503, `{"error":{"message":"overloaded"}}`),
		"refused without JSON": carryontest.Status(502, "<html>"),
		"cut":                  done().Cut(),
		"hangs":                done().Hang(),
		"no stream":            carryontest.Status(200, `{"choices":[]}`),
		"an error as success":  carryontest.Status(200, `{"error":{"message":"overloaded"}}`),
		"nothing at all":       carryontest.Raw(),
		"only DONE":            carryontest.Chunks(),
		"no JSON":              carryontest.Chunks("ping"),
		"an error first":       done().ErrorAfter(0, "overloaded"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubbles(t, streamModes, func(t *testing.T, m mode) {
				got := joinOn(t.Context(), m, pair(draft, turn))
				require.NoError(t, got.Err)
				assert.Equal(t, want, got.Chunks)
				assert.Equal(t, continuation.ReasonFailed, got.Outcome.Reason)
				assert.Error(t, got.Outcome.Err)
			})
		})
	}
}

func TestFirstTurnThatFailsIsAsTheSDKGivesIt(t *testing.T) {
	t.Parallel()
	for _, turn := range []carryontest.Turn{draft, draft.FinishWithText(), draft.OneChunk(), draft.UsageEveryChunk()} {
		for _, f := range spliceFaults {
			if f.name == "hang" {
				continue // the SDK's own client would wait for ever
			}
			for n := range 7 {
				t.Run(fmt.Sprintf("%s after %d", f.name, n), func(t *testing.T) {
					t.Parallel()
					failing := f.in(turn, n)
					want, wantErr := alone(t, failing)
					inModes(t, streamModes, func(t *testing.T, m mode) {
						got := joinOn(t.Context(), m, pair(failing, carryontest.Call("edit_file", `{}`)))
						if wantErr == nil && len(want) > 0 && slices.ContainsFunc(want, hasFinish) {
							require.NoError(t, got.Err)
							assert.Equal(t, "tool_calls", got.Finish)
							return
						}
						requireRelayed(t, want, got.Chunks)
						assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(got.Err))
					})
				})
			}
		}
	}
}

func TestSilenceAfterTheFinishOfTheFirstTurnIsNotWaitedOutLong(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		began := time.Now()
		got := joinOn(t.Context(), m, pair(draft.HangAfter(3), done().HangAfter(3)))
		require.NoError(t, got.Err)
		assert.Equal(t, lines(draftShown, []string{`"\n\nDone."`, "finish stop"}), showAll(got.Chunks))
		assert.Equal(t, 4*time.Second, time.Since(began), "two seconds for each turn")
	})
}

func TestCloseFromAnotherGoroutineEndsWhateverRuns(t *testing.T) {
	t.Parallel()
	hurried := middleware.WithLimits(continuation.Limits{MinInterval: time.Hour})
	for name, c := range map[string]struct {
		turns   []carryontest.Turn
		options []middleware.Option
	}{
		"the first turn":             {turns: []carryontest.Turn{draft.HangAfter(1)}},
		"the rest of the first turn": {turns: []carryontest.Turn{draft.HangAfter(3)}},
		"opening a continuation":     {turns: pair(draft, done().Hang())},
		"a continuation's first":     {turns: pair(draft, done().HangAfter(0))},
		"a continuation":             {turns: pair(draft, done().HangAfter(2))},
		"the rest of a continuation": {turns: pair(draft, done().HangAfter(3))},
		"a call":                     {turns: pair(draft, carryontest.Call("edit_file", `{"path":"parser.go"}`).HangAfter(3))},
		"the wait before the second": {turns: pair(draft, done()), options: []middleware.Option{hurried}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubbles(t, streamModes, func(t *testing.T, m mode) {
				server := carryontest.Start(c.turns...)
				t.Cleanup(server.Close)
				mw := middleware.New(twoTodos, append([]middleware.Option{atMost(2)}, c.options...)...)
				ctx := continuation.WithSession(t.Context(), "s")
				s, err := open(ctx, m.clientIn(server, mw), withUsage())
				require.NoError(t, err)
				ended := make(chan error, 1)
				go func() {
					for {
						if _, err := s.Recv(); err != nil {
							ended <- err
							return
						}
					}
				}()
				synctest.Wait()
				began := time.Now()
				require.NoError(t, s.Close())
				require.NotErrorIs(t, <-ended, io.EOF)
				assert.Zero(t, time.Since(began))
				assert.True(t, s.Outcome().Ended)
				state, err := mw.State(ctx)
				require.NoError(t, err)
				assert.Zero(t, state.Claim)
			})
		})
	}
}

// unlimited allows any number of continuations.
var unlimited = middleware.WithLimits(continuation.Limits{
	MaxAttempts: continuation.Off, MaxPerUserTurn: continuation.Off, MinInterval: continuation.Off,
})

// draftThenCall answers a caller's own call with draft and a continuation with a
// call.
func draftThenCall(r carryontest.Request) carryontest.Turn {
	if r.HasTool("todo_pause") {
		return carryontest.Text("So. ").AndCall("edit_file", `{"path":"parser.go"}`)
	}
	return draft
}

func TestManyStreamsOnOneSession(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		const streams, rounds = 16, 8
		turns := make([]carryontest.Turn, 2*streams*rounds)
		for i := range turns {
			turns[i] = carryontest.Func(draftThenCall)
		}
		server := carryontest.NewServer(t, turns...)
		mw := middleware.New(twoTodos, unlimited)
		client := m.clientIn(server, mw)
		ctx := continuation.WithSession(t.Context(), "s")
		answers := make([]answer, streams*rounds)
		var wait sync.WaitGroup
		for i := range streams {
			wait.Go(func() {
				for j := range rounds {
					answers[i*rounds+j] = stream(ctx, client, ask())
				}
			})
		}
		wait.Wait()
		for _, got := range answers {
			require.NoError(t, got.Err)
			requireWellFormedEnd(t, got.Chunks)
			if got.Finish == "stop" {
				assert.Equal(t, "Plan.", got.Text)
				assert.Empty(t, got.Calls)
				continue
			}
			assert.Equal(t, "Plan.\n\nSo. ", got.Text)
			assert.Len(t, got.Calls, 1)
		}
		state, err := mw.State(ctx)
		require.NoError(t, err)
		assert.Zero(t, state.Claim)
	})
}

func TestStreamsOfOneSessionClosedAtAnyPoint(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		const streams, rounds = 8, 16
		const whole = "Plan.\n\nSo. "
		turns := make([]carryontest.Turn, 2*streams*rounds)
		for i := range turns {
			turns[i] = carryontest.Func(draftThenCall)
		}
		server := carryontest.NewServer(t, turns...)
		mw := middleware.New(twoTodos, unlimited)
		client := m.clientIn(server, mw)
		ctx := continuation.WithSession(t.Context(), "s")
		answers := make([]closedAnswer, streams*rounds)
		var wait sync.WaitGroup
		for i := range streams {
			wait.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(i)))
				for j := range rounds {
					answers[i*rounds+j] = readUntilClosed(ctx, client, random.IntN(12))
				}
			})
		}
		wait.Wait()
		for _, got := range answers {
			require.Error(t, got.err)
			assert.True(t, strings.HasPrefix(whole, textOf(got.chunks)), textOf(got.chunks))
			assert.True(t, got.ended)
			if errors.Is(got.err, io.EOF) {
				requireWellFormedEnd(t, got.chunks)
			}
		}
		state, err := mw.State(ctx)
		require.NoError(t, err)
		assert.Zero(t, state.Claim)
	})
}

// closedAnswer is what was read of a stream that was closed, and what ended it.
type closedAnswer struct {
	chunks []chunk
	err    error
	ended  bool // says the outcome
}

// readUntilClosed reads a stream that another goroutine closes when n chunks
// have been read.
func readUntilClosed(ctx context.Context, c client, n int) (got closedAnswer) {
	s, err := open(ctx, c, withUsage())
	if err != nil {
		return closedAnswer{err: err}
	}
	reached, closed := make(chan struct{}), make(chan struct{})
	go func() {
		<-reached
		_ = s.Close()
		close(closed)
	}()
	for got.err == nil {
		if len(got.chunks) == n {
			close(reached)
			n = -1
		}
		var next chunk
		if next, got.err = s.Recv(); got.err == nil {
			got.chunks = append(got.chunks, next)
		}
	}
	if n >= 0 {
		close(reached)
	}
	<-closed
	got.ended = s.Outcome().Ended
	return got
}
