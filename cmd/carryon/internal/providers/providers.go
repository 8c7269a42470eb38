// Package providers knows where models are: the hosts of providers, and the variables in
// which programs look for a base URL. It is data; nothing here asks anybody.
package providers

import (
	_ "embed" // for the table
	"regexp"
	"strings"
)

//go:embed hosts.txt
var hosts string

// variable is a variable in the table of hosts.
var variable = regexp.MustCompile(`\{(\w+)\}`)

// Hosts returns the hosts of models, as patterns: "api.example.com" or "*.example.com".
func Hosts(getenv func(string) string) (patterns []string) {
	for line := range strings.Lines(hosts) {
		pattern := strings.TrimSpace(line)
		if pattern == "" || pattern[0] == '#' {
			continue
		}
		if name := variable.FindStringSubmatch(pattern); name != nil {
			value := getenv(name[1])
			if value == "" || value == "github.com" || value == "global" {
				continue // the table has these
			}
			pattern = strings.Replace(pattern, name[0], value, 1)
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// Foreign returns why carryon cannot answer for a host of models, or "".
func Foreign(host string) string {
	for _, f := range foreign {
		if host == f.below || strings.HasSuffix(host, "."+f.below) {
			if strings.HasPrefix(host, f.begins) {
				return f.why
			}
		}
	}
	return ""
}

// foreign are hosts of models whose requests carryon cannot read or extend.
var foreign = []struct{ below, begins, why string }{ //nolint:gochecknoglobals // a table
	{"amazonaws.com", "bedrock-", "its requests are signed, so nobody can add to them"},
	{"api.aws", "bedrock-", "its requests are signed, so nobody can add to them"},
	{"ampcode.com", "", "it has a protocol of its own"},
	{"cursor.sh", "", "it has a protocol of its own"},
	{"augmentcode.com", "", "it has a protocol of its own"},
	{"qoder.com", "", "it has a protocol of its own"},
	{"qoder.sh", "", "it has a protocol of its own"},
}

// Variable is a variable in which programs look for a base URL.
type Variable struct {
	Name    string
	Default string // what SDKs use without it; "" if only single programs read it
}

// Variables are the variables in which programs look for a base URL.
var Variables = []Variable{ //nolint:gochecknoglobals // a table
	{"OPENAI_BASE_URL", "https://api.openai.com/v1"},
	{"OPENAI_API_BASE", "https://api.openai.com/v1"},
	{"OPENAI_HOST", "https://api.openai.com"}, // goose's, without a path
	{"ANTHROPIC_BASE_URL", "https://api.anthropic.com"},
	{"GROK_BASE_URL", "https://api.x.ai/v1"},
	{"GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"},
	{"GOOGLE_VERTEX_BASE_URL", ""},
	{"CODE_ASSIST_ENDPOINT", ""},
	{"ANTHROPIC_VERTEX_BASE_URL", ""},
	{"ANTHROPIC_FOUNDRY_BASE_URL", ""},
	{"AZURE_OPENAI_ENDPOINT", ""},
	{"CODEX_OSS_BASE_URL", ""},
	{"COPILOT_API_URL", ""},
	{"COPILOT_PROVIDER_BASE_URL", ""},
	{"KIMI_CODE_BASE_URL", ""},
	{"KIMI_MODEL_BASE_URL", ""},
	{"KIMI_BASE_URL", ""},
	{"DEEPSEEK_BASE_URL", ""},
	{"GROQ_BASE_URL", ""},
	{"MISTRAL_BASE_URL", ""},
	{"MOONSHOT_BASE_URL", ""},
	{"OPENROUTER_BASE_URL", ""},
	{"XAI_BASE_URL", ""},
}
