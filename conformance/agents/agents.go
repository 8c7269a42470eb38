package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// agent is an agent to run.
type agent struct {
	name, protocol string
	pkg            string                    // the npm package, or the Go module that the agent's folder requires
	command        []string                  // the arguments of "carryon run"
	direct         func(url string) []string // the command without carryon; nil if it is the same
	list           bool                      // it needs "carryon run -list" to keep a list
	env            []string                  // variables that the user has set
	alone          []string                  // more variables for the run without carryon
	home           map[string]string         // files in the user's home
	vendors        bool                      // it runs as most people run it: with a login, a default model and the vendor's own endpoint
	before         bool                      // it has run before, without carryon
	terminal       bool                      // it runs in a terminal, until the model has nothing more to do
}

// kind says how the agent runs.
func (a agent) kind() string {
	switch {
	case a.terminal:
		return "as its user runs it, in a terminal"
	case a.vendors:
		return "as its user runs it"
	}
	return "with `-upstream` and a key"
}

// goAgents returns the agents that this folder builds from Go modules.
func goAgents() []agent {
	const module = "github.com/cloudwego/eino"
	return []agent{
		{name: "eino deep agent, stream", pkg: module, protocol: chat, command: []string{"eino", "stream", task}},
		{name: "eino deep agent, unary", pkg: module, protocol: chat, command: []string{"eino", "unary", task}},
	}
}

// The protocols.
const (
	chat      = "Chat Completions"
	responses = "Responses"
	messages  = "Messages"
)

// npmAgents returns the agents that npm installs.
func npmAgents() []agent {
	return slices.Concat(
		asMost(), []agent{claude(), claudeWithTodoWrite(), codex(), qwen()}, opencode(), []agent{continueDev(), pi()}, copilot(), frameworks())
}

// asMost returns agents as most people run them: nothing but a login and the agent's defaults.
func asMost() []agent { //nolint:revive // a table
	exec := []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task}
	return []agent{
		{
			name: "Codex, ChatGPT login", pkg: "@openai/codex", protocol: responses, list: true, vendors: true, command: exec,
			alone: []string{"CODEX_HOME={HOME}/list"},
			home:  map[string]string{".codex/auth.json": chatGPTLogin(account), "list/auth.json": chatGPTLogin(account), "list/config.toml": "[tools.update_plan]\nenabled = true\n"},
		},
		{
			name: "Codex, ChatGPT workspace in a region", pkg: "@openai/codex", protocol: responses, list: true, vendors: true, command: exec,
			alone: []string{"CODEX_HOME={HOME}/list"},
			home:  map[string]string{".codex/auth.json": chatGPTLogin(regional), "list/auth.json": chatGPTLogin(regional), "list/config.toml": "[tools.update_plan]\nenabled = true\n"},
		},
		{
			name: "Codex, API key login", pkg: "@openai/codex", protocol: responses, list: true, vendors: true, command: exec,
			alone: []string{"CODEX_HOME={HOME}/list"},
			home:  map[string]string{".codex/auth.json": apiKeyLogin, "list/auth.json": apiKeyLogin, "list/config.toml": "[tools.update_plan]\nenabled = true\n"},
		},
		{
			name: "Claude Code, subscription", pkg: "@anthropic-ai/claude-code", protocol: messages, list: true, vendors: true,
			command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
			env:     []string{"CLAUDE_CODE_OAUTH_TOKEN=" + claudeToken}, alone: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
		},
		{
			name: "Claude Code, API key", pkg: "@anthropic-ai/claude-code", protocol: messages, list: true, vendors: true,
			command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
			env:     []string{"ANTHROPIC_API_KEY=" + anthropicKey}, alone: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
		},
		{
			name: "Claude Code, subscription", pkg: "@anthropic-ai/claude-code", protocol: messages, list: true, vendors: true, terminal: true,
			command: []string{"claude", task, "--permission-mode", "acceptEdits"}, home: map[string]string{".claude.json": claudeState},
			env: []string{"CLAUDE_CODE_OAUTH_TOKEN=" + claudeToken}, alone: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
		},
		{
			name: "Codex, ChatGPT login", pkg: "@openai/codex", protocol: responses, list: true, vendors: true, terminal: true,
			command: []string{"codex", "--dangerously-bypass-approvals-and-sandbox", task},
			alone:   []string{"CODEX_HOME={HOME}/list"},
			home: map[string]string{
				".codex/auth.json": chatGPTLogin(account), ".codex/config.toml": trusted, "list/auth.json": chatGPTLogin(account),
				"list/config.toml": trusted + "[tools.update_plan]\nenabled = true\n",
			},
		},
		{
			name: "Codex, ChatGPT login, its server still runs", pkg: "@openai/codex", protocol: responses, list: true, vendors: true, terminal: true, before: true,
			command: []string{"codex", "--dangerously-bypass-approvals-and-sandbox", task},
			home:    map[string]string{".codex/auth.json": chatGPTLogin(account), ".codex/config.toml": trusted + "[tools.update_plan]\nenabled = true\n"},
		},
		{
			name: "opencode, its free model", pkg: "opencode-ai", protocol: chat, vendors: true, command: []string{"opencode", "run", task},
		},
		{
			name: "Copilot CLI, GitHub login", pkg: "@github/copilot", protocol: messages, vendors: true,
			command: []string{"copilot", "-p", task, "--allow-all-tools"}, env: []string{"COPILOT_GITHUB_TOKEN=" + githubToken},
		},
		{
			name: "Copilot CLI, GitHub login, GPT", pkg: "@github/copilot", protocol: responses, vendors: true,
			command: []string{"copilot", "-p", task, "--allow-all-tools", "--model", "gpt-6.1"}, env: []string{"COPILOT_GITHUB_TOKEN=" + githubToken},
		},
		{
			name: "Copilot CLI, GitHub login, company", pkg: "@github/copilot", protocol: messages, vendors: true,
			command: []string{"copilot", "-p", task, "--allow-all-tools"}, env: []string{"COPILOT_GITHUB_TOKEN=" + companyToken},
		},
		{
			name: "qwen-code, Coding Plan", pkg: "@qwen-code/qwen-code", protocol: chat, list: true, vendors: true,
			command: []string{"qwen", "-p", task, "--yolo"}, home: map[string]string{
				".qwen/settings.json": qwenSettings, "list.json": `{"tools":{"todoWrite":{"enabled":true}}}`,
			},
			alone: []string{"QWEN_CODE_SYSTEM_SETTINGS_PATH={HOME}/list.json"},
		},
		{
			name: "Claude Code, another endpoint in its settings", pkg: "@anthropic-ai/claude-code", protocol: messages, list: true, vendors: true,
			command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"}, alone: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
			home: map[string]string{".claude/settings.json": `{"env":{"ANTHROPIC_BASE_URL":"https://api.z.ai/api/anthropic","ANTHROPIC_AUTH_TOKEN":"` + planKey + `"}}`},
		},
		{
			name: "Codex, another provider", pkg: "@openai/codex", protocol: responses, list: true, vendors: true, command: exec,
			env: []string{"OTHER_API_KEY=" + planKey}, alone: []string{"CODEX_HOME={HOME}/list"},
			home: map[string]string{
				".codex/config.toml": otherProvider, "list/config.toml": otherProvider + "[tools.update_plan]\nenabled = true\n",
			},
		},
		{
			name: "opencode, a key of Anthropic's", pkg: "opencode-ai", protocol: messages, vendors: true, command: []string{"opencode", "run", "-m", "anthropic/claude-sonnet-4-6", task},
			home: map[string]string{".local/share/opencode/auth.json": `{"anthropic":{"type":"api","key":"` + anthropicKey + `"}}`},
		},
		{
			name: "opencode, a provider of its configuration", pkg: "opencode-ai", protocol: chat, vendors: true, command: []string{"opencode", "run", task},
			env: []string{"OTHER_API_KEY=" + planKey},
			home: map[string]string{".config/opencode/opencode.jsonc": `{"model": "other/some-model", // mine
				"provider": {"other": {"npm": "@ai-sdk/openai-compatible", "models": {"some-model": {}},
					"options": {"baseURL": "https://llm.example.com/v1", "apiKey": "{env:OTHER_API_KEY}"}}}}`},
		},
		{
			name: "pi, API key", pkg: "@mariozechner/pi-coding-agent", protocol: messages, vendors: true,
			command: []string{"pi", "-e", piTodo, "--provider", "anthropic", "-p", task}, env: []string{"ANTHROPIC_API_KEY=" + anthropicKey},
		},
		{
			name: "kilo, its free model", pkg: "@kilocode/cli", protocol: chat, vendors: true, command: []string{"kilo", "run", "--auto", task},
		},
	}
}

const (
	otherProvider = "model = \"gpt-5.5\"\nmodel_provider = \"other\"\n" +
		"[model_providers.other]\nname = \"other\"\nbase_url = \"https://llm.example.com/v1\"\nenv_key = \"OTHER_API_KEY\"\nwire_api = \"responses\"\n"
	trusted     = "[projects.\"{HOME}\"]\ntrust_level = \"trusted\"\n"
	claudeState = `{"hasCompletedOnboarding":true,"theme":"dark","bypassPermissionsModeAccepted":true,` +
		`"projects":{"{HOME}":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}`
)

// chatGPTLogin returns the file with which Codex knows an account.
func chatGPTLogin(account string) string {
	token := chatGPTToken(account)
	return toJSON(map[string]any{
		"auth_mode": "chatgpt", "OPENAI_API_KEY": nil, "last_refresh": time.Now().UTC().Format(time.RFC3339),
		"tokens": map[string]string{"id_token": token, "access_token": token, "refresh_token": "rt_none", "account_id": account},
	})
}

// The files with which agents know who their user is.
var (
	apiKeyLogin  = toJSON(map[string]any{"auth_mode": "apikey", "OPENAI_API_KEY": openAIKey}) //nolint:gochecknoglobals // constant
	qwenSettings = toJSON(map[string]any{                                                     //nolint:gochecknoglobals // constant
		"env": map[string]string{"BAILIAN_CODING_PLAN_API_KEY": planKey},
		"modelProviders": map[string]any{"openai": []map[string]string{{
			"id": "qwen3.5-plus", "name": "Qwen 3.5 Plus", "baseUrl": "https://coding.dashscope.aliyuncs.com/v1", "envKey": "BAILIAN_CODING_PLAN_API_KEY",
		}}},
		"security": map[string]any{"auth": map[string]string{"selectedType": "openai"}}, "model": map[string]string{"name": "qwen3.5-plus"},
		"$version": 3,
	})
)

// frameworks returns the agents that this folder builds with JavaScript frameworks.
func frameworks() []agent {
	program := func(name, pkg, protocol, file, mode string) agent {
		return agent{name: name, pkg: pkg, protocol: protocol, command: []string{"node", "{AGENTS}/" + file, mode, task}}
	}
	return []agent{
		program("AI SDK, openai()", "ai", responses, "aisdk.mjs", "responses"),
		program("AI SDK, anthropic()", "ai", messages, "aisdk.mjs", "messages"),
		program("AI SDK, openai-compatible", "ai", chat, "aisdk.mjs", "chat"),
		program("OpenAI Agents", "@openai/agents", responses, "openai-agents.mjs", "responses"),
		program("OpenAI Agents, chat", "@openai/agents", chat, "openai-agents.mjs", "chat"),
		program("deepagents, unary", "deepagents", chat, "deepagents.mjs", "chat"),
		program("deepagents, useResponsesApi, unary", "deepagents", responses, "deepagents.mjs", "responses"),
		program("Mastra", "@mastra/core", chat, "mastra.mjs", "chat"),
	}
}

func claude() agent {
	return agent{
		name: "Claude Code, its tasks", pkg: "@anthropic-ai/claude-code", protocol: messages, list: true,
		command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
		alone:   []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
	}
}

func claudeWithTodoWrite() agent {
	return agent{
		name: "Claude Code, TodoWrite", pkg: "@anthropic-ai/claude-code", protocol: messages,
		command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
		env:     []string{"CLAUDE_CODE_ENABLE_TASKS=0", "CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
	}
}

func qwen() agent {
	return agent{
		name: "qwen-code", pkg: "@qwen-code/qwen-code", protocol: chat, list: true,
		command: []string{"qwen", "-p", task, "--yolo", "--auth-type", "openai"},
		alone:   []string{"QWEN_CODE_SYSTEM_SETTINGS_PATH={HOME}/settings.json"},
		home:    map[string]string{"settings.json": `{"tools":{"todoWrite":{"enabled":true}}}`},
	}
}

func codex() agent {
	exec := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5", task}
	return agent{
		name: "Codex, gpt-5", pkg: "@openai/codex", protocol: responses, list: true, env: []string{"CODEX_API_KEY=sk-none"},
		command: append([]string{"codex"}, exec...),
		direct: func(url string) []string {
			return append([]string{
				"codex", "-c", `model_provider="direct"`, "-c", `model_providers.direct.name="direct"`,
				"-c", fmt.Sprintf("model_providers.direct.base_url=%q", url), "-c", `model_providers.direct.env_key="OPENAI_API_KEY"`,
				"-c", `model_providers.direct.wire_api="responses"`, "-c", "tools.update_plan.enabled=true",
			}, exec...)
		},
	}
}

// opencode returns an agent for each of opencode's protocols, and one for any endpoint.
func opencode() []agent {
	provider := func(name, protocol, model, pkg string) agent {
		command := []string{"opencode", "run", "-m", model, task}
		return agent{
			name: name, pkg: "opencode-ai", protocol: protocol, command: command,
			direct: func(url string) []string {
				provider, model, _ := strings.Cut(model, "/")
				return append([]string{"env", "OPENCODE_CONFIG_CONTENT=" + toJSON(map[string]any{"provider": map[string]any{provider: map[string]any{
					"npm": pkg, "options": map[string]any{"baseURL": url, "apiKey": "sk-none"},
					"models": map[string]any{model: map[string]any{}},
				}}})}, command...)
			},
		}
	}
	return []agent{
		provider("opencode, any endpoint", chat, "carryon/some-model", "@ai-sdk/openai-compatible"),
		provider("opencode, openai", responses, "openai/gpt-5", "@ai-sdk/openai"),
		provider("opencode, anthropic", messages, "anthropic/claude-sonnet-4-5", "@ai-sdk/anthropic"),
	}
}

func continueDev() agent {
	return agent{
		name: "continue", pkg: "@continuedev/cli", protocol: chat, command: []string{"cn", "-p", task, "--auto"},
		direct: func(url string) []string {
			config := toJSON(map[string]any{
				"name": "direct", "version": "1.0.0", "schema": "v1", "models": []map[string]any{{
					"name": "m", "provider": "openai", "model": "some-model", "apiBase": url, "apiKey": "sk-none", "capabilities": []string{"tool_use"},
				}},
			})
			return []string{"sh", "-c", fmt.Sprintf(`echo '%s' >config.yaml; exec cn -p "$0" --auto --config config.yaml`, config), task}
		},
	}
}

// piTodo is an extension that brings a todo list.
const piTodo = "{AGENTS}/node_modules/@mariozechner/pi-coding-agent/examples/extensions/todo.ts"

// pi runs with the todo list from its example extension.
func pi() agent {
	return agent{
		name: "pi, its todo extension", pkg: "@mariozechner/pi-coding-agent", protocol: responses,
		command: []string{"pi", "-e", piTodo, "--provider", "openai", "--model", "gpt-5", "--offline", "-p", task},
		direct: func(url string) []string {
			script := fmt.Sprintf(`echo 'export default (pi) => pi.registerProvider("openai", { baseUrl: %q });' >direct.ts; exec pi -e direct.ts "$@"`, url)
			return []string{"sh", "-c", script, "pi", "-e", piTodo, "--provider", "openai", "--model", "gpt-5", "--offline", "-p", task}
		},
	}
}

func copilot() []agent {
	command := []string{"copilot", "-p", task, "--allow-all-tools"}
	env := []string{"COPILOT_PROVIDER_BASE_URL={URL}", "COPILOT_MODEL=some-model", "COPILOT_PROVIDER_API_KEY=sk-none", "COPILOT_OFFLINE=true"}
	return []agent{
		{name: "Copilot CLI, own key", pkg: "@github/copilot", protocol: chat, command: command, env: env},
		{
			name: "Copilot CLI, own key, responses", pkg: "@github/copilot", protocol: responses, command: command,
			env: append(slices.Clone(env), "COPILOT_PROVIDER_WIRE_API=responses"),
		},
	}
}
