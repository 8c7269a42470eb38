package gemini_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// With nothing to do, an answer is the same bytes, on every path.
func TestNothingToDo(t *testing.T) {
	t.Parallel()
	for _, path := range []string{studio, newest, vertex, assist} {
		for name, turn := range map[string]fakellm.Turn{
			"text": fakellm.Text("All is done."), "calls": fakellm.Text("I edit.").AndCall("edit_file", "{}").AndCall("edit_file", "{}"),
			"LF": fakellm.Raw("data: " + of(says("Done."), stop) + "\n\n"), "no end": fakellm.Raw("data: " + of(says("Do"))),
			"odd": raw(`{"error":{"code":503}}`, "[DONE]", `[1]`), "one chunk": fakellm.Text("a b").AndCall("edit_file", "{}").With(fakellm.OneChunk),
		} {
			a := ask{path: path, todos: todo.Static(todo.Todo{ID: "1", Content: "a", Status: todo.Completed}), turns: []fakellm.Turn{turn}}
			for _, stream := range []bool{true, false} {
				bare := a
				bare.bare = true
				want := bare.exchange(t, stream, 0)
				for _, pieces := range []int{0, 1} {
					got := a.exchange(t, stream, pieces)
					require.NoError(t, got.err)
					assert.Equal(t, want.raw, got.raw, "%s, %s", path, name)
					require.Len(t, got.requests, 1)
					assert.Equal(t, a.body(), string(got.requests[0].Body))
				}
			}
		}
	}
}

// A text is continued, and the answer is that of one turn.
func TestTextThenCall(t *testing.T) {
	t.Parallel()
	for _, path := range []string{studio, newest, vertex, assist} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			a := ask{path: path, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Here it is.").AndCall("edit_file", `{"path":"parser.go"}`)}}
			a.both(t, func(t *testing.T, got answer) {
				assert.Equal(t, wiretest.Plan+"\n\nHere it is.", got.text(t))
				shown := got.shown(t)
				assert.Contains(t, shown[len(shown)-1], `edit_file{"path":"parser.go"}`)
				assert.Equal(t, "STOP", got.finish())
				assert.JSONEq(t, `{"promptTokenCount":10,"candidatesTokenCount":10,"totalTokenCount":20,"promptTokensDetails":[{"modality":"TEXT","tokenCount":10}]}`, got.usage(t))
				require.Len(t, got.requests, 2)
				assert.Equal(t, []string{"edit_file", "todo_pause"}, got.requests[1].Tools)
				messages := got.requests[1].Messages
				assert.Equal(t, fakellm.Message{Role: "model", Content: wiretest.Plan}, messages[len(messages)-2])
				assert.Contains(t, got.requests[1].Last().Content, "Write the parser")
				assert.Equal(t, reasons.ToolCalls, got.outcome.Reason)
			})
		})
	}
}

// Later turns in many shapes: what is shown of them, and how the answer ends.
func TestShapesOfLaterTurns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		second []string
		shown  []string
		finish string
	}{
		"text": {[]string{of(says("One.")), of(says(" Two."), stop)}, []string{"\n\nOne.", " Two."}, "STOP"},
		"a signed text": {
			[]string{of(signed(says("One."), "s")), of(signed(says(""), "t"), stop)}, []string{"\n\n", "One.!s", "!t"}, "STOP",
		},
		"thoughts": {
			[]string{of(`{"text":"Hm.","thought":true}`), of(says("One.")+","+edits, stop)}, []string{"(Hm.)", "\n\nOne.", "edit_file{}"}, "STOP",
		},
		"a call":       {[]string{of(edits, stop, `"finishMessage":"Model generated function call(s)."`)}, []string{"edit_file{}"}, "STOP"},
		"signed calls": {[]string{of(signed(edits, "s") + "," + edits), of(says(""), stop)}, []string{"edit_file{}!s", "edit_file{}"}, "STOP"},
		"no role": {
			[]string{strings.ReplaceAll(of(says("One."), stop), `,"role":"model"`, "")}, []string{"\n\nOne."}, "STOP",
		},
		"a finish without content": {
			[]string{of(says("One.")), `{"candidates":[{"content":{"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}`},
			[]string{"\n\nOne."},
			"STOP",
		},
		"empty chunks": {
			[]string{`{}`, of(says("")), of(`{}`), `{"candidates":[]}`, `{"usageMetadata":{"promptTokenCount":3}}`, of(says("One."), stop)},
			[]string{"\n\nOne."},
			"STOP",
		},
		"another id": {
			[]string{strings.NewReplacer(`"r"`, `"other"`, `"m"`, `"newer"`).Replace(of(says("One."), stop))}, []string{"\n\nOne."}, "STOP",
		},
		"two candidates": {
			[]string{strings.Replace(of(says("One."), stop), `"index":0}`, `"index":0},{"content":{"parts":[{"text":"Other."}],"role":"model"},"index":1}`, 1)}, []string{"\n\nOne."}, "STOP",
		},
		"code that was a thought": {
			[]string{of(`{"executableCode":{"code":"1"},"thought":true}`), of(says("One."), stop)},
			[]string{`<{"executableCode":{"code":"1"},"thought":true}>`, "\n\nOne."},
			"STOP",
		},
		"too many tokens": {[]string{of(says("One."), `"finishReason":"MAX_TOKENS"`)}, []string{"\n\nOne."}, "MAX_TOKENS"},
		"to be resumed": {
			[]string{of(says("One."), `"continuationToken":"t"`), of(says(" Two."), `"finishReason":"CONTINUATION"`, `"continuationToken":"t"`)},
			[]string{"\n\nOne.", " Two."},
			"MAX_TOKENS",
		},
		"a tool of the provider": {
			[]string{
				of(signed(`{"toolCall":{"toolType":"GOOGLE_SEARCH","id":"1"}}`, "s")), of(`{"toolResponse":{"toolType":"GOOGLE_SEARCH","id":"1"}}`),
				of(`{"executableCode":{"code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}`), of(says("One."), stop),
			},
			[]string{
				`<{"toolCall":{"toolType":"GOOGLE_SEARCH","id":"1"},"thoughtSignature":"s"}>!s`, `<{"toolResponse":{"toolType":"GOOGLE_SEARCH","id":"1"}}>`,
				`<{"executableCode":{"code":"1"}}>`, `<{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}>`, "\n\nOne.",
			},
			"STOP",
		},
		"citations alone": {
			[]string{of(says("One.")), of("", stop, `"groundingMetadata":{"webSearchQueries":["a"]}`)}, []string{"\n\nOne."}, "STOP",
		},
		"a pause": {
			[]string{of(says("I stop.")), of(pauses, stop, `"finishMessage":"Model generated function call(s)."`)},
			[]string{"\n\nI stop.", "\n\nTask paused: " + wiretest.Blocked},
			"STOP",
		},
		"a pause alone":       {[]string{of(signed(pauses, "s"), stop)}, []string{"\n\nTask paused: " + wiretest.Blocked}, "STOP"},
		"a pause in capitals": {[]string{of(strings.Replace(pauses, "todo_pause", "TODO_Pause", 1), stop)}, []string{"\n\nTask paused: " + wiretest.Blocked}, "STOP"},
		"a signed pause and a call": {
			[]string{of(signed(pauses, "s")), of(edits, stop, `"finishMessage":"Model generated function call(s)."`)},
			[]string{"edit_file{}!s", "\n\nTask paused: " + wiretest.Blocked},
			"STOP",
		},
		"a call and a pause in one chunk": {
			[]string{of(signed(edits, "s")+","+pauses, stop)}, []string{"edit_file{}!s", "\n\nTask paused: " + wiretest.Blocked}, "STOP",
		},
		"a signed pause, and a call that is signed": {
			[]string{of(signed(pauses, "s")+","+signed(edits, "t")+","+edits+","+edits, stop)},
			[]string{"edit_file{}!t", "edit_file{}!s", "edit_file{}", "\n\nTask paused: " + wiretest.Blocked},
			"STOP",
		},
		"a printed pause": {
			[]string{of(says("I stop.")), of(says("\\ntodo_pause('"+wiretest.Blocked+"')"), stop)}, []string{"\n\nI stop.", "\n", "\nTask paused: " + wiretest.Blocked}, "STOP",
		},
		"a printed pause, signed": {
			[]string{of(signed(says("I stop. todo_pause('"+wiretest.Blocked+"')"), "s"), stop)}, []string{"\n\nI stop. !s", "\n\nTask paused: " + wiretest.Blocked}, "STOP",
		},
		"no printed pause": {
			[]string{of(says("One. todo_")), of(signed(says("pause"), "s") + "," + signed(edits, "t")), of(says(""), stop)},
			[]string{"\n\nOne. ", "todo_", "pause!s", "edit_file{}!t"},
			"STOP",
		},
		"what may be a printed pause, and a call": {
			[]string{of(says("One. todo_")), of(edits, stop)}, []string{"\n\nOne. ", "todo_", "edit_file{}"}, "STOP",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask{path: newest, attempts: 1, turns: []fakellm.Turn{raw(of(says(wiretest.Plan), stop)), raw(test.second...)}}
			if strings.Contains(whole(test.second), `"edit_file"`) && !strings.Contains(whole(test.second), "Signature") {
				a.path = studio // the newest models sign their calls
			}
			got := a.play(t, true)
			assert.Equal(t, append([]string{wiretest.Plan}, test.shown...), got.shown(t))
			assert.Equal(t, test.finish, got.finish())
			message := string(got.chunks[len(got.chunks)-1].Candidates[0].FinishMessage)
			assert.Equal(t, strings.Contains(got.raw, "functionCall") && strings.Contains(whole(test.second), "finishMessage"), message != "")
			for _, size := range []int{1, 7, 61} {
				split := a
				split.turns = []fakellm.Turn{a.turns[0], inPieces(whole(test.second), size)}
				assert.Equal(t, got.raw, split.exchange(t, true, 1).raw)
			}
		})
	}
}

// inPieces is an answer in pieces of that size.
func inPieces(all string, size int) fakellm.Turn {
	var pieces []string
	for text := all; text != ""; text = text[min(size, len(text)):] {
		pieces = append(pieces, text[:min(size, len(text))])
	}
	return fakellm.Raw(pieces...)
}

// The lines of what carryon writes end like those of the first turn.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	lf := fakellm.Raw("data: " + of(says(wiretest.Plan)) + "\n\n" + "data: " + of(says(" So."), stop) + "\n\n")
	for name, turns := range map[string][]fakellm.Turn{
		"LF, then CRLF":     {lf, raw(of(edits, stop))},
		"CRLF, then LF":     {raw(of(says(wiretest.Plan)), of(says(" So."), stop)), fakellm.Raw("data: " + of(edits, stop) + "\n\n")},
		"one chunk":         {raw(of(says(wiretest.Plan), stop)), fakellm.Raw(": ping\n\nevent: x\nid: 1\ndata:" + of(edits, stop))},
		"data in two lines": {raw(of(says(wiretest.Plan), stop)), fakellm.Raw("data: {\"candidates\":\ndata: [{\"content\":{\"parts\":[" + edits + "]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1}}\n\n")},
		"a failure":         {raw(of(says(wiretest.Plan), stop)), fakellm.Status(500, ""), fakellm.Status(500, ""), fakellm.Status(500, "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask{turns: turns, attempts: 1}.play(t, true)
			withoutCR := strings.ReplaceAll(got.raw, "\r\n", "")
			assert.NotContains(t, withoutCR, "\r")
			if name != "LF, then CRLF" {
				assert.NotContains(t, withoutCR, "\n")
			}
			assert.Equal(t, name != "a failure", strings.Contains(got.raw, "edit_file"))
		})
	}
}

// A chunk behind the finish shows that the finish was not the end.
func TestFinishThatIsNotTheEnd(t *testing.T) {
	t.Parallel()
	turn := raw(of(says("One."), stop), of(says(" Two."), stop))
	got := ask{turns: []fakellm.Turn{turn}}.exchange(t, true, 0)
	require.NoError(t, got.err)
	assert.Len(t, got.requests, 1)
	assert.Equal(t, reasons.NotEnded, got.outcome.Reason)
	assert.Contains(t, got.raw, "One.")
	assert.Contains(t, got.raw, " Two.")
}

// A turn without text is continued once, and nothing of its end is shown.
func TestBlankTurn(t *testing.T) {
	t.Parallel()
	thought := func(text string) string { return `{"text":"` + text + `","thought":true}` }
	for first, shown := range map[string][]string{
		of(says(""), stop):       {"(So.)", "(Yes.)", "edit_file{}"},
		of(thought("Hm."), stop): {"(Hm.)", "(\n\nSo.)", "(Yes.)", "edit_file{}"},
	} {
		t.Run(shown[0], func(t *testing.T) {
			t.Parallel()
			got := ask{turns: []fakellm.Turn{raw(first), raw(of(thought("So.")+","+thought("Yes.")+","+edits, stop))}}.play(t, true)
			assert.Equal(t, shown, got.shown(t))
			assert.Equal(t, "(no answer)", got.requests[1].Messages[2].Content)
		})
	}
}

// A rejected pause is answered in words: a call would need its signature.
func TestRejectedPause(t *testing.T) {
	t.Parallel()
	a := ask{path: newest, turns: []fakellm.Turn{
		fakellm.Text(wiretest.Plan), fakellm.Pause("stuck"), fakellm.Call("edit_file", "{}"),
	}}
	a.both(t, func(t *testing.T, got answer) {
		require.Len(t, got.requests, 3)
		last := got.requests[2]
		assert.Empty(t, last.Messages[len(last.Messages)-2].ToolCalls)
		assert.True(t, strings.HasPrefix(last.Last().Content, continuation.PromptPreamble))
		assert.Contains(t, last.Last().Content, "Invalid pause reason: ")
		assert.NotContains(t, got.raw, "todo_pause")
	})
}

// With todo_pause in every request, the caller's own turn may pause too.
func TestPauseInTheFirstTurn(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]fakellm.Turn{
		"alone":       fakellm.Text("I stop.").AndCall("todo_pause", `{"reason":"`+wiretest.Blocked+`"}`),
		"with a call": fakellm.Text("I stop.").AndCall("todo_pause", `{"reason":"`+wiretest.Blocked+`"}`).AndCall("edit_file", "{}"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask{path: newest, options: []middleware.Option{middleware.WithPauseTool(middleware.PauseToolAlways)}, turns: []fakellm.Turn{turn}}
			a.both(t, func(t *testing.T, got answer) {
				assert.NotContains(t, got.raw, "todo_pause")
				assert.Contains(t, got.text(t), "Task paused: "+wiretest.Blocked)
				assert.Equal(t, name == "with a call", strings.Contains(got.raw, "edit_file"))
				assert.Equal(t, reasons.Paused, got.outcome.Reason)
			})
		})
	}
}

// A pause in pieces is hidden from its name to its end, and read, in a later turn and in the caller's own.
func TestCallsInPieces(t *testing.T) {
	t.Parallel()
	piece := func(value string) string {
		return `{"functionCall":{"partialArgs":[{"jsonPath":"$.reason","stringValue":"` + value + `","willContinue":true}],"willContinue":true}}`
	}
	begin := `{"functionCall":{"name":"todo_pause","willContinue":true}}`
	for name, test := range map[string]struct {
		second []string
		shown  []string
	}{
		"a pause": {
			[]string{of(begin), of(piece("The grammar file ")), of(strings.Replace(piece("No. "), "$.reason", "$.note", 1)), of(piece("grammar.ebnf is missing")), of(`{"functionCall":{}}`, stop)},
			[]string{"\n\nTask paused: " + wiretest.Blocked},
		},
		"a pause without its end": {
			[]string{of(begin), of(piece(wiretest.Blocked), stop)}, []string{"\n\nTask paused: " + wiretest.Blocked},
		},
		"a pause without its end, then another call": {
			[]string{of(begin), of(piece(wiretest.Blocked)), of(edits, stop)}, []string{"edit_file", "\n\nTask paused: " + wiretest.Blocked},
		},
		"a pause without its end, and calls in one chunk": {
			[]string{of(begin+","+piece(wiretest.Blocked)+","+edits+","+pauses+","+edits, stop)}, []string{"edit_file", "edit_file", "\n\nTask paused: " + wiretest.Blocked},
		},
		"another call without its end, then a pause": {
			[]string{of(strings.Replace(begin, "todo_pause", "edit_file", 1)), of(piece("x")), of(pauses, stop)}, []string{"edit_file", "", "\n\nTask paused: " + wiretest.Blocked},
		},
		"another call": {
			[]string{of(strings.Replace(begin, "todo_pause", "edit_file", 1)), of(piece("x")), of(`{"functionCall":{}}`, stop)},
			[]string{"edit_file", "", ""},
		},
		"a pause, then another call": {
			[]string{of(signed(begin, "s")), of(piece(wiretest.Blocked)), of(`{"functionCall":{}}`), of(strings.Replace(begin, "todo_pause", "edit_file", 1)), of(piece("x")), of(`{"functionCall":{}}`, stop)},
			[]string{"edit_file!s", "", "", "\n\nTask paused: " + wiretest.Blocked},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alone := ask{options: []middleware.Option{middleware.WithPauseTool(middleware.PauseToolAlways)}, turns: []fakellm.Turn{raw(test.second...)}}
			assert.Equal(t, strings.ReplaceAll(strings.Join(test.shown, "|"), "\n\n", ""), strings.Join(alone.namesAndTexts(t), "|"))
			joined := ask{attempts: 1, turns: []fakellm.Turn{raw(of(says(wiretest.Plan), stop)), raw(test.second...)}}
			assert.Equal(t, append([]string{wiretest.Plan}, test.shown...), joined.namesAndTexts(t))
		})
	}
}

// namesAndTexts returns the names of an answer's calls, with their signatures, and its texts. No name is that of a pause.
func (a ask) namesAndTexts(t *testing.T) (shown []string) {
	t.Helper()
	got := a.exchange(t, true, 0)
	require.NoError(t, got.err)
	assert.NotContains(t, got.raw, "todo_pause")
	a.read(t, &got, true)
	for _, c := range got.chunks {
		for _, p := range c.parts(t) {
			switch {
			case p.FunctionCall != nil && p.ThoughtSignature != "":
				shown = append(shown, p.FunctionCall.Name+"!"+p.ThoughtSignature)
			case p.FunctionCall != nil:
				shown = append(shown, p.FunctionCall.Name)
			case *p.Text != "":
				shown = append(shown, *p.Text)
			}
		}
	}
	return shown
}
