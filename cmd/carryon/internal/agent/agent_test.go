package agent_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/agent"
)

const root = "http://127.0.0.1:4711"

func launch(command string, list bool) agent.Launch {
	words := strings.Fields(command)
	a, position := agent.Of(words)
	return a.Launch(words, position, agent.Endpoint{Root: root, Model: "some-model"}, list)
}

// fileOf returns the content of the file that is told so.
func fileOf(l agent.Launch, told string) string {
	for _, f := range l.Files {
		if f.Told == told {
			return f.Content
		}
	}
	return ""
}

func TestAgentIsToldWhereItsModelIs(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"some-agent -p hello":                     "OPENAI_BASE_URL=" + root + "/v1",
		"aider --message hello":                   "OPENAI_API_BASE=" + root + "/v1",
		"qwen -p hello":                           "OPENAI_BASE_URL=" + root + "/v1",
		"/usr/bin/claude -p hello":                "ANTHROPIC_BASE_URL=" + root,
		"npx -y @anthropic-ai/claude-code@2 -p x": "ANTHROPIC_BASE_URL=" + root,
		"copilot -p hello":                        "COPILOT_PROVIDER_BASE_URL=" + root + "/v1",
	} {
		name, value, _ := strings.Cut(want, "=")
		l := launch(command, false)
		assert.Equal(t, value, l.Env[name], command)
		assert.Equal(t, strings.Fields(command), l.Args)
		assert.Empty(t, l.Note)
	}
}

func TestCodexIsToldByFlags(t *testing.T) {
	t.Parallel()
	for command, behind := range map[string]int{"codex exec hello": 1, "npx @openai/codex exec hello": 2} {
		args := launch(command, false).Args
		assert.Equal(t, strings.Fields(command)[:behind], args[:behind])
		assert.Equal(t, []string{"exec", "hello"}, args[len(args)-2:], "flags of all commands come first")
		assert.Contains(t, args, `model_providers.carryon.base_url="`+root+`/v1"`)
		assert.Contains(t, args, `model_providers.carryon.wire_api="responses"`)
		assert.NotContains(t, args, "tools.update_plan.enabled=true")
		assert.Contains(t, launch(command, true).Args, "tools.update_plan.enabled=true")
	}
}

func TestOpencodeGetsAProvider(t *testing.T) {
	t.Parallel()
	l := launch("opencode run -m carryon/some-model hello", false)
	assert.JSONEq(t, `{"provider":{
		"openai":{"options":{"baseURL":"`+root+`/v1"}}, "anthropic":{"options":{"baseURL":"`+root+`/v1"}},
		"carryon":{"npm":"@ai-sdk/openai-compatible","name":"carryon","models":{"some-model":{}},
			"options":{"baseURL":"`+root+`/v1","apiKey":"{env:OPENAI_API_KEY}"}}
	}}`, l.Env["OPENCODE_CONFIG_CONTENT"])
	assert.Empty(t, l.Note)
	assert.Contains(t, launch("opencode run -m mine/some-model hello", false).Note, `the provider "mine"`)
	assert.Empty(t, launch("opencode", false).Note)
}

func TestContinueGetsAFile(t *testing.T) {
	t.Parallel()
	l := launch("cn -p hello --auto", false)
	assert.Contains(t, fileOf(l, "--config"), `"apiBase":"`+root+`/v1"`)
	l = launch("cn --config mine.yaml -p hello", false)
	assert.Empty(t, l.Files)
	assert.Contains(t, l.Note, "set apiBase there to "+root+"/v1")
}

func TestAgentsModelIsWhereItsEnvironmentSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command           string
		environment       map[string]string
		openAI, anthropic string
	}{
		{"qwen", nil, "https://api.openai.com/v1", "https://api.anthropic.com/v1"},
		{"qwen", map[string]string{"OPENAI_BASE_URL": "http://a/v1/"}, "http://a/v1", "https://api.anthropic.com/v1"},
		{"aider", map[string]string{"OPENAI_API_BASE": "http://a/v1"}, "http://a/v1", "https://api.anthropic.com/v1"},
		{"claude", map[string]string{"ANTHROPIC_BASE_URL": "http://b"}, "https://api.openai.com/v1", "http://b/v1"},
		{"claude", map[string]string{"ANTHROPIC_BASE_URL": "http://b/v1/"}, "https://api.openai.com/v1", "http://b/v1"},
		{
			"copilot",
			map[string]string{"OPENAI_BASE_URL": "http://a/v1", "COPILOT_PROVIDER_BASE_URL": "http://c/v1"},
			"http://c/v1", "https://api.anthropic.com/v1",
		},
	} {
		a, _ := agent.Of([]string{tt.command})
		openAI, anthropic := a.Upstreams(func(name string) string { return tt.environment[name] })
		assert.Equal(t, tt.openAI, openAI, "%s %v", tt.command, tt.environment)
		assert.Equal(t, tt.anthropic, anthropic, "%s %v", tt.command, tt.environment)
	}
}

func TestPiGetsAnExtension(t *testing.T) {
	t.Parallel()
	for command, more := range map[string]string{
		"pi hello":                        "",
		"pi --provider mine -p hello":     `  pi.registerProvider("mine", { baseUrl: "` + root + `/v1" });` + "\n",
		"pi --model mine/some-model":      `  pi.registerProvider("mine", { baseUrl: "` + root + `/v1" });` + "\n",
		"pi --model openai/gpt-5 --print": "",
	} {
		assert.Equal(t, "export default (pi) => {\n"+
			`  pi.registerProvider("anthropic", { baseUrl: "`+root+`" });`+"\n"+more+
			`  pi.registerProvider("openai", { baseUrl: "`+root+`/v1" });`+"\n};\n", fileOf(launch(command, false), "--extension"), command)
	}
}

func TestListIsTurnedOnForOneRun(t *testing.T) {
	t.Parallel()
	assert.JSONEq(t, `{"tools":{"todoWrite":{"enabled":true}}}`, fileOf(launch("qwen -p x", true), "QWEN_CODE_SYSTEM_SETTINGS_PATH"))
	assert.Empty(t, launch("qwen -p x", false).Files)
	assert.Equal(t, "1", launch("claude -p x", true).Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"])
	assert.NotContains(t, launch("claude -p x", false).Env, "CLAUDE_CODE_ENABLE_TODO_TOOLS")
	a, _ := agent.Of([]string{"claude"})
	assert.True(t, a.HasListSetting())
	a, _ = agent.Of([]string{"opencode"})
	assert.False(t, a.HasListSetting())
}

func TestAgentsThatCannotBeTold(t *testing.T) {
	t.Parallel()
	assert.Contains(t, launch("gemini -p hello", false).Note, "does not support")
}

// Files are there while the program runs, and not afterwards.
func TestFilesAreTemporary(t *testing.T) {
	t.Parallel()
	seen := t.TempDir() + "/seen"
	l := agent.Launch{
		Args:  []string{"sh", "-c", `cat "$SETTINGS" > "` + seen + `"; echo " $SETTINGS $2" >> "` + seen + `"; cat "$2" >> "` + seen + `"`, "sh"},
		Files: []agent.File{{Told: "SETTINGS", Name: "settings.json", Content: "{}"}, {Told: "--config", Name: "config.yaml", Content: "content"}},
	}
	code, err := l.Run(os.Environ())
	require.NoError(t, err)
	assert.Zero(t, code)
	text, err := os.ReadFile(seen)
	require.NoError(t, err)
	words := strings.Fields(string(text))
	require.Len(t, words, 4)
	assert.Equal(t, "{}", words[0])
	assert.Equal(t, "content", words[3])
	assert.NoFileExists(t, words[1])
	assert.NoFileExists(t, words[2])
}

func TestModeOfACommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]agent.Mode{
		"claude":                                {},
		"claude -p x":                           {OneShot: true},
		"claude --print=x":                      {OneShot: true},
		"claude -- -p":                          {},
		"claude --dangerously-skip-permissions": {Unattended: true},
		"claude --permission-mode bypassPermissions -p x": {OneShot: true, Unattended: true},
		"claude --permission-mode acceptEdits":            {},
		"codex":                                           {},
		"codex -p profile":                                {},
		"codex exec x":                                    {OneShot: true, Unattended: true},
		"npx @openai/codex --search exec x":               {OneShot: true, Unattended: true},
		"codex -m some-model e x":                         {OneShot: true, Unattended: true},
		"codex explain exec":                              {},
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
