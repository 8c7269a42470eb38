package main

import "strings"

// agentsWithKey are agents that ask an endpoint with a key.
var agentsWithKey = []agent{ //nolint:gochecknoglobals // a table
	{
		name: "Claude Code, its tasks", pkg: "@anthropic-ai/claude-code", protocol: messages, list: true,
		command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
		alone:   []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
	},
	{
		name: "Claude Code, TodoWrite", pkg: "@anthropic-ai/claude-code", protocol: messages,
		command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
		env:     []string{"CLAUDE_CODE_ENABLE_TASKS=0", "CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
	},
	{
		name: "Codex, gpt-5", pkg: "@openai/codex", protocol: responses, list: true,
		command: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5", task},
		direct: []string{
			"codex", "-c", `openai_base_url="{URL}"`, "-c", "tools.update_plan.enabled=true",
			"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5", task,
		},
		env: []string{"CODEX_API_KEY=sk-none"},
	},
	{
		name: "qwen-code", pkg: "@qwen-code/qwen-code", protocol: chat, list: true,
		command: []string{"qwen", "-p", task, "--yolo", "--auth-type", "openai"},
		alone:   []string{"QWEN_CODE_SYSTEM_SETTINGS_PATH={HOME}/list.json"},
		home:    map[string]string{"list.json": qwenList},
	},
	{
		name: "gemini-cli, Gemini 2", pkg: "@google/gemini-cli", protocol: gemini,
		command: []string{"gemini", "--skip-trust", "--yolo", "-m", "gemini-2.5-pro", "-p", task},
		env:     []string{"GEMINI_API_KEY=" + geminiKey},
		alone:   []string{"GOOGLE_GEMINI_BASE_URL={URL}"},
		home:    map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`},
	},
	{
		name: "opencode, any endpoint", pkg: "opencode-ai", protocol: chat,
		command: []string{"opencode", "run", "-m", "carryon/some-model", task},
		alone:   []string{opencodeAt("carryon", "some-model", "@ai-sdk/openai-compatible")},
	},
	{
		name: "opencode, openai", pkg: "opencode-ai", protocol: responses,
		command: []string{"opencode", "run", "-m", "openai/gpt-5", task},
		alone:   []string{opencodeAt("openai", "gpt-5", "@ai-sdk/openai")},
	},
	{
		name: "opencode, anthropic", pkg: "opencode-ai", protocol: messages,
		command: []string{"opencode", "run", "-m", "anthropic/claude-sonnet-4-5", task},
		alone:   []string{opencodeAt("anthropic", "claude-sonnet-4-5", "@ai-sdk/anthropic")},
	},
	{
		name: "continue", pkg: "@continuedev/cli", protocol: chat,
		command: []string{"cn", "-p", task, "--auto"},
		direct:  []string{"cn", "-p", task, "--auto", "--config", "{HOME}/direct.yaml"},
		home: map[string]string{"direct.yaml": "name: direct\nversion: 1.0.0\nschema: v1\nmodels:\n" +
			"  - {name: m, provider: openai, model: some-model, apiBase: '{URL}', apiKey: sk-none, capabilities: [tool_use]}\n"},
	},
	{
		name: "pi, its todo extension", pkg: "@mariozechner/pi-coding-agent", protocol: responses,
		command: []string{"pi", "-e", piTodo, "--provider", "openai", "--model", "gpt-5", "--offline", "-p", task},
		home:    map[string]string{".pi/agent/models.json": `{"providers":{"openai":{"baseUrl":"{URL}"}}}`},
	},
	{
		name: "Copilot CLI, own key", pkg: "@github/copilot", protocol: chat,
		command: []string{"copilot", "-p", task, "--allow-all-tools"},
		env:     []string{"COPILOT_PROVIDER_BASE_URL={URL}", "COPILOT_MODEL=some-model", "COPILOT_PROVIDER_API_KEY=sk-none", "COPILOT_OFFLINE=true"},
	},
	{
		name: "Copilot CLI, own key, responses", pkg: "@github/copilot", protocol: responses,
		command: []string{"copilot", "-p", task, "--allow-all-tools"},
		env: []string{
			"COPILOT_PROVIDER_BASE_URL={URL}", "COPILOT_MODEL=some-model", "COPILOT_PROVIDER_API_KEY=sk-none", "COPILOT_OFFLINE=true",
			"COPILOT_PROVIDER_WIRE_API=responses",
		},
	},
	{
		name: "kilo, any endpoint", pkg: "@kilocode/cli", protocol: chat,
		command: []string{"kilo", "run", "--auto", "-m", "carryon/some-model", task},
		alone:   []string{strings.Replace(opencodeAt("carryon", "some-model", "@ai-sdk/openai-compatible"), "OPENCODE", "KILO", 1)},
	},
}

// opencodeAt is the variable that tells opencode where a provider is.
func opencodeAt(provider, model, pkg string) string {
	return "OPENCODE_CONFIG_CONTENT=" + `{"provider":{"` + provider + `":{"npm":"` + pkg + `",` +
		`"options":{"baseURL":"{URL}","apiKey":"sk-none"},"models":{"` + model + `":{}}}}}`
}

// frameworks are the agents that this folder makes with JavaScript frameworks.
var frameworks = []agent{ //nolint:gochecknoglobals // a table
	{name: "AI SDK, openai()", pkg: "ai", protocol: responses, command: []string{"node", "{AGENTS}/aisdk.mjs", "responses", task}},
	{name: "AI SDK, anthropic()", pkg: "ai", protocol: messages, command: []string{"node", "{AGENTS}/aisdk.mjs", "messages", task}},
	{name: "AI SDK, openai-compatible", pkg: "ai", protocol: chat, command: []string{"node", "{AGENTS}/aisdk.mjs", "chat", task}},
	{name: "OpenAI Agents", pkg: "@openai/agents", protocol: responses, command: []string{"node", "{AGENTS}/openai-agents.mjs", "responses", task}},
	{name: "OpenAI Agents, chat", pkg: "@openai/agents", protocol: chat, command: []string{"node", "{AGENTS}/openai-agents.mjs", "chat", task}},
	{name: "deepagents, unary", pkg: "deepagents", protocol: chat, command: []string{"node", "{AGENTS}/deepagents.mjs", "chat", task}},
	{name: "deepagents, useResponsesApi, unary", pkg: "deepagents", protocol: responses, command: []string{"node", "{AGENTS}/deepagents.mjs", "responses", task}},
	{name: "Mastra", pkg: "@mastra/core", protocol: chat, command: []string{"node", "{AGENTS}/mastra.mjs", "chat", task}},
}

// goAgents are the agents that this folder builds from Go modules.
var goAgents = []agent{ //nolint:gochecknoglobals // a table
	{name: "eino deep agent, stream", pkg: "github.com/cloudwego/eino", protocol: chat, command: []string{"eino", "stream", task}},
	{name: "eino deep agent, unary", pkg: "github.com/cloudwego/eino", protocol: chat, command: []string{"eino", "unary", task}},
}
