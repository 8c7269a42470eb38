package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/carryontest"
)

// asProgram in the environment makes the test binary the program itself.
const asProgram = "CARRYON_TEST_AS_PROGRAM"

// idle is an upstream of programs that do not ask it.
var idle *httptest.Server

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "1":
		main()
		return
	case "agent":
		os.Exit(actAsAgent())
	}
	idle = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// program is carryon as a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	p := exec.CommandContext(t.Context(), os.Args[0], args...)
	p.Env = append(os.Environ(), asProgram+"=1", "CARRYON_UPSTREAM="+idle.URL+"/v1", "CARRYON_MODE=standard")
	return p
}

// started starts a proxy, and returns what it says after its base URL, and the base URL.
func started(t *testing.T, p *exec.Cmd) (said *bufio.Reader, base string) {
	t.Helper()
	stderr, err := p.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	said = bufio.NewReader(stderr)
	_, base, ok := strings.Cut(readUntil(t, said, "base URL"), ": ")
	require.True(t, ok)
	return said, strings.TrimSpace(base)
}

// codeOf returns the exit code of an ended process.
func codeOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	return exit.ExitCode()
}

func TestProgramExplainsItself(t *testing.T) {
	t.Parallel()
	for _, ask := range []string{"", "help", "-h", "--help"} {
		out, err := program(t, strings.Fields(ask)...).Output()
		require.NoError(t, err)
		for _, command := range []string{"run", "proxy", "audit", "version", "help"} {
			assert.Contains(t, string(out), "\n  "+command, "carryon %s", ask)
		}
	}
	out, err := program(t, "proxy", "-h").Output()
	require.NoError(t, err)
	for _, flag := range []string{
		"listen", "upstream", "yolo", "max-attempts", "token-budget", "min-interval", "dry-run", "content",
	} {
		variable := "[$CARRYON_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) + "]"
		assert.Regexp(t, `(?m)^  -`+flag+`( \w+)?$`, string(out))
		assert.Contains(t, string(out), variable)
	}
	assert.Contains(t, string(out), "http://127.0.0.1:8787/v1")
}

// The help fits a terminal of 80 columns, and spells flags as the documents do.
func TestHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"", "run", "proxy", "audit", "version"} {
		p := program(t, append(strings.Fields(command), "-h")...)
		p.Env = append(p.Env, "CARRYON_SWITCH_SECRET=open sesame", "CARRYON_STATE=redis://:secret@127.0.0.1")
		out, err := p.Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}
		assert.NotRegexp(t, `(^|\s)--\w`, string(out), "one dash")
		assert.NotContains(t, string(out), "sesame")
		assert.NotContains(t, string(out), ":secret")
		if command == "run" || command == "proxy" {
			assert.Regexp(t, `(?s)\nContinuing:\n.*\nThe endpoint:\n.*\nFigures:\n.*\nFor operators:\n`, string(out))
		}
	}
}

func TestProgramTellsItsVersion(t *testing.T) {
	t.Parallel()
	for _, ask := range []string{"version", "--version", "-version"} {
		out, err := program(t, ask).Output()
		require.NoError(t, err)
		assert.Regexp(t, `^carryon \S.* \(`+runtime.Version()+` .*\)\n$`, string(out), ask)
	}
}

func TestProgramRefusesAWrongCommandLine(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"serve":                     `there is no command "serve" (see carryon help)`,
		"help serve":                `there is no command "serve" (see carryon help)`,
		"proxy serve":               `unexpected argument "serve"`,
		"version -- now":            `unexpected argument "now"`,
		"--version proxy":           `unexpected argument "proxy"`,
		"proxy -max-attempts 0":     "-max-attempts must be at least 1, or -1 for no limit, not 0 (to send no continuations, use -dry-run)",
		"proxy -max-attempts three": `-max-attempts must be a whole number, not "three"`,
		"proxy -token-budget 1e3":   `-token-budget must be a whole number, not "1e3"`,
		"proxy -min-interval 5":     `-min-interval must be a time such as 10s or 1m30s, not "5"`,
		"proxy -yolo=perhaps":       `-yolo must be true or false, not "perhaps"`,
		"run -list=perhaps -- ls":   `-list must be true or false, not "perhaps"`,
		"proxy -state foo":          "-state: not a URL such as redis://127.0.0.1:6379 or postgres://127.0.0.1/carryon",
		"proxy -port 80":            "there is no flag -port (see carryon proxy -help)",
	} {
		out, err := program(t, strings.Fields(args)...).CombinedOutput()
		assert.Equal(t, 2, codeOf(t, err), args)
		assert.Equal(t, "carryon: "+want+"\n", string(out))
	}
	for variable, want := range map[string]string{
		"CARRYON_MAX_ATTEMPTS=three": `CARRYON_MAX_ATTEMPTS must be a whole number, not "three"`,
		"CARRYON_MAX_WAIT=5":         `CARRYON_MAX_WAIT must be a time such as 10s or 1m30s, not "5"`,
		"CARRYON_METRICS=\x1b[2J":    `CARRYON_METRICS must be true or false, not "\x1b[2J"`,
	} {
		p := program(t, "proxy")
		p.Env = append(p.Env, variable)
		out, err := p.CombinedOutput()
		assert.Equal(t, 2, codeOf(t, err), variable)
		assert.Equal(t, "carryon: "+want+"\n", string(out))
	}
}

// A program that reads the log as JSON reads all of it.
func TestJSONLogIsOnlyJSON(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	upstream := carryontest.NewServer(t, carryontest.Text("Next, I will write style.css."), carryontest.Call("write_file", "{}"), carryontest.Text("Later."))
	p := program(t, "proxy", "-listen", "127.0.0.1:0", "-upstream", upstream.URL(), "-log", "json", "-log-level", "debug", "-drain-timeout", "5s", "-state", "redis://"+redis.Addr())
	stderr, err := p.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	var lines []map[string]any
	reader := bufio.NewReader(stderr)
	read := func() bool {
		line, err := reader.ReadString('\n')
		if err != nil {
			return false
		}
		var one map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &one), line)
		lines = append(lines, one)
		return true
	}
	until := func(message string) map[string]any {
		for read() {
			if one := lines[len(lines)-1]; one["msg"] == message {
				return one
			}
		}
		require.Fail(t, "there is no such line", message)
		return nil
	}
	listening := until("listening")
	assert.Equal(t, upstream.URL(), listening["upstream"])
	assert.Equal(t, false, listening["open_to_network"])
	ask := strings.Replace(stalled, `"tools": [`, `"tools": [{"type": "function", "function": {"name": "todo_write"}}, `, 1)
	send := func() {
		base, _ := listening["base_url"].(string)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/chat/completions", strings.NewReader(ask))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Carryon-Session", "a")
		onward := new(http.Transport)
		defer onward.CloseIdleConnections()
		response, err := onward.RoundTrip(request)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	send()
	assert.Equal(t, "INFO", until("carryon: continuation started")["level"])
	assert.IsType(t, 0.0, until("request")["took_ms"])
	redis.Close() // go-redis has a log of its own
	send()
	until("request")
	require.NoError(t, p.Process.Signal(os.Interrupt))
	assert.InDelta(t, 5, until("stopping")["drain_timeout_seconds"], 0)
	for read() {
		continue
	}
	require.NoError(t, p.Wait())

	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for code, args := range map[int][]string{1: {"-listen", taken.Addr().String()}, 2: {"-max-attempts", "0"}} {
		out, err := program(t, append([]string{"proxy", "-log", "json"}, args...)...).CombinedOutput()
		assert.Equal(t, code, codeOf(t, err))
		var one map[string]any
		require.NoError(t, json.Unmarshal(out, &one), string(out))
		assert.Equal(t, "ERROR", one["level"])
	}
}

func TestProgramSaysWhenItsAddressIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	out, err := program(t, "proxy", "-listen", taken.Addr().String()).CombinedOutput()
	assert.Equal(t, 1, codeOf(t, err))
	assert.Equal(t, "carryon: listen tcp "+taken.Addr().String()+
		": bind: address already in use (-listen sets the address)\n", string(out))
}

// stalled is a request of an agent whose list has work on it.
const stalled = `{"model": "some-model", "stream": true, "messages": [
	{"role": "user", "content": "Build a small web page about tea."},
	{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "todo_write",
		"arguments": "{\"todos\": [{\"content\": \"Write style.css\", \"status\": \"in_progress\"}]}"}}]},
	{"role": "tool", "tool_call_id": "c1", "content": "ok"}
], "tools": [{"type": "function", "function": {"name": "write_file"}}]}`

// An interrupt ends the program, but first the current answer comes to its end.
func TestInterruptLetsAnAnswerEnd(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	upstream := carryontest.NewServer(t, carryontest.Text("Hello again").GateAfter(2, open), carryontest.Call("write_file", `{}`))
	p := program(t, "proxy", "-listen", "127.0.0.1:0", "-upstream", upstream.URL())
	said, base := started(t, p)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		base+"/chat/completions", strings.NewReader(stalled))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	onward := new(http.Transport)
	defer onward.CloseIdleConnections()

	response, err := onward.RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body := bufio.NewReader(response.Body)
	readUntil(t, body, `"Hello "`)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	assert.Equal(t, "Stopping. Open answers have 10s to finish.\n", readUntil(t, said, "Stopping"))
	close(open)
	rest, err := io.ReadAll(body)

	require.NoError(t, err)
	assert.Contains(t, string(rest), "data: [DONE]")
	last, err := io.ReadAll(said)
	require.NoError(t, err)
	assert.Empty(t, string(last))
	require.NoError(t, p.Wait())
}

// readUntil reads lines up to one that contains a text, and returns that line.
func readUntil(t *testing.T, r *bufio.Reader, text string) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		require.NoError(t, err, "before %q", text)
		if strings.Contains(line, text) {
			return line
		}
	}
}
