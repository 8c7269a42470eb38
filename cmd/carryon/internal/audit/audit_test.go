package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/atwork"
	"github.com/carryon-go/carryon/cmd/carryon/internal/audit"
	"github.com/carryon-go/carryon/middleware"
)

// run audits the transcripts below a home, or those at paths.
func run(t *testing.T, home string, paths ...string) *audit.Report {
	t.Helper()
	report, err := audit.Run(t.Context(), &audit.Config{Paths: paths, Home: home, Content: true, Getenv: func(string) string { return "" }})
	require.NoError(t, err)
	return report
}

// The transcripts are small ones in the forms of Claude Code 2.1.330, Codex 0.169.0, opencode 1.18.33, qwen-code 0.24.4,
// Copilot CLI 1.0.102 and gemini-cli 0.61.0.
func TestAgents(t *testing.T) {
	t.Parallel()
	would := func(continuations, input, cached, output int) audit.Would {
		return audit.Would{Continuations: continuations, Estimate: middleware.Tokens{Input: input, Cached: cached, Output: output}}
	}
	report := run(t, "testdata/home")
	want := map[string]*audit.Counts{
		"Claude Code": {
			Sessions: 2, UserTurns: 6, Ended: 7, WithList: 7, Open: 6, Asked: 1, Waits: 1, Untouched: 1, Unticked: 1, Stalled: 1, Interrupted: 1,
			TypedContinue: 1, Standard: would(2, 648, 18_800, 100), YOLO: would(4, 1_296, 37_600, 200),
		},
		"Codex": {
			Sessions: 1, UserTurns: 4, Ended: 3, WithList: 2, Open: 2, Untouched: 1, Stalled: 1, Unreadable: 1, TypedContinue: 1,
			Standard: would(1, 2_274, 18_000, 100), YOLO: would(2, 4_548, 36_000, 200),
		},
		"opencode": {Sessions: 1, UserTurns: 2, Ended: 2, WithList: 2, Open: 2, Stalled: 1, Interrupted: 1, TypedContinue: 1, Standard: would(1, 2_391, 0, 17), YOLO: would(1, 2_391, 0, 17)},
		"qwen-code": {
			Sessions: 1, UserTurns: 2, Ended: 2, WithList: 2, Open: 1, Stalled: 1, TypedContinue: 1,
			Standard: would(1, 1_174, 3_000, 50), YOLO: would(1, 1_174, 3_000, 50),
		},
		"Copilot CLI": {Sessions: 1, UserTurns: 1, Ended: 1, WithList: 1, Open: 1, Stalled: 1, Standard: would(1, 1_274, 4_000, 100), YOLO: would(1, 1_274, 4_000, 100)},
		"gemini-cli":  {Sessions: 1, UserTurns: 1, Ended: 1, WithList: 1, Open: 1, Asked: 1, YOLO: would(1, 474, 900, 50)},
	}
	for agent, counts := range want {
		assert.Equal(t, counts, report.Agents[agent], agent)
	}
	assert.Len(t, report.Agents, len(want))
	assert.Equal(t, audit.Skipped{Copies: 1}, report.Skipped)
	assert.Equal(t, 8, report.Files, "not the transcripts of sub-agents that have a place of their own")
	assert.Equal(t, 13, report.All.Open)
}

func TestMostTellingTurns(t *testing.T) {
	t.Parallel()
	report := run(t, "testdata/home")
	require.Len(t, report.Turns, 10)
	var kinds []string
	for _, turn := range report.Turns {
		kinds = append(kinds, turn.Kind)
		assert.NotEmpty(t, turn.Answer)
		assert.NotEmpty(t, turn.Todos)
	}
	assert.Equal(t, strings.Fields("stalled stalled stalled stalled stalled unticked asked asked waits untouched"), kinds)
	first := report.Turns[0]
	assert.True(t, strings.HasSuffix(first.File, "000000000001.jsonl"))
	first.File = ""
	want := audit.Turn{
		Agent: "Claude Code", Kind: "stalled", User: "Build the shop: catalogue, basket, checkout.", Answer: "The catalogue is there. Next, I will write the basket.",
		Todos: []string{"Write the basket", "Write the checkout"}, Said: "continue",
	}
	written, err := json.Marshal(first)
	require.NoError(t, err)
	wanted, err := json.Marshal(want)
	require.NoError(t, err)
	assert.JSONEq(t, string(wanted), string(written))
	assert.Equal(t, "继续", report.Turns[3].Said)
}

// A folder may lie anywhere; the lines tell whose it is. So may a link to it.
func TestTranscriptsElsewhere(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	target, err := filepath.Abs("testdata/home/.codex")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(target, link))
	report := run(t, "", link, "testdata/home/.local/share/opencode/opencode.db")
	assert.Equal(t, 3, report.Agents["Codex"].Ended)
	assert.Equal(t, 2, report.Agents["opencode"].Ended)
	assert.Len(t, report.Agents, 2)

	moved := map[string]string{"CODEX_HOME": target}
	found, err := audit.Run(t.Context(), &audit.Config{Home: t.TempDir(), Getenv: func(name string) string { return moved[name] }})
	require.NoError(t, err)
	assert.Equal(t, 3, found.All.Ended)
	assert.Empty(t, found.Turns, "texts are shown only if that is asked for")
}

// With a price, the table and the sentence say what carryon would have cost.
func TestPrice(t *testing.T) {
	t.Parallel()
	c := audit.Config{Home: "testdata/home", Getenv: func(string) string { return "" }, Price: "1000,100,10000"}
	report, err := audit.Run(t.Context(), &c)
	require.NoError(t, err)
	assert.InDelta(t, .648+1.88+1, *report.Agents["Claude Code"].Standard.Money, 1e-9)
	assert.InDelta(t, 0, *report.Agents["gemini-cli"].Standard.Money, 0)
	assert.InDelta(t, .474+.09+.5, *report.Agents["gemini-cli"].YOLO.Money, 1e-9)
	var b bytes.Buffer
	require.NoError(t, report.WriteText(&b))
	assert.Regexp(t, `\n    price of that, estimated +\$15\.81 +\$3\.53 .*\n  in YOLO mode`, b.String())
	assert.Contains(t, b.String(), "6 requests (about 51,928 tokens, $15.81) in standard mode")

	c.Price = "3,15"
	_, err = audit.Run(t.Context(), &c)
	require.ErrorContains(t, err, `-price must be three prices`)
}

func TestNoTranscripts(t *testing.T) {
	t.Parallel()
	_, err := audit.Run(t.Context(), &audit.Config{Home: t.TempDir(), Getenv: func(string) string { return "" }})
	require.ErrorIs(t, err, audit.ErrNone)
	_, err = audit.Run(t.Context(), &audit.Config{Paths: []string{t.TempDir(), write(t, "a.txt", "{}")}})
	require.ErrorIs(t, err, audit.ErrNoneThere)
	_, err = audit.Run(t.Context(), &audit.Config{Paths: []string{filepath.Join(t.TempDir(), "gone")}})
	require.ErrorIs(t, err, os.ErrNotExist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = audit.Run(ctx, &audit.Config{Paths: []string{"testdata/home/.claude"}})
	require.ErrorIs(t, err, context.Canceled)
}

// write writes a file in a new folder, and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// What cannot be read is counted, and the rest is read.
func TestBrokenTranscripts(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile("testdata/home/.qwen/projects/-repo-q/chats/q.jsonl")
	require.NoError(t, err)
	database, err := os.ReadFile("testdata/home/.local/share/opencode/opencode.db")
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	long := `{"type":"user","provenance":"x","message":{"parts":[{"text":"` + strings.Repeat("x", 17<<20) + `"}]}}` + "\n"
	for name, test := range map[string]struct {
		file, content string
		skipped       audit.Skipped
		ended         int
	}{
		"cut off":                  {"a.jsonl", string(whole[:len(whole)-100]), audit.Skipped{Lines: 1}, 1},
		"broken lines":             {"a.jsonl", "\x00\xff{\n[]\n{\"type\":\n" + lines[0] + "\n\n{}\n\"x\"\n" + strings.Join(lines[1:], ""), audit.Skipped{Lines: 5}, 2},
		"a long line":              {"a.jsonl", lines[0] + long + strings.Join(lines[1:], ""), audit.Skipped{LongLines: 1}, 2},
		"another version":          {"a.jsonl", strings.Repeat(`{"role":"user","text":"Hello."}`+"\n", 100), audit.Skipped{Files: 1}, 0},
		"nothing":                  {"a.jsonl", "", audit.Skipped{Files: 1}, 0},
		"no database":              {"a.db", "SQLite format 3", audit.Skipped{Files: 1}, 0},
		"a database without a log": {"a.db", string(database), audit.Skipped{Empty: 1}, 0},
		"half a database":          {"a.db", string(database[:1500]), audit.Skipped{Files: 1}, 0},
	} {
		report := run(t, "", write(t, test.file, test.content))
		assert.Equal(t, test.skipped, report.Skipped, name)
		assert.Equal(t, test.ended, report.All.Ended, name)
	}
}

// claudeLine returns a line of a transcript of Claude Code.
func claudeLine(kind, content string) string {
	return `{"type":"` + kind + `","sessionId":"s","message":{"content":[` + content + `],"stop_reason":"end_turn"}}` + "\n"
}

// Claude Code puts reminders beside what the user types.
func TestContinueBesideAReminder(t *testing.T) {
	t.Parallel()
	report := run(t, "", write(t, "a.jsonl", claudeLine("user", `{"type":"text","text":"Build it."}`)+
		claudeLine("assistant", `{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"a","status":"pending"}]}}`)+
		claudeLine("user", `{"type":"tool_result","tool_use_id":"t","content":"ok"}`)+claudeLine("assistant", `{"type":"text","text":"Next, I write a."}`)+
		claudeLine("user", `{"type":"text","text":"<system-reminder>\nToday is Friday.\n</system-reminder>"},{"type":"text","text":"continue"}`)))
	assert.Equal(t, 1, report.All.TypedContinue)
	require.Len(t, report.Turns, 1)
	assert.Equal(t, "continue", report.Turns[0].Said)
}

// A report that comes while the model works is an attachment, and was no more than its text in older versions.
func TestReportInAnAttachment(t *testing.T) {
	t.Parallel()
	transcript := func(attachment string) string {
		return claudeLine("user", `{"type":"text","text":"Build it."}`) +
			claudeLine("assistant", `{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"a","status":"pending"}]}}`) +
			claudeLine("user", `{"type":"tool_result","tool_use_id":"t","content":"ok"}`) +
			claudeLine("assistant", `{"type":"tool_use","id":"u","name":"Agent","input":{}}`) +
			claudeLine("user", `{"type":"tool_result","tool_use_id":"u","content":"Async agent launched successfully.\nagentId: a1"}`) +
			attachment + claudeLine("assistant", `{"type":"text","text":"Next, I write a."}`)
	}
	const report = `<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>`
	for attachment, waits := range map[string]int{
		"": 1,
		`{"type":"attachment","sessionId":"s","attachment":{"type":"queued_command","prompt":"and a test","commandMode":"prompt"}}` + "\n":                1,
		`{"type":"attachment","sessionId":"s","attachment":{"type":"queued_command","prompt":"` + report + `","commandMode":"task-notification"}}` + "\n": 0,
		`{"type":"attachment","sessionId":"s","attachment":{"type":"queued_command"},"rendered":[{"content":"` + report + `"}]}` + "\n":                   0,
	} {
		report := run(t, "", write(t, "a.jsonl", transcript(attachment)))
		assert.Equal(t, waits, report.All.Waits, attachment)
		assert.Equal(t, 1-waits, report.All.Stalled, attachment)
	}
}

// A text cannot act on the terminal, nor forge lines.
func TestTextsAreEscaped(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;owned\x07\r\n9. forged\u202e\u2028\u0085\u200b\x9b31m"
	line := func(kind string, content any) string {
		text, err := json.Marshal(map[string]any{"type": kind, "sessionId": "s", "uuid": kind, "message": map[string]any{"role": kind, "content": content, "stop_reason": "end_turn"}})
		require.NoError(t, err)
		return string(text) + "\n"
	}
	call := line("assistant", []any{map[string]any{"type": "tool_use", "id": "t", "name": "TodoWrite", "input": map[string]any{"todos": []any{map[string]any{"content": hostile, "status": "pending"}}}}})
	result := line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": "t", "content": "ok"}})
	report := run(t, "", write(t, "\x1b[31m.jsonl", line("user", hostile)+call+result+line("assistant", []any{map[string]any{"type": "text", "text": hostile}})))
	require.Len(t, report.Turns, 1)
	var text bytes.Buffer
	require.NoError(t, report.WriteText(&text))
	_, shown, found := strings.Cut(text.String(), "\n1. ")
	require.True(t, found)
	for _, r := range shown {
		assert.True(t, r == '\n' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) && r != '\u202e' && r != '\u2028' && r != '\u200b', "%q", r)
	}
	assert.Equal(t, 3, strings.Count(shown, "forged"), "the user's message, the answer and the todo")
	assert.NotContains(t, shown, "\n9.")
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	text := func(counts audit.Counts) string {
		var b bytes.Buffer
		report := audit.Report{All: counts, Agents: map[string]*audit.Counts{"Codex": &counts}, Skipped: audit.Skipped{Files: 1, Lines: 2}}
		require.NoError(t, report.WriteText(&b))
		return b.String()
	}
	assert.Contains(t, text(audit.Counts{Sessions: 1, Ended: 3}), "No turn that was read had a todo list, so there was nothing for carryon to do. Some agents keep one only if they are told to: see carryon run -list. This rests on 1 session with 3 turns; 1 file or folder could not be read. Sessions that carryon has continued elsewhere, or before it kept a record, look as if no turn had stalled.\n")
	assert.Contains(t, text(audit.Counts{}), "\nNo session could be judged, so this says nothing about your agents.\n")
	assert.Contains(t, text(audit.Counts{Sessions: 1, Ended: 3, Unreadable: 1}), "No todo list could be read, so carryon would have done nothing.")
	assert.Contains(t, text(audit.Counts{Sessions: 1, Ended: 3, WithList: 2, Open: 1, Asked: 1, YOLO: audit.Would{Continuations: 1}}), "carryon would have sent nothing in standard mode, and 1 request in YOLO mode: it is hardly worth it here.")
	assert.Contains(t, text(audit.Counts{Sessions: 1, Ended: 3, WithList: 2}), "carryon would have done nothing: it is not worth it here.")
	assert.Contains(t, text(audit.Counts{Sessions: 1, Ended: 3, WithList: 2, Open: 1, Unticked: 1, Standard: audit.Would{Continuations: 1}}), "carryon would have sent 1 request, mostly where work was done and not ticked off: it is hardly worth it here.")
	stalled := text(audit.Counts{
		Sessions: 1,
		Ended:    3000, WithList: 2000, Open: 1500, Stalled: 1, TypedContinue: 1,
		Standard: audit.Would{Continuations: 1, Estimate: middleware.Tokens{Input: 700, Cached: 51000}}, YOLO: audit.Would{Continuations: 2, Estimate: middleware.Tokens{Input: 1234567}},
	})
	assert.Contains(t, stalled, "1 turn stalled with work left, and \"continue\" was typed once after a turn with work left.")
	assert.Contains(t, stalled, "1 request (about 51,700 tokens) in standard mode, and 2 requests (about 1,234,567 tokens) in YOLO mode")
	assert.Contains(t, stalled, "3,000\n")
	assert.Contains(t, stalled, "Left out: 1 file of no known kind or version.\nLeft out: 2 lines broken or of an unknown kind.\n")
	assert.NotContains(t, stalled, "  all\n", "one agent needs no sum")
	assert.NotContains(t, stalled, "price", "it is not known")
}

// older returns transcripts of older versions, each of a session that stalled.
func older() map[string]string {
	const todos = `"todos":[{"id":"1","content":"Write index.html","status":"in_progress"},{"id":"2","content":"Write style.css","status":"pending"}]`
	return map[string]string{
		"qwen-code": `{"uuid":"1","sessionId":"s","timestamp":"2026-11-28T00:52:28.267Z","type":"system","subtype":"attribution_snapshot","systemPayload":{}}
{"uuid":"2","sessionId":"s","timestamp":"2026-11-28T00:52:28.269Z","type":"user","message":{"role":"user","parts":[{"text":"Build a page."}]}}
{"uuid":"3","sessionId":"s","timestamp":"2026-11-28T00:52:29Z","type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"c","name":"todo_write","args":{` + todos + `}}}]}}
{"uuid":"4","sessionId":"s","timestamp":"2026-11-28T00:52:30Z","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c","name":"todo_write","response":{"output":"ok"}}}]}}
{"uuid":"5","sessionId":"s","timestamp":"2026-11-28T00:52:31Z","type":"assistant","message":{"role":"model","parts":[{"text":"Next, I will write index.html."}]}}
`,
		"Codex": `{"id":"s","timestamp":"2026-06-01T10:00:00.000Z","instructions":null,"git":{}}
{"record_type":"state"}
{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"Build a page."}]}
{"type":"function_call","id":null,"name":"update_plan","arguments":"{\"plan\":[{\"step\":\"Write index.html\",\"status\":\"in_progress\"}]}","call_id":"c"}
{"type":"function_call_output","call_id":"c","output":"Plan updated"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Next, I will write index.html."}]}
`,
		"gemini-cli": `{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T10:00:00Z","messages":[
{"id":"1","timestamp":"2026-01-01T10:00:00Z","type":"user","content":"Build a page."},
{"id":"2","timestamp":"2026-01-01T10:00:01Z","type":"gemini","content":"","toolCalls":[{"id":"c","name":"write_todos","args":{` + strings.ReplaceAll(todos, "content", "description") + `},"result":[{"functionResponse":{"id":"c","name":"write_todos","response":{"output":"ok"}}}]}]},
{"id":"3","timestamp":"2026-01-01T10:00:02Z","type":"gemini","content":"Next, I will write index.html."}]}
`,
		"Copilot CLI": `{"type":"session.start","data":{"sessionId":"s"},"id":"1","timestamp":"2026-01-01T10:00:00Z"}
{"type":"user.message","data":{"content":"Build a page."},"id":"2"}
{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"c","name":"update_todo","arguments":{"todos":"- [ ] Write index.html"}}]},"id":"3"}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"result":{"content":"ok"}},"id":"4"}
{"type":"assistant.message","data":{"content":"Next, I will write index.html."},"id":"5"}
`,
	}
}

// Where the transcripts of older versions lie, below the home of their user.
var olderPlaces = map[string]string{
	"qwen-code": ".qwen/projects/-q/chats/s.jsonl", "Codex": ".codex/sessions/2026/06/01/rollout-s.jsonl",
	"gemini-cli": ".gemini/tmp/p/chats/session-1.json", "Copilot CLI": ".copilot/session-state/s.jsonl",
}

// at writes a file below a folder.
func at(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func TestOlderVersionsAreRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for agent, content := range older() {
		at(t, home, olderPlaces[agent], content)
	}
	for _, report := range []*audit.Report{run(t, home), run(t, "", home)} { // wherever they lie
		for agent := range older() {
			counts := report.Agents[agent]
			if assert.NotNil(t, counts, agent) {
				assert.Equal(t, [5]int{1, 1, 1, 1, 1}, [5]int{counts.Sessions, counts.UserTurns, counts.Ended, counts.Open, counts.Stalled}, agent)
			}
		}
		assert.Zero(t, report.Skipped)
	}
}

// What carryon does not understand is no session without work for it.
func TestWhatIsNotReadIsNoZero(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"a new form of message": `{"type":"user","sessionId":"s","message":{"content":"Build it."}}` + "\n" + strings.Repeat(`{"type":"reply","sessionId":"s","message":{"content":"Next."}}`+"\n", 3),
		"nothing but a summary": `{"type":"summary","summary":"A shop","leafUuid":"1"}` + "\n",
		"no answer":             `{"type":"user","sessionId":"s","message":{"content":"Build it."}}` + "\n",
	} {
		home := t.TempDir()
		at(t, home, ".claude/projects/p/s.jsonl", content)
		report := run(t, home)
		assert.Equal(t, 1, report.Skipped.Empty, name)
		assert.Zero(t, report.All.Sessions, name)
		var text bytes.Buffer
		require.NoError(t, report.WriteText(&text))
		assert.Contains(t, text.String(), "No session could be judged", name)
		assert.Contains(t, text.String(), "Left out: 1 file in which carryon found no session.", name)
	}
}

// A turn that carryon has continued is one turn in the transcript, so nothing is said of its session.
func TestSessionsThatCarryonHasContinued(t *testing.T) {
	t.Parallel()
	home, record := t.TempDir(), filepath.Join(t.TempDir(), "carryon", "continued.jsonl")
	for agent, content := range older() {
		at(t, home, olderPlaces[agent], strings.ReplaceAll(content, `"sessionId":"s"`, `"sessionId":"`+agent+`"`))
	}
	audited := func() *audit.Report {
		report, err := audit.Run(t.Context(), &audit.Config{Home: home, AtWork: record, Content: true, Getenv: func(string) string { return "" }})
		require.NoError(t, err)
		return report
	}
	assert.Equal(t, 4, audited().All.Stalled, "there is no record yet")

	moment := time.Date(2026, 11, 28, 0, 52, 30, 0, time.UTC)
	require.NoError(t, atwork.Add(record, nil, moment, moment)) // while qwen-code ran, which sends no name
	require.NoError(t, atwork.Add(record, []string{"another", "Copilot CLI"}, moment.AddDate(1, 0, 0), moment.AddDate(1, 0, 0)))
	require.NoError(t, atwork.Add(record, []string{"another"}, moment, moment))
	report := audited()
	assert.Equal(t, 2, report.Skipped.Continued)
	assert.Equal(t, 2, report.All.Stalled)
	assert.Len(t, report.Turns, 2)
	assert.Nil(t, report.Agents["qwen-code"])
	assert.Nil(t, report.Agents["Copilot CLI"])
	var text bytes.Buffer
	require.NoError(t, report.WriteText(&text))
	assert.Contains(t, text.String(), "This rests on 2 sessions with 2 turns; carryon itself was at work in 2 other sessions.")

	require.NoError(t, os.WriteFile(record, nil, 0o600))
	require.NoError(t, atwork.Add(record, []string{"s", "gemini-cli"}, moment, moment))
	assert.Equal(t, 2, audited().Skipped.Continued, "Codex calls its session s here")
}

// A terminal has 80 columns: what does not fit beside each other stands below.
func TestTablesFitATerminal(t *testing.T) {
	t.Parallel()
	counts := audit.Counts{Sessions: 123_456, UserTurns: 123_456}
	report := audit.Report{All: counts, Agents: make(map[string]*audit.Counts)}
	for _, name := range []string{"Claude Code", "Codex", "opencode", "qwen-code", "Copilot CLI", "gemini-cli"} {
		report.Agents[name] = &counts
	}
	var b strings.Builder
	require.NoError(t, report.WriteText(&b))
	rows := 0
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "123,456") && !strings.Contains(line, "rests on") {
			rows++
			assert.LessOrEqual(t, len(line), 81, line)
		}
	}
	assert.Equal(t, 3*2, rows)
}
