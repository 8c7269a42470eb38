package responses_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/agentlists"
	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// typedStream returns a stream of events: each is a type and members, to which
// its number is added unless n is negative.
func typedStream(events ...string) string {
	var b strings.Builder
	for n, e := range events {
		kind, members, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", kind, kind, n, members)
	}
	return b.String()
}

// Events that many streams have in common.
func createdEvent(id string) string {
	return `response.created "response":{"id":"` + id + `","object":"response","status":"in_progress","output":[],"usage":null}`
}

func completedEvent(id, output string) string {
	return `response.completed "response":{"id":"` + id + `","object":"response","status":"completed","output":[` + output + `],"usage":null}`
}

func messageItem(id, text string) string {
	return `{"id":"` + id + `","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"` + text + `","annotations":[]}]}`
}

func callItem() string {
	const id, call = "f2", "c2"
	return `{"id":"` + id + `","type":"function_call","status":"completed","call_id":"` + call + `","name":"edit_file","arguments":"{}"}`
}

// messageEvents are the events of a message that comes first.
func messageEvents(id, text string) []string {
	const index = 0
	at := fmt.Sprintf(`"item_id":%q,"output_index":%d,"content_index":0`, id, index)
	return []string{
		fmt.Sprintf(`response.output_item.added "output_index":%d,"item":{"id":%q,"type":"message","status":"in_progress","role":"assistant","content":[]}`, index, id),
		`response.content_part.added ` + at + `,"part":{"type":"output_text","text":"","annotations":[]}`,
		`response.output_text.delta ` + at + `,"delta":"` + text + `"`,
		`response.output_text.done ` + at + `,"text":"` + text + `"`,
		`response.content_part.done ` + at + `,"part":{"type":"output_text","text":"` + text + `","annotations":[]}`,
		fmt.Sprintf(`response.output_item.done "output_index":%d,"item":%s`, index, messageItem(id, text)),
	}
}

func callEvents(index int) []string {
	const id = "f2"
	return []string{
		fmt.Sprintf(`response.output_item.added "output_index":%d,"item":%s`, index, strings.Replace(callItem(), `"{}"`, `""`, 1)),
		fmt.Sprintf(`response.function_call_arguments.delta "item_id":%q,"output_index":%d,"delta":"{}"`, id, index),
		fmt.Sprintf(`response.function_call_arguments.done "item_id":%q,"output_index":%d,"arguments":"{}"`, id, index),
		fmt.Sprintf(`response.output_item.done "output_index":%d,"item":%s`, index, callItem()),
	}
}

func inOrder(groups ...[]string) []string {
	var all []string
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

// Continuations by compatible servers, each with its own deviations: the answer
// reads like one from the API.
func TestResponsesQuirks(t *testing.T) {
	t.Parallel()
	first := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
	one := func(events ...string) []string { return events }
	for name, tt := range map[string]struct {
		second []string
		texts  []string // after that of turn 1
		calls  int
		kind   string
	}{
		"the same index for text and call, and the text left open": {
			inOrder(one(createdEvent("r2")), messageEvents("m2", "Now.")[:3], callEvents(0), one(completedEvent("r2", callItem()))),
			[]string{"Now."},
			1, "response.completed",
		},
		"a message that ends without having begun": {
			inOrder(one(createdEvent("r2")), messageEvents("m2", "Now.")[5:], one(completedEvent("r2", messageItem("m2", "Now.")))),
			[]string{"Now."},
			0, "response.completed",
		},
		"a text without its item": {
			inOrder(one(createdEvent("r2")), messageEvents("m2", "Now.")[2:], one(completedEvent("r2", messageItem("m2", "Now.")))),
			[]string{"Now."},
			0, "response.completed",
		},
		"ids of the turn before": {
			inOrder(one(createdEvent("resp_1")), messageEvents("msg_1", "Now."), callEvents(1),
				one(completedEvent("resp_1", messageItem("msg_1", "Now.")+","+callItem()))),
			[]string{"Now."},
			1, "response.completed",
		},
		"no output in the response object": {
			inOrder(one(createdEvent("r2")), messageEvents("m2", "Now."), callEvents(1),
				one(`response.completed "response":{"id":"r2","status":"completed"}`)),
			[]string{"Now."},
			1, "response.completed",
		},
		"an empty output": {
			inOrder(one(createdEvent("r2")), messageEvents("m2", "Now."), one(completedEvent("r2", ""))),
			[]string{"Now."},
			0, "response.completed",
		},
		"incomplete": {
			inOrder(one(createdEvent("r2")), messageEvents("m2", "Now."),
				one(`response.incomplete "response":{"id":"r2","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[`+messageItem("m2", "Now.")+`]}`)),
			[]string{"Now."},
			0, "response.incomplete",
		},
		"failed behind a text": {
			inOrder(one(createdEvent("r2")), messageEvents("m2", "Now.")[:3],
				one(`response.failed "response":{"id":"r2","status":"failed","error":{"code":"server_error","message":"no"},"output":[]}`)),
			[]string{"Now."},
			0, "response.completed",
		},
		"an error behind a text": {
			inOrder(one(createdEvent("r2")), messageEvents("m2", "Now."), one(`error "code":"server_error","message":"no","param":null`)),
			[]string{"Now."},
			0, "response.completed",
		},
		"an error at once": {one(createdEvent("r2"), `error "error":{"message":"no"}`), nil, 0, "response.completed"},
		"keepalive": {
			inOrder(one(createdEvent("r2"), `keepalive "a":1`), messageEvents("m2", "Now."), one(completedEvent("r2", messageItem("m2", "Now.")))),
			[]string{"Now."},
			0, "response.completed",
		},
		"a message without any text": {
			inOrder(one(createdEvent("r2")), messageEvents("m2", "")[:2], messageEvents("m2", "")[3:], callEvents(1),
				one(completedEvent("r2", messageItem("m2", "")+","+callItem()))),
			[]string{""},
			1, "response.completed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			joined, err := readVia(t, wiretest.ReplayOf(first, typedStream(tt.second...)), wiretest.TwoTodos)
			require.NoError(t, err)
			answer, err := readResponses(joined)
			require.NoError(t, err, joined)
			assert.Equal(t, append([]string{wiretest.Plan}, tt.texts...), answer.texts(), joined)
			assert.Len(t, answer.calls(), tt.calls)
			assert.Equal(t, tt.kind, answer.kind)
			assert.Equal(t, "resp_1", answer.id)
			output, _ := answer.response["output"].([]any)
			assert.Len(t, output, len(answer.items), "both repetitions have all")
		})
	}
}

// carryon leaves alone requests whose history is on the server, and the outcome
// says why.
func TestResponsesThatAreLeftAlone(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		t.Helper()
		for name, tt := range map[string]struct {
			body   string
			reason continuation.Reason
		}{
			"previous_response_id": {responsesBody(w.Stream, `"previous_response_id":"resp_0"`), reasons.PreviousResponse},
			"conversation":         {responsesBody(w.Stream, `"conversation":"conv_1"`), reasons.Conversation},
			"background":           {responsesBody(w.Stream, `"background":true`), reasons.BackgroundResponse},
			"JSON":                 {responsesBody(w.Stream, `"text":{"format":{"type":"json_object"}}`), reasons.JSON},
			"a required call":      {responsesBody(w.Stream, `"tool_choice":"required"`), reasons.ToolChoice},
			"a named tool":         {responsesBody(w.Stream, `"tool_choice":{"type":"function","name":"edit_file"}`), reasons.ToolChoice},
			"hosted tools alone":   {strings.Replace(responsesBody(w.Stream), `"type":"function"`, `"type":"web_search"`, 1), reasons.NoTools},
			"two lists of tools":   {strings.Replace(responsesBody(w.Stream), `"tools"`, `"tools":[],"tools"`, 1), reasons.Unreadable},
			"no input":             {strings.Replace(responsesBody(w.Stream), `"input"`, `"prompt":{"id":"p"},"x"`, 1), reasons.NoMessages},
		} {
			s := wiretest.NewScene(t, wiretest.TwoTodos)
			if name == "previous_response_id" {
				tt.body = strings.Replace(tt.body, `"resp_0"`, `"resp_1"`, 1)
				respond(t, s, responsesBody(w.Stream, `"background":true`), fakellm.Text("Hello."))
			}
			_, got := respond(t, s, tt.body, fakellm.Text(wiretest.Plan))
			assert.Equal(t, tt.reason, got.Outcome.Reason, name)
			bodies := s.Wire.Bodies()
			assert.Equal(t, tt.body, bodies[len(bodies)-1], name)
		}
	})
}

// Answers that the caller must act on, or that are not plain text, are not
// continued.
func TestResponsesThatDoNotEndInText(t *testing.T) {
	t.Parallel()
	for name, recorded := range map[string]continuation.Reason{
		"custom-tool": reasons.ToolCalls, "unknown-item": reasons.UnknownContent, "incomplete": reasons.NotEnded,
		"end-turn-false": reasons.NotEnded, "commentary-and-calls": reasons.ToolCalls,
	} {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		stream := recordedResponses(t)[name+".chunks.txt"]
		_, got := respond(t, s, responsesBody(true), fakellm.Raw(stream))
		assert.Equal(t, recorded, got.Outcome.Reason, name)
		assert.Equal(t, stream, got.Body, name)
	}
}

// Turns that are not continued because of one event, and one that is.
func TestOneEventDecides(t *testing.T) {
	t.Parallel()
	shell := func(n int, kind string) []string {
		item := fmt.Sprintf(`"output_index":%d,"item":{"id":"s%d","type":"%s","call_id":"c","status":"completed"}`, n, n, kind)
		return []string{itemAdded + " " + item, itemDone + " " + item}
	}
	long := strings.Repeat("m", 5<<10)
	for name, tt := range map[string]struct {
		events []string
		end    string
		reason continuation.Reason
	}{
		"an error":          {messageEvents("m1", wiretest.Plan), `,"error":{"message":"no"}`, reasons.BrokeOff},
		"an id of 5 KB":     {messageEvents(long, wiretest.Plan), "", reasons.UnknownContent},
		"a shell that runs": {inOrder(messageEvents("m1", wiretest.Plan), shell(1, "shell_call")), "", reasons.ToolCalls},
		"a shell that has run": {
			inOrder(messageEvents("m1", wiretest.Plan), shell(1, "shell_call"), shell(2, "shell_call_output")), "", reasons.MaxAttempts,
		},
	} {
		s := wiretest.NewScene(t, wiretest.TwoTodos, wiretest.Continuations(1))
		completed := strings.TrimSuffix(completedEvent("r1", ""), "}") + tt.end + "}"
		got := send(t, s, responsesBody(true), fakellm.Raw(typedStream(inOrder([]string{createdEvent("r1")}, tt.events, []string{completed})...)), fakellm.Text("Done."))
		assert.Equal(t, tt.reason, got.Outcome.Reason, name)
	}
}

// What the last turn says of its end is shown.
func TestMembersOfTheLastTurn(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos, wiretest.Continuations(1))
	const last = `"completed_at":2,"service_tier":"flex","moderation":{"flagged":false}`
	_, got := respond(t, s, responsesBody(false), fakellm.Text(wiretest.Plan),
		fakellm.Status(http.StatusOK, `{"id":"r2","object":"response","status":"completed","output":[`+messageItem("m2", "Now.")+`],`+last+`}`))
	for member := range strings.SplitSeq(last, ",") {
		assert.Contains(t, got.Body, member)
	}
}

// Repeated members that carryon would replace do not make an answer larger.
func TestResponsesWithAMemberManyTimes(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`"usage":{},`, 1000)
	stream := typedStream(inOrder([]string{createdEvent("r1")}, messageEvents("m1", wiretest.Plan),
		[]string{strings.Replace(completedEvent("r1", messageItem("m1", wiretest.Plan)), `"usage"`, many+`"usage"`, 1)})...)
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	_, got := respond(t, s, responsesBody(true), fakellm.Raw(stream))
	assert.Equal(t, reasons.UnknownContent, got.Outcome.Reason)
	assert.Equal(t, stream, got.Body)
}

// The request of a continuation is the caller's own, with items added to its
// input and a tool to its tools.
func TestResponsesContinuationRequests(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ body, want string }{
		"a string as input": {
			`{"store":false,"input":"Go.","tools":[{"type":"function","name":"f"}]}`,
			`{"store":false,"input":[{"role":"user","content":"Go."},{"role":"assistant","content":"` + wiretest.Plan + `"},{"role":"user","content":PROMPT}],"tools":[{"type":"function","name":"f"},TOOL]}`,
		},
		"stored": {
			`{ "input" : [ {"role":"user","content":"Go."} ] , "tools" : [ {"type":"custom","name":"f"} ],"n_u":1.0e2 }`,
			`{ "input" : [ {"role":"user","content":"Go."},{"role":"assistant","content":"` + wiretest.Plan + `"},{"role":"user","content":PROMPT} ] , "tools" : [ {"type":"custom","name":"f"},TOOL ],"n_u":1.0e2 ,"parallel_tool_calls":false}`,
		},
		"allowed tools, and parallel calls": {
			`{"parallel_tool_calls":true,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]},"input":[{"role":"user","content":"Go."}],"tools":[{"type":"function","name":"f"}]}`,
			`{"parallel_tool_calls":false,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"function","name":"todo_pause"}]},"input":[{"role":"user","content":"Go."},{"role":"assistant","content":"` + wiretest.Plan + `"},{"role":"user","content":PROMPT}],"tools":[{"type":"function","name":"f"},TOOL]}`,
		},
		"strict tools": {
			`{"store":false,"input":[{"role":"user","content":"Go."}],"tools":[{"type":"function","name":"f","strict":true},{"type":"web_search"}]}`,
			`{"store":false,"input":[{"role":"user","content":"Go."},{"role":"assistant","content":"` + wiretest.Plan + `"},{"role":"user","content":PROMPT}],"tools":[{"type":"function","name":"f","strict":true},{"type":"web_search"},STRICT]}`,
		},
	} {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		_, _ = respond(t, s, tt.body, fakellm.Text(wiretest.Plan), wiretest.Edit())
		bodies := s.Wire.Bodies()
		require.Len(t, bodies, 2, name)
		messages := s.Server.Requests()[1].Messages
		want := strings.NewReplacer(
			"PROMPT", wiretest.Quoted(t, messages[len(messages)-1].Content), "TOOL", flatTool(t, false), "STRICT", flatTool(t, true),
		).Replace(tt.want)
		assert.Equal(t, want, bodies[1], name)
	}
}

// flatTool is the declaration of todo_pause on the Responses API.
func flatTool(t *testing.T, strict bool) string {
	t.Helper()
	b, err := json.Marshal(struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	}{"function", pause.ToolName, pausetool.Description(), pausetool.Schema(strict), strict})
	require.NoError(t, err)
	return string(b)
}

// A phase is kept in the messages that are replayed, each as an item of its own.
func TestResponsesPhasesAreReplayed(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	stream := recordedResponses(t)["two-phases.chunks.txt"]
	answer, _ := respond(t, s, responsesBody(true), fakellm.Raw(stream), wiretest.Edit())
	assert.Len(t, answer.items, 3)
	assert.Contains(t, s.Wire.Bodies()[1],
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look at the file.","annotations":[]}],"phase":"commentary"},`+
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Next I will fix it.","annotations":[]}],"phase":"final_answer"},`+
			`{"role":"user","content":`)
}

// The list is read from the items of the input.
func TestResponsesTodosFromTheInput(t *testing.T) {
	t.Parallel()
	list := func(status string) string {
		return `{\"plan\":[{\"step\":\"Write the parser\",\"status\":\"` + status + `\"}]}`
	}
	for name, tt := range map[string]struct {
		items string
		turns int
	}{
		"a function call": {`{"type":"function_call","call_id":"c","name":"update_plan","arguments":"` + list("in_progress") + `"},{"type":"function_call_output","call_id":"c","output":"Plan updated"}`, 2},
		"done":            {`{"type":"function_call","call_id":"c","name":"update_plan","arguments":"` + list("completed") + `"},{"type":"function_call_output","call_id":"c","output":"Plan updated"}`, 1},
		"the newest": {`{"type":"function_call","call_id":"c","name":"update_plan","arguments":"` + list("in_progress") + `"},{"type":"function_call_output","call_id":"c","output":"ok"},` +
			`{"type":"custom_tool_call","call_id":"d","name":"update_plan","input":"` + list("completed") + `"},{"type":"custom_tool_call_output","call_id":"d","output":[{"type":"input_text","text":"ok"}]}`, 1},
	} {
		s := wiretest.NewScene(t, todo.FromConversation())
		body := `{"input":[{"role":"user","content":"Go."},` + tt.items + `],"tools":[{"type":"function","name":"update_plan"}],"store":false}`
		turns := []fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit()}[:tt.turns]
		_, got := respond(t, s, body, turns...)
		assert.Equal(t, tt.turns, got.Outcome.Turns, "%s: %s", name, got.Outcome)
	}
}

// With todo_pause in every request it may be called in turn 1, and its reasoning
// goes with it.
func TestResponsesPauseInTurnOne(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		t.Helper()
		s := wiretest.NewScene(t, wiretest.TwoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
		answer, _ := respond(t, s, responsesBody(w.Stream), fakellm.Pause(wiretest.Blocked).AndText("It fails.").Reasoning("Hm."))
		assert.Equal(t, []string{"It fails.\n\nTask paused: " + wiretest.Blocked}, answer.texts())
		assert.Len(t, answer.items, 2)
		assert.Equal(t, "response.completed", answer.kind)

		s = wiretest.NewScene(t, wiretest.TwoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
		answer, _ = respond(t, s, responsesBody(w.Stream), fakellm.Pause(wiretest.Blocked).AndCall("edit_file", "{}").Reasoning("Hm."))
		assert.Equal(t, []string{"edit_file{}"}, answer.calls())
		assert.Len(t, answer.items, 2, "the reasoning stays before the call")
	})
}

// codexRequest is a request as Codex sends it in code mode: no member tools, and one tool that runs scripts.
func codexRequest(t *testing.T, description string, items ...string) string {
	t.Helper()
	exec, err := json.Marshal(map[string]any{"type": "custom", "name": "exec", "description": description, "format": map[string]string{"type": "grammar", "syntax": "lark", "definition": "start: /[\\s\\S]+/"}})
	require.NoError(t, err)
	const (
		wait = `{"type":"function","name":"wait","strict":false,"parameters":{"type":"object","properties":{"cell_id":{"type":"string"}}}}`
		user = `{"type":"message","id":"msg_1","role":"user","content":[{"type":"input_text","text":"Write the parser and test it."}]}`
	)
	tools := `{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[` + string(exec) + "," + wait + `]}]}`
	return `{"model":"test-model","stream":true,"store":false,"parallel_tool_calls":false,"tool_choice":"auto","include":["reasoning.encrypted_content"],"input":[` +
		strings.Join(append([]string{tools, user}, items...), ",") + `]}`
}

// scriptItems are the items of a script that ran.
func scriptItems(t *testing.T, source, state string) string {
	t.Helper()
	input, err := json.Marshal(source)
	require.NoError(t, err)
	return `{"type":"custom_tool_call","id":"ctc_1","status":"completed","call_id":"c","name":"exec","input":` + string(input) + `},` +
		`{"type":"custom_tool_call_output","id":"ctco_1","call_id":"c","output":[{"type":"input_text","text":"` + state + `\nWall time 0.1 seconds\nOutput:\n"},{"type":"input_text","text":"{}"}]}`
}

// A list that the model writes in a script is read from the script.
func TestResponsesTodosFromScripts(t *testing.T) {
	t.Parallel()
	const (
		declares = "Runs JavaScript.\n```ts\ndeclare const tools: { update_plan(args: {}): Promise<unknown>; };\n```"
		script   = `const plan = [{step: "Write the parser", status: 'completed'}, {step: "Test it", "status": 'in_progress'}];` +
			"\ntext(await tools.update_plan({plan})); // the plan\nconst r = await tools.exec_command({cmd: `ls ${dir}`});"
		waits = `,{"type":"function_call","call_id":"w","name":"wait","arguments":"{\"cell_id\":\"7\"}"},` +
			`{"type":"function_call_output","call_id":"w","output":[{"type":"input_text","text":"Script completed\nWall time 2 seconds\nOutput:\n"}]}`
	)
	for name, tt := range map[string]struct {
		description string
		items       string
		turns       int
		reason      continuation.Reason
	}{
		"open":       {declares, scriptItems(t, script, "Script completed"), 2, reasons.ToolCalls},
		"done":       {declares, scriptItems(t, strings.Replace(script, "in_progress", "completed", 1), "Script completed"), 1, reasons.NoActiveTodos},
		"waited for": {declares, scriptItems(t, script, "Script running with cell ID 7") + waits, 2, reasons.ToolCalls},
		"running":    {declares, scriptItems(t, script, "Script running with cell ID 7"), 1, reasons.ListUnreadable},
		"failed":     {declares, scriptItems(t, script, "Script failed"), 1, reasons.ListUnreadable},
		"computed":   {declares, scriptItems(t, "await tools.update_plan({plan: f()})", "Script completed"), 1, reasons.ListUnreadable},
		// Without a list, the model is asked whether anything is open, because it announced a step.
		"no plan is offered":  {"Runs JavaScript.", scriptItems(t, script, "Script completed"), 2, reasons.ToolCalls},
		"no plan was written": {declares, scriptItems(t, "text(1)", "Script completed"), 2, reasons.ToolCalls},
	} {
		s := wiretest.NewScene(t, todo.FromConversation(agentlists.Readers()...))
		_, got := respond(t, s, codexRequest(t, tt.description, tt.items), []fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit()}[:tt.turns]...)
		assert.Equal(t, tt.turns, got.Outcome.Turns, "%s: %s", name, got.Outcome)
		assert.Equal(t, tt.reason, got.Outcome.Reason, "%s: %s", name, got.Outcome)
	}
}
