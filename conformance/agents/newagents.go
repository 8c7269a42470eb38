package main

// agentsUnknown are agents for which carryon has no way of its own, and one that it cannot reach.
var agentsUnknown = []agent{ //nolint:gochecknoglobals // a table
	{
		name: "kimi-code", pkg: "@moonshot-ai/kimi-code", protocol: chat,
		command: []string{"kimi", "-p", task},
		env:     []string{"KIMI_MODEL_NAME=kimi-k2.5", "KIMI_MODEL_API_KEY=" + planKey, "KIMI_CODE_NO_AUTO_UPDATE=1"},
	},
	{
		name: "cline", pkg: "cline", protocol: messages, flags: []string{"-ask"},
		command: []string{"cline", "-P", "anthropic", "-k", anthropicKey, "-m", "claude-sonnet-4-5", task},
	},
	{
		name: "droid", pkg: "droid", protocol: chat, flags: []string{"-ask"},
		command: []string{"droid", "exec", "--auto", "high", "-m", "custom:some-model", task},
		env:     []string{"FACTORY_API_KEY=fk-none"},
		home: map[string]string{".factory/settings.json": `{"customModels":[{"model":"some-model","displayName":"some-model","baseUrl":"https://api.groq.com/openai/v1",` +
			`"apiKey":"` + planKey + `","provider":"generic-chat-completion-api"}]}`},
	},
	{
		name: "nanocoder", pkg: "@nanocollective/nanocoder", protocol: chat, unreached: true,
		command: []string{"nanocoder", "--trust-directory", "--mode", "yolo", "run", task},
		home: map[string]string{"agents.config.json": `{"nanocoder":{"providers":[{"name":"groq","baseUrl":"https://api.groq.com/openai/v1",` +
			`"apiKey":"` + planKey + `","models":["some-model"]}]}}`},
	},
	{
		name: "grok-cli", pkg: "@vibe-kit/grok-cli", protocol: chat,
		command: []string{"grok", "-p", task},
		env:     []string{"GROK_API_KEY=" + planKey},
	},
	{
		name: "reasonix", pkg: "reasonix", protocol: chat,
		command: []string{"reasonix", "run", "--permission-mode", "danger-full-access", task},
		home:    map[string]string{".reasonix/.env": "DEEPSEEK_API_KEY=" + planKey + "\n"},
	},
}
