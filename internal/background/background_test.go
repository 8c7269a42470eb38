package background_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/background"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/chatcompletions"
	"github.com/carryon-go/carryon/internal/wire/messages"
	"github.com/carryon-go/carryon/internal/wire/responses"
)

// step is a part of a conversation: a message, or a call with its result.
type step struct {
	role, text      string
	texts           []string // of a message with parts
	id, name, input string   // of a call
	result          string
}

func user(text string) step      { return step{role: "user", text: text} }
func system(text string) step    { return step{role: "system", text: text} }
func beside(text string) step    { return step{role: "beside", text: text} }  // the result before it
func parts(texts ...string) step { return step{role: "parts", texts: texts} } // of a message of the user
func says(text string) step      { return step{role: "assistant", text: text} }

// call returns a call whose arguments are the members.
func call(id, name, members, result string) step {
	return step{id: id, name: name, input: "{" + members + "}", result: result}
}

func agent(n string) step {
	return call("toolu_"+n, "Agent", `"prompt":"Look."`, "Async agent launched successfully. (This tool result is internal metadata.)\n"+
		"agentId: agent"+n+" (internal ID - do not mention to user. Use SendMessage with to: 'agent"+n+"' to continue this agent.)\n"+
		"The agent is working in the background. You will be notified automatically when it completes.\noutput_file: /tmp/agent"+n+".output")
}

func command(n string) step {
	return call("toolu_"+n, "Bash", `"command":"make","run_in_background":true`, "Command running in background with ID: shell"+n+
		". Output is being written to: /tmp/tasks/shell"+n+".output. You will be notified when it completes. To check interim output, use Read on that file path.")
}

func monitor(n string) step {
	return call("toolu_"+n, "Monitor", `"command":"tail -f log"`, "Monitor started (task shell"+n+", expires in 30m unless the source ends first; you get one notice at expiry). "+
		"You will be notified on each event. Keep working — do not poll or sleep.")
}

// eventOf returns what the agent says when a monitor sees something.
func eventOf(id, event string) string {
	return "<task-notification>\n<task-id>" + id + "</task-id>\n<summary>Monitor event: \"log\"</summary>\n<event>" + event + "</event>\n</task-notification>"
}

const (
	tookTooLong = "Command did not complete within its 120s timeout and was moved to the background (ID: shell1). Output is being written to: /tmp/tasks/shell1.output. " +
		"You will be notified when it completes."
	omoLaunch = "Background task launched successfully.\n\nTask ID: bg_1\nStatus: running\n\nThe system will notify you when the task completes.\nUse `background_output` with task_id=\"bg_1\" to check progress."
)

func edit(n string) step {
	return call("toolu_"+n, "Edit", `"file_path":"/w/a.css"`, "The file has been updated.")
}

// spawn returns the call that spawns a teammate.
func spawn(name string) step {
	return call("toolu_"+name, "Agent", `"name":"`+name+`","prompt":"Build it."`, "Spawned successfully.\nagent_id: "+name+"@site\nname: "+name+
		"\nteam_name: site\nThe agent is now running and will receive instructions via mailbox.")
}

func send(id, to, sender string) step {
	return call(id, "SendMessage", `"to":"`+to+`","message":"Go on."`,
		`{"success":true,"message":"Message sent to `+to+`'s inbox","routing":{"sender":"`+sender+`","target":"@`+to+`"}}`)
}

func mail(from, body string) string {
	return `<teammate-message teammate_id="` + from + `" color="blue" summary="a > b">` + "\n" + body + "\n</teammate-message>"
}

func idle(name string) string {
	return mail(name, `{"type":"idle_notification","from":"`+name+`","timestamp":"2026-11-24T10:00:00Z","idleReason":"available"}`)
}

const banner = "[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is an automated background-task event, NOT a message from the user.\n" +
	"Do NOT interpret this as user acknowledgement, confirmation, or response to any pending question.\n\n"

func report(id, status string) string {
	return "<task-notification>\n<task-id>" + id + "</task-id>\n<tool-use-id>toolu_of_" + id + "</tool-use-id>\n<output-file>/tmp/" + id +
		".output</output-file>\n<status>" + status + "</status>\n<summary>It has ended.</summary>\n<result>Nothing is completed.</result>\n</task-notification>"
}

func quote(tb testing.TB, text string) string {
	tb.Helper()
	b, err := json.Marshal(text)
	require.NoError(tb, err)
	return string(b)
}

// list returns a content with the parts.
func list(tb testing.TB, kind string, texts []string) string {
	tb.Helper()
	var parts []string
	for _, text := range texts {
		parts = append(parts, `{"type":"`+kind+`","text":`+quote(tb, text)+`}`)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// protocols render a conversation as a request of a protocol.
var protocols = map[string]struct {
	wire.Protocol
	render func(testing.TB, []step) string
}{
	"Messages": {messages.Protocol{}, func(tb testing.TB, steps []step) string {
		tb.Helper()
		var all []string
		results := "" // blocks of the message that is open
		flush := func() {
			if results != "" {
				all = append(all, `{"role":"user","content":[`+results+`]}`)
			}
			results = ""
		}
		for _, s := range steps {
			if s.role == "beside" {
				results += `,{"type":"text","text":` + quote(tb, s.text) + `}`
				continue
			}
			flush()
			if s.role == "parts" {
				all = append(all, `{"role":"user","content":`+list(tb, "text", s.texts)+`}`)
				continue
			}
			if s.role == "" {
				all = append(all, fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}`, s.id, s.name, s.input))
				results = fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":[{"type":"text","text":%s}]}`, s.id, quote(tb, s.result))
				continue
			}
			all = append(all, fmt.Sprintf(`{"role":%q,"content":%s}`, s.role, quote(tb, s.text)))
		}
		flush()
		return `{"messages":[` + strings.Join(all, ",") + `]}`
	}},
	"Chat Completions": {chatcompletions.Protocol{}, func(tb testing.TB, steps []step) string {
		tb.Helper()
		var all []string
		for _, s := range steps {
			switch s.role {
			case "parts":
				all = append(all, `{"role":"user","content":`+list(tb, "text", s.texts)+`}`)
			case "":
				all = append(all, fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}`,
					s.id, s.name, quote(tb, s.input)), fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, s.id, quote(tb, s.result)))
			case "beside":
				all = append(all, `{"role":"user","content":[{"type":"text","text":`+quote(tb, s.text)+`}]}`)
			default:
				all = append(all, fmt.Sprintf(`{"role":%q,"content":%s}`, s.role, quote(tb, s.text)))
			}
		}
		return `{"messages":[` + strings.Join(all, ",") + `]}`
	}},
	"Responses": {responses.New(), func(tb testing.TB, steps []step) string {
		tb.Helper()
		var all []string
		for _, s := range steps {
			switch s.role {
			case "parts":
				all = append(all, `{"type":"message","role":"user","content":`+list(tb, "input_text", s.texts)+`}`)
			case "":
				all = append(all, fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":%q,"arguments":%s}`, s.id, s.name, quote(tb, s.input)),
					fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, s.id, quote(tb, s.result)))
			case "beside":
				all = append(all, `{"type":"message","role":"user","content":[{"type":"input_text","text":`+quote(tb, s.text)+`}]}`)
			default:
				all = append(all, fmt.Sprintf(`{"type":"message","role":%q,"content":%s}`, s.role, quote(tb, s.text)))
			}
		}
		return `{"input":[` + strings.Join(all, ",") + `]}`
	}},
}

// read reads a conversation in each protocol, and calls check with what was found.
func read(t *testing.T, steps []step, check func(t *testing.T, work background.Work)) {
	t.Helper()
	for name, p := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := p.render(t, steps)
			facts, _, ok := p.Parse(nil, []byte(text), wiretest.Body(text))
			require.True(t, ok)
			check(t, background.Read(facts.History))
		})
	}
}

func TestLaunchesArePairedWithTheirReports(t *testing.T) {
	t.Parallel()
	const quoted = "Async agent launched successfully.\nagentId: agent9\nYou will be notified automatically when it completes.\n"
	reportOfCall := strings.Replace(report("unknown", "completed"), "toolu_of_unknown", "toolu_1", 1)
	for name, c := range map[string]struct {
		steps []step
		want  int
	}{
		"nothing":                         {[]step{user("Go."), edit("1")}, 0},
		"one agent":                       {[]step{user("Go."), agent("1")}, 1},
		"two agents":                      {[]step{user("Go."), agent("1"), agent("2")}, 2},
		"one of two has reported":         {[]step{user("Go."), agent("1"), agent("2"), user(report("agent1", "completed"))}, 1},
		"both have reported":              {[]step{user("Go."), agent("1"), agent("2"), user(report("agent2", "failed")), user(report("agent1", "killed"))}, 0},
		"both in one message":             {[]step{user("Go."), agent("1"), agent("2"), user(report("agent1", "completed") + "\n" + report("agent2", "stopped"))}, 0},
		"other calls since":               {[]step{user("Go."), agent("1"), edit("2"), edit("3")}, 1},
		"by the id of the call":           {[]step{user("Go."), agent("1"), user(reportOfCall)}, 0},
		"a report of the system":          {[]step{user("Go."), agent("1"), system(report("agent1", "completed"))}, 0},
		"a report behind its banner":      {[]step{user("Go."), agent("1"), user(banner + report("agent1", "completed"))}, 0},
		"the same in a reminder":          {[]step{user("Go."), agent("1"), user("<system-reminder>\n" + banner + report("agent1", "completed") + "\n</system-reminder>")}, 0},
		"a report beside a result":        {[]step{user("Go."), agent("1"), edit("2"), beside(report("agent1", "completed"))}, 0},
		"in a result, behind the banner":  {[]step{user("Go."), agent("1"), call("c", "Bash", "", "ok\n\n"+banner+report("agent1", "completed"))}, 0},
		"in a result, in a reminder":      {[]step{user("Go."), agent("1"), call("c", "Bash", "", "ok\n\n<system-reminder>\n"+banner+report("agent1", "completed")+"\n</system-reminder>")}, 0},
		"in a result of 5 KB":             {[]step{user("Go."), agent("1"), call("c", "Bash", "", strings.Repeat("ok\n", 2000)+banner+report("agent1", "completed"))}, 0},
		"two in a result":                 {[]step{user("Go."), agent("1"), agent("2"), call("c", "Bash", "", "ok\n\n"+banner+report("agent1", "completed")+"\n\n"+banner+report("agent2", "completed"))}, 0},
		"behind older words of the agent": {[]step{user("Go."), agent("1"), user(report("agent1", "completed") + "\nRead the output file to retrieve the result: /tmp/a.output")}, 0},
		"behind words for each":           {[]step{user("Go."), agent("1"), agent("2"), user(report("agent1", "completed") + "\nFull transcript available at: /tmp/1.output\n" + report("agent2", "failed") + "\nFull transcript available at: /tmp/2.output")}, 0},
		"one report of several":           {[]step{user("Go."), agent("1"), agent("2"), agent("3"), user("<task-notification>\n<task-id>agent1</task-id>\n<task-id>agent3</task-id>\n<status>stopped</status>\n</task-notification>")}, 1},
		"a report with another id":        {[]step{user("Go."), agent("1"), user(report("agent7", "completed"))}, 1},
		"progress":                        {[]step{user("Go."), agent("1"), user(report("agent1", "running"))}, 1},
		"progress without a status":       {[]step{user("Go."), agent("1"), user("<task-notification><task-id>agent1</task-id><event>build completed</event></task-notification>")}, 1},
		"a report without an id":          {[]step{user("Go."), agent("1"), agent("2"), user("<task-notification><status>completed</status></task-notification>")}, 1},
		"all have ended":                  {[]step{user("Go."), agent("1"), agent("2"), agent("3"), user("<system-reminder>\n[ALL BACKGROUND TASKS COMPLETED]\n</system-reminder>")}, 0},
		"all have ended, and one more":    {[]step{user("Go."), agent("1"), agent("2"), user("<system-reminder>\n[ALL BACKGROUND TASKS COMPLETE]\n- `agent1`\n</system-reminder>"), agent("3")}, 1},
		"a report of another launch":      {[]step{user("Go."), user(report("agent1", "completed")), agent("1")}, 1},
		"a launch stopped":                {[]step{user("Go."), agent("1"), call("c", "TaskStop", `"task_id":"agent1"`, `{"message":"Successfully stopped task: agent1"}`)}, 0},
		"a shell killed":                  {[]step{user("Go."), command("1"), call("c", "KillShell", `"shell_id":"shell1"`, "Killed.")}, 0},
		"its end fetched":                 {[]step{user("Go."), agent("1"), call("c", "TaskOutput", `"task_id":"agent1"`, "<retrieval_status>success</retrieval_status>\n\n<task_id>agent1</task_id>\n\n<status>completed</status>\n\n<output>\n</output>")}, 0},
		"its progress fetched":            {[]step{user("Go."), agent("1"), call("c", "TaskOutput", `"task_id":"agent1"`, "<retrieval_status>timeout</retrieval_status>\n\n<status>running</status>")}, 1},
		"an agent is given more":          {[]step{user("Go."), agent("1"), user(report("agent1", "completed")), send("c", "agent1", "")}, 1},
		"a named agent is given more": {[]step{
			user("Go."), call("c", "Agent", `"name":"scout"`, agent("1").result), user(report("agent1", "completed")), send("d", "scout", ""),
		}, 1},
		"launched two user turns ago":       {[]step{user("Go."), agent("1"), user("And?"), says("It works."), user("What is the time?")}, 1},
		"forgotten after three messages":    {[]step{user("Go."), agent("1"), user("a"), user("b"), user("c")}, 0},
		"a message of the user's own":       {[]step{user("Go."), agent("1"), user("I got " + report("agent1", "completed"))}, 1},
		"a report with words behind it":     {[]step{user("Go."), agent("1"), user(report("agent1", "completed") + " Why?")}, 0},
		"the model's own words":             {[]step{user("Go."), agent("1"), says(report("agent1", "completed"))}, 1},
		"a command":                         {[]step{user("Go."), command("1")}, 1},
		"a command that promises nothing":   {[]step{user("Go."), call("c", "Bash", "", "Command running in background with ID: shell1")}, 0},
		"a command of an older version":     {[]step{user("Go."), call("c", "Bash", "", "Command running in background with ID: shell1. Output is being written to: /tmp/tasks/shell1.output")}, 1},
		"a command that took too long":      {[]step{user("Go."), call("c", "Bash", "", tookTooLong), command("2"), user(report("shell1", "completed"))}, 1},
		"a monitor":                         {[]step{user("Go."), monitor("1")}, 1},
		"a monitor, and other calls":        {[]step{user("Go."), monitor("1"), edit("2")}, 0},
		"an event of a monitor":             {[]step{user("Go."), monitor("1"), user(eventOf("shell1", "the build has expired"))}, 1},
		"the end of a monitor":              {[]step{user("Go."), monitor("1"), monitor("2"), user(report("shell1", "completed"))}, 1},
		"a monitor that expired":            {[]step{user("Go."), monitor("1"), monitor("2"), user(eventOf("shell2", "[Monitor expired after 5m with no events delivered. Re-arm it if you still need the watch.]"))}, 1},
		"a monitor that timed out":          {[]step{user("Go."), monitor("1"), user(eventOf("shell1", "[Monitor timed out — re-arm if needed.]"))}, 0},
		"a wake-up":                         {[]step{user("Go."), call("c", "ScheduleWakeup", "", "Next wakeup scheduled for 10:15:00 (in 233s). Nothing more to do this turn.")}, 1},
		"a wake-up that came":               {[]step{user("Go."), call("c", "ScheduleWakeup", "", "Next wakeup scheduled for 10:15:00 (in 233s)."), user("Check the build."), edit("2")}, 0},
		"a command, and other calls":        {[]step{user("Go."), command("1"), edit("2")}, 0},
		"a command that is looked at":       {[]step{user("Go."), command("1"), call("c", "Read", `"file_path":"/tmp/tasks/shell1.output"`, "ok")}, 1},
		"a command and an agent":            {[]step{user("Go."), command("1"), agent("2")}, 2},
		"the agent has reported":            {[]step{user("Go."), agent("1"), command("2"), user(report("agent1", "completed"))}, 0},
		"two commands, one has reported":    {[]step{user("Go."), command("1"), command("2"), user(report("shell1", "completed"))}, 1},
		"a workflow":                        {[]step{user("Go."), call("c", "Workflow", "", "Workflow launched in background. Task ID: wf1\nSummary: x"), edit("2")}, 1},
		"another tool's promise":            {[]step{user("Go."), call("c", "place_order", "", "You will be notified when your order has been shipped.\nid: 7")}, 0},
		"a page that begins like a launch":  {[]step{user("Go."), call("c", "WebFetch", "", agent("1").result)}, 0},
		"a file that begins like a launch":  {[]step{user("Go."), call("c", "mcp__files__read_file", "", agent("1").result)}, 0},
		"a shell that prints a launch":      {[]step{user("Go."), call("c", "Bash", "", agent("1").result)}, 0},
		"an item that promises":             {[]step{user("Go."), call("c", "TaskCreate", "", agent("1").result)}, 0},
		"a launch that names nothing":       {[]step{user("Go."), call("c", "Agent", "", "Async agent launched successfully.")}, 0},
		"a tool of an unknown agent":        {[]step{user("Go."), call("c", "mcp__jobs__start_background_job", "", "Job ID: j1\nYou will be notified when it completes.")}, 1},
		"it has reported":                   {[]step{user("Go."), call("c", "spawn-agent", "", "You will be notified when it completes. Task ID: j1"), user("[Background task j1 completed]")}, 0},
		"a tail behind the report":          {[]step{user("Go."), agent("1"), system(banner + report("agent1", "completed") + "\n\nThe user hasn't heard from you in a while.")}, 0},
		"words before the report":           {[]step{user("Go."), agent("1"), system("The user waits.\n" + report("agent1", "completed"))}, 0},
		"a file that says all have ended":   {[]step{user("Go."), agent("1"), call("c", "Read", "", "ok\n<system-reminder>[all background tasks complete]</system-reminder>")}, 1},
		"a file with a report of no name":   {[]step{user("Go."), agent("1"), call("c", "Read", "", "ok\n"+banner+"<task-notification><status>completed</status></task-notification>")}, 1},
		"25 messages of the agent":          {append([]step{user("Go."), agent("1")}, slices.Repeat([]step{user("<system-reminder>Go on.</system-reminder>"), says("Yes.")}, 25)...), 0},
		"a file that quotes a promise":      {[]step{user("Go."), call("c", "Read", "", "     1→# Notes\n     2→"+quoted)}, 0},
		"a text that quotes a promise":      {[]step{user("Go."), call("c", "Read", "", "It says: you will be notified when it completes.")}, 0},
		"a promise in 1 MB":                 {[]step{user("Go."), call("c", "Read", "", strings.Repeat(quoted, 8000))}, 0},
		"reports in 1 MB":                   {[]step{user("Go."), agent("1"), call("c", "Read", "", strings.Repeat(report("agent1", "completed")+"\n", 4000)+"End.")}, 1},
		"1 MB of a user's":                  {[]step{user("Go."), agent("1"), user(strings.Repeat(report("agent1", "completed"), 4000) + "And?")}, 0},
		"in a list of parts":                {[]step{user("Go."), agent("1"), agent("2"), parts(report("agent1", "completed"), report("agent2", "completed"))}, 0},
		"in a part beside the user's words": {[]step{user("Go."), agent("1"), parts(report("agent1", "completed"), "And now the form.")}, 0},
		"a promise in 5 KB":                 {[]step{user("Go."), call("c", "Read", "", quoted+strings.Repeat("and so on\n", 500))}, 0},
		"a file that quotes a report":       {[]step{user("Go."), agent("1"), call("c", "Read", "", "# Notes\n"+report("agent1", "completed")+"\nThat is all.")}, 1},
		"a file that ends in a report":      {[]step{user("Go."), agent("1"), call("c", "Read", "", "# Notes\n"+report("agent1", "completed"))}, 1},
		"a result that hides a report":      {[]step{user("Go."), agent("1"), agent("2"), user("<task-notification><task-id>agent1</task-id><status>completed</status><result><task-id>agent2</task-id></result></task-notification>")}, 1},
		"qwen-code":                         {[]step{user("Go."), call("c", "agent", "", "Background agent launched successfully. The result arrives as a `<task-notification>` in a later turn.")}, 0},
		"qwen-code, reported by another id": {[]step{user("Go."), call("c", "agent", "", "Background agent launched successfully. The result arrives as a `<task-notification>`."), user(report("b1", "completed"))}, 0},
		"opencode":                          {[]step{user("Go."), call("c", "task", "", "The task is working in the background. You will be notified automatically when it finishes.")}, 0},
		"oh-my-opencode": {[]step{
			user("Go."), call("c", "task", "", "Background task launched.\n\nTask ID: bg_1\nStatus: pending\n\nSystem notifies on completion. Use `background_output` with task_id=\"bg_1\" to check."),
		}, 1},
		"oh-my-opencode, reported": {[]step{
			user("Go."), call("c", "task", "", "Background task launched.\n\nBackground Task ID: bg_1\n\nSystem notifies on completion."),
			call("d", "task", "", "Background task launched.\n\nBackground Task ID: bg_2\n\nSystem notifies on completion."),
			user("<system-reminder>\n[BACKGROUND TASK COMPLETED]\n**ID:** `bg_2`\n**1 task still in progress.**\n</system-reminder>\n<!-- OMO_INTERNAL_INITIATOR -->"),
		}, 1},
		"oh-my-opencode, fetched": {[]step{
			user("Go."), call("c", "background_task", "", omoLaunch), call("d", "background_output", `"task_id":"bg_1"`, "Task Result\n\nTask ID: bg_1\nDuration: 12s\n\n---\n\nFound."),
		}, 0},
		"oh-my-opencode, looked at": {[]step{
			user("Go."), call("c", "background_task", "", omoLaunch), call("d", "background_output", `"task_id":"bg_1"`, "# Task Status\n\n| Status | **running** |"),
		}, 1},
		"opencode, as an element": {[]step{
			user("Go."), call("c", "task", "", "<task id=\"ses_1\" state=\"running\">\n<summary>Background task started</summary>\n<task_result>\n"+
				"Background task started. You will be notified automatically when it finishes; do not poll for progress.\n</task_result>\n</task>"),
			agent("2"),
		}, 2},
		"opencode, as an element, reported": {[]step{
			user("Go."), call("c", "task", "", "<task id=\"ses_1\" state=\"running\">\nYou will be notified automatically when it finishes.\n</task>"), agent("2"),
			user("<task id=\"ses_1\" state=\"completed\">\n<summary>Background task completed: x</summary>\n<task_result>\nfailed\n</task_result>\n</task>"),
		}, 1},
		"a task that the user writes": {[]step{user("Go."), agent("1"), user("<task>All is completed.</task>")}, 1},
		"opencode, the second": {[]step{
			user("Go."), call("c", "subagent", "", "The subagent is working in the background (sessionID: ses_1). You will be notified automatically when it finishes."), agent("2"),
			user("<subagent sessionID=\"ses_1\" state=\"error\" description=\"x\">\nIt broke.\n</subagent>"),
		}, 1},
		"Copilot CLI": {[]step{
			user("Go."), call("c", "task", "", "Agent started in background with agent_id: explore-1. You'll be notified when it completes. Tell the user you're waiting and end your response."),
			call("d", "task", "", "Agent started in background with agent_id: explore-12. You'll be notified when it completes."),
		}, 2},
		"Copilot CLI, reported": {[]step{
			user("Go."), call("c", "task", "", "Agent started in background with agent_id: explore-1. You'll be notified when it completes."),
			call("d", "task", "", "Agent started in background with agent_id: explore-12. You'll be notified when it completes."),
			user("<system_notification>\nAgent \"explore-12\" has completed successfully. Use read_agent with agent_id \"explore-12\".\n</system_notification>"),
			call("e", "read_agent", `"agent_id":"explore-1"`, "Agent is running. agent_id: explore-1, status: running"),
		}, 1},
		"Copilot CLI, not notified": {[]step{user("Go."), call("c", "task", "", "Agent started in background with agent_id: a1. You can use read_agent tool with this agent_id to check status.")}, 0},
		"Copilot CLI, a command":    {[]step{user("Go."), call("c", "bash", "", "<command with shellId: 8 is still running after 30 seconds. You will be automatically notified when it completes>"), call("d", "read_bash", `"shellId":"8"`, "<command with shellId: 8 is still running>")}, 1},
		"Letta Code":                {[]step{user("Go."), call("c", "Agent", "", "Task running in background with task ID: task_1\nAgent ID: agent-2\n\nYou will be notified automatically when this task completes.")}, 1},
		"qwen-code, with an id": {[]step{
			user("Go."), call("c", "agent", "", "Background agent launched successfully.\ntask_id: general-1 (internal ID)\nThe agent is working in the background. You will be notified automatically when it completes."),
			agent("2"), user("<task-notification>\n<task-id>general-1</task-id>\n<status>completed</status>\n</task-notification>"),
		}, 1},
		"an id above the promise": {[]step{user("Go."), call("c", "subagent", "", "Background task started: x\nTask ID: s1\nYou will be notified when it completes.")}, 1},
		"mail in a result":        {[]step{user("Go."), spawn("ada"), call("c", "Bash", "", "ok\n\nAnother Claude session sent a message while you were working:\n"+idle("ada")+"\n\nThis came from another Claude session — not typed by your user.")}, 0},
		"mail that a file quotes": {[]step{user("Go."), spawn("ada"), call("c", "Read", "", "# Log\n"+idle("ada"))}, 1},
		"in brackets":             {[]step{user("Go."), agent("1"), agent("2"), user("[Background task agent2 completed]")}, 1},
		"in brackets, progress":   {[]step{user("Go."), agent("1"), user("[Background task agent1 is at 50 %]")}, 1},
		"by attributes":           {[]step{user("Go."), agent("1"), agent("2"), user(`<background-task id="agent1" status="cancelled">It was cancelled.</background-task>`)}, 1},
		"a report of a teammate":  {[]step{user("Go."), spawn("ada"), user(report("ada", "completed"))}, 1},
		"an idle agent without a team": {[]step{
			user("Go."), call("c", "Agent", `"name":"scout"`, agent("1").result), user(idle("scout")),
		}, 1},
		"a forgotten agent is given more":     {[]step{user("Go."), agent("1"), user("a"), user("b"), user("c"), send("c", "agent1", "")}, 1},
		"forgotten teammates are given more":  {[]step{user("Go."), spawn("ada"), spawn("bob"), user("a"), user("b"), user("c"), send("c", "*", "team-lead")}, 2},
		"a message to a forgotten command":    {[]step{user("Go."), command("1"), user("a"), user("b"), user("c"), send("c", "shell1", "")}, 0},
		"a message to all teammates alone":    {[]step{user("Go."), agent("1"), spawn("ada"), user(report("agent1", "completed")), send("c", "*", "team-lead")}, 1},
		"an agent outlives a team":            {[]step{user("Go."), agent("1"), spawn("ada"), call("c", "TeamDelete", "", `{"success":true}`)}, 1},
		"a command that has ended, looked at": {[]step{user("Go."), command("1"), command("2"), user(report("shell1", "completed")), call("c", "Read", `"file_path":"/tmp/tasks/shell1.output"`, "ok")}, 0},
		"another command, looked at":          {[]step{user("Go."), command("1"), call("c", "Read", `"file_path":"/tmp/tasks/myshell1.output"`, "ok")}, 0},
		"without an id, the oldest has ended": {[]step{user("Go."), agent("1"), command("2"), user("<task-notification><status>completed</status></task-notification>")}, 0},
		"an id that was used twice": {[]step{
			user("Go."), agent("1"), user("<task-notification>agent1<status>completed</status></task-notification>"),
			agent("1"), agent("2"), user("<task-notification>agent1<status>completed</status></task-notification>"), call("c", "TaskStop", `"task_id":"agent2"`, ""),
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read(t, c.steps, func(t *testing.T, work background.Work) { assert.Len(t, work.Awaited, c.want) })
		})
	}
}

// Messages that the agent wrote begin no user turn, and what the user pastes does.
func TestMessagesOfTheUserAreCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message step
		users   int
	}{
		"a report":                   {user(report("agent1", "completed")), 1},
		"behind its banner":          {user(banner + report("agent1", "completed")), 1},
		"of the system":              {system(banner + report("agent1", "completed")), 1},
		"in parts":                   {parts(report("agent1", "completed"), "<system-reminder>a</system-reminder>"), 1},
		"of a teammate":              {user(mail("ada", "Done.")), 1},
		"pasted":                     {user("I got this: " + report("agent1", "completed")), 2},
		"with words behind it":       {user(banner + report("agent1", "completed") + "\nWhat is this?"), 1},
		"words behind older words":   {parts(report("agent1", "completed")+"\nRead the output file to retrieve the result: /tmp/a", "What is this?"), 2},
		"a part beside the question": {parts(report("agent1", "completed"), "What is this?"), 2},
	} {
		for protocol, p := range protocols {
			request := p.render(t, []step{user("Go."), agent("1"), c.message})
			facts, _, ok := p.Parse(nil, []byte(request), wiretest.Body(request))
			require.True(t, ok)
			assert.Equal(t, c.users, facts.Users, "%s in %s", name, protocol)
			for e := range facts.History {
				if e.IsCall() {
					assert.Equal(t, c.users-1, e.Call.UserMessagesAfter, "%s in %s", name, protocol)
				}
			}
		}
	}
}

func TestTeams(t *testing.T) {
	t.Parallel()
	task := mail("team-lead", "You are ada, on the team site. Claim task 2.")
	for name, c := range map[string]struct {
		steps   []step
		awaited int
		want    background.Team
	}{
		"a lead whose teammates are at work": {
			[]step{user("Go."), spawn("ada"), spawn("bob")},
			2,
			background.Team{Role: background.Lead, Name: "team-lead", AtWork: []string{"ada", "bob"}},
		},
		"one of two is idle": {
			[]step{user("Go."), spawn("ada"), spawn("bob"), user(mail("ada", "I am done.") + "\n\n" + idle("ada"))},
			1,
			background.Team{Role: background.Lead, Name: "team-lead", AtWork: []string{"bob"}},
		},
		"a message alone is no rest": {
			[]step{user("Go."), spawn("ada"), user(mail("ada", `I will send {"type":"idle_notification"} soon.`))},
			1,
			background.Team{Role: background.Lead, Name: "team-lead", AtWork: []string{"ada"}},
		},
		"both are idle": {
			[]step{user("Go."), spawn("ada"), spawn("bob"), user("Another Claude session sent a message:\n" + idle("ada") + "\n" + idle("bob") +
				"\n\nThis came from another Claude session — not typed by your user.")},
			0,
			background.Team{Role: background.Lead, Name: "team-lead"},
		},
		"one gets more to do": {
			[]step{user("Go."), spawn("ada"), spawn("bob"), user(idle("ada") + idle("bob")), send("c", "bob", "team-lead")},
			1,
			background.Team{Role: background.Lead, Name: "team-lead", AtWork: []string{"bob"}},
		},
		"all get more to do": {
			[]step{user("Go."), spawn("ada"), spawn("bob"), user(idle("ada") + idle("bob")), send("c", "*", "team-lead")},
			2,
			background.Team{Role: background.Lead, Name: "team-lead", AtWork: []string{"ada", "bob"}},
		},
		"it is idle again": {
			[]step{user("Go."), spawn("bob"), user(idle("bob")), send("c", "bob", "team-lead"), user(idle("bob"))},
			0,
			background.Team{Role: background.Lead, Name: "team-lead"},
		},
		"all have ended": {
			[]step{
				user("Go."), spawn("ada"), spawn("bob"), user(mail("ada", `{"type":"shutdown_approved","from":"ada"}`)),
				user(mail("system", `{"type":"teammate_terminated","message":"bob has shut down."}`)),
			},
			0,
			background.Team{Role: background.Lead, Name: "team-lead"},
		},
		"the team is gone": {
			[]step{user("Go."), spawn("ada"), call("c", "TeamDelete", "", `{"success":true}`)},
			0,
			background.Team{Role: background.Lead, Name: "team-lead"},
		},
		"the team could not be ended": {
			[]step{user("Go."), spawn("ada"), call("c", "TeamDelete", "", `{"success":false,"message":"1 active member"}`)},
			1,
			background.Team{Role: background.Lead, Name: "team-lead", AtWork: []string{"ada"}},
		},
		"the team could not be ended, in other words": {
			[]step{
				user("Go."), spawn("ada"), call("c", "TeamDelete", "", `{"isError":true,"message":"1 active member"}`),
				call("d", "TeamDelete", "", "Failed to delete the team."), call("e", "TeamDelete", "", "The user rejected the call."),
				call("f", "TeamDelete", "", "Error deleting the team"),
			},
			1,
			background.Team{Role: background.Lead, Name: "team-lead", AtWork: []string{"ada"}},
		},
		"a message that was not sent": {
			[]step{user("Go."), spawn("ada"), user(idle("ada")), call("c", "SendMessage", `"to":"ada"`, "Unable to deliver: no mailbox.")},
			0,
			background.Team{Role: background.Lead, Name: "team-lead"},
		},
		"a lead whose history was cut": {
			[]step{user("Summary."), send("c", "bob", "team-lead")},
			1,
			background.Team{Role: background.Lead, Name: "team-lead", AtWork: []string{"bob"}},
		},
		"a member": {
			[]step{user(task), edit("1")},
			0,
			background.Team{Role: background.Member, Name: "ada"},
		},
		"a member behind reminders": {
			[]step{system("Be kind."), user("<system-reminder>\nToday is Sunday.\n</system-reminder>"), user(mail("team-lead", "Claim task 2.")), edit("1"), send("c", "team-lead", "ada")},
			0,
			background.Team{Role: background.Member, Name: "ada"},
		},
		"a member by the owner that it wrote last": {
			[]step{
				user(mail("team-lead", "You are responsible for task 2.")), call("c", "TaskUpdate", `"taskId":"1","owner":"bob"`, "Updated task #1 owner"),
				call("d", "TaskUpdate", `"taskId":"2","owner":"ada"`, "Updated task #2 owner"),
			},
			0,
			background.Team{Role: background.Member, Name: "ada"},
		},
		"mail in the oldest result": {
			[]step{call("c", "Bash", "", "ok\n\nAnother Claude session sent a message while you were working:\n"+task), edit("1")},
			0,
			background.Team{},
		},
		"a member that its user wrote to": {
			[]step{user(task), edit("1"), user("Use blue."), edit("2")},
			0,
			background.Team{Role: background.Member, Name: "ada"},
		},
		"a member without a name": {
			[]step{user(mail("team-lead", "You are an agent on the team. Claim task 2.")), edit("1")},
			0,
			background.Team{Role: background.Member},
		},
		"a member that waits for its own agent": {
			[]step{user(task), agent("1")},
			1,
			background.Team{Role: background.Member, Name: "ada"},
		},
		"a message to somebody without a team": {
			[]step{user("Go."), edit("1"), user(task), edit("2")},
			0,
			background.Team{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read(t, c.steps, func(t *testing.T, work background.Work) {
				assert.Len(t, work.Awaited, c.awaited)
				assert.Equal(t, c.want, work.Team)
			})
		})
	}
}

// The name of a launch says since when it is awaited, so it stays the same, and is another once the work begins anew.
func TestLaunchesHaveNames(t *testing.T) {
	t.Parallel()
	names := func(steps ...step) []string {
		request := protocols["Messages"].render(t, append([]step{user("Go.")}, steps...))
		facts, _, ok := messages.Protocol{}.Parse(nil, []byte(request), wiretest.Body(request))
		require.True(t, ok)
		return background.Read(facts.History).Awaited
	}
	one := names(agent("1"))
	require.Len(t, one, 1)
	assert.Equal(t, one, names(agent("1"), edit("1"), user("Well?")), "later")
	assert.Equal(t, one, names(agent("1"), agent("2"))[:1], "beside another")
	assert.NotEqual(t, one, names(agent("2")), "another")
	ada := names(spawn("ada"))
	require.Len(t, ada, 1)
	assert.NotEqual(t, ada, names(spawn("ada"), user(idle("ada")), send("c", "ada", "team-lead")), "it has more to do")
}

func TestOnlyTheNewestWorkIsAwaited(t *testing.T) {
	t.Parallel()
	launches := func(n int) (steps []step) {
		steps = append(steps, user("Go."))
		for i := range n {
			steps = append(steps, agent(strconv.Itoa(i)))
		}
		return steps
	}
	calls := func(steps []step, n int) []step {
		for i := range n {
			steps = append(steps, edit(strconv.Itoa(i)))
		}
		return steps
	}
	read(t, launches(100), func(t *testing.T, work background.Work) { assert.Len(t, work.Awaited, 64) })
	read(t, calls(launches(1), 99), func(t *testing.T, work background.Work) { assert.Len(t, work.Awaited, 1) })
	read(t, calls(launches(1), 100), func(t *testing.T, work background.Work) { assert.Empty(t, work.Awaited) })
	member := append([]step{user(mail("team-lead", "You are ada."))}, edit("0"), user(mail("team-lead", "Faster!")))
	read(t, calls(member, 255), func(t *testing.T, work background.Work) {
		assert.Equal(t, background.Team{Role: background.Member, Name: "ada"}, work.Team, "the beginning is looked for")
	})
	assert.Equal(t, background.Work{}, background.Read(nil))
}

// Words of launches and reports, in every place and size, are read in linear time.
func BenchmarkReadIsLinear(b *testing.B) {
	for name, words := range map[string]string{
		"reports":            report("a", "completed"),
		"launches":           "Async agent launched successfully.\nagentId: a\n",
		"open elements":      "<task-notification><task-id>a",
		"banners":            "[SYSTEM NOTIFICATION - NOT USER INPUT]\n",
		"banners and tags":   banner + "<task-notification>\n",
		"closing tags":       "</task-notification>",
		"reminders":          "<system-reminder>[BACKGROUND TASK COMPLETED]</system-reminder>",
		"nested reminders":   "<system-reminder><system-reminder></system-reminder>",
		"messages":           idle("a"),
		"lines in brackets":  "[Background task a completed]\n",
		"brackets and lines": "[Background task a completed]\n\n",
		"children":           "<a><b></a></b>",
		"ends of children":   "</task-id>",
	} {
		read := func(size int) func() {
			text := strings.Repeat(words, size/len(words))
			wrapped := "<task-notification>" + strings.ReplaceAll(text, "</task-notification>", "") + "<task-id>b</task-id><status>completed</status></task-notification>"
			conversation := protocols["Messages"].render(b, []step{
				user("Go."), agent("1"), call("c", "Read", "", text), call("d", "Bash", "", "ok\n"+banner+wrapped), beside(text), user(text), system(wrapped),
			})
			facts, _, ok := messages.Protocol{}.Parse(nil, []byte(conversation), wiretest.Body(conversation))
			require.True(b, ok)
			entries := slices.Collect(facts.History)
			return func() { background.Read(slices.Values(entries)) }
		}
		measure.Linear(b, name, read(1<<14), read(measure.Longer<<14))
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{
		banner + report("agent1", "completed"), idle("ada"), "<system-reminder>\n[BACKGROUND TASK COMPLETED]\n**ID:** `bg_1`\n</system-reminder>",
		"[All background tasks completed]", agent("1").result, command("1").result, spawn("ada").result, "ȺȺȺID:\nCommand ",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range protocols {
			request := p.render(t, []step{
				user("Go."), agent("1"), call("c", "Bash", "", text), call("d", "SendMessage", `"to":`+quote(t, text), text), beside(text), user(text), system(text),
			})
			facts, _, ok := p.Parse(nil, []byte(request), wiretest.Body(request))
			require.True(t, ok)
			work := background.Read(facts.History)
			assert.LessOrEqual(t, len(work.Awaited), 4)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	steps := []step{user("Go.")}
	for i := range 20 {
		steps = append(steps, call(fmt.Sprint("c", i), "Read", `"file_path":"/w/a.go"`, strings.Repeat("\tx := compute(y) // as before\n", 40)), says("I go on."))
	}
	steps = append(steps, agent("1"), agent("2"), command("3"), user(banner+report("agent1", "completed")), edit("4"), edit("5"), user("<system-reminder>\nToday is Sunday.\n</system-reminder>"))
	for name, p := range protocols {
		b.Run(name, func(b *testing.B) {
			request := p.render(b, steps)
			facts, _, ok := p.Parse(nil, []byte(request), wiretest.Body(request))
			require.True(b, ok)
			b.ReportAllocs()
			for b.Loop() {
				if work := background.Read(facts.History); len(work.Awaited) != 1 {
					b.Fatal(work)
				}
			}
		})
	}
}
