package agent

// agents are what is known about single agents: what turns on a todo list, and which
// words of a command mean that nobody is asked. None of it says where an agent's model is.
var agents = []Agent{ //nolint:gochecknoglobals // a table
	{
		Name: "claude", packages: []string{"@anthropic-ai/claude-code"}, // 2.1.330
		modes: modes{
			oneShot:    []string{"-p", "--print"},
			unattended: []string{"--dangerously-skip-permissions", "--permission-mode=bypassPermissions"},
		},
		list: list{
			env: map[string]string{"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"},
			how: "CLAUDE_CODE_ENABLE_TODO_TOOLS=1 in the environment; models up to Opus 4.7, Sonnet 4.6 and Haiku 4.5 have it on",
		},
		goal:   goal{[]string{"/goal"}, "Claude Code goes on by itself until its goal is reached: carryon is not needed for that."},
		signed: "CLAUDE_CODE_USE_BEDROCK",
	},
	{
		Name: "codex", packages: []string{"@openai/codex"}, // 0.169.0
		modes: modes{
			oneShot: []string{"exec", "e", "review"}, // these never ask for permission
			unattended: []string{
				"exec", "e", "review", "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--full-auto",
				"-a=never", "--ask-for-approval=never",
			},
		},
		list: list{
			args: []string{"-c", "tools.update_plan.enabled=true"},
			how:  "[tools.update_plan] enabled = true in ~/.codex/config.toml",
		},
		goal: goal{[]string{"/goal"}, "Codex goes on by itself until its goal is reached: carryon is not needed for that."},
	},
	{
		Name: "qwen", packages: []string{"@qwen-code/qwen-code"}, // 0.24.4
		modes: modes{oneShot: []string{"-p", "--prompt"}, unattended: []string{"-y", "--yolo", "--approval-mode=yolo"}},
		list:  list{file: qwenList, how: `"tools": {"todoWrite": {"enabled": true}} in ~/.qwen/settings.json`},
	},
	{
		Name: "gemini", packages: []string{"@google/gemini-cli"}, // 0.61.0; only Gemini 2 has another list
		modes: modes{oneShot: []string{"-p", "--prompt"}, unattended: []string{"-y", "--yolo", "--approval-mode=yolo"}},
		list:  list{how: `"experimental": {"taskTracker": true} in ~/.gemini/settings.json`, only: true},
	},
	{
		Name: "opencode", packages: []string{"opencode-ai"}, // 1.18.33
		modes: modes{oneShot: []string{"run"}, unattended: []string{"--auto"}},
	},
	{
		Name: "kilo", packages: []string{"@kilocode/cli"}, // 7.7.7
		modes: modes{oneShot: []string{"run"}, unattended: []string{"--auto"}},
	},
	{
		Name: "cn", packages: []string{"@continuedev/cli"}, // 1.5.47
		modes: modes{oneShot: []string{"-p", "--print"}, unattended: []string{"--auto"}},
	},
	{
		Name: "copilot", packages: []string{"@github/copilot"}, // 1.0.102
		modes: modes{
			oneShot:    []string{"-p", "--prompt"},
			unattended: []string{"--allow-all-tools", "--allow-all", "--yolo", "--autopilot", "--mode=autopilot"},
		},
		goal: goal{
			[]string{"--autopilot", "--mode=autopilot"}, "Copilot's autopilot goes on by itself: carryon is not needed for that.",
		},
	},
	{
		Name: "pi", packages: []string{"@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"}, // 1.6.0
		modes: modes{oneShot: []string{"-p", "--print"}},
	},
	{
		Name: "aider", packages: []string{"aider-chat"},
		modes: modes{
			oneShot:    []string{"-m", "--message", "--msg", "-f", "--message-file"},
			unattended: []string{"--yes", "--yes-always"},
		},
	},
	{
		Name: "kimi", packages: []string{"@moonshot-ai/kimi-code"}, // 2.1.0
		modes: modes{oneShot: []string{"-p", "--prompt"}, unattended: []string{"--auto"}},
	},
	{
		Name: "cline", packages: []string{"cline"}, // 3.0.65
		modes:  modes{oneShot: []string{"--json"}, unattended: []string{"--auto-approve=true"}},
		helper: &helper{port: "CLINE_HUB_PORT", folder: "CLINE_HUB_DISCOVERY_PATH", mark: "CLINE_RUN_AS_HUB_DAEMON"},
	},
	{
		Name: "droid", packages: []string{"droid"}, // 0.215.0
		modes: modes{oneShot: []string{"exec"}, unattended: []string{"--skip-permissions-unsafe", "--auto=high"}},
	},
	{
		Name: "nanocoder", packages: []string{"@nanocollective/nanocoder"},
		modes:     modes{oneShot: []string{"run"}, unattended: []string{"--mode=yolo"}},
		Unreached: "as of 1.30.0 it makes its connections without a proxy",
		Instead:   "carryon proxy -upstream URL, with its address as baseUrl in agents.config.json",
	},
	foreign("amp", "@sourcegraph/amp"), foreign("cursor-agent", ""), foreign("auggie", "@augmentcode/auggie"), foreign("qodercli", "@qoder-ai/qodercli"),
}

// foreign is an agent whose models its own servers ask, in a protocol of their own.
func foreign(name, pkg string) Agent {
	return Agent{
		Name: name, packages: []string{pkg}, Unreached: "its vendor's servers and protocol are its own",
		Instead: "another agent",
	}
}
