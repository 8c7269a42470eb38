package scenarios_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestJoinedStreamOfText(t *testing.T) {
	t.Parallel()
	plain := concat(draftShown, doneShown)
	runJoinCases(t, []joinCase{
		{name: "finish and usage in chunks of their own", turns: pair(draft, done()), want: plain},
		{name: "without a final DONE", turns: pair(draft.NoDone(), done().NoDone()), want: plain},
		{name: "lines end with CRLF", turns: pair(draft.CRLF(), done().CRLF()), want: plain},
		{name: "comments between events", turns: pair(draft.Comments(), done().Comments()), want: plain},
		{name: "finish twice", turns: pair(draft.With(fakellm.FinishTwice), done().With(fakellm.FinishTwice)), want: plain},
		{name: "a chunk without finish after it", turns: pair(draft.With(fakellm.NullFinishLast), done().With(fakellm.NullFinishLast)), want: plain},
		{name: "finish with the last text", turns: pair(draft.With(fakellm.FinishWithText), done().With(fakellm.FinishWithText)), want: plain},
		{
			name: "finish with the last text, twice", want: plain,
			turns: pair(draft.With(fakellm.FinishWithText, fakellm.FinishTwice),
				done().With(fakellm.FinishWithText, fakellm.FinishTwice)),
		},
		{
			name: "everything in one chunk", turns: pair(draft.With(fakellm.OneChunk), done().With(fakellm.OneChunk)),
			want: []string{`role "Plan."`, `"\n\nDone."`, "finish stop usage 10/10/20"},
		},
		{
			name: "role in every chunk", turns: pair(draft.With(fakellm.RoleEveryChunk), done().With(fakellm.RoleEveryChunk)),
			want: concat([]string{"role", `role "Plan."`}, doneShown),
		},
		{
			name:  "the separator once, before the first text",
			turns: pair(draft, fakellm.Pieces("", "All ", "is ", "done.")),
			want: concat(draftShown, []string{
				`"\n\nAll "`, `"is "`, `"done."`, "finish stop", "usage 10/10/20 alone",
			}),
		},
		{
			name:  "the separator also before text that begins with lines",
			turns: pair(draft, fakellm.Pieces("\n", "Done.")),
			want:  concat(draftShown, []string{`"\n\n\n"`, `"Done."`, "finish stop", "usage 10/10/20 alone"}),
		},
		{
			name:  "no separator without text",
			turns: pair(draft, fakellm.Call("edit_file", `{}`)),
			want: concat(draftShown, []string{
				"[0 call_2_1 function edit_file _]", "[0 _ _ _ {}]", "finish tool_calls", "usage 10/10/20 alone",
			}),
		},
		{
			name:  "text before calls",
			turns: pair(draft, done().AndCall("edit_file", `{}`)),
			want: concat(draftShown, []string{
				`"\n\nDone."`, "[0 call_2_1 function edit_file _]", "[0 _ _ _ {}]", "finish tool_calls", "usage 10/10/20 alone",
			}),
		},
		{
			name:  "text after calls",
			turns: pair(draft, done().AndCall("edit_file", `{}`).With(fakellm.TextLast)),
			want: concat(draftShown, []string{
				"[0 call_2_1 function edit_file _]", "[0 _ _ _ {}]", `"\n\nDone."`, "finish tool_calls", "usage 10/10/20 alone",
			}),
		},
		{
			name:  "finish of the last turn",
			turns: pair(draft.Finish("end_turn"), done().Finish("length")),
			want:  concat(draftShown, []string{`"\n\nDone."`, "finish length", "usage 10/10/20 alone"}),
		},
		{
			name:  "text that may begin a printed call is shown when it does not",
			turns: pair(draft, fakellm.Pieces("See: todo_", "list.")),
			want:  concat(draftShown, []string{`"\n\nSee: "`, `"todo_list."`, "finish stop", "usage 10/10/20 alone"}),
		},
		{
			name:  "text that may begin a printed call is shown at the end",
			turns: pair(draft, fakellm.Pieces("See: todo_pause(")),
			want:  concat(draftShown, []string{`"\n\nSee: "`, `"todo_pause("`, "finish stop", "usage 10/10/20 alone"}),
		},
		{
			name:  "a printed pause becomes the notice",
			turns: pair(draft, fakellm.Pieces("I am blocked. ", "todo_", "pause('", scenario.Blocked, "')")),
			want: concat(draftShown, []string{
				`"\n\nI am blocked. "`, `"\n\n` + scenario.BlockedNotice + `"`, "finish stop", "usage 10/10/20 alone",
			}),
		},
		{
			name:  "a chain of turns",
			turns: []fakellm.Turn{draft, done().With(fakellm.FinishWithText), fakellm.Text("Again."), fakellm.Text("Last:").With(fakellm.OneChunk)},
			want: concat(draftShown, []string{
				`"\n\nDone."`, `"\n\nAgain."`, `"\n\nLast:"`, "finish stop usage 10/20/30",
			}),
		},
	})
}

func TestJoinedStreamOfEnvelopes(t *testing.T) {
	t.Parallel()
	noID := func(payload string) string { return strings.Replace(payload, `"id":"chatcmpl-other",`, "", 1) }
	emptyID := func(payload string) string { return strings.Replace(payload, `"chatcmpl-other"`, `""`, 1) }
	otherDraft := []string{deltaChunk(`{"role":"assistant"}`), deltaChunk(`{"content":"Plan."}`), finishChunk(`{}`, "stop")}
	otherShown := concat(draftShown, []string{`"\n\nDone."`, "finish stop", "usage 10/5/15 alone"})
	with := func(change func(string) string, payloads []string) fakellm.Turn {
		changed := make([]string, 0, len(payloads))
		for _, p := range payloads {
			changed = append(changed, change(p))
		}
		return fakellm.Chunks(changed...)
	}
	runJoinCases(t, []joinCase{
		{
			name: "another model, object and time in the second turn",
			turns: pair(draft.Model("model-1"), fakellm.Chunks(
				deltaChunk(`{"role":"assistant","content":"Done."}`), finishChunk(`{}`, "stop"))),
			want: otherShown,
		},
		{
			name:  "a first chunk without id and choices in both turns",
			turns: pair(draft.With(fakellm.AzureFirst), done().With(fakellm.AzureFirst)),
			want:  concat([]string{"no choices"}, draftShown, doneShown),
		},
		{name: "ids that change", turns: pair(draft.With(fakellm.ChangeID), done().With(fakellm.ChangeID)), want: concat(draftShown, doneShown)},
		{
			name:  "ids that change, with usage in the second turn only",
			turns: pair(draft.With(fakellm.ChangeID).NoUsage(), done().With(fakellm.ChangeID)),
			want:  concat(draftShown, []string{`"\n\nDone."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "ids that change, with usage in the first turn only",
			turns: pair(draft.With(fakellm.ChangeID), done().With(fakellm.ChangeID).NoUsage()),
			want:  otherShown,
		},
		{name: "ids that change, with text in the finish", turns: pair(
			draft.With(fakellm.ChangeID, fakellm.FinishWithText), done().With(fakellm.ChangeID, fakellm.FinishWithText)), want: concat(draftShown, doneShown)},
		{name: "no id in the first turn", turns: pair(with(noID, otherDraft), done()), want: otherShown},
		{name: "an empty id in the first turn", turns: pair(with(emptyID, otherDraft), done()), want: otherShown},
		{
			name:  "no id in the second turn",
			turns: pair(draft, with(noID, []string{deltaChunk(`{"content":"Done."}`), finishChunk(`{}`, "stop")})),
			want:  otherShown,
		},
		{
			name: "no id anywhere",
			turns: pair(with(noID, otherDraft), with(noID, []string{
				strings.Replace(deltaChunk(`{"content":"Done."}`), "other-model", "model-2", 1),
				strings.Replace(finishChunk(`{}`, "stop", tokens(10, 5)), "other-model", "model-2", 1),
			})),
			want: concat(draftShown, []string{`"\n\nDone."`, "finish stop usage 10/5/15"}),
		},
		{
			name: "an id from the second chunk on",
			turns: pair(fakellm.Chunks(emptyID(otherDraft[0]), otherDraft[1], otherDraft[2]),
				done().With(fakellm.OneChunk)),
			want: concat(draftShown, []string{`"\n\nDone."`, "finish stop usage 10/5/15"}),
		},
	})
}

func TestJoinedStreamOfOtherContent(t *testing.T) {
	t.Parallel()
	second := func(payloads ...string) []fakellm.Turn { return pair(draft, fakellm.Chunks(payloads...)) }
	first := func(payloads ...string) []fakellm.Turn {
		return pair(fakellm.Chunks(payloads...), done().NoUsage())
	}
	doneAlone := []string{`"\n\nDone."`, "finish stop"}
	otherChoice := `{"index":1,"delta":{"content":"Other."},"finish_reason":null}`
	runJoinCases(t, []joinCase{
		{
			name:  "reasoning of both turns",
			turns: pair(draft.Reasoning("Hm, hm."), done().Reasoning("So, so.")),
			want: concat([]string{"role", `thinks "Hm, "`, `thinks "hm."`, `"Plan."`, `thinks "\n\nSo, "`, `thinks "so."`},
				doneShown),
		},
		{
			name:  "reasoning in the finish chunk of the first turn",
			turns: first(deltaChunk(`{"content":"Plan."}`), finishChunk(`{"reasoning_content":"Hm."}`, "stop")),
			want:  concat([]string{`"Plan."`, `thinks "Hm."`}, doneAlone),
		},
		{
			name:  "reasoning and text in the finish chunk of the first turn",
			turns: first(deltaChunk(`{"role":"assistant"}`), finishChunk(`{"reasoning_content":"Hm.","content":"Plan."}`, "stop")),
			want:  concat([]string{"role", `thinks "Hm." "Plan."`}, doneAlone),
		},
		{
			name:  "reasoning in the finish chunk of the second turn",
			turns: second(deltaChunk(`{"content":"Done."}`), finishChunk(`{"reasoning_content":"Hm."}`, "stop")),
			want:  concat(draftShown, []string{`"\n\nDone."`, `thinks "Hm."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "reasoning and text in the finish chunk of the second turn",
			turns: second(finishChunk(`{"reasoning_content":"Hm.","content":"Done."}`, "stop", tokens(1, 2))),
			want:  concat(draftShown, []string{`thinks "Hm." "\n\nDone."`, "finish stop usage 10/7/17"}),
		},
		{
			name:  "reasoning after the finish of the second turn",
			turns: second(deltaChunk(`{"content":"Done."}`), finishChunk(`{}`, "stop"), deltaChunk(`{"reasoning_content":"Hm."}`)),
			want:  concat(draftShown, []string{`"\n\nDone."`, `thinks "Hm."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "text after the finish of the second turn comes before it",
			turns: second(deltaChunk(`{"content":"Do"}`), finishChunk(`{}`, "stop"), deltaChunk(`{"content":"ne."}`)),
			want:  concat(draftShown, []string{`"\n\nDo"`, `"ne."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "a refusal in the second turn",
			turns: pair(draft, fakellm.Turn{}.Refusal("No.")),
			want:  concat(draftShown, []string{"finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "a refusal in the finish chunk of the second turn",
			turns: second(finishChunk(`{"refusal":"No."}`, "stop")),
			want:  concat(draftShown, []string{"finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "a refusal after the finish of the second turn",
			turns: second(finishChunk(`{"content":"Done."}`, "stop"), deltaChunk(`{"refusal":"No."}`)),
			want:  concat(draftShown, []string{`"\n\nDone."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name: "a second choice in a chunk of its own",
			turns: second(deltaChunk(`{"content":"Done."}`), rawChunk(otherChoice),
				finishChunk(`{}`, "stop")),
			want: concat(draftShown, []string{
				`"\n\nDone."`, `choice 1: "Other."`, "finish stop", "usage 10/5/15 alone",
			}),
		},
		{
			name:  "a second choice in the finish chunk",
			turns: second(rawChunk(`{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"},` + otherChoice)),
			want: concat(draftShown, []string{
				`"\n\nDone." choice 1: "Other."`, "finish stop", "usage 10/5/15 alone",
			}),
		},
		{
			name:  "a second choice after the finish",
			turns: second(finishChunk(`{"content":"Done."}`, "stop"), rawChunk(otherChoice)),
			want: concat(draftShown, []string{
				`"\n\nDone."`, `choice 1: "Other."`, "finish stop", "usage 10/5/15 alone",
			}),
		},
		{
			name:  "a legacy function call",
			turns: pair(draft, fakellm.Call("edit_file", `{}`).With(fakellm.Legacy)),
			want: concat(draftShown, []string{
				"function edit_file _", "function _ {}", "finish function_call", "usage 10/10/20 alone",
			}),
		},
		{
			name:  "a legacy function call in the finish chunk",
			turns: second(finishChunk(`{"function_call":{"name":"edit_file","arguments":"{}"}}`, "function_call")),
			want: concat(draftShown, []string{
				"function edit_file {}", "finish function_call", "usage 10/5/15 alone",
			}),
		},
		{
			name: "a legacy function call after the finish",
			turns: second(finishChunk(`{"content":"Done."}`, "stop"),
				deltaChunk(`{"function_call":{"name":"edit_file","arguments":"{}"}}`)),
			want: concat(draftShown, []string{
				`"\n\nDone."`, "function edit_file {}", "finish stop", "usage 10/5/15 alone",
			}),
		},
		{
			name:  "an empty list of calls beside text",
			turns: second(deltaChunk(`{"content":"Done.","tool_calls":[]}`), finishChunk(`{"tool_calls":[]}`, "stop")),
			want:  concat(draftShown, []string{`"\n\nDone."`, "finish stop", "usage 10/5/15 alone"}),
		},
		{
			name:  "an empty list of calls in the first turn",
			turns: first(deltaChunk(`{"content":"Plan.","tool_calls":[]}`), finishChunk(`{"tool_calls":[]}`, "stop")),
			want:  concat([]string{`"Plan."`}, doneAlone),
		},
		{
			name: "log probabilities stay with their text",
			turns: second(rawChunk(`{"index":0,"delta":{"content":"Done."},"finish_reason":"stop",` +
				`"logprobs":{"content":[{"token":"Done.","logprob":-1,"top_logprobs":[]}]}}`)),
			want: concat(draftShown, []string{`"\n\nDone."`, "finish stop", "usage 10/5/15 alone"}),
		},
	})
}

func TestLogProbabilitiesAppearOnce(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		got := joinOn(t.Context(), m, pair(draft, fakellm.Chunks(rawChunk(
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

func TestUncontinuedStreamIsUntouched(t *testing.T) {
	t.Parallel()
	contents := map[string]fakellm.Turn{
		"text":                draft,
		"reasoning":           draft.Reasoning("Hm, hm."),
		"refusal":             draft.Refusal("No."),
		"cut short":           draft.Finish("length"),
		"call":                fakellm.Call("edit_file", `{"path":"parser.go","mode":"w"}`),
		"text and calls":      draft.AndCall("edit_file", `{"path":"parser.go"}`).AndCall("todo_list", `{}`),
		"a pause beside it":   draft.AndCall("todo_pause", pauseArgs).AndCall("edit_file", `{"path":"parser.go"}`),
		"a pause and no more": fakellm.Pause(scenario.Blocked),
		"nothing":             {},
	}
	nothingToDo := todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.Completed})
	for content, turn := range contents {
		for shape, in := range answerShapes {
			t.Run(content+", "+shape, func(t *testing.T) {
				t.Parallel()
				scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
					requireUntouched(t, m, in(turn), nothingToDo)
				})
			})
		}
	}
}

func TestTurnThatGoesOnAfterItsFinishIsReleasedAsItCame(t *testing.T) {
	t.Parallel()
	first := func(after ...string) fakellm.Turn {
		return fakellm.Chunks(append([]string{
			deltaChunk(`{"role":"assistant","content":"Plan."}`), finishChunk(`{}`, "stop", tokens(1, 2)),
		}, after...)...)
	}
	withText := fakellm.Chunks(deltaChunk(`{"role":"assistant"}`),
		rawChunk(`{"index":0,"delta":{},"finish_reason":"stop"}`), deltaChunk(calls("0 a function edit_file {}")))
	for name, turn := range map[string]fakellm.Turn{
		"a call":                first(deltaChunk(calls("0 a function edit_file {}")), finishChunk(`{}`, "tool_calls")),
		"a call and usage":      first(rawChunk("", tokens(3, 4)), deltaChunk(calls("0 a function edit_file {}"))),
		"a call without text":   withText,
		"a legacy call":         first(deltaChunk(`{"function_call":{"name":"edit_file","arguments":"{}"}}`)),
		"a refusal":             first(deltaChunk(`{"refusal":"No."}`)),
		"a second choice":       first(rawChunk(`{"index":1,"delta":{"content":"Other."},"finish_reason":"stop"}`)),
		"reasoning":             first(deltaChunk(`{"reasoning_content":"Hm."}`)),
		"text":                  first(deltaChunk(`{"content":" More."}`), rawChunk("", tokens(3, 4))),
		"an error":              first(`{"error":{"message":"overloaded","type":"server_error"}}`, deltaChunk(`{}`)),
		"a chunk and an error":  first(rawChunk("", tokens(3, 4)), `{"error":{"message":"overloaded"}}`, deltaChunk(`{}`)),
		"a broken connection":   draft.CutAfter(3),
		"the same after usage":  draft.CutAfter(4),
		"an error event":        draft.ErrorAfter(3, "overloaded"),
		"an error event, later": draft.ErrorAfter(4, "overloaded"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
				requireUntouched(t, m, turn, scenario.TwoTodos())
			})
		})
	}
}

// The SDK fails on such a line, so the turn is not continued. On the wire the line is a comment.
func TestLineWithoutJSONAfterTheFinish(t *testing.T) {
	t.Parallel()
	turn := fakellm.Chunks(deltaChunk(`{"content":"Plan."}`), finishChunk(`{}`, "stop"), "ping")
	requireUntouched(t, scenario.TypedStream, turn, scenario.TwoTodos())
	got := joinOn(t.Context(), scenario.WireStream, pair(turn, done()))
	require.NoError(t, got.Err)
	assert.Equal(t, "Plan.\n\nDone.", got.Text)
	assert.Equal(t, "stop", got.Finish)
}

// requireUntouched checks that a client that continues reads the same chunks and
// the same error from a turn as the SDK's own client.
func requireUntouched(t *testing.T, m scenario.Mode, turn fakellm.Turn, todos todo.Provider) {
	t.Helper()
	want, wantErr := readBySDK(t, turn)
	server := fakellm.NewServer(t, turn)
	s, err := scenario.Open(t.Context(), m.MemoryClient(server, middleware.New(todos, scenario.NoInterval())),
		scenario.RequestWithUsage())
	require.NoError(t, err)
	got, err := scenario.ReadAll(s)
	if wantErr == nil {
		require.NoError(t, err)
	} else {
		require.EqualError(t, err, wantErr.Error())
	}
	require.Equal(t, want, got)
	outcome := s.Outcome()
	assert.Equal(t, 1, outcome.Turns)
	assert.True(t, outcome.Ended)
	assert.NotEqual(t, reasons.Satisfied, outcome.Reason)
}
