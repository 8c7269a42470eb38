package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/agent"
)

const root = "http://127.0.0.1:4711"

// env is an environment.
func env(variables ...string) func(string) string {
	return func(name string) string {
		for _, variable := range variables {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func launch(command string, list bool, variables ...string) agent.Launch {
	words := strings.Fields(command)
	a, position := agent.Of(words)
	return a.Launch(words, position, root, env(variables...), list)
}

// endpoint returns where a request with this URL at the proxy goes.
func endpoint(t *testing.T, l agent.Launch, url string) string {
	t.Helper()
	path, ok := strings.CutPrefix(url, root)
	require.True(t, ok, "%q is not the proxy's", url)
	for _, r := range l.Routes {
		if rest, ok := strings.CutPrefix(path, r.Prefix); ok && r.Header == "" && (rest == "" || rest[0] == '/') {
			return r.Base + rest
		}
	}
	rest, ok := strings.CutPrefix(path, "/v1")
	require.True(t, ok, path)
	return l.Main.Base + rest
}

// Nothing of an agent is configured: its command is the user's, and so is its environment.
func TestAnAgentRunsAsItsUserRunsIt(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"claude -p hello", "codex exec hello", "qwen -p hello", "opencode run hello", "kilo run hello", "cn -p hello", "copilot -p hello", "pi -p hello",
		"gemini -p hello", "npx -y @anthropic-ai/claude-code@2 -p x", "droid exec x", "kimi -p x", "aider --message x",
	} {
		l := launch(command, false)
		assert.Equal(t, strings.Fields(command), l.Args)
		assert.Empty(t, l.Env, command)
		assert.Empty(t, l.Files)
		assert.Empty(t, l.Notes)
	}
}

// A program that carryon does not know may have an SDK that does not obey a proxy.
func TestAProgramWithAnSDKIsToldWhereItsModelIs(t *testing.T) {
	t.Parallel()
	l := launch("some-agent -p hello", false)
	for variable, want := range map[string]string{
		"OPENAI_BASE_URL": "https://api.openai.com/v1", "OPENAI_API_BASE": "https://api.openai.com/v1", "GROK_BASE_URL": "https://api.x.ai/v1",
		"GOOGLE_GEMINI_BASE_URL": "https://generativelanguage.googleapis.com",
	} {
		assert.Equal(t, want, endpoint(t, l, l.Env[variable]), variable)
	}
	assert.Equal(t, root, l.Env["ANTHROPIC_BASE_URL"])
	assert.Equal(t, root, l.Env["OPENAI_HOST"])
	assert.Equal(t, agent.Upstream{Prefix: "/v1", Header: "Anthropic-Version", Base: "https://api.anthropic.com/v1", Source: "ANTHROPIC_BASE_URL"}, l.Routes[0])
}

// A program's own endpoint stays its endpoint.
func TestEndpointsOfTheEnvironmentAreKept(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"some-agent", "claude", "codex"} {
		for _, variable := range []string{
			"OPENAI_BASE_URL=http://a/v1", "OPENAI_API_BASE=http://a/v1", "OPENAI_HOST=http://a", "GROK_BASE_URL=http://a/v1",
			"GOOGLE_GEMINI_BASE_URL=http://a", "COPILOT_API_URL=http://a", "COPILOT_PROVIDER_BASE_URL=http://a/v1", "KIMI_MODEL_BASE_URL=http://a/v1",
		} {
			name, base, _ := strings.Cut(variable, "=")
			l := launch(command, false, variable)
			assert.Equal(t, base, endpoint(t, l, l.Env[name]), variable)
			assert.Equal(t, []string{name}, l.Local)
			assert.Empty(t, l.Hosts)
		}
	}
	l := launch("claude", false, "ANTHROPIC_BASE_URL=http://a/claude/")
	assert.Equal(t, "http://a/claude/v1/messages", endpoint(t, l, l.Env["ANTHROPIC_BASE_URL"]+"/v1/messages"))
	l = launch("some-agent", false, "ANTHROPIC_BASE_URL=http://b/v1/")
	assert.Equal(t, "http://b/v1", l.Routes[0].Base)
}

// An endpoint of the environment that speaks TLS is a host of models; the variable stays.
func TestHostsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	l := launch("claude", false, "ANTHROPIC_BASE_URL=https://llm.example.com:8443/anthropic")
	assert.Equal(t, []string{"llm.example.com:8443"}, l.Hosts)
	assert.Empty(t, l.Env)
	l = launch("some-agent", false, "OPENAI_BASE_URL=https://llm.example.com/v1")
	assert.Equal(t, []string{"llm.example.com"}, l.Hosts)
	assert.Equal(t, "https://llm.example.com/v1", endpoint(t, l, l.Env["OPENAI_BASE_URL"]))
}

// Addresses come from the environment alone: what lies in the folder may be anybody's.
func TestNoAddressComesFromAFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{".env", ".gemini/.env", ".qwen/.env", ".qwen/settings.json", ".claude/settings.json", "opencode.json"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(
			`OPENAI_BASE_URL=http://evil`+"\nOPENAI_API_KEY=k\nGOOGLE_GEMINI_BASE_URL=http://evil\nCODE_ASSIST_ENDPOINT=http://evil\n"), 0o600))
	}
	for _, command := range []string{"gemini", "qwen", "claude", "opencode", "some-agent"} {
		l := launch(command, true)
		for _, r := range append(l.Routes, l.Main) {
			assert.NotContains(t, r.Base, "evil", command)
		}
	}
}

func TestGoalsNeedNoCarryon(t *testing.T) {
	t.Parallel()
	words := []string{"claude", "/goal all tests pass"}
	a, position := agent.Of(words)
	for _, l := range []agent.Launch{launch("codex /goal", false), launch("copilot --autopilot", false), a.Launch(words, position, root, env(), false)} {
		require.Len(t, l.Notes, 1)
		assert.Contains(t, l.Notes[0], "not needed")
	}
}

func TestSignedRequests(t *testing.T) {
	t.Parallel()
	assert.Contains(t, launch("claude", false, "CLAUDE_CODE_USE_BEDROCK=1").Notes[0], "signed")
	assert.Empty(t, launch("claude", false, "CLAUDE_CODE_USE_BEDROCK=0").Notes)
}

// What is known not to be reached says so, and what to do instead.
func TestAgentsThatAreNotReached(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"nanocoder", "npx @nanocollective/nanocoder", "amp", "cursor-agent", "npx @augmentcode/auggie", "qodercli"} {
		a, _ := agent.Of(strings.Fields(command))
		assert.NotEmpty(t, a.Unreached, command)
		assert.NotEmpty(t, a.Instead, command)
	}
}

func TestListIsTurnedOnForOneRun(t *testing.T) {
	t.Parallel()
	l := launch("qwen -p x", true, "QWEN_CODE_SYSTEM_SETTINGS_PATH=/no/such")
	require.Len(t, l.Files, 1)
	assert.JSONEq(t, `{"tools":{"todoWrite":{"enabled":true}}}`, l.Files[0].Content)
	path := filepath.Join(t.TempDir(), "system.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"ui": {"theme": "dark"}, "tools": {"shell": {"pager": "cat"}}} // ours`), 0o600))
	l = launch("qwen -p x", true, "QWEN_CODE_SYSTEM_SETTINGS_PATH="+path)
	assert.JSONEq(t, `{"ui":{"theme":"dark"},"tools":{"shell":{"pager":"cat"},"todoWrite":{"enabled":true}}}`, l.Files[0].Content)
	assert.Equal(t, map[string]string{"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}, launch("claude -p x", true).Env)
	assert.Equal(t, []string{"npx", "@openai/codex", "-c", "tools.update_plan.enabled=true", "exec", "x"}, launch("npx @openai/codex exec x", true).Args)
	assert.Contains(t, launch("gemini -p hello", true).Notes[0], "taskTracker")
	a, _ := agent.Of([]string{"gemini"})
	assert.NotContains(t, a.ListAdvice(), "-list")
	a, _ = agent.Of([]string{"qwen"})
	assert.Contains(t, a.ListAdvice(), "-list")
	assert.True(t, a.HasListSetting())
	a, _ = agent.Of([]string{"opencode"})
	assert.False(t, a.HasListSetting())
}

// The files of a run belong to the user alone.
func TestFilesOfARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := agent.Launch{
		Args:  []string{"sh", "-c", `test "$(cat "$SETTINGS")" = "{}"`},
		Files: []agent.File{{Variable: "SETTINGS", Name: "settings.json", Content: "{}"}},
	}
	code, err := l.Run(os.Environ(), dir)
	require.NoError(t, err)
	assert.Zero(t, code)
	info, err := os.Stat(filepath.Join(dir, "settings.json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestHowAProgramEnds(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 3": 3, "kill -9 $$": 137} {
		l := agent.Launch{Args: []string{"sh", "-c", script}}
		code, err := l.Run(os.Environ(), t.TempDir())
		require.NoError(t, err)
		assert.Equal(t, want, code)
	}
	l := agent.Launch{Args: []string{"no-such-program"}}
	_, err := l.Run(os.Environ(), t.TempDir())
	assert.EqualError(t, err, `command "no-such-program" not found`)
}

func TestModeOfACommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]agent.Mode{
		"claude":                                {},
		"claude -p x":                           {OneShot: true},
		"claude --print=x":                      {OneShot: true},
		"claude -- -p":                          {},
		"claude.exe -p x":                       {OneShot: true},
		"npx @anthropic-ai/claude-code -p x":    {OneShot: true},
		"claude --dangerously-skip-permissions": {Unattended: true},
		"claude --permission-mode bypassPermissions -p x": {OneShot: true, Unattended: true},
		"claude --permission-mode acceptEdits":            {},
		"codex":                                           {},
		"codex -p profile":                                {},
		"codex exec x":                                    {OneShot: true, Unattended: true},
		"npx @openai/codex --search exec x":               {OneShot: true, Unattended: true},
		"codex -m some-model e x":                         {OneShot: true, Unattended: true},
		"codex explain exec":                              {},
		"codex --model=m explain exec":                    {},
		"codex -a never":                                  {Unattended: true},
		"codex --ask-for-approval=never":                  {Unattended: true},
		"codex --full-auto":                               {Unattended: true},
		"qwen -y -p x":                                    {OneShot: true, Unattended: true},
		"qwen --approval-mode yolo":                       {Unattended: true},
		"opencode":                                        {},
		"opencode run --auto x":                           {OneShot: true, Unattended: true},
		"cn -p x --auto":                                  {OneShot: true, Unattended: true},
		"copilot -p x --allow-all-tools":                  {OneShot: true, Unattended: true},
		"pi -p x":                                         {OneShot: true},
		"gemini --yolo":                                   {Unattended: true},
		"aider --message x --yes-always":                  {OneShot: true, Unattended: true},
		"some-agent -p x --yolo":                          {},
	} {
		words := strings.Fields(command)
		a, position := agent.Of(words)
		assert.Equal(t, want, a.Mode(words, position), command)
	}
}
