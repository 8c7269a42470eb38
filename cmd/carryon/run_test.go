package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// actAsAgent is a program that works on a todo list with the model that it finds
// in its environment, for as long as the model calls tools. Its first argument
// says how it ends.
func actAsAgent() int {
	how := os.Args[1]
	switch how {
	case "plain", "layer":
		return actAsLayer(how)
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
		return 0
	case "ask":
		ask(http.MethodGet, "OpenAI", os.Getenv("OPENAI_BASE_URL")+"/models")
		ask(http.MethodGet, "Anthropic", os.Getenv("ANTHROPIC_BASE_URL")+"/v1/models")
		ask(http.MethodGet, "Anthropic", os.Getenv("ANTHROPIC_BASE_URL")+"/models") // of the AI SDK and Kilo
		return 0
	case "hosts":
		return askHosts(os.Args[2:])
	case "astray":
		ask(http.MethodPost, "Anthropic", os.Getenv("ANTHROPIC_BASE_URL")+"/anthropic/v1/messages")
		return 0
	case "path":
		ask(http.MethodPost, "OpenAI", os.Getenv("OPENAI_BASE_URL")+"/models/%1b]0;owned%07%e2%80%ae%c2%9b:generateContent")
		return 0
	case "socket":
		return askForSocket()
	case "signal":
		got := make(chan os.Signal, 1)
		signal.Notify(got, syscall.SIGTERM)
		fmt.Println("ready")
		<-got
		return 42
	case "killed":
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err == nil {
			select {}
		}
		fmt.Println(err)
		return 1
	}
	config := openai.DefaultConfig("none")
	config.BaseURL = os.Getenv("OPENAI_BASE_URL")
	if session := os.Getenv(agentSession); session != "" {
		config.HTTPClient = inSession(session)
	}
	client := openai.NewClientWithConfig(config)
	messages := []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: "Build a small web page about tea."}}
	for {
		answer, err := client.CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
			Model: "m", Messages: messages, Tools: []openai.Tool{tool("todo_write"), tool("write_file")},
		})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		message := answer.Choices[0].Message
		messages = append(messages, message)
		fmt.Println(message.Content)
		if len(message.ToolCalls) == 0 {
			return len(how) - len("work")
		}
		for _, call := range message.ToolCalls {
			messages = append(messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: call.ID, Content: "ok"})
		}
	}
}

// agentSession in the environment names the session of the agent.
const agentSession = "CARRYON_TEST_SESSION"

// inSession is an HTTP client that names the session of its requests.
type inSession string

func (s inSession) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("X-Carryon-Session", string(s))
	return new(http.Client).Do(r)
}

// ask asks a provider, as its SDKs do, and prints the answer.
func ask(method, provider, url string) {
	r, err := http.NewRequestWithContext(context.Background(), method, url, nil)
	if err != nil {
		panic(err)
	}
	if provider == "Anthropic" {
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	answer, err := new(http.Transport).RoundTrip(r)
	if err != nil {
		fmt.Println(provider, err)
		return
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	fmt.Println(provider, answer.StatusCode, string(body), err)
}

// askForSocket begins a WebSocket for the Responses API.
func askForSocket() int {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, os.Getenv("OPENAI_BASE_URL")+"/responses", nil)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	answer, err := new(http.Transport).RoundTrip(r)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer answer.Body.Close()
	fmt.Println(answer.StatusCode)
	return 0
}

func tool(name string) openai.Tool {
	return openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)}}
}

// list is a turn that writes the todo list.
func list(status string) carryontest.Turn {
	return carryontest.Call("todo_write", `{"todos":[{"content":"Write style.css","status":"`+status+`"}]}`)
}

// asAgent runs carryon with an agent behind the flags.
func asAgent(t *testing.T, how string, flags ...string) (stdout, stderr string, err error) {
	t.Helper()
	args := append(append([]string{"run"}, flags...), "--", "env", asProgram+"=agent", os.Args[0], how)
	p := program(t, args...)
	var out, problems bytes.Buffer
	p.Stdout, p.Stderr = &out, &problems
	err = p.Run()
	return out.String(), afterReach(t, problems.String()), err
}

// afterReach returns what carryon says after the line that tells how the agent is reached,
// which comes first and fits a terminal of 80 columns.
func afterReach(t *testing.T, said string) string {
	t.Helper()
	first, rest, ok := strings.Cut(said, "\n")
	assert.True(t, ok)
	assert.Regexp(t, `^carryon: \S+ is reached by a proxy, a certificate and base URLs of this run$`, first)
	assert.LessOrEqual(t, len(first), 80)
	return rest
}

func TestRunContinuesAnAgent(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t, list("in_progress"), carryontest.Text("Next, I will write style.css."),
		carryontest.Call("write_file", "{}").Usage(100, 11), list("completed"), carryontest.Text("All done."))
	stdout, stderr, err := asAgent(t, "work", "-upstream", upstream.URL())
	require.NoError(t, err)
	assert.Equal(t, "\nNext, I will write style.css.\n\nAll done.\n", stdout)
	assert.Equal(t, "carryon: 4 requests, 1 continuation, 1 of 1 todo done, 111 tokens added\n"+
		"carryon: resumed 1 stall; 1 todo was finished after that, for 111 tokens\n", stderr)
}

// A stranger who runs their agent all day learns from the last lines alone whether
// carryon is worth it to them, and for how much.
func TestRunTellsAfterADayWhatItWasWorth(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs an agent forty times")
	}
	for name, test := range map[string]struct {
		stall carryontest.Turn
		want  string
	}{
		"it stalls": {carryontest.Text("Next, I will write style.css."), `^carryon: since \d+ \w+ \d+: resumed \d+ stalls in 40 sessions with a todo list; \d+ todos were finished after that, for [\d,]+ tokens \(\$\d\.\d\d\); ` +
			`\d+ continuations were not sent in the control group; they would have used about [\d,]+ tokens \(\$\d\.\d\d\)
carryon: worth it if one more finished list is worth [\d,]+ tokens \(\$\d\.\d\d\) to you: lists were finished in (\d+) of (\d+) sessions with carryon and in 0 of \d+ without: 100 points more \(95% range: \+\d+ to \+100\); a session took \d+% more tokens`},
		"it never stalls": {list("completed"), `^carryon: since \d+ \w+ \d+: was not worth it: no turn stalled in 40 sessions with a todo list; it sent nothing, and cost nothing
carryon: not worth it here, because no turn stalled: lists were finished in (\d+) of (\d+) sessions with carryon and in (\d+) of (\d+) without: no difference is certain`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := carryontest.Func(func(r carryontest.Request) carryontest.Turn {
				switch body := string(r.Body); {
				case strings.Contains(body, `\"completed\"`):
					return carryontest.Text("All done.").Usage(300, 10)
				case strings.Contains(body, "Next, I will"): // carryon asked to go on
					return list("completed").Usage(20000, 2000)
				case strings.Contains(body, `\"in_progress\"`):
					return test.stall.Usage(200, 20)
				}
				return list("in_progress").Usage(100, 10)
			})
			upstream := carryontest.NewServer(t, slices.Repeat([]carryontest.Turn{model}, 200)...)
			stats := filepath.Join(t.TempDir(), "stats")
			run := func(session int) string {
				p := program(t, "run", "-upstream", upstream.URL(), "-holdout", "0.5", "-price", "3,0.3,15", "-stats", stats, "-mode", "yolo", "-min-interval", "0",
					"--", "env", asProgram+"=agent", fmt.Sprint(agentSession, "=agent-", session), os.Args[0], "work")
				var said bytes.Buffer
				p.Stderr = &said
				if err := p.Run(); err != nil {
					t.Error(err, said.String())
				}
				return said.String()
			}
			var agents sync.WaitGroup
			for worker := range 3 { // several at a time
				agents.Go(func() {
					for i := range 13 {
						run(13*worker + i)
					}
				})
			}
			agents.Wait()
			last := run(39)
			at := strings.Index(last, "carryon: since")
			require.GreaterOrEqual(t, at, 0, last)
			assert.Regexp(t, test.want, last[at:])
		})
	}
}

// A flag or a variable that says who is there is not explained.
func TestRunTellsWhoIsThere(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":               "carryon: yolo mode, because standard input is no terminal, so nobody can answer the agent (-mode overrules it)\n",
		"-mode standard": "", "-mode yolo": "", "-yolo": "",
	} {
		p := program(t, slices.Concat([]string{"run"}, strings.Fields(args), []string{"--", "true"})...)
		p.Env = slices.DeleteFunc(p.Env, func(variable string) bool { return strings.HasPrefix(variable, "CARRYON_MODE=") })
		out, err := p.CombinedOutput()
		require.NoError(t, err, string(out))
		told, _, _ := strings.Cut(afterReach(t, string(out)), "carryon: the agent never used carryon")
		assert.Equal(t, want, told, args)
	}
}

func TestRunTellsWhenThereWasNoList(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t, carryontest.Text("Next, I will write style.css."))
	_, stderr, err := asAgent(t, "work", "-upstream", upstream.URL())
	require.NoError(t, err)
	assert.Equal(t, "carryon: 1 request, 0 continuations, no todo list seen\n", stderr)
}

// With -ask, an agent without a list is asked at the end of its work whether anything is open. The agent itself sees
// nothing of the question, nor of the answer that nothing is.
func TestRunAsksAnAgentWithoutAList(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t,
		carryontest.Call("write_file", `{"path":"index.html"}`), carryontest.Text("The page is written."),
		carryontest.Call("write_file", `{"path":"style.css"}`).Usage(100, 11), carryontest.Text("All done."),
		carryontest.Text("Nothing is open.").Usage(120, 4))
	stdout, stderr, err := asAgent(t, "work", "-ask", "-min-interval", "0", "-upstream", upstream.URL())
	require.NoError(t, err)
	assert.Equal(t, "\nThe page is written.\nAll done.\n", stdout)
	assert.Equal(t, "carryon: 3 requests, 2 continuations, no todo list seen, 235 tokens added\n"+
		"carryon: asked twice whether anything was open, for 235 tokens; the model went on after 1 of them\n", stderr)
}

// A model that is out to do harm names its tools after what it wants to be typed.
func TestRunPrintsNothingThatControlsTheTerminal(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t,
		carryontest.Call("save_todos\x1b]0;owned\a;$(touch x)", `{"todos":[{"content":"a","status":"pending"}]}`), carryontest.Text("Next, I will go on."))
	_, stderr, err := asAgent(t, "work", "-upstream", upstream.URL())
	require.NoError(t, err)
	assert.Equal(t, "carryon: 2 requests, 0 continuations, no todo list seen (-todo-tools names more tools that write one)\n", stderr)

	notFound := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(notFound.Close)
	_, stderr, err = asAgent(t, "path", "-upstream", notFound.URL+"/v1")
	require.NoError(t, err)
	assert.Contains(t, stderr, "answered 404 for "+notFound.URL+"/v1/")
	assert.NotRegexp(t, "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\u202e]", stderr)
}

func TestRunTellsWhenTheListIsEmpty(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t, carryontest.Call("todo_write", `{"todos":[]}`), carryontest.Text("There is nothing to do."))
	_, stderr, err := asAgent(t, "work", "-upstream", upstream.URL())
	require.NoError(t, err)
	assert.Equal(t, "carryon: 2 requests, 0 continuations, the todo list is empty\n", stderr)
}

func TestRunPassesTheExitCodeOn(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t, carryontest.Text("Hello."))
	_, _, err := asAgent(t, "workxxx", "-upstream", upstream.URL())
	assert.Equal(t, 3, codeOf(t, err))
	_, _, err = asAgent(t, "killed", "-upstream", upstream.URL())
	assert.Equal(t, 128+9, codeOf(t, err))
}

// Nothing that carryon knows of an agent depends on its version: one that it has never seen starts with its own words, and
// its messages and its exit code are its own.
func TestRunStartsAgentsOfAnyVersion(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"claude", "codex", "qwen", "opencode", "kilo", "cn", "copilot", "pi", "gemini", "aider"} {
		script := "#!/bin/sh\necho \"$0 99.0.0-next $*\"\necho 'You are not logged in.' >&2\nexit 41\n"
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(script), 0o700)) //nolint:gosec // the test runs it
		p := program(t, "run", "-list", "--", path, "--version")
		p.Env = append(p.Env, "HOME="+folder)
		var stdout, stderr bytes.Buffer
		p.Stdout, p.Stderr = &stdout, &stderr
		assert.Equal(t, 41, codeOf(t, p.Run()), name)
		assert.Regexp(t, "^"+regexp.QuoteMeta(path)+" 99.0.0-next .*--version", stdout.String())
		assert.Contains(t, stderr.String(), "You are not logged in.\ncarryon: the agent never used carryon")
	}
}

func TestRunPassesSignalsOn(t *testing.T) {
	t.Parallel()
	p := program(t, "run", "--", "env", asProgram+"=agent", os.Args[0], "signal")
	stdout, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	ready := make([]byte, len("ready"))
	_, err = stdout.Read(ready)
	require.NoError(t, err)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 42, codeOf(t, p.Wait()))
}

func TestRunSetsTheEnvironment(t *testing.T) {
	t.Parallel()
	stdout, _, err := asAgent(t, "env")
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^OPENAI_BASE_URL=http://127\.0\.0\.1:\d+/v1$`, stdout)
	assert.Regexp(t, `(?m)^OPENAI_API_BASE=http://127\.0\.0\.1:\d+/v1$`, stdout)
	assert.Regexp(t, `(?m)^ANTHROPIC_BASE_URL=http://127\.0\.0\.1:\d+$`, stdout)
}

func TestRunExplainsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"run":                          {2, "there is no command to run: carryon run [flags] -- COMMAND [arguments]"},
		"run -- no-such-program":       {127, `command "no-such-program" not found`},
		"run -- /no/such/program":      {127, `command "/no/such/program" not found`},
		"run -- /etc/passwd":           {126, `command "/etc/passwd" cannot be run: permission denied`},
		"run -- /etc":                  {126, `command "/etc" cannot be run: is a directory`},
		"run -upstream nothing -- ls":  {2, "-upstream must be a URL such as https://api.openai.com/v1"},
		"run -log-file /no/such -- ls": {1, "open /no/such: no such file or directory"},
	} {
		out, err := program(t, strings.Fields(args)...).CombinedOutput()
		assert.Equal(t, want.code, codeOf(t, err), args)
		assert.Equal(t, "carryon: "+want.text+"\n", string(out))
	}
}

// A script without a first line that the system understands.
func TestRunTellsThatACommandIsNoProgram(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(path, []byte("#!/no/such/shell\n"), 0o700)) //nolint:gosec // the test runs it
	out, err := program(t, "run", "--", path).CombinedOutput()
	assert.Equal(t, 126, codeOf(t, err))
	assert.Equal(t, "carryon: command \""+path+"\" cannot be run: the interpreter in its first line was not found\n", afterReach(t, string(out)))
	require.NoError(t, os.WriteFile(path, []byte("\x00\x01"), 0o700)) //nolint:gosec // the same
	out, err = program(t, "run", "--", path).CombinedOutput()
	assert.Equal(t, 126, codeOf(t, err))
	assert.Equal(t, "carryon: command \""+path+"\" cannot be run: exec format error\n", afterReach(t, string(out)))
}

// The flags of the agent are the agent's, even if carryon has flags of the same names.
func TestRunLeavesTheFlagsOfTheCommand(t *testing.T) {
	t.Parallel()
	for _, separator := range []string{"", "--"} {
		args := append(strings.Fields("run -max-attempts 1 "+separator), "echo", "-v", "-list", "--max-attempts", "x", "-c")
		out, err := program(t, args...).Output()
		require.NoError(t, err)
		assert.Equal(t, "-v -list --max-attempts x -c\n", string(out))
	}
}

func TestRunTellsOfFlagsWithoutEffect(t *testing.T) {
	t.Parallel()
	const note = "carryon: -v, -log and -log-level have no effect without -log-file, because the agent uses the terminal\n"
	for _, args := range []string{"-v", "-log json"} {
		out, err := program(t, strings.Fields("run "+args+" -- true")...).CombinedOutput()
		require.NoError(t, err)
		assert.Contains(t, string(out), note)
		path := filepath.Join(t.TempDir(), "log")
		out, err = program(t, strings.Fields("run -log-file "+path+" "+args+" -- true")...).CombinedOutput()
		require.NoError(t, err)
		assert.NotContains(t, string(out), note)
	}
}

// An upstream that is wrong in the environment is not the flag's fault.
func TestRunNamesTheEnvironment(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"OPENAI_BASE_URL=nothing":                  "OPENAI_BASE_URL must be a URL such as https://api.openai.com/v1",
		"ANTHROPIC_BASE_URL=http://key@localhost/": "ANTHROPIC_BASE_URL must not contain a user name: clients send their own API keys",
	} {
		c := program(t, "run", "--", "ls")
		c.Env = append(slices.DeleteFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, "CARRYON_UPSTREAM=") }), variable)
		out, err := c.CombinedOutput()
		assert.Equal(t, 2, codeOf(t, err), variable)
		assert.Equal(t, "carryon: "+want+"\n", string(out))
	}
}

func TestRunTellsThePageWhenAsked(t *testing.T) {
	t.Parallel()
	_, stderr, err := asAgent(t, "env", "-page")
	require.NoError(t, err)
	assert.Regexp(t, `^carryon: recent activity: http://127\.0\.0\.1:\d+/debug/carryon\n`, stderr)
}

// A program may speak to either of two providers, and each of its requests goes
// where it would have gone.
func TestRunFindsTheProvidersOfTheEnvironment(t *testing.T) {
	t.Parallel()
	provider := func(name string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, name+r.URL.Path) }))
		t.Cleanup(server.Close)
		return server.URL
	}
	p := program(t, "run", "--", "env", asProgram+"=agent", os.Args[0], "ask")
	p.Env = slices.DeleteFunc(p.Env, func(variable string) bool { return strings.HasPrefix(variable, "CARRYON_UPSTREAM=") })
	p.Env = append(p.Env, "OPENAI_BASE_URL="+provider("a")+"/v1", "ANTHROPIC_BASE_URL="+provider("b"))
	out, err := p.Output()
	require.NoError(t, err)
	assert.Equal(t, "OpenAI 200 a/v1/models <nil>\nAnthropic 200 b/v1/models <nil>\nAnthropic 200 b/v1/models <nil>\n", string(out))
}

func TestRunTellsOfAWrongBaseURL(t *testing.T) {
	t.Parallel()
	_, stderr, err := asAgent(t, "astray")
	require.NoError(t, err)
	assert.Regexp(t, `^carryon: a client asked for /anthropic/v1/messages: its base URL should be http://127\.0\.0\.1:\d+/v1\n`+
		`carryon: the agent never used carryon: 0 requests `, stderr)
}

func TestRunTellsWhyAnUpstreamRefuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusUnauthorized: "carryon: the upstream answered 401: the client must send a valid API key, because the proxy adds none\n",
		http.StatusNotFound:     "carryon: the upstream answered 404 for {URL}/v1/chat/completions: check -upstream, which usually ends in /v1\n",
		http.StatusOK:           "",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(server.Close)
		_, stderr, err := asAgent(t, "work", "-upstream", server.URL+"/v1")
		assert.Equal(t, 1, codeOf(t, err))
		assert.Equal(t, strings.ReplaceAll(want, "{URL}", server.URL)+"carryon: 1 request, 0 continuations, no todo list seen\n", stderr)
	}
}

// An agent that asks its model elsewhere is told how to point it here, also in the log.
func TestRunTellsThatItWasNotUsed(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	_, stderr, err := asAgent(t, "env", "-log-file", log)
	require.NoError(t, err)
	assert.Contains(t, stderr, "carryon: the agent never used carryon: 0 requests (it spoke to no host through the proxy of this run; "+
		"to point it there by hand, type carryon proxy -upstream URL, and set its base URL to http://127.0.0.1:8787/v1)\n")
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Contains(t, string(text), "the agent asked no model through carryon")

	_, stderr, err = asAgent(t, "socket")
	require.NoError(t, err)
	assert.Contains(t, stderr, "carryon: the agent never used carryon: it asked for a WebSocket")
}
