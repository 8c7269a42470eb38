package agent

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// chatGPT is the base URL that Codex uses with a ChatGPT login, whose requests have
// the header below.
const (
	chatGPT       = "https://chatgpt.com/backend-api/codex"
	chatGPTHeader = "Chatgpt-Account-Id"
)

func codex() Agent {
	return Agent{
		Name: "codex", packages: []string{"@openai/codex"},
		modes: modes{
			oneShot: []string{"exec", "e", "review"}, // these never ask for permission
			unattended: []string{
				"exec", "e", "review", "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--full-auto",
				"-a=never", "--ask-for-approval=never",
			},
		},
		prepare: prepareCodex,
		list: settings{
			args: []string{"-c", "tools.update_plan.enabled=true"},
			how:  "[tools.update_plan] enabled = true in ~/.codex/config.toml",
		},
		hint: "set openai_base_url in config.toml, or the base_url of its model provider",
	}
}

// prepareCodex keeps Codex's provider, and with it the login and the sessions, and
// changes only its base URL.
func prepareCodex(s *setup) {
	s.noteGoal("Codex")
	config := s.codexConfig()
	name := cmp.Or(textAt(config, "model_provider"), "openai")
	base := textAt(config, "model_providers", name, "base_url")
	switch {
	case slices.Contains(s.words(), "--oss"):
		s.note("codex --oss asks a local server: it runs without carryon. To change that, set CODEX_OSS_BASE_URL to that of a carryon proxy.")
	case name == "openai":
		s.codexBuiltIn(textAt(config, "openai_base_url"))
	case base != "":
		s.codexSetting("model_providers."+name+".base_url", s.route(name, base, "base_url of Codex's provider "+name))
	default:
		s.note("codex does not say where its provider %q is: it runs without carryon.", name)
	}
}

// codexBuiltIn changes the base URL of the built-in provider, which is the user's or
// depends on the login. It asks for plain bodies: what carryon adds is not compressed.
func (s *setup) codexBuiltIn(base string) {
	if base != "" {
		s.Main = Upstream{Base: strings.TrimRight(base, "/"), Source: "openai_base_url"}
	} else {
		s.Routes = append(s.Routes, Upstream{Prefix: "/v1", Header: chatGPTHeader, Base: chatGPT, Source: "ChatGPT"})
	}
	s.codexSetting("openai_base_url", s.base())
	s.own = append(s.own, "-c", "features.enable_request_compression=false")
}

// codexSetting sets a value of the configuration. Where the user's command sets it
// too, the last one would count.
func (s *setup) codexSetting(key, value string) {
	setting := fmt.Sprintf("%s=%q", key, value)
	words := s.words()
	for i := range words {
		if name, _, _ := strings.Cut(words[i], "="); name == key && i > 0 && isCodexConfig(words[i-1]) {
			words[i] = setting
			return
		}
	}
	s.own = append(s.own, "-c", setting)
}

func isCodexConfig(flag string) bool { return flag == "-c" || flag == "--config" }

// codexConfig returns Codex's configuration: its file, the profile's, and the flags.
func (s *setup) codexConfig() object {
	folder := cmp.Or(s.user.Getenv("CODEX_HOME"), s.home(".codex"))
	config := readTOML(filepath.Join(folder, "config.toml"))
	if profile := s.flag("-p", "--profile"); profile != "" && filepath.Base(profile) == profile {
		config = merged(config, readTOML(filepath.Join(folder, profile+".config.toml")))
	}
	words := s.words()
	for i := 1; i < len(words); i++ {
		if key, value, ok := strings.Cut(words[i], "="); ok && isCodexConfig(words[i-1]) {
			setting := parseTOML(key + "=" + value)
			if setting == nil { // Codex takes the value for a text
				setting = parseTOML(fmt.Sprintf("%s=%q", key, value))
			}
			config = merged(config, setting)
		}
	}
	return config
}

// readTOML reads a file of TOML. It is empty if the file is invalid: Codex reports
// what is wrong with it.
func readTOML(path string) object { return parseTOML(string(readConfig(path))) }

func parseTOML(text string) object {
	value := make(object)
	if _, err := toml.Decode(text, &value); err != nil {
		return nil
	}
	return value
}
