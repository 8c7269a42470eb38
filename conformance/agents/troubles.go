package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"regexp"
	"strings"
)

// trouble is a run that fails, or that nobody has set up for carryon. What the agent says about it must reach its user
// with carryon as without.
type trouble struct {
	agent

	says string // a regular expression for the agent's own words, none of carryon's
}

// troubles are what goes wrong with agents as most people run them.
var troubles = []trouble{ //nolint:gochecknoglobals // a table
	{says: `Error loading config.toml`, agent: agent{
		name: "Codex, half-written configuration", pkg: "@openai/codex", list: true,
		command: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task},
		home:    map[string]string{".codex/auth.json": codexKeyLogin, ".codex/config.toml": "[[[\nmodel ="},
	}},
	{says: `unexpected status 401 Unauthorized: Unauthorized`, agent: agent{
		name: "Codex, refused login", pkg: "@openai/codex", list: true,
		command: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task},
		home:    map[string]string{".codex/auth.json": `{"auth_mode":"apikey","OPENAI_API_KEY":"sk-wrong"}`},
	}},
	{says: `unexpected status 401 Unauthorized: Unauthorized`, agent: agent{
		name: "Codex, no login", pkg: "@openai/codex", list: true,
		command: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task},
	}},
	{says: `These settings did not load`, agent: agent{
		name: "Claude Code, half-written settings", pkg: "@anthropic-ai/claude-code", list: true,
		command: []string{"claude", "-p", task},
		env:     []string{"ANTHROPIC_API_KEY=" + anthropicKey},
		home:    map[string]string{".claude/settings.json": `{"env": {`},
	}},
	{says: `Unauthorized`, agent: agent{
		name: "Claude Code, refused key", pkg: "@anthropic-ai/claude-code", list: true,
		command: []string{"claude", "-p", task},
		env:     []string{"ANTHROPIC_API_KEY=sk-ant-wrong", "CLAUDE_CODE_MAX_RETRIES=1"},
	}},
	{says: `Not logged in · Please run /login`, agent: agent{
		name: "Claude Code, no login", pkg: "@anthropic-ai/claude-code", list: true,
		command: []string{"claude", "-p", task},
	}},
	{says: `Please fix the configuration file\(s\) and try again\.`, agent: agent{
		name: "gemini-cli, half-written settings", pkg: "@google/gemini-cli",
		command: []string{"gemini", "--skip-trust", "--yolo", "-p", task},
		env:     []string{"GEMINI_API_KEY=" + geminiKey},
		home:    map[string]string{".gemini/settings.json": `{"env": {`},
	}},
	{says: `Error when talking to Gemini API`, agent: agent{
		name: "gemini-cli, refused key", pkg: "@google/gemini-cli",
		command: []string{"gemini", "--skip-trust", "--yolo", "-p", task},
		env:     []string{"GEMINI_API_KEY=AIzaWrong"},
		home:    map[string]string{".gemini/settings.json": geminiSettings("gemini-api-key")},
	}},
	{says: `Please set an Auth method`, agent: agent{
		name: "gemini-cli, no login", pkg: "@google/gemini-cli",
		command: []string{"gemini", "--skip-trust", "--yolo", "-p", task},
	}},
	{says: `Cannot read operator sandbox policy`, agent: agent{
		name: "qwen-code, half-written settings", pkg: "@qwen-code/qwen-code", list: true,
		command: []string{"qwen", "-p", task, "--yolo"},
		home:    map[string]string{".qwen/settings.json": `{"env": {`},
	}},
	{says: `\[API Error: 401 Unauthorized\]`, agent: agent{
		name: "qwen-code, refused key", pkg: "@qwen-code/qwen-code", list: true,
		command: []string{"qwen", "-p", task, "--yolo"},
		home:    map[string]string{".qwen/settings.json": strings.ReplaceAll(qwenSettings, planKey, "sk-wrong")},
	}},
	{says: `opencode.json is not valid JSON\(C\)`, agent: agent{
		name: "opencode, half-written configuration", pkg: "opencode-ai",
		command: []string{"opencode", "run", task},
		home:    map[string]string{".config/opencode/opencode.json": `{"env": {`},
	}},
	{says: `Unauthorized: \{`, agent: agent{
		name: "opencode, refused key", pkg: "opencode-ai",
		command: []string{"opencode", "run", "-m", "anthropic/claude-sonnet-4-6", task},
		home:    map[string]string{".local/share/opencode/auth.json": `{"anthropic":{"type":"api","key":"sk-ant-wrong"}}`},
	}},
	{says: `kilo.json is not valid JSON\(C\)`, agent: agent{
		name: "kilo, half-written configuration", pkg: "@kilocode/cli",
		command: []string{"kilo", "run", "--auto", task},
		home:    map[string]string{".config/kilo/kilo.json": `{"env": {`},
	}},
	{says: `Start 'copilot' and run the '/login' command`, agent: agent{
		name: "Copilot CLI, refused login", pkg: "@github/copilot",
		command: []string{"copilot", "-p", task, "--allow-all-tools"},
		env:     []string{"COPILOT_GITHUB_TOKEN=gho_wrong"},
	}},
	{says: `No authentication information found\.`, agent: agent{
		name: "Copilot CLI, no login", pkg: "@github/copilot",
		command: []string{"copilot", "-p", task, "--allow-all-tools"},
	}},
	{says: `index\.html is in place\.`, agent: agent{
		name: "pi, half-written models", pkg: "@earendil-works/pi-coding-agent",
		command: []string{"pi", "-p", task},
		env:     []string{"ANTHROPIC_API_KEY=" + anthropicKey},
		home:    map[string]string{".pi/agent/models.json": `{"env": {`},
	}},
	{says: `401 \{`, agent: agent{
		name: "pi, refused key", pkg: "@earendil-works/pi-coding-agent",
		command: []string{"pi", "-p", task},
		env:     []string{"ANTHROPIC_API_KEY=sk-ant-wrong"},
	}},
	{says: `Response returned an error code`, agent: agent{
		name: "continue, no configuration", pkg: "@continuedev/cli",
		command: []string{"cn", "-p", task, "--auto"},
	}},
}

// troubleTable prints a line for each trouble.
func (r runner) troubleTable(ctx context.Context, w io.Writer) (changed bool, err error) {
	if _, err := fmt.Fprintln(w, "\n| agent | what it says, and its exit code, with carryon and without |\n|---|---|"); err != nil {
		return false, err
	}
	for _, t := range troubles {
		version := r.versionOf(t.agent)
		if version == "" || !r.only.MatchString("trouble "+t.name) {
			continue
		}
		alone, err := r.ends(ctx, t.agent, false)
		if err != nil {
			return false, err
		}
		with, err := r.ends(ctx, t.agent, true)
		if err != nil {
			return false, err
		}
		says := regexp.MustCompile(t.says)
		said, still := says.FindString(alone.out), says.FindString(withoutCarryon(with.out))
		if said == "" || said != still || alone.code != with.code {
			changed = true
			log.Printf("%s: without carryon, exit code %d:\n%s\nwith it, exit code %d:\n%s", t.name, alone.code, alone.out, with.code, with.out)
		}
		if _, err := fmt.Fprintf(w, "| %s %s | %s, %d |\n", t.name, version, said, alone.code); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// withoutCarryon returns an output without carryon's lines.
func withoutCarryon(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "carryon: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
