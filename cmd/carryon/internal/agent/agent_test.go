package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/agent"
)

const root = "http://127.0.0.1:4711"

// user is somebody without settings.
func user(variables ...string) agent.User {
	return agent.User{Home: "/no/home", Dir: "/no/dir", Getenv: func(name string) string {
		for _, variable := range variables {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				return value
			}
		}
		return ""
	}}
}

func launch(command string, list bool, variables ...string) agent.Launch {
	return launchOf(command, list, user(variables...))
}

func launchOf(command string, list bool, u agent.User) agent.Launch {
	words := strings.Fields(command)
	a, position := agent.Of(words)
	return a.Launch(words, position, root, u, list)
}

// at returns somebody with these files, whose names are below the home or, with "./",
// below the folder of the work. In the variables, "~" is the home.
func at(t *testing.T, files map[string]string, variables ...string) agent.User {
	t.Helper()
	home := t.TempDir()
	u := user(strings.Split(strings.ReplaceAll(strings.Join(variables, "\x00"), "=~", "="+home), "\x00")...)
	u.Home, u.Dir = home, t.TempDir()
	for name, content := range files {
		path := filepath.Join(u.Home, name)
		if inside, ok := strings.CutPrefix(name, "./"); ok {
			path = filepath.Join(u.Dir, inside)
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return u
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
	for command, want := range map[string][2]string{
		"some-agent -p hello":                     {"OPENAI_BASE_URL", "https://api.openai.com/v1"},
		"aider --message hello":                   {"OPENAI_API_BASE", "https://api.openai.com/v1"},
		"grok hello":                              {"GROK_BASE_URL", "https://api.x.ai/v1"},
		"qwen -p hello":                           {"OPENAI_BASE_URL", "https://api.openai.com/v1"},
		"/usr/bin/claude -p hello":                {"ANTHROPIC_BASE_URL", "https://api.anthropic.com"},
		"npx -y @anthropic-ai/claude-code@2 -p x": {"ANTHROPIC_BASE_URL", "https://api.anthropic.com"},
		"copilot -p hello":                        {"COPILOT_API_URL", "https://api.githubcopilot.com"},
	} {
		l := launch(command, false)
		assert.Equal(t, want[1], endpoint(t, l, l.Env[want[0]]), command)
		assert.Equal(t, strings.Fields(command), l.Args)
		assert.Empty(t, l.Notes)
		assert.Empty(t, l.Files)
	}
}

// A program's own endpoint stays its endpoint.
func TestEndpointsOfTheEnvironmentAreKept(t *testing.T) {
	t.Parallel()
	for variable, command := range map[string]string{
		"OPENAI_BASE_URL=http://a/v1": "some-agent", "OPENAI_API_BASE=http://a/v1": "aider", "OPENAI_HOST=http://a": "goose run",
		"GROK_BASE_URL=http://a/v1": "grok", "ANTHROPIC_BASE_URL=http://a": "claude", "ANTHROPIC_BASE_URL=http://a/claude": "claude",
		"COPILOT_API_URL=http://a": "copilot", "COPILOT_PROVIDER_BASE_URL=http://a": "copilot",
	} {
		name, base, _ := strings.Cut(variable, "=")
		l := launch(command, false, variable)
		assert.Equal(t, base, endpoint(t, l, l.Env[name]), variable)
	}
	l := launch("some-agent", false, "ANTHROPIC_BASE_URL=http://b/v1/")
	require.NotEmpty(t, l.Routes)
	last := l.Routes[len(l.Routes)-1]
	assert.Equal(t, [2]string{"http://b/v1", "Anthropic-Version"}, [2]string{last.Base, last.Header})
}

// A variable of the file .env counts if the key that belongs to it is there, too.
func TestEndpointsOfTheFileWithVariablesAreKept(t *testing.T) {
	t.Parallel()
	file := ""
	for _, value := range []string{"http://a/v1", "http://a/v1 # here", `"http://a/v1"`, "'http://a/v1' # here's mine"} {
		file = "# mine\n#OPENAI_BASE_URL=http://b\nexport OPENAI_BASE_URL=" + value + "\nOPENAI_API_KEY=sk\n"
		assert.Equal(t, "http://a/v1", launchOf("some-agent", false, at(t, map[string]string{"./.env": file})).Main.Base)
	}
	assert.Equal(t, "https://api.openai.com/v1", launchOf("some-agent", false, at(t, map[string]string{"./.env": file}, "OPENAI_API_KEY=sk")).Main.Base)
	assert.Equal(t, "https://api.openai.com/v1", launchOf("some-agent", false, at(t, map[string]string{"./.env": "OPENAI_BASE_URL=http://a/v1"})).Main.Base)
}

// The proxy of the user's network cannot reach the one on this machine.
func TestNetworkProxyIsBypassed(t *testing.T) {
	t.Parallel()
	assert.NotContains(t, launch("claude", false).Env, "NO_PROXY")
	l := launch("claude", false, "https_proxy=http://proxy:3128", "NO_PROXY=.corp,localhost")
	assert.Equal(t, ".corp,localhost,127.0.0.1", l.Env["NO_PROXY"])
	assert.Equal(t, "127.0.0.1,localhost", l.Env["no_proxy"])
}

func TestClaudeKeepsItsSettings(t *testing.T) {
	t.Parallel()
	const settings = `{"env": {"ANTHROPIC_BASE_URL": "http://a/anthropic"}, "model": "opus"} // mine`
	for _, u := range []agent.User{
		at(t, map[string]string{".claude/settings.json": settings}),
		at(t, map[string]string{"./.claude/settings.local.json": settings, "./.claude/settings.json": `{"env":{"ANTHROPIC_BASE_URL":"http://b"}}`}),
		at(t, map[string]string{"else/settings.json": settings}, "CLAUDE_CONFIG_DIR=~/else"),
	} {
		l := launchOf("claude -p x", false, u)
		assert.Equal(t, []string{"claude", "--settings", `{"env":{"ANTHROPIC_BASE_URL":"` + root + `"}}`, "-p", "x"}, l.Args)
		assert.Equal(t, "http://a/anthropic/v1/messages", endpoint(t, l, root+"/v1/messages"))
	}
	own := at(t, map[string]string{"mine.json": `{"model":"opus","env":{"A":"b","ANTHROPIC_BASE_URL":"http://c"}}`})
	for _, flag := range []string{"--settings ", "--settings="} {
		l := launchOf("claude "+flag+own.Home+"/mine.json -p x", false, own)
		assert.JSONEq(t, `{"model":"opus","env":{"A":"b","ANTHROPIC_BASE_URL":"`+root+`"}}`, strings.TrimPrefix(l.Args[len(l.Args)-3], flag))
		assert.Equal(t, "http://c/v1/messages", endpoint(t, l, root+"/v1/messages"))
	}
}

func TestClaudeOnAnotherCloud(t *testing.T) {
	t.Parallel()
	l := launch("claude", false, "CLAUDE_CODE_USE_VERTEX=1", "CLOUD_ML_REGION=europe-west1")
	assert.Equal(t, "https://europe-west1-aiplatform.googleapis.com/v1/projects/p", endpoint(t, l, l.Env["ANTHROPIC_VERTEX_BASE_URL"]+"/projects/p"))
	l = launch("claude", false, "CLAUDE_CODE_USE_FOUNDRY=1", "ANTHROPIC_FOUNDRY_RESOURCE=mine")
	assert.Equal(t, "https://mine.services.ai.azure.com/anthropic/v1/messages", endpoint(t, l, l.Env["ANTHROPIC_FOUNDRY_BASE_URL"]+"/v1/messages"))
	for _, variable := range []string{"CLAUDE_CODE_USE_BEDROCK=1", "CLAUDE_CODE_USE_VERTEX=true"} {
		l = launch("claude", false, variable)
		assert.Len(t, l.Notes, 1)
		assert.Contains(t, l.Notes[0], "it runs without carryon")
		assert.Empty(t, l.Env)
	}
	assert.Empty(t, launch("claude", false, "CLAUDE_CODE_USE_BEDROCK=0").Notes)
}

// Codex keeps its provider, whose upstream depends on the login.
func TestCodexKeepsItsLogin(t *testing.T) {
	t.Parallel()
	for command, behind := range map[string]int{"codex exec hello": 1, "npx @openai/codex exec hello": 2} {
		l := launch(command, false, "OPENAI_BASE_URL=http://unused/v1")
		args := l.Args
		assert.Equal(t, strings.Fields(command)[:behind], args[:behind])
		assert.Equal(t, []string{"-c", `openai_base_url="` + root + `/v1"`, "-c", "features.enable_request_compression=false", "exec", "hello"}, args[behind:])
		assert.Equal(t, "https://api.openai.com/v1", l.Main.Base)
		assert.Equal(t, []agent.Upstream{{Prefix: "/v1", Header: "Chatgpt-Account-Id", Base: "https://chatgpt.com/backend-api/codex", Source: "ChatGPT"}}, l.Routes)
		assert.Empty(t, l.Env)
		assert.Contains(t, launch(command, true).Args, "tools.update_plan.enabled=true")
	}
}

func TestCodexKeepsItsProvider(t *testing.T) {
	t.Parallel()
	const config = `
model_provider = "mine"
[model_providers.mine]
base_url = "http://a/v1"
env_key = "MY_KEY"
`
	u := at(t, map[string]string{
		".codex/config.toml": config, ".codex/plain.config.toml": `model_provider = "openai"`, ".codex/gone.config.toml": `model_provider = "gone"`,
	})
	l := launchOf("codex exec x", false, u)
	assert.Equal(t, `model_providers.mine.base_url="`+root+`/to/mine"`, l.Args[2])
	assert.NotContains(t, l.Args, "features.enable_request_compression=false")
	assert.Equal(t, "http://a/v1/responses", endpoint(t, l, root+"/to/mine/responses"))

	l = launchOf("codex -p plain", false, u)
	assert.Equal(t, `openai_base_url="`+root+`/v1"`, l.Args[2])
	l = launchOf("codex -p gone", false, u)
	assert.Equal(t, []string{"codex", "-p", "gone"}, l.Args)
	assert.Contains(t, l.Notes[0], `provider "gone"`)
	l = launchOf("codex --oss", false, u)
	assert.Contains(t, l.Notes[0], "local server")
	l = launchOf("codex exec -c model_provider=openai x", false, u)
	assert.Equal(t, `openai_base_url="`+root+`/v1"`, l.Args[2])

	u = at(t, map[string]string{"own/config.toml": `openai_base_url = "http://b/v1/"`}, "CODEX_HOME=~/own")
	l = launchOf("codex", false, u)
	assert.Equal(t, "http://b/v1", l.Main.Base)
	assert.Empty(t, l.Routes)
	l = launchOf(`codex exec -c openai_base_url="http://c/v1" x`, false, u)
	assert.Equal(t, "http://c/v1", l.Main.Base)
	assert.Equal(t, []string{"codex", "-c", "features.enable_request_compression=false", "exec", "-c", `openai_base_url="` + root + `/v1"`, "x"}, l.Args)
}

// Half-written files are the agent's to report.
func TestBrokenFilesAreIgnored(t *testing.T) {
	t.Parallel()
	for command, file := range map[string]string{
		"codex": ".codex/config.toml", "claude": ".claude/settings.json", "qwen": ".qwen/settings.json",
		"opencode": ".config/opencode/opencode.json", "pi": ".pi/agent/models.json",
	} {
		want := launch(command, true)
		for _, content := range []string{`{"env": {"ANTHROPIC_BASE_URL": "http://a`, "[[[", `{"modelProviders": [1], "env": 7, "providers": "x", "provider": []}`, "\x00"} {
			assert.Equal(t, want, launchOf(command, true, at(t, map[string]string{file: content})), "%s %q", command, content)
		}
	}
}

func TestGoalsNeedNoCarryon(t *testing.T) {
	t.Parallel()
	assert.Contains(t, launch("codex /goal", false).Notes[0], "not needed")
	assert.Contains(t, launch("claude /goal", false).Notes[0], "not needed")
	assert.Contains(t, launch("copilot --autopilot", false).Notes[0], "not needed")
}

// providersOf returns the base URLs of opencode's providers, as they are without the
// proxy.
func providersOf(t *testing.T, l agent.Launch, variable string) map[string]string {
	t.Helper()
	var config struct {
		Provider map[string]struct{ Options struct{ BaseURL string } }
	}
	require.NoError(t, json.Unmarshal([]byte(l.Env[variable]), &config))
	bases := make(map[string]string)
	for name, provider := range config.Provider {
		bases[name] = endpoint(t, l, provider.Options.BaseURL)
	}
	return bases
}

// To name a provider would switch it on.
func TestOpencodeKeepsItsProviders(t *testing.T) {
	t.Parallel()
	const zen = "https://opencode.ai/zen/v1"
	for _, tt := range []struct {
		command   string
		variables []string
		want      map[string]string
	}{
		{"opencode", nil, map[string]string{"opencode": zen}},
		{"opencode run -m openai/gpt-5 x", nil, map[string]string{"opencode": zen, "openai": "https://api.openai.com/v1"}},
		{"opencode", []string{"ANTHROPIC_API_KEY=sk"}, map[string]string{"opencode": zen, "anthropic": "https://api.anthropic.com/v1"}},
		{"opencode run -m carryon/m x", []string{"OPENAI_BASE_URL=http://a/v1"}, map[string]string{"opencode": zen, "carryon": "http://a/v1"}},
	} {
		l := launch(tt.command, false, tt.variables...)
		assert.Equal(t, tt.want, providersOf(t, l, "OPENCODE_CONFIG_CONTENT"), tt.command)
		assert.Empty(t, l.Notes)
		assert.Len(t, l.Env, 1)
	}
	l := launch("opencode run -m mine/some-model hello", false)
	assert.Contains(t, l.Notes[0], `the provider "mine"`)
	assert.Equal(t, map[string]string{"kilo": "https://api.kilo.ai"}, providersOf(t, launch("kilo run x", false), "KILO_CONFIG_CONTENT"))
}

func TestOpencodeKeepsItsConfiguration(t *testing.T) {
	t.Parallel()
	u := at(t, map[string]string{
		".config/opencode/opencode.jsonc": `{"provider": {"mine": {"options": {"baseURL": "http://a/v1"}}, "openai": {}, "odd": {"options": {"baseURL": "{file:x}"}}}} // mine`,
		"./opencode.json":                 `{"provider": {"mine": {"options": {"baseURL": "http://c/v1"}}}}`,
		"./sub/opencode.json":             `{"provider": {"mine": {"options": {"baseURL": "{env:MINE}/v1"}}}}`, // the nearest counts
		".local/share/opencode/auth.json": `{"openrouter": {"type": "api", "key": "secret"}, "deepseek": {"type": "api"}, "unknown": {"type": "api"}}`,
		".cache/opencode/models.json":     `{"deepseek": {"api": "http://deepseek/v1", "models": {}}}`,
	}, "MINE=http://b", `OPENCODE_CONFIG_CONTENT={"theme":"dark","provider":{"mine":{"options":{"apiKey":"k"}}}}`)
	u.Dir += "/sub"
	l := launchOf("opencode run -m mine/m x", false, u)
	assert.Empty(t, l.Notes)
	assert.Equal(t, map[string]string{
		"opencode": "https://opencode.ai/zen/v1", "mine": "http://b/v1", "openai": "https://api.openai.com/v1",
		"openrouter": "https://openrouter.ai/api/v1", "deepseek": "http://deepseek/v1",
	}, providersOf(t, l, "OPENCODE_CONFIG_CONTENT"))
	assert.Contains(t, l.Env["OPENCODE_CONFIG_CONTENT"], `"theme":"dark"`)
	assert.Contains(t, l.Env["OPENCODE_CONFIG_CONTENT"], `"apiKey":"k"`)
	assert.NotContains(t, l.Env["OPENCODE_CONFIG_CONTENT"], "secret")
}

// opencode asks ChatGPT itself, whatever the base URL is.
func TestOpencodeWithAChatGPTLogin(t *testing.T) {
	t.Parallel()
	u := at(t, map[string]string{".local/share/opencode/auth.json": `{"openai": {"type": "oauth"}}`})
	for _, command := range []string{"opencode", "opencode run -m openai/gpt-5 x"} {
		l := launchOf(command, false, u)
		assert.Equal(t, map[string]string{"opencode": "https://opencode.ai/zen/v1"}, providersOf(t, l, "OPENCODE_CONFIG_CONTENT"))
		assert.Contains(t, l.Notes[0], "ChatGPT login")
	}
	assert.Empty(t, launchOf("opencode run -m opencode/big-pickle x", false, u).Notes)
}

func TestContinueGetsAFile(t *testing.T) {
	t.Parallel()
	l := launch("cn -p hello --auto", false, "OPENAI_MODEL=some-model")
	assert.Contains(t, fileOf(l, "--config"), `"apiBase":"`+root+`/v1"`)
	for _, l := range []agent.Launch{
		launch("cn --config mine.yaml -p hello", false, "OPENAI_MODEL=some-model"), launch("cn -p hello", false),
		launchOf("cn -p hello", false, at(t, map[string]string{".continue/config.yaml": "models: []"}, "OPENAI_MODEL=some-model")),
	} {
		assert.Empty(t, l.Files)
		assert.Contains(t, l.Notes[0], "it runs without carryon")
	}
}

// Copilot keeps GitHub's own tools.
func TestCopilotKeepsItsTools(t *testing.T) {
	t.Parallel()
	const variable = "GITHUB_MCP_URL_OVERRIDE"
	for command, want := range map[string]string{
		"copilot -p x": "https://api.githubcopilot.com/mcp/readonly", "copilot --enable-all-github-mcp-tools": "https://api.githubcopilot.com/mcp",
		"copilot --add-github-mcp-toolset=all": "https://api.githubcopilot.com/mcp",
	} {
		l := launch(command, false)
		assert.Equal(t, want, endpoint(t, l, l.Env[variable]))
	}
	for _, own := range []string{variable + "=https://a", "COPILOT_API_URL=http://a", "COPILOT_PROVIDER_BASE_URL=http://a"} {
		assert.NotContains(t, launch("copilot", false, own).Env, variable)
	}
}

func TestCopilotAtAnotherHost(t *testing.T) {
	t.Parallel()
	assert.Empty(t, launch("copilot", false, "GH_HOST=github.com").Notes)
	l := launch("copilot", false, "GH_HOST=corp.ghe.com")
	assert.Empty(t, l.Env)
	assert.Contains(t, l.Notes[0], "corp.ghe.com")
	l = launch("copilot", false, "GH_HOST=corp.ghe.com", "COPILOT_API_URL=http://a")
	assert.Equal(t, "http://a/models", endpoint(t, l, l.Env["COPILOT_API_URL"]+"/models"))
}

func TestPiGetsAnExtension(t *testing.T) {
	t.Parallel()
	u := at(t, map[string]string{".pi/agent/models.json": `{"providers": {"mine": {"baseUrl": "http://a/v1"}, "openai": {"baseUrl": "http://b/v1"}, "bare": {}}}`})
	l := launchOf("pi -p hello", false, u)
	code := fileOf(l, "--extension")
	for provider, base := range map[string]string{"mine": "http://a/v1", "openai": "http://b/v1", "anthropic": "https://api.anthropic.com"} {
		assert.Contains(t, code, `  pi.registerProvider("`+provider+`", { baseUrl: "`+root+`/to/`+provider+`" });`+"\n")
		assert.Equal(t, base, endpoint(t, l, root+"/to/"+provider))
	}
	assert.NotContains(t, code, "bare")
	assert.Empty(t, l.Notes)
	assert.Contains(t, launchOf("pi --model bare/m", false, u).Notes[0], `provider "bare"`)
	assert.Empty(t, launchOf("pi --model bare/m --provider mine", false, u).Notes)
}

// qwen-code's models have base URLs of their own, which override the environment.
func TestQwenKeepsItsProviders(t *testing.T) {
	t.Parallel()
	u := at(t, map[string]string{
		".qwen/settings.json": `{
			// written by /auth
			"env": {"PLAN": "http://plan"}, "model": {"name": "qwen3.5-plus"},
			"modelProviders": {
				"openai": [{"id": "a", "baseUrl": "${PLAN}/v1", "envKey": "K"}, {"id": "b", "baseUrl": "http://b/v1"}, {"id": "c"}],
				"anthropic": [{"id": "d", "baseUrl": "http://d"}]
			}
		}`,
		"system.json": `{"ui": {"theme": "dark"}, "tools": {"shell": {"pager": "cat"}}}`,
	}, "QWEN_CODE_SYSTEM_SETTINGS_PATH=~/system.json")
	l := launchOf("qwen -p x", true, u)
	var settings struct {
		UI             map[string]string
		Tools          map[string]map[string]any
		ModelProviders map[string][]map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(fileOf(l, "QWEN_CODE_SYSTEM_SETTINGS_PATH")), &settings))
	assert.Equal(t, "dark", settings.UI["theme"])
	assert.Equal(t, map[string]map[string]any{"shell": {"pager": "cat"}, "todoWrite": {"enabled": true}}, settings.Tools)
	models := settings.ModelProviders["openai"]
	require.Len(t, models, 3)
	assert.Equal(t, "http://plan/v1", endpoint(t, l, models[0]["baseUrl"]))
	assert.Equal(t, "K", models[0]["envKey"])
	assert.Equal(t, "http://b/v1", endpoint(t, l, models[1]["baseUrl"]))
	assert.Equal(t, map[string]string{"id": "c"}, models[2])
	assert.Equal(t, "http://d", endpoint(t, l, settings.ModelProviders["anthropic"][0]["baseUrl"]))
	assert.NotContains(t, fileOf(launchOf("qwen -p x", false, u), "QWEN_CODE_SYSTEM_SETTINGS_PATH"), "todoWrite")

	const provider = `{"modelProviders": {"openai": [{"id": "a", "baseUrl": "http://NAME"}]}}`
	l = launchOf("qwen", false, at(t, map[string]string{
		".qwen/settings.json": strings.Replace(provider, "NAME", "user", 1), "./.qwen/settings.json": strings.Replace(provider, "NAME", "project", 1),
	}))
	assert.Equal(t, "http://project", endpoint(t, l, root+"/to/openai"))
	assert.NotContains(t, fileOf(l, "QWEN_CODE_SYSTEM_SETTINGS_PATH"), "openai-2")
}

func TestListIsTurnedOnForOneRun(t *testing.T) {
	t.Parallel()
	assert.JSONEq(t, `{"tools":{"todoWrite":{"enabled":true}}}`, fileOf(launch("qwen -p x", true), "QWEN_CODE_SYSTEM_SETTINGS_PATH"))
	assert.Empty(t, launch("qwen -p x", false).Files)
	assert.Equal(t, "1", launch("claude -p x", true).Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"])
	assert.NotContains(t, launch("claude -p x", true).Env, "CLAUDE_CODE_ENABLE_TASKS")
	assert.NotContains(t, launch("claude -p x", false).Env, "CLAUDE_CODE_ENABLE_TODO_TOOLS")
	a, _ := agent.Of([]string{"claude"})
	assert.True(t, a.HasListSetting())
	a, _ = agent.Of([]string{"opencode"})
	assert.False(t, a.HasListSetting())
}

// gemini-cli asks one of three services, and keeps the base URLs that it has.
func TestGemini(t *testing.T) {
	t.Parallel()
	u := at(t, map[string]string{
		".gemini/.env":          "GOOGLE_CLOUD_LOCATION=europe-west1\n",
		".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}} // mine`,
	}, "CODE_ASSIST_ENDPOINT=https://assist.example/")
	l := launchOf("gemini -p hello", false, u)
	assert.Empty(t, l.Notes)
	assert.Equal(t, "https://generativelanguage.googleapis.com", endpoint(t, l, l.Env["GOOGLE_GEMINI_BASE_URL"]))
	assert.Equal(t, "https://europe-west1-aiplatform.googleapis.com", endpoint(t, l, l.Env["GOOGLE_VERTEX_BASE_URL"]))
	assert.Equal(t, "https://assist.example", endpoint(t, l, l.Env["CODE_ASSIST_ENDPOINT"]))
	assert.Equal(t, []string{"gemini", "-p", "hello"}, l.Args)

	l = launchOf("gemini", false, at(t, map[string]string{"./.env": "A=b", ".gemini/.env": "CODE_ASSIST_ENDPOINT=http://a"}))
	assert.Equal(t, "https://cloudcode-pa.googleapis.com", endpoint(t, l, l.Env["CODE_ASSIST_ENDPOINT"]), "only the nearest file counts")

	assert.Contains(t, launchOf("gemini -p hello", true, u).Notes[0], "taskTracker")
	a, _ := agent.Of([]string{"gemini"})
	assert.NotContains(t, a.ListAdvice(), "-list")
	a, _ = agent.Of([]string{"qwen"})
	assert.Contains(t, a.ListAdvice(), "-list")
}

// Without a chosen login, the variable of the base URL would choose one.
func TestGeminiWithoutALogin(t *testing.T) {
	t.Parallel()
	for _, u := range []agent.User{user("GEMINI_API_KEY=k"), at(t, map[string]string{"./.env": "GEMINI_API_KEY=k", ".gemini/settings.json": `{"security":{`})} {
		l := launchOf("gemini -p hello", false, u)
		assert.NotContains(t, l.Env, "GOOGLE_GEMINI_BASE_URL")
		assert.Contains(t, l.Env, "CODE_ASSIST_ENDPOINT")
		require.Len(t, l.Notes, 1)
		assert.Contains(t, l.Notes[0], "it runs without carryon")
	}
	l := launch("gemini -p hello", false) // it says itself that there is no login
	assert.NotContains(t, l.Env, "GOOGLE_GEMINI_BASE_URL")
	assert.Empty(t, l.Notes)
	for _, u := range []agent.User{
		user("GOOGLE_GENAI_USE_GCA=true"), user("GOOGLE_GENAI_USE_VERTEXAI=true"), user("GOOGLE_GEMINI_BASE_URL=http://a"),
		at(t, map[string]string{"./.gemini/settings.json": `{"security":{"auth":{"selectedType":"vertex-ai"}}}`}),
	} {
		l := launchOf("gemini -p hello", false, u)
		assert.Contains(t, l.Env, "GOOGLE_GEMINI_BASE_URL")
		assert.Empty(t, l.Notes)
	}
}

func TestGeminiOnVertex(t *testing.T) {
	t.Parallel()
	for variables, want := range map[string]string{
		"": "https://aiplatform.googleapis.com", "GOOGLE_CLOUD_LOCATION=global": "https://aiplatform.googleapis.com",
		"GOOGLE_CLOUD_LOCATION=us-east1": "https://us-east1-aiplatform.googleapis.com", "GOOGLE_CLOUD_LOCATION=eu": "https://aiplatform.eu.rep.googleapis.com",
		"GOOGLE_CLOUD_LOCATION=us-east1 GOOGLE_API_KEY=k": "https://aiplatform.googleapis.com",
	} {
		l := launch("gemini", false, append(strings.Fields(variables), "GOOGLE_GENAI_USE_VERTEXAI=true")...)
		assert.Equal(t, want, endpoint(t, l, l.Env["GOOGLE_VERTEX_BASE_URL"]), variables)
	}
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

func TestHowAProgramEnds(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 3": 3, "kill -9 $$": 137} {
		code, err := agent.Launch{Args: []string{"sh", "-c", script}}.Run(os.Environ())
		require.NoError(t, err)
		assert.Equal(t, want, code)
	}
	_, err := agent.Launch{Args: []string{"no-such-program"}}.Run(os.Environ())
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
