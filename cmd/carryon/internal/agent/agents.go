package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// agents returns the agents that need more than the usual variables, or that have
// flags of their own to know.
func agents() []Agent {
	return []Agent{claude(), codex(), qwen(), opencode(), kilo(), continueDev(), copilot(), pi(), gemini(), aider()}
}

// continueDev reads its models from a file, or from its user's account.
func continueDev() Agent {
	return Agent{
		Name: "cn", packages: []string{"@continuedev/cli"},
		modes:   modes{oneShot: []string{"-p", "--print"}, unattended: []string{"--auto"}},
		prepare: prepareContinue,
		hint:    "set apiBase in its configuration",
	}
}

// prepareContinue gives an agent without a configuration one for the model that the
// user has named.
func prepareContinue(s *setup) {
	program(s)
	model := s.user.Getenv("OPENAI_MODEL")
	if s.flag("--config") != "" || model == "" || readConfig(s.home(".continue", "config.yaml")) != nil {
		s.note("cn takes the address of its model from its configuration: it runs without carryon unless apiBase there is that of a carryon proxy.")
		return
	}
	s.Files = append(s.Files, File{"--config", "config.yaml", toJSON(object{ // JSON is YAML
		"name": "carryon", "version": "1.0.0", "schema": "v1",
		"models": []object{{
			"name": model, "provider": "openai", "model": model, "apiBase": s.base(),
			"apiKey": "${{ secrets.OPENAI_API_KEY }}", "capabilities": []string{"tool_use"},
		}},
	})})
}

func copilot() Agent {
	return Agent{
		Name: "copilot", packages: []string{"@github/copilot"},
		modes: modes{
			oneShot:    []string{"-p", "--prompt"},
			unattended: []string{"--allow-all-tools", "--allow-all", "--yolo", "--autopilot", "--mode=autopilot"},
		},
		prepare: prepareCopilot,
		hint:    "set COPILOT_API_URL, or COPILOT_PROVIDER_BASE_URL with a key of your own",
	}
}

// prepareCopilot redirects the models of the GitHub login, or those of the user's own
// endpoint if there is one.
func prepareCopilot(s *setup) {
	const own, account, tools = "COPILOT_PROVIDER_BASE_URL", "COPILOT_API_URL", "GITHUB_MCP_URL_OVERRIDE"
	const github = "https://api.githubcopilot.com"
	if slices.Contains(s.words(), "--autopilot") || s.flag("--mode") == "autopilot" {
		s.note("Copilot's autopilot goes on by itself: carryon is not needed for that.")
	}
	host := cmp.Or(s.user.Getenv("COPILOT_GH_HOST"), s.user.Getenv("GH_HOST"))
	switch base := s.user.Getenv(own); {
	case base != "":
		s.Env[own] = s.route("copilot", base, own)
	case host != "" && host != "github.com" && s.user.Getenv(account) == "":
		s.note("Copilot's models at %s have an address of their own: it runs without carryon unless COPILOT_API_URL names that address.", host)
	default:
		base := s.route("copilot", cmp.Or(s.user.Getenv(account), github), account)
		s.Env[account] = base
		if s.user.Getenv(tools) == "" && s.user.Getenv(account) == "" {
			s.Env[tools] = base + copilotTools(s.words())
		}
	}
}

// copilotTools returns the path of GitHub's own tools. Copilot leaves them out if its
// models have another address, unless it is told theirs.
func copilotTools(words []string) string {
	if slices.ContainsFunc(words, func(word string) bool {
		return strings.HasPrefix(word, "--enable-all-github-mcp") || strings.HasPrefix(word, "--add-github-mcp")
	}) {
		return "/mcp"
	}
	return "/mcp/readonly"
}

// pi reads its models from a file. An extension can change their base URLs.
func pi() Agent {
	return Agent{
		Name: "pi", packages: []string{"@mariozechner/pi-coding-agent", "@earendil-works/pi-coding-agent"},
		modes:   modes{oneShot: []string{"-p", "--print"}},
		prepare: preparePi,
		hint:    "set the baseUrl of its provider in ~/.pi/agent/models.json",
	}
}

// piProviders are the base URLs of pi's built-in providers. Those with several are
// missing, and those whose protocol carryon does not know.
var piProviders = map[string]string{ //nolint:gochecknoglobals // constant
	"anthropic": anthropic, "openai": openAI, "openai-codex": "https://chatgpt.com/backend-api",
	"github-copilot": "https://api.individual.githubcopilot.com", "openrouter": "https://openrouter.ai/api/v1",
	"opencode-go": "https://opencode.ai/zen/go/v1", "vercel-ai-gateway": "https://ai-gateway.vercel.sh",
	"cerebras": "https://api.cerebras.ai/v1", "deepseek": "https://api.deepseek.com", "fireworks": "https://api.fireworks.ai/inference",
	"groq": "https://api.groq.com/openai/v1", "huggingface": "https://router.huggingface.co/v1",
	"kimi-coding": "https://api.kimi.com/coding", "minimax": "https://api.minimax.io/anthropic", "minimax-cn": "https://api.minimaxi.com/anthropic",
	"moonshotai": "https://api.moonshot.ai/v1", "moonshotai-cn": "https://api.moonshot.cn/v1", "xai": xAI, "zai": "https://api.z.ai/api/coding/paas/v4",
}

// preparePi gives pi an extension that changes the base URLs of all its providers.
// That switches none of them on.
func preparePi(s *setup) {
	bases := maps.Clone(piProviders)
	own, _ := at(readJSON(cmp.Or(s.user.Getenv("PI_CODING_AGENT_DIR"), s.home(".pi", "agent"))+"/models.json"), "providers").(object)
	for provider := range own {
		if base := textAt(own, provider, "baseUrl"); base != "" {
			bases[provider] = base
		}
	}
	var code strings.Builder
	code.WriteString("export default (pi) => {\n")
	for _, provider := range slices.Sorted(maps.Keys(bases)) {
		fmt.Fprintf(&code, "  pi.registerProvider(%s, { baseUrl: %s });\n", toJSON(provider), toJSON(s.route(provider, bases[provider], "baseUrl of pi's provider "+provider)))
	}
	code.WriteString("};\n")
	s.Files = append(s.Files, File{"--extension", "carryon.js", code.String()})
	chosen := s.flag("--provider")
	if name, _, ok := strings.Cut(s.flag("--model"), "/"); ok && chosen == "" {
		chosen = name
	}
	if chosen != "" && bases[chosen] == "" {
		s.note("carryon does not know where pi's provider %q is: its models run without carryon.", chosen)
	}
}

func aider() Agent {
	return Agent{
		Name: "aider", packages: []string{"aider-chat"},
		modes: modes{
			oneShot:    []string{"-m", "--message", "--msg", "-f", "--message-file"},
			unattended: []string{"--yes", "--yes-always"},
		},
	}
}
