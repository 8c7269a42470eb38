package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/examples/internal/upstream"
	"github.com/carryon-go/carryon/todo"
)

var update = flag.Bool("update", false, "rewrite testdata/output.txt")

const golden = "testdata/output.txt"

// output runs the comparison in a synctest bubble, where the interval between
// two prompts takes no time.
func output(t *testing.T, task string, turns ...carryontest.Turn) (text string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		text, err = compare(t.Context(), inMemory(scripted(task, turns...), turns...))
		require.NoError(t, err, "so far:\n%s", text)
	})
	return text
}

func compare(ctx context.Context, s setup) (string, error) {
	var b strings.Builder
	err := s.compare(ctx, &b)
	return b.String(), err
}

// inMemory returns the setup with a server in memory.
func inMemory(s setup, turns ...carryontest.Turn) setup {
	s.dial = func() endpoint {
		server := carryontest.Start(turns...)
		return endpoint{
			url: carryontest.BaseURL, key: "none",
			transport: server.Transport(), close: server.Close,
		}
	}
	return s
}

// list returns a turn that writes a list with that many completed todos.
func list(completed int, contents ...string) carryontest.Turn {
	var todos []todo.Todo
	for i, content := range contents {
		status := todo.Pending
		if i < completed {
			status = todo.Completed
		}
		todos = append(todos, todo.Todo{ID: strconv.Itoa(i + 1), Content: content, Status: status})
	}
	return carryontest.Call(todo.WriteTool().Name, encode(map[string]any{"todos": todos}))
}

// row returns the cells of the table to the right of a name.
func row(t *testing.T, text, name string) []string {
	t.Helper()
	match := regexp.MustCompile(`(?m)^   ` + regexp.QuoteMeta(name) + `  +(.*)$`).FindStringSubmatch(text)
	require.NotNil(t, match, "no row %q in\n%s", name, text)
	return strings.Fields(match[1])
}

func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// requireSafe checks that text fits a terminal and cannot disturb it.
func requireSafe(t *testing.T, text string) {
	t.Helper()
	require.True(t, utf8.ValidString(text))
	for _, line := range lines(text) {
		assert.LessOrEqual(t, columnsOf(line), 80, "columns of %q", line)
		assert.Equal(t, strings.TrimRight(line, " "), line, "ends in spaces")
		assert.Equal(t, -1, strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", line)
	}
}

func TestOutputIsTheGoldenOne(t *testing.T) {
	got := output(t, task, script()...)
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "if this change is intended, run the test with -update, and make picture")
	requireSafe(t, got)
	assert.Less(t, len(lines(got)), 40, "lines, which leaves one for the cursor")
	for _, r := range got {
		assert.Less(t, r, rune(utf8.RuneSelf), "%q is not ASCII", r)
	}
}

func TestOutputFollowsTheScript(t *testing.T) {
	t.Parallel()
	got := output(t, "Plant a garden.",
		list(0, "Dig", "Sow", "Water", "Wait"),
		carryontest.Call(writeFile, `{"path":"plan.txt","content":"dig"}`).AndCall(writeFile, `{"path":"b.txt","content":"x"}`),
		list(1, "Dig", "Sow", "Water", "Wait"),
		carryontest.Text("The ground is ready. I am going to sow."),
		list(4, "Dig", "Sow", "Water", "Wait"),
		carryontest.Text("The garden grows."),
	)
	requireSafe(t, got)
	assert.Contains(t, got, `It is told: "Plant a garden."`)
	assert.Equal(t, 2, strings.Count(got, `"The ground is ready. I am going to sow."`), "in both runs")
	assert.Equal(t, 1, strings.Count(got, `"The garden grows."`), "only with carryon")
	assert.Equal(t, 2, strings.Count(got, "write_file plan.txt, write_file b.txt"))
	assert.Contains(t, got, `STOPPED  3 of 4 todos open: you would have to type "continue"`)
	assert.Contains(t, got, "| 'Sow'")
	assert.Contains(t, got, "DONE     0 of 4 todos open")
	assert.Equal(t, []string{"completed", "completed"}, row(t, got, "Dig"))
	assert.Equal(t, []string{"pending", "completed"}, row(t, got, "Wait"))
	assert.Equal(t, []string{"2", "2"}, row(t, got, "files written"))
	assert.Equal(t, []string{"4", "5"}, row(t, got, "requests by the agent"))
	assert.Equal(t, []string{"0", "1"}, row(t, got, "requests added by carryon"))
	assert.Equal(t, []string{"10", "12"}, row(t, got, "messages in the history"))
	assert.Equal(t, []string{"1", "1"}, row(t, got, "- from the user"))
	assert.Equal(t, []string{"0", "0"}, row(t, got, "- with a prompt of carryon"))
	assert.NotContains(t, got, "index.html")
}

func TestModelThatNeverStalls(t *testing.T) {
	t.Parallel()
	got := output(t, "One thing.", list(0, "Only this"), list(1, "Only this"), carryontest.Text("Done."))
	requireSafe(t, got)
	assert.NotContains(t, got, "STOPPED")
	assert.NotContains(t, got, "| ")
	assert.NotContains(t, got, "continue")
	assert.Equal(t, 2, strings.Count(got, "DONE     0 of 1 todo open"))
	assert.Equal(t, []string{"0", "0"}, row(t, got, "requests added by carryon"))
	assert.Contains(t, got, "carryon never had to ask the model to carry on.")
}

func TestModelThatPauses(t *testing.T) {
	t.Parallel()
	got := output(t, "Deploy.", list(0, "Push the image"), carryontest.Text("Next I will push the image."),
		carryontest.Pause("The registry refuses the password in deploy.env"))
	requireSafe(t, got)
	assert.Contains(t, got, `model    todo_pause: "The registry refuses the password in deploy.env"`)
	assert.Contains(t, got, "PAUSED   1 of 1 todo open")
	assert.Contains(t, got, "carryon: The session is paused: The registry refuses")
	assert.Equal(t, []string{"pending", "pending"}, row(t, got, "Push the image"))
	assert.Equal(t, []string{"0", "1"}, row(t, got, "requests added by carryon"))
}

func TestModelThatStallsForEver(t *testing.T) {
	t.Parallel()
	got := output(t, "Work.", list(0, "Work"), carryontest.Text("I will."), carryontest.Text("I shall."),
		carryontest.Text("I am about to."), carryontest.Text("Soon."))
	requireSafe(t, got)
	assert.Contains(t, got, "STOPPED  1 of 1 todo open\n            carryon: Maximum continuation attempts exceeded")
	assert.Equal(t, []string{"0", "3"}, row(t, got, "requests added by carryon"))
}

func TestModelWithoutAList(t *testing.T) {
	t.Parallel()
	got := output(t, "Chat.", carryontest.Text("Hello."))
	assert.Equal(t, 2, strings.Count(got, "ENDED    there is no todo list"))
}

func TestFailedContinuationIsTold(t *testing.T) {
	t.Parallel()
	got := output(t, "Work.", list(0, "Work"), carryontest.Text("I will."), carryontest.Status(503, `{"error":{"message":"busy"}}`))
	assert.Contains(t, got, "failed   HTTP 503")
	assert.Contains(t, got, "STOPPED  1 of 1 todo open\n            carryon: The continuation failed: ")
}

func TestWhateverAModelSaysFits(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"long words":    strings.Repeat("x", 400),
		"many words":    strings.Repeat("word ", 400),
		"escapes":       "\x1b[2J\x1b]0;title\a red \x1b[31m\r\n\tmore",
		"direction":     "abc\u202edef\u200b",
		"wide":          strings.Repeat("茶", 100),
		"broken":        "tea \xff\xfe",
		"quotes in it":  `it's "quoted"` + "\n'line'",
		"only newlines": "a\n\n\n\nb",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			todos := []string{"A " + text, "B " + text}
			path := encode(map[string]string{"path": text, "content": text})
			got := output(t, text, list(0, todos...), carryontest.Call(writeFile, path).AndText(text),
				carryontest.Text("Next: "+text), carryontest.Text("Stuck: "+text+text),
				carryontest.Pause("Blocked for good, because "+text))
			requireSafe(t, got)
		})
	}
}

func TestLongListIsCut(t *testing.T) {
	t.Parallel()
	var contents []string
	for i := range 30 {
		contents = append(contents, fmt.Sprintf("Todo %d", i))
	}
	got := output(t, "A lot.", list(0, contents...), carryontest.Text("So much."), list(30, contents...), carryontest.Text("Done."))
	assert.Contains(t, got, "... and 18 more todos")
	assert.Less(t, len(lines(got)), 45)
}

func TestPromptInTheHistoryWouldBeSeen(t *testing.T) {
	t.Parallel()
	run := result{
		exchanges: []exchange{{prompt: "the user's own"}, {added: true, prompt: "Carry on."}},
		history: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleUser, Content: "the user's own"},
			{Role: openai.ChatMessageRoleUser, Content: "Carry on."},
		},
	}
	assert.Equal(t, 1, held(run))
	assert.Equal(t, 2, fromUser(run))
}

func TestPromptIsToldAsItWasSent(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"One.": "   carryon  asks the model to carry on:\n            | One.\n",
		"1\n2\n3\n4\n5": "   carryon  asks the model to carry on:\n" +
			"            | 1\n            | 2\n            | 3\n            | 4\n            | (and 1 more line)\n",
	} {
		var b strings.Builder
		r := &report{w: &b}
		r.exchange(exchange{added: true, prompt: prompt})
		assert.Equal(t, want, b.String())
	}
}

func TestLoopIsBounded(t *testing.T) {
	t.Parallel()
	turns := make([]carryontest.Turn, maxRounds+1)
	for i := range turns {
		turns[i] = carryontest.Call(todo.ReadTool().Name, `{}`)
	}
	_, err := compare(t.Context(), inMemory(scripted(task), turns...))
	require.ErrorIs(t, err, errNoEnd)
	assert.Equal(t, "The model still called tools after 20 rounds.", upstream.Explain(err))
}

func TestAgentAnswersBadToolCalls(t *testing.T) {
	t.Parallel()
	a := &agent{todos: todo.NewMemory(), files: map[string]string{}}
	assert.Equal(t, "Error: there is no tool rm.", a.use(t.Context(), "rm", `{}`))
	assert.Equal(t, "Error: write_file takes a path and a content.", a.use(t.Context(), writeFile, `{`))
	assert.Equal(t, "Error: write_file takes a path and a content.", a.use(t.Context(), writeFile, `{}`))
	assert.Equal(t, "Wrote a, 2 bytes.", a.use(t.Context(), writeFile, `{"path":"a","content":"xy"}`))
	assert.Equal(t, map[string]string{"a": "xy"}, a.files)
}

func TestLineThatTheRunsDifferInIsTheOneQuoted(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("compare.go")
	require.NoError(t, err)
	assert.Contains(t, string(source), "\t\tworker.client = "+theLine+"\n")
	for _, name := range []string{"agent.go", "script.go", "setup.go"} {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.NotContains(t, string(source), "carryon/middleware", "%s knows carryon", name)
	}
}

func TestFailedWriteIsReported(t *testing.T) {
	t.Parallel()
	turns := []carryontest.Turn{carryontest.Text("Hello.")}
	err := inMemory(scripted(task), turns...).compare(t.Context(), failingWriter{})
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
