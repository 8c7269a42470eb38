package main

// agentsWithLogin are agents as most people run them: nothing but a login and the agent's defaults.
var agentsWithLogin = []agent{ //nolint:gochecknoglobals // a table
	{
		name: "Codex, ChatGPT login", pkg: "@openai/codex", protocol: responses, list: true,
		command:  []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task},
		terminal: []string{"codex", "--dangerously-bypass-approvals-and-sandbox", task},
		alone:    []string{"CODEX_HOME={HOME}/list"},
		home: map[string]string{
			".codex/auth.json": chatGPTLogin(account), ".codex/config.toml": codexTrust,
			"list/auth.json": chatGPTLogin(account), "list/config.toml": codexTrust + codexList,
		},
	},
	{
		name: "Codex, ChatGPT login, its server still runs", pkg: "@openai/codex", protocol: responses, list: true, before: true,
		terminal: []string{"codex", "--dangerously-bypass-approvals-and-sandbox", task},
		home:     map[string]string{".codex/auth.json": chatGPTLogin(account), ".codex/config.toml": codexTrust + codexList},
	},
	{
		name: "Codex, ChatGPT workspace in a region", pkg: "@openai/codex", protocol: responses, list: true,
		command: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task},
		alone:   []string{"CODEX_HOME={HOME}/list"},
		home: map[string]string{
			".codex/auth.json": chatGPTLogin(regional), "list/auth.json": chatGPTLogin(regional), "list/config.toml": codexList,
		},
	},
	{
		name: "Codex, API key login", pkg: "@openai/codex", protocol: responses, list: true,
		command: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task},
		alone:   []string{"CODEX_HOME={HOME}/list"},
		home:    map[string]string{".codex/auth.json": codexKeyLogin, "list/auth.json": codexKeyLogin, "list/config.toml": codexList},
	},
	{
		name: "Codex, another provider", pkg: "@openai/codex", protocol: responses, list: true, flags: []string{"-model-host", "llm.example.com"},
		command: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task},
		env:     []string{"OTHER_API_KEY=" + planKey},
		alone:   []string{"CODEX_HOME={HOME}/list"},
		home:    map[string]string{".codex/config.toml": codexProvider, "list/config.toml": codexProvider + codexList},
	},
	{
		name: "Claude Code, subscription", pkg: "@anthropic-ai/claude-code", protocol: messages, list: true,
		command:  []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
		terminal: []string{"claude", task, "--permission-mode", "acceptEdits"},
		env:      []string{"CLAUDE_CODE_OAUTH_TOKEN=" + claudeToken},
		alone:    []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
		home:     map[string]string{".claude.json": claudeState},
	},
	{
		name: "Claude Code, API key", pkg: "@anthropic-ai/claude-code", protocol: messages, list: true,
		command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
		env:     []string{"ANTHROPIC_API_KEY=" + anthropicKey},
		alone:   []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
	},
	{
		name: "Claude Code, another endpoint in its settings", pkg: "@anthropic-ai/claude-code", protocol: messages, list: true,
		command: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
		alone:   []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
		home: map[string]string{
			".claude/settings.json": `{"env":{"ANTHROPIC_BASE_URL":"https://api.z.ai/api/anthropic","ANTHROPIC_AUTH_TOKEN":"` + planKey + `"}}`,
		},
	},
	{
		name: "gemini-cli, Google login", pkg: "@google/gemini-cli", protocol: gemini,
		command:  []string{"gemini", "--skip-trust", "--yolo", "-p", task},
		terminal: []string{"gemini", "--skip-trust", "--yolo", "-i", task},
		home: map[string]string{
			".gemini/settings.json":    geminiSettings("oauth-personal"),
			".gemini/oauth_creds.json": googleLogin,
		},
	},
	{
		name: "gemini-cli, API key", pkg: "@google/gemini-cli", protocol: gemini,
		command:  []string{"gemini", "--skip-trust", "--yolo", "-p", task},
		terminal: []string{"gemini", "--skip-trust", "--yolo", "-i", task},
		env:      []string{"GEMINI_API_KEY=" + geminiKey},
		home:     map[string]string{".gemini/settings.json": geminiSettings("gemini-api-key")},
	},
	{
		name: "gemini-cli, Vertex AI", pkg: "@google/gemini-cli", protocol: gemini,
		command: []string{"gemini", "--skip-trust", "--yolo", "-p", task},
		env:     []string{"GOOGLE_GENAI_USE_VERTEXAI=true", "GOOGLE_API_KEY=" + geminiKey},
		home:    map[string]string{".gemini/settings.json": geminiSettings("vertex-ai")},
	},
	{
		name: "opencode, its free model", pkg: "opencode-ai", protocol: chat,
		command:  []string{"opencode", "run", task},
		terminal: []string{"opencode", "--prompt", task},
	},
	{
		name: "opencode, a key of Anthropic's", pkg: "opencode-ai", protocol: messages,
		command: []string{"opencode", "run", "-m", "anthropic/claude-sonnet-4-6", task},
		home:    map[string]string{".local/share/opencode/auth.json": `{"anthropic":{"type":"api","key":"` + anthropicKey + `"}}`},
	},
	{
		name: "opencode, a provider of its configuration", pkg: "opencode-ai", protocol: chat, flags: []string{"-model-host", "llm.example.com"},
		command: []string{"opencode", "run", task},
		env:     []string{"OTHER_API_KEY=" + planKey},
		home: map[string]string{".config/opencode/opencode.jsonc": `{"model": "other/some-model", // mine
			"provider": {"other": {"npm": "@ai-sdk/openai-compatible", "models": {"some-model": {}},
				"options": {"baseURL": "https://llm.example.com/v1", "apiKey": "{env:OTHER_API_KEY}"}}}}`},
	},
	{
		name: "Copilot CLI, GitHub login", pkg: "@github/copilot", protocol: messages,
		command:  []string{"copilot", "-p", task, "--allow-all-tools"},
		terminal: []string{"copilot", "-i", task, "--allow-all-tools"},
		env:      []string{"COPILOT_GITHUB_TOKEN=" + githubToken},
		home:     map[string]string{".copilot/config.json": `{"trusted_folders":["{HOME}"],"banner":"never"}`},
	},
	{
		name: "Copilot CLI, GitHub login, GPT", pkg: "@github/copilot", protocol: responses,
		command: []string{"copilot", "-p", task, "--allow-all-tools", "--model", "gpt-6.1"},
		env:     []string{"COPILOT_GITHUB_TOKEN=" + githubToken},
	},
	{
		name: "Copilot CLI, GitHub login, company", pkg: "@github/copilot", protocol: messages,
		command: []string{"copilot", "-p", task, "--allow-all-tools"},
		env:     []string{"COPILOT_GITHUB_TOKEN=" + companyToken},
	},
	{
		name: "qwen-code, Coding Plan", pkg: "@qwen-code/qwen-code", protocol: chat, list: true,
		command:  []string{"qwen", "-p", task, "--yolo"},
		terminal: []string{"qwen", "-i", task, "--yolo"},
		alone:    []string{"QWEN_CODE_SYSTEM_SETTINGS_PATH={HOME}/list.json"},
		home:     map[string]string{".qwen/settings.json": qwenSettings, "list.json": qwenList},
	},
	{
		name: "pi, API key", pkg: "@earendil-works/pi-coding-agent", protocol: responses,
		command:  []string{"pi", "-e", piTodo, "--model", "openai/gpt-5", "-p", task},
		terminal: []string{"pi", "-e", piTodo, "--model", "openai/gpt-5", task},
		env:      []string{"OPENAI_API_KEY=" + openAIKey},
	},
	{
		name: "kilo, its free model", pkg: "@kilocode/cli", protocol: chat,
		command:  []string{"kilo", "run", "--auto", task},
		terminal: []string{"kilo", "--prompt", task},
	},
}

// What users have in the files of their agents.
const (
	codexTrust    = "[projects.\"{HOME}\"]\ntrust_level = \"trusted\"\n"
	codexList     = "[tools.update_plan]\nenabled = true\n"
	codexProvider = "model = \"gpt-5.5\"\nmodel_provider = \"other\"\n" +
		"[model_providers.other]\nname = \"other\"\nbase_url = \"https://llm.example.com/v1\"\nenv_key = \"OTHER_API_KEY\"\nwire_api = \"responses\"\n"
	claudeState = `{"hasCompletedOnboarding":true,"theme":"dark","bypassPermissionsModeAccepted":true,` +
		`"projects":{"{HOME}":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}`
	qwenSettings = `{"$version":3,"model":{"name":"qwen3.5-plus"},"security":{"auth":{"selectedType":"openai"}},` +
		`"env":{"BAILIAN_CODING_PLAN_API_KEY":"` + planKey + `"},"modelProviders":{"openai":[{"id":"qwen3.5-plus","name":"Qwen 3.5 Plus",` +
		`"baseUrl":"https://coding.dashscope.aliyuncs.com/v1","envKey":"BAILIAN_CODING_PLAN_API_KEY"}]}}`
	qwenList = `{"tools":{"todoWrite":{"enabled":true}}}`
	piTodo   = "{AGENTS}/node_modules/@earendil-works/pi-coding-agent/examples/extensions/todo.ts" // an extension that brings a todo list
)

// geminiSettings are the settings of somebody who has logged in once, and wants a list.
func geminiSettings(login string) string {
	return `{"security":{"auth":{"selectedType":"` + login + `"}},"experimental":{"taskTracker":true}}`
}
