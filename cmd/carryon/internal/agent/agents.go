package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

type object = map[string]any

// agents returns the agents that need more than the usual variables, or whose todo
// list is off by default.
func agents() []Agent {
	return []Agent{claude(), codex(), qwen(), opencode(), continueDev(), copilot(), pi(), gemini(), aider()}
}

func claude() Agent {
	return Agent{
		Name: "claude", packages: []string{"@anthropic-ai/claude-code"},
		modes: Modes{OneShot: []string{"-p", "--print"}, Unattended: []string{"--dangerously-skip-permissions", "--permission-mode=bypassPermissions"}},
		env:   func(e Endpoint, _ []string) map[string]string { return map[string]string{"ANTHROPIC_BASE_URL": e.Root} },
		list: settings{
			env: map[string]string{"CLAUDE_CODE_ENABLE_TASKS": "0", "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"},
			how: "CLAUDE_CODE_ENABLE_TASKS=0 CLAUDE_CODE_ENABLE_TODO_TOOLS=1 in the environment",
		},
	}
}

func codex() Agent {
	return Agent{
		Name: "codex", packages: []string{"@openai/codex"},
		modes: Modes{
			OneShot: []string{"exec", "e", "review"}, // these never ask for permission
			Unattended: []string{
				"exec", "e", "review", "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--full-auto",
				"-a=never", "--ask-for-approval=never",
			},
		},
		args: func(e Endpoint) []string {
			return []string{
				"-c", `model_provider="carryon"`,
				"-c", `model_providers.carryon.name="carryon"`,
				"-c", fmt.Sprintf("model_providers.carryon.base_url=%q", e.Base()),
				"-c", `model_providers.carryon.env_key="OPENAI_API_KEY"`,
				"-c", `model_providers.carryon.wire_api="responses"`,
			}
		},
		list: settings{
			args: []string{"-c", "tools.update_plan.enabled=true"},
			how:  "[tools.update_plan] enabled = true in ~/.codex/config.toml",
		},
	}
}

func qwen() Agent {
	return Agent{
		Name: "qwen", packages: []string{"@qwen-code/qwen-code"},
		modes: Modes{OneShot: []string{"-p", "--prompt"}, Unattended: []string{"-y", "--yolo", "--approval-mode=yolo"}},
		list: settings{
			files: []File{{"QWEN_CODE_SYSTEM_SETTINGS_PATH", "settings.json", toJSON(object{"tools": object{"todoWrite": object{"enabled": true}}})}},
			how:   `"tools": {"todoWrite": {"enabled": true}} in ~/.qwen/settings.json`,
		},
	}
}

// opencode reads its providers from files, and more of them from the environment.
func opencode() Agent {
	return Agent{
		Name: "opencode", packages: []string{"opencode-ai"},
		modes: Modes{OneShot: []string{"run"}, Unattended: []string{"--auto"}},
		env: func(e Endpoint, command []string) map[string]string {
			providers := object{
				"openai":    object{"options": object{"baseURL": e.Base()}},
				"anthropic": object{"options": object{"baseURL": e.Base()}},
			}
			chosen, model, _ := strings.Cut(flagValue(command, "-m", "--model"), "/")
			if chosen == "carryon" && model != "" {
				providers["carryon"] = object{
					"npm":     "@ai-sdk/openai-compatible",
					"name":    "carryon",
					"options": object{"baseURL": e.Base(), "apiKey": "{env:OPENAI_API_KEY}"},
					"models":  object{model: object{}},
				}
			}
			return map[string]string{"OPENCODE_CONFIG_CONTENT": toJSON(object{"provider": providers})}
		},
		note: func(e Endpoint, command []string) string {
			switch chosen, _, _ := strings.Cut(flagValue(command, "-m", "--model"), "/"); chosen {
			case "", "openai", "anthropic", "carryon":
				return ""
			default:
				return fmt.Sprintf("opencode takes the address of the provider %q from its configuration. "+
					"Set options.baseURL there to %s, or name the model carryon/NAME.", chosen, e.Base())
			}
		},
	}
}

// continueDev reads its models from a file.
func continueDev() Agent {
	return Agent{
		Name: "cn", packages: []string{"@continuedev/cli"},
		modes: Modes{OneShot: []string{"-p", "--print"}, Unattended: []string{"--auto"}},
		files: func(e Endpoint, command []string) []File {
			if flagValue(command, "--config") != "" || e.Model == "" {
				return nil
			}
			return []File{{"--config", "config.yaml", toJSON(object{ // JSON is YAML
				"name": "carryon", "version": "1.0.0", "schema": "v1",
				"models": []object{{
					"name": e.Model, "provider": "openai", "model": e.Model, "apiBase": e.Base(),
					"apiKey": "${{ secrets.OPENAI_API_KEY }}", "capabilities": []string{"tool_use"},
				}},
			})}}
		},
		note: func(e Endpoint, command []string) string {
			if flagValue(command, "--config") == "" && e.Model != "" {
				return ""
			}
			return "cn takes the address of its model from its configuration: set apiBase there to " + e.Base() +
				", or set OPENAI_MODEL and leave out --config."
		},
	}
}

func copilot() Agent {
	return Agent{
		Name: "copilot", packages: []string{"@github/copilot"}, baseURLs: []string{"COPILOT_PROVIDER_BASE_URL"},
		modes: Modes{
			OneShot:    []string{"-p", "--prompt"},
			Unattended: []string{"--allow-all-tools", "--allow-all", "--yolo", "--autopilot", "--mode=autopilot"},
		},
		env: func(e Endpoint, _ []string) map[string]string {
			return map[string]string{"COPILOT_PROVIDER_BASE_URL": e.Base()}
		},
	}
}

// pi reads its models from a file. An extension can change their base URLs.
func pi() Agent {
	return Agent{
		Name: "pi", packages: []string{"@mariozechner/pi-coding-agent"},
		modes: Modes{OneShot: []string{"-p", "--print"}},
		files: func(e Endpoint, command []string) []File {
			bases := map[string]string{"openai": e.Base(), "anthropic": e.Root}
			if chosen := piProvider(command); chosen != "" && bases[chosen] == "" {
				bases[chosen] = e.Base()
			}
			var code strings.Builder
			code.WriteString("export default (pi) => {\n")
			for _, provider := range slices.Sorted(maps.Keys(bases)) {
				fmt.Fprintf(&code, "  pi.registerProvider(%s, { baseUrl: %s });\n", toJSON(provider), toJSON(bases[provider]))
			}
			code.WriteString("};\n")
			return []File{{"--extension", "carryon.js", code.String()}}
		},
	}
}

// piProvider returns the provider that a command names, or "".
func piProvider(command []string) string {
	if provider := flagValue(command, "--provider"); provider != "" {
		return provider
	}
	provider, _, ok := strings.Cut(flagValue(command, "--model"), "/")
	if !ok {
		return ""
	}
	return provider
}

func gemini() Agent {
	return Agent{
		Name: "gemini", packages: []string{"@google/gemini-cli"},
		modes: Modes{OneShot: []string{"-p", "--prompt"}, Unattended: []string{"-y", "--yolo", "--approval-mode=yolo"}},
		note: func(Endpoint, []string) string {
			return "gemini uses an API that carryon does not support: it runs without carryon."
		},
	}
}

func aider() Agent {
	return Agent{
		Name: "aider", packages: []string{"aider-chat"},
		modes: Modes{
			OneShot:    []string{"-m", "--message", "--msg", "-f", "--message-file"},
			Unattended: []string{"--yes", "--yes-always"},
		},
	}
}
