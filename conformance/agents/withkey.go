package main

// agentsWithKey are agents whose users have a key, or chose what is not the default.
var agentsWithKey = []agent{ //nolint:gochecknoglobals // a table
	{
		name: "Claude Code, TodoWrite", pkg: "@anthropic-ai/claude-code", protocol: messages,
		command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
		env:     []string{"ANTHROPIC_API_KEY=" + anthropicKey, "CLAUDE_CODE_ENABLE_TASKS=0", "CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
	},
	{
		name: "Claude Code, API key", pkg: "@anthropic-ai/claude-code", protocol: messages, company: true, list: true,
		command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
		env:     []string{"ANTHROPIC_API_KEY=" + anthropicKey},
		alone:   []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
	},
	{
		name: "Claude Code", pkg: "@anthropic-ai/claude-code", protocol: messages, plain: true, list: true,
		command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
		env:     []string{"ANTHROPIC_API_KEY=" + anthropicKey, "ANTHROPIC_BASE_URL={ROOT}"},
		alone:   []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
	},
	{
		name: "Codex, gpt-5", pkg: "@openai/codex", protocol: responses, list: true,
		command: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5", task},
		env:     []string{"CODEX_API_KEY=" + openAIKey},
		alone:   []string{"CODEX_HOME={HOME}/list"},
		home:    map[string]string{"list/config.toml": codexList},
	},
	{
		name: "gemini-cli, Gemini 2", pkg: "@google/gemini-cli", protocol: gemini,
		command: []string{"gemini", "--skip-trust", "--yolo", "-m", "gemini-2.5-pro", "-p", task},
		env:     []string{"GEMINI_API_KEY=" + geminiKey},
		home:    map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`},
	},
	{
		name: "gemini-cli, key alone", pkg: "@google/gemini-cli", protocol: gemini,
		command: []string{"gemini", "--skip-trust", "--yolo", "-p", task},
		env:     []string{"GEMINI_API_KEY=" + geminiKey},
		home:    map[string]string{".gemini/settings.json": `{"experimental":{"taskTracker":true}}`},
	},
	{
		name: "opencode, a key of OpenAI's", pkg: "opencode-ai", protocol: responses,
		command: []string{"opencode", "run", "-m", "openai/gpt-5", task},
		env:     []string{"OPENAI_API_KEY=" + openAIKey},
	},
	{
		name: "continue, a key", pkg: "@continuedev/cli", protocol: chat,
		command: []string{"cn", "-p", task, "--auto"},
		home: map[string]string{".continue/config.yaml": "name: mine\nversion: 1.0.0\nschema: v1\nmodels:\n" +
			"  - {name: m, provider: openai, model: some-model, apiKey: " + openAIKey + ", capabilities: [tool_use]}\n"},
	},
	{
		name: "pi, API key", pkg: "@earendil-works/pi-coding-agent", protocol: responses, company: true,
		command: []string{"pi", "-e", piTodo, "--model", "openai/gpt-5", "-p", task},
		env:     []string{"OPENAI_API_KEY=" + openAIKey},
	},
	{
		name: "Copilot CLI, own key", pkg: "@github/copilot", protocol: chat, plain: true,
		command: []string{"copilot", "-p", task, "--allow-all-tools"},
		env:     []string{"COPILOT_PROVIDER_BASE_URL={URL}", "COPILOT_MODEL=some-model", "COPILOT_PROVIDER_API_KEY=sk-none", "COPILOT_OFFLINE=true"},
	},
	{
		name: "Copilot CLI, own key, responses", pkg: "@github/copilot", protocol: responses,
		command: []string{"copilot", "-p", task, "--allow-all-tools"},
		env: []string{
			"COPILOT_PROVIDER_BASE_URL=https://llm.example.com/v1", "COPILOT_MODEL=some-model", "COPILOT_PROVIDER_API_KEY=" + planKey,
			"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_WIRE_API=responses",
		},
	},
}

// plainEnv is the environment of somebody with an endpoint in plain HTTP.
var plainEnv = []string{ //nolint:gochecknoglobals // constant
	"OPENAI_API_KEY=sk-none", "ANTHROPIC_API_KEY=sk-ant-none", "OPENAI_MODEL=some-model", "OPENAI_BASE_URL={URL}", "ANTHROPIC_BASE_URL={ROOT}",
}

// frameworks are the agents that this folder makes with JavaScript frameworks.
var frameworks = []agent{ //nolint:gochecknoglobals // a table
	{name: "AI SDK, openai()", pkg: "ai", protocol: responses, plain: true, env: plainEnv, command: []string{"node", "{AGENTS}/aisdk.mjs", "responses", task}},
	{name: "AI SDK, anthropic()", pkg: "ai", protocol: messages, plain: true, env: plainEnv, command: []string{"node", "{AGENTS}/aisdk.mjs", "messages", task}},
	{name: "AI SDK, openai-compatible", pkg: "ai", protocol: chat, plain: true, env: plainEnv, command: []string{"node", "{AGENTS}/aisdk.mjs", "chat", task}},
	{name: "OpenAI Agents", pkg: "@openai/agents", protocol: responses, plain: true, env: plainEnv, command: []string{"node", "{AGENTS}/openai-agents.mjs", "responses", task}},
	{name: "OpenAI Agents, chat", pkg: "@openai/agents", protocol: chat, plain: true, env: plainEnv, command: []string{"node", "{AGENTS}/openai-agents.mjs", "chat", task}},
	{name: "deepagents, unary", pkg: "deepagents", protocol: chat, plain: true, env: plainEnv, command: []string{"node", "{AGENTS}/deepagents.mjs", "chat", task}},
	{name: "deepagents, useResponsesApi, unary", pkg: "deepagents", protocol: responses, plain: true, env: plainEnv, command: []string{"node", "{AGENTS}/deepagents.mjs", "responses", task}},
	{name: "Mastra", pkg: "@mastra/core", protocol: chat, plain: true, env: plainEnv, command: []string{"node", "{AGENTS}/mastra.mjs", "chat", task}},
}

// goAgents are the agents that this folder builds from Go modules.
var goAgents = []agent{ //nolint:gochecknoglobals // a table
	{name: "eino deep agent, stream", pkg: "github.com/cloudwego/eino", protocol: chat, plain: true, env: plainEnv, command: []string{"eino", "stream", task}},
	{name: "eino deep agent, unary", pkg: "github.com/cloudwego/eino", protocol: chat, plain: true, env: plainEnv, command: []string{"eino", "unary", task}},
}
