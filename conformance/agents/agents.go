package main

import (
	"fmt"
	"path/filepath"
)

// agent is one to try.
type agent struct {
	name, protocol string
	pkg            string                    // of npm
	underCarryon   []string                  // the command that "carryon run" is given
	direct         func(url string) []string // the same without carryon; nil if it is the same
	env            []string
}

func (a agent) command(url string) []string {
	if a.direct != nil {
		return a.direct(url)
	}
	return a.underCarryon
}

// agents returns those that npm brings.
func agents() []agent {
	return []agent{
		{
			name: "qwen-code", pkg: "@qwen-code/qwen-code", protocol: "Chat Completions",
			underCarryon: []string{"qwen", "-p", task, "--yolo", "--auth-type", "openai"},
		},
		{
			name: "opencode", pkg: "opencode-ai", protocol: "Chat Completions",
			underCarryon: []string{"opencode", "run", "-m", "carryon/some-model", task},
			direct: func(url string) []string {
				return []string{"env", "OPENCODE_CONFIG_CONTENT=" + toJSON(map[string]any{"provider": map[string]any{"carryon": map[string]any{
					"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": url, "apiKey": "sk-none"},
					"models": map[string]any{"some-model": map[string]any{}},
				}}}), "opencode", "run", "-m", "carryon/some-model", task}
			},
		},
		{
			name: "continue", pkg: "@continuedev/cli", protocol: "Chat Completions",
			underCarryon: []string{"cn", "-p", task, "--auto"},
			direct: func(url string) []string {
				config := toJSON(map[string]any{
					"name": "direct", "version": "1.0.0", "schema": "v1", "models": []map[string]any{{
						"name": "m", "provider": "openai", "model": "some-model", "apiBase": url, "apiKey": "sk-none", "capabilities": []string{"tool_use"},
					}},
				})
				return []string{"sh", "-c", fmt.Sprintf(`echo '%s' >config.yaml; exec cn -p "$0" --auto --config config.yaml`, config), task}
			},
		},
		{
			name: "codex", pkg: "@openai/codex", protocol: "Responses",
			underCarryon: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5", task},
			direct: func(url string) []string {
				return []string{
					"codex", "-c", `model_provider="direct"`, "-c", `model_providers.direct.name="direct"`,
					"-c", fmt.Sprintf("model_providers.direct.base_url=%q", url), "-c", `model_providers.direct.env_key="OPENAI_API_KEY"`,
					"-c", `model_providers.direct.wire_api="responses"`, "-c", "tools.update_plan.enabled=true",
					"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5", task,
				}
			},
		},
		{
			name: "claude", pkg: "@anthropic-ai/claude-code", protocol: "Messages",
			underCarryon: []string{"claude", "-p", task, "--permission-mode", "acceptEdits"},
			env:          []string{"CLAUDE_CODE_ENABLE_TASKS=0", "CLAUDE_CODE_ENABLE_TODO_TOOLS=1"},
		},
		{
			pkg: "ai", name: "AI SDK, chat", protocol: "Chat Completions", underCarryon: []string{"node", program("aisdk.mjs"), "chat", task},
		},
		{
			pkg: "ai", name: "AI SDK, openai()", protocol: "Responses", underCarryon: []string{"node", program("aisdk.mjs"), "responses", task},
		},
		{
			pkg: "ai", name: "AI SDK, anthropic()", protocol: "Messages", underCarryon: []string{"node", program("aisdk.mjs"), "messages", task},
		},
	}
}

// program returns the path of a program beside this one.
func program(name string) string {
	path, err := filepath.Abs(filepath.Join("conformance", "agents", name))
	if err != nil {
		panic(err)
	}
	return path
}
