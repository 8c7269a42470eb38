package responses_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// aside are events of gateways that are about no item of the answer.
var aside = map[string]string{
	"a ping":                 "data: {\"type\":\"ping\"}\n\n",
	"a named ping":           "event: ping\ndata: {\"type\":\"ping\"}\n\n",
	"a numbered one":         "event: codex.rate_limits\ndata: {\"type\":\"codex.rate_limits\",\"sequence_number\":0,\"limits\":{}}\n\n",
	"a cost":                 "data: {\"cost\":0.01}\n\n",
	"an empty object":        "data: {}\n\n",
	"two without blank line": "data: {\"type\":\"ping\"}\ndata: {\"type\":\"ping\"}\n",
	"a comment":              ": keep-alive\n\n",
	"text":                   "data: keep-alive\n\n",
	"of no known item":       "data: {\"type\":\"response.later.delta\",\"item_id\":\"x9\",\"output_index\":9,\"sequence_number\":1,\"delta\":\"x\"}\n\n",
	"of Chat Completions":    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n",
	"of Messages":            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n",
}

// What a gateway adds to a continuation is not shown, wherever it stands and
// however the continuation ends.
func TestEventsAsideOfAContinuationAreNotShown(t *testing.T) {
	t.Parallel()
	first := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
	events := strings.SplitAfter(typedStream(inOrder([]string{createdEvent("r2")}, messageEvents("m2", "Now."), callEvents(1),
		[]string{completedEvent("r2", messageItem("m2", "Now.")+","+callItem())})...), "\n\n")
	for _, end := range []int{1, 4, 7, len(events)} { // behind the start, in a text, behind a message, whole
		want, problem := playOver(t, first, strings.Join(events[:end], ""), strings.Join(events[:end], ""))
		require.NoError(t, problem)
		for name, noise := range aside {
			second := noise + strings.Join(events[:end], noise+noise) + noise
			got, err := playOver(t, first, second, second)
			require.NoError(t, err)
			assert.Equal(t, want, got, "%s, %d events", name, end)
		}
	}
}

// An answer of another protocol is none: the answer ends as turn 1 did.
func TestContinuationOfAnotherProtocolFails(t *testing.T) {
	t.Parallel()
	first := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
	for name, second := range map[string]string{
		"Chat Completions": aside["of Chat Completions"] + "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"Messages": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[]}}\n\n" + aside["of Messages"] +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		"Gemini": "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}],\"role\":\"model\"},\"finishReason\":\"STOP\"}]}\n\n",
	} {
		got, err := playOver(t, first, second, second)
		require.NoError(t, err)
		assert.Equal(t, first, got, name)
	}
}

// Events aside of turn 1 keep their place in an answer that is changed.
func TestEventsAsideOfTurn1AreShown(t *testing.T) {
	t.Parallel()
	pauseCall := strings.NewReplacer("edit_file", "todo_pause", `"{}"`, `"{\"reason\":\"`+wiretest.Blocked+`\"}"`).Replace
	turn := func(numbered bool, noise string) string {
		var events []string
		for _, e := range inOrder(messageEvents("m1", wiretest.Plan), callEvents(1)) {
			events = append(events, pauseCall(e))
		}
		s := typedStream(inOrder([]string{createdEvent("r1")}, events, []string{completedEvent("r1", messageItem("m1", wiretest.Plan)+","+pauseCall(callItem()))})...)
		if !numbered {
			s = numbers.ReplaceAllString(s, "")
		}
		return strings.ReplaceAll(s, "\n\n", "\n\n"+noise+noise)
	}
	for _, numbered := range []bool{true, false} {
		for name, noise := range aside {
			if name == "of no known item" || name == "a numbered one" || name == "two without blank line" {
				continue // no client could read it without carryon
			}
			got := playPaused(t, turn(numbered, noise))
			for frame := range strings.SplitSeq(got, "\n\n") {
				assert.True(t, strings.Count(frame, "data: ") < 2 || strings.Contains(noise, frame), "%s: events grew together: %s", name, frame)
			}
			answer, err := readResponses(withoutAside(got))
			require.NoError(t, err, "%s: %s", name, got)
			assert.Equal(t, []string{wiretest.Plan + "\n\nTask paused: " + wiretest.Blocked}, answer.texts(), name)
			assert.Empty(t, answer.calls(), name)
			assert.Equal(t, "response.completed", answer.kind, name)
		}
	}
}

// A call that a continuation breaks off in stays open, whatever its type, and
// the caller gets an error.
func TestHalfACallDoesNotLookWhole(t *testing.T) {
	t.Parallel()
	first := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
	for name, tt := range map[string]struct{ item, delta string }{
		"a function":    {`"type":"function_call","call_id":"c2","name":"exec_command","arguments":""`, `response.function_call_arguments.delta`},
		"a custom tool": {`"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":""`, `response.custom_tool_call_input.delta`},
		"a shell":       {`"type":"shell_call","call_id":"c2","action":{"commands":[]}`, `response.shell_call_command.delta`},
		"a local shell": {`"type":"local_shell_call","call_id":"c2","action":{}`, `response.local_shell_call.delta`},
		"a patch":       {`"type":"apply_patch_call","call_id":"c2","operation":{}`, `response.apply_patch_call_operation_diff.delta`},
		"unknown":       {`"type":"later_call","call_id":"c2","x":1`, `response.later_call.delta`},
	} {
		for deltas := range 3 {
			events := []string{createdEvent("r2"), `response.output_item.added "output_index":0,"item":{"id":"f2","status":"in_progress",` + tt.item + `}`}
			for range deltas {
				events = append(events, tt.delta+` "item_id":"f2","output_index":0,"delta":"{\"cmd"`)
			}
			body := strings.Replace(responsesBody(true), `"tools":[`, `"tools":[{"type":"shell"},`, 1)
			for how, end := range map[string]string{
				"cut":    "",
				"error":  typedStream(`error "code":"overloaded","message":"Overloaded"`),
				"plain":  "data: {\"error\":{\"code\":\"overloaded\",\"message\":\"Overloaded\"}}\n\n",
				"failed": typedStream(`response.failed "response":{"id":"r2","status":"failed","error":{"code":"overloaded","message":"Overloaded"}}`),
			} {
				got, err := playBody(t, body, first, typedStream(events...)+end)
				require.Contains(t, got, `"id":"f2"`, "a part of the call was shown")
				require.Error(t, err, "%s: %s", name, got)
				if how != "cut" { // the error is part of the answer, which some clients do not look for
					answer, problem := readResponses(got)
					require.NoError(t, problem, got)
					assert.Equal(t, "Overloaded", answer.failure(), "%s, %s: %s", name, how, got)
				}
				assert.NotContains(t, strings.TrimPrefix(got, first), `"output_index":1,"item":{"id":"f2","status":"incomplete"`, name)
				assert.Equal(t, 1, strings.Count(got, "event: response.output_item.done"), "only turn 1's: %s, %s", name, how)
				assert.NotContains(t, got, "response.completed", "%s, %s", name, how)
			}
		}
	}
}

// A call that a server leaves open in an answer that ends well is whole if its
// arguments are.
func TestCallThatIsLeftOpen(t *testing.T) {
	t.Parallel()
	first := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
	for arguments, whole := range map[string]bool{`{\"path\":\"a\"}`: true, `{\"path`: false, "": false} {
		for _, output := range []string{"", strings.Replace(callItem(), `"{}"`, `"`+arguments+`"`, 1)} {
			call := append(callEvents(0)[:1], fmt.Sprintf(`response.function_call_arguments.delta "item_id":"f2","output_index":0,"delta":"%s"`, arguments))
			got, err := playOver(t, first, typedStream(inOrder([]string{createdEvent("r2")}, call, []string{completedEvent("r2", output)})...))
			require.NoError(t, err)
			assert.Equal(t, whole, strings.Contains(got, `"output_index":1,"item":{"id":"f2"`) && strings.Count(got, "response.output_item.done\n") == 2, got)
			if whole {
				answer, err := readResponses(got)
				require.NoError(t, err)
				assert.Equal(t, []string{`edit_file{"path":"a"}`}, answer.calls())
			}
		}
	}
}

// The parts of a message that have ended are not ended again when the message
// breaks off behind them.
func TestMessageOfSeveralPartsThatBreaksOff(t *testing.T) {
	t.Parallel()
	first := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
	part := func(n int, kind, member, delta, done, text string) []string {
		at := fmt.Sprintf(`"item_id":"m2","output_index":0,"content_index":%d,`, n)
		return []string{
			`response.content_part.added ` + at + `"part":{"type":"` + kind + `","` + member + `":""}`,
			`response.` + delta + ` ` + at + `"delta":"` + text + `"`,
			`response.` + done + ` ` + at + `"` + member + `":"` + text + `"`,
			`response.content_part.done ` + at + `"part":{"type":"` + kind + `","` + member + `":"` + text + `"}`,
		}
	}
	text := func(n int, said string) []string {
		return part(n, "output_text", "text", "output_text.delta", "output_text.done", said)
	}
	refusal := func(n int, said string) []string {
		return part(n, "refusal", "refusal", "refusal.delta", "refusal.done", said)
	}
	for name, parts := range map[string][]string{
		"texts": inOrder(text(0, "One."), text(1, "Two."), text(2, "Three.")), "a refusal": inOrder(text(0, "One."), refusal(1, "No."), text(2, "Three.")),
		"two refusals": inOrder(refusal(0, "No."), refusal(1, "Never.")),
	} {
		events := inOrder([]string{createdEvent("r2")}, messageEvents("m2", "")[:1], parts)
		for n := 2; n <= len(events); n++ {
			stream := typedStream(events[:n]...)
			got, err := playOver(t, first, stream, stream)
			require.NoError(t, err)
			answer, err := readResponses(got)
			require.NoError(t, err, "%s, %d events: %s", name, n, got)
			require.Equal(t, "response.completed", answer.kind)
			for _, ends := range []string{"output_text.done", "refusal.done", "content_part.done", "content_part.added"} {
				kind := "response." + ends
				assert.LessOrEqual(t, strings.Count(got, "event: "+kind+"\n"), strings.Count(first+typedStream(events...), "event: "+kind+"\n"), "%s: %s", name, kind)
			}
		}
	}
}

// A compaction of a continuation stands for its prompt too, and is shown
// nowhere.
func TestCompactionOfAContinuationIsNotShown(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"compaction", "compaction_summary"} {
		compaction := `{"id":"cmp_2","type":"` + kind + `","encrypted_content":"secret"}`
		message := messageItem("m2", "Now.")
		events := inOrder(
			[]string{createdEvent("r2"), `response.output_item.added "output_index":0,"item":` + compaction, `response.output_item.done "output_index":0,"item":` + compaction},
			strings.Split(strings.ReplaceAll(strings.Join(messageEvents("m2", "Now."), "\n"), `"output_index":0`, `"output_index":1`), "\n"),
			[]string{completedEvent("r2", compaction+","+message)})
		first := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
		for name, second := range map[string]string{
			"streamed": typedStream(events...), "in the response alone": typedStream(inOrder([]string{createdEvent("r2")}, messageEvents("m2", "Now."), events[len(events)-1:])...),
		} {
			got, err := playOver(t, first, second)
			require.NoError(t, err)
			assert.NotContains(t, got, "cmp_2", name)
			answer, err := readResponses(got)
			require.NoError(t, err, got)
			assert.Equal(t, []string{wiretest.Plan, "Now."}, answer.texts(), name)
			assert.Len(t, answer.response["output"], 2, name)
		}

		s := wiretest.NewScene(t, wiretest.TwoTodos)
		unary, _ := respond(t, s, responsesBody(false), fakellm.Text(wiretest.Plan),
			fakellm.Status(http.StatusOK, `{"id":"r2","object":"response","status":"completed","output":[`+compaction+`,`+message+`]}`))
		assert.Equal(t, []string{wiretest.Plan, "Now."}, unary.texts())
		assert.Len(t, unary.items, 2)

		alone := typedStream(inOrder([]string{createdEvent("r1")}, events[1:])...)
		got, _ := playResponses(t, todo.Static(), alone)
		assert.Equal(t, alone, got, "the caller's own is")
	}
}

// A first turn may have no items. What comes after it is still a later turn.
func TestFirstTurnWithoutItems(t *testing.T) {
	t.Parallel()
	empty := typedStream(createdEvent("r1"), completedEvent("r1", ""))
	for name, tt := range map[string]struct {
		second []string
		texts  []string
	}{
		"then a text":  {inOrder([]string{createdEvent("r2")}, messageEvents("m2", "Now."), []string{completedEvent("r2", messageItem("m2", "Now."))}), []string{"Now."}},
		"then a fault": {[]string{createdEvent("r2"), `error "error":{"message":"no"}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			joined, err := playOver(t, empty, typedStream(tt.second...))
			require.NoError(t, err)
			got, err := readResponses(joined)
			require.NoError(t, err, joined)
			assert.Equal(t, tt.texts, got.texts())
			assert.Equal(t, "r1", got.response["id"])
		})
	}
}

// A text may come in one piece, in the event that ends it.
func TestTextWithoutDeltas(t *testing.T) {
	t.Parallel()
	events := messageEvents("m1", wiretest.Plan)
	first := typedStream(inOrder([]string{createdEvent("r1")}, events[:2], events[3:4],
		[]string{events[2], `response.output_text.done "item_id":"m1","output_index":0,"content_index":1,"text":" So."`, completedEvent("r1", "")})...)
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	send(t, s, responsesBody(true), fakellm.Raw(first), wiretest.Edit())
	assert.Contains(t, s.Wire.Bodies()[1], `{"role":"assistant","content":"`+wiretest.Plan+wiretest.Plan+` So."}`)
}

// The joined answer ends as its last turn does.
func TestAnswerSaysWhyItIsIncomplete(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		t.Helper()
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		_, got := respond(t, s, responsesBody(w.Stream), fakellm.Text(wiretest.Plan), fakellm.Text("The parser is").Finish("length"))
		assert.Contains(t, got.Body, `"incomplete_details":{"reason":"max_output_tokens"}`)
		assert.Equal(t, w.Stream, strings.Contains(got.Body, "response.incomplete"))
	})
}

// Reasoning goes with the pause behind it, in the caller's own turn too: the server would refuse it alone.
func TestReasoningOfAPauseIsNotShown(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		t.Helper()
		s := wiretest.NewScene(t, wiretest.TwoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
		answer, got := respond(t, s, responsesBody(w.Stream), fakellm.Pause(wiretest.Blocked).Reasoning("Hm."))
		assert.Empty(t, answer.items, got.Body)
		assert.NotContains(t, got.Body, "Hm.")
	})
}

// A continuation that is refused does not pause either.
func TestRefusalDoesNotPause(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	refused := fakellm.Turn{}.Refusal("I can't do that.").AndCall("todo_pause", `{"reason":"`+wiretest.Blocked+`"}`)
	answer, got := respond(t, s, responsesBody(true), fakellm.Text(wiretest.Plan), refused)
	assert.Len(t, answer.items, 1, got.Body)
	assert.NotContains(t, got.Body, "Task paused")
}

// What follows an event's object makes it none, and nobody knows what the model has said.
func TestEventWithMoreThanAnObject(t *testing.T) {
	t.Parallel()
	events := messageEvents("m1", wiretest.Plan)
	stray := "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":3,\"item_id\":\"m1\",\"output_index\":0,\"content_index\":0,\"delta\":\" Stray.\"} {}\n\n"
	first := typedStream(inOrder([]string{createdEvent("r1")}, events, []string{completedEvent("r1", messageItem("m1", wiretest.Plan))})...)
	at := strings.Index(first, "event: response.output_text.done")
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	send(t, s, responsesBody(true), fakellm.Raw(first[:at]+stray+first[at:]), wiretest.Edit())
	assert.Len(t, s.Wire.Bodies(), 1, "it is not continued")
}

// reasoningEvents are the events of reasoning that comes second.
func reasoningEvents() []string {
	const index, item = 1, `{"id":"rs_9","type":"reasoning","summary":[]}`
	return []string{
		fmt.Sprintf(`response.output_item.added "output_index":%d,"item":%s`, index, item),
		fmt.Sprintf(`response.output_item.done "output_index":%d,"item":%s`, index, item),
	}
}

// Reasoning at the end of a turn is shown behind a message alone: behind a call, or before what is left out, the server
// would refuse it without its successor.
func TestReasoningAtTheEndOfAContinuation(t *testing.T) {
	t.Parallel()
	first := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
	pause := strings.NewReplacer("edit_file", "todo_pause", `"{}"`, `"{\"reason\":\"`+wiretest.Blocked+`\"}"`)
	const printed = "todo_pause('" + wiretest.Blocked + "')"
	paused := callEvents(2)
	for i := range paused {
		paused[i] = pause.Replace(paused[i])
	}
	for name, test := range map[string]struct {
		events []string
		output string
		shown  bool
	}{
		"behind a message":              {inOrder(messageEvents("m2", "Now."), reasoningEvents()), messageItem("m2", "Now.") + `,{"id":"rs_9","type":"reasoning","summary":[]}`, true},
		"behind the same message again": {inOrder(messageEvents("m2", wiretest.Plan), reasoningEvents()), messageItem("m2", wiretest.Plan) + `,{"id":"rs_9","type":"reasoning","summary":[]}`, true},
		"behind a call":                 {inOrder(callEvents(0), reasoningEvents()), callItem() + `,{"id":"rs_9","type":"reasoning","summary":[]}`, false},
		"behind a message with a pause": {inOrder(messageEvents("m2", "Now."), reasoningEvents(), paused), messageItem("m2", "Now.") + `,{"id":"rs_9","type":"reasoning","summary":[]},` + pause.Replace(callItem()), false},
		"behind a printed pause":        {inOrder(messageEvents("m2", printed), reasoningEvents()), messageItem("m2", printed) + `,{"id":"rs_9","type":"reasoning","summary":[]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			second := typedStream(inOrder([]string{createdEvent("r2")}, test.events, []string{completedEvent("r2", test.output)})...)
			got, err := playOver(t, first, second)
			require.NoError(t, err)
			assert.Equal(t, test.shown, strings.Contains(got, "rs_9"), got)
		})
	}
}
