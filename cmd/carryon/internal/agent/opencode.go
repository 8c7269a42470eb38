package agent

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
)

func opencode() Agent {
	return Agent{
		Name: "opencode", packages: []string{"opencode-ai"},
		modes: modes{oneShot: []string{"run"}, unattended: []string{"--auto"}},
		prepare: func(s *setup) {
			prepareOpencode(s, fork{"opencode", "OPENCODE", "opencode", "https://opencode.ai/zen/v1"})
		},
		hint: "set options.baseURL of its provider in opencode.json",
	}
}

// kilo is a fork of opencode.
func kilo() Agent {
	return Agent{
		Name: "kilo", packages: []string{"@kilocode/cli"},
		modes:   modes{oneShot: []string{"run"}, unattended: []string{"--auto"}},
		prepare: func(s *setup) { prepareOpencode(s, fork{"kilo", "KILO", "kilo", "https://api.kilo.ai"}) },
		hint:    "set options.baseURL of its provider in kilo.json",
	}
}

// fork is what differs between opencode and programs made from it.
type fork struct {
	name      string // of its files and folders
	variables string // the beginning of its variables
	provider  string // the one that is always on
	base      string // and its base URL
}

// wellKnown are base URLs of providers, for which opencode's list of models has none.
var wellKnown = map[string]string{ //nolint:gochecknoglobals // constant
	"openai": openAI, "anthropic": anthropic + "/v1", "xai": xAI, "groq": "https://api.groq.com/openai/v1",
	"mistral": "https://api.mistral.ai/v1", "cerebras": "https://api.cerebras.ai/v1", "openrouter": "https://openrouter.ai/api/v1",
}

// keys are the variables with which opencode switches on a provider.
var keys = map[string]string{"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"} //nolint:gochecknoglobals // constant

// prepareOpencode changes the base URLs of the providers that the user has switched
// on. To name another one would switch it on, and it could become the default.
func prepareOpencode(s *setup, f fork) {
	inline := f.variables + "_CONFIG_CONTENT"
	config := s.opencodeConfig(f)
	logins := s.opencodeLogins(f)
	chosen, _, _ := strings.Cut(cmp.Or(s.flag("-m", "--model"), textAt(config, "model")), "/")
	providers := make(object)
	for _, name := range s.opencodeProviders(f, config, logins, chosen) {
		if name == "openai" && logins[name] == "oauth" {
			continue
		}
		base := s.expanded(textAt(config, "provider", name, "options", "baseURL"))
		if base == "" {
			base = s.opencodeBase(f, name)
		}
		if base != "" && !strings.Contains(base, "{") {
			providers[name] = object{"options": object{"baseURL": s.route(name, base, "baseURL of "+f.name+"'s provider "+name)}}
		}
	}
	if model, ok := strings.CutPrefix(s.flag("-m", "--model"), "carryon/"); ok {
		program(s) // for its upstreams
		providers["carryon"] = object{
			"npm": "@ai-sdk/openai-compatible", "name": "carryon", "models": object{model: object{}},
			"options": object{"baseURL": s.base(), "apiKey": "{env:OPENAI_API_KEY}"},
		}
		clear(s.Env) // it reads none of these
	}
	s.Env[inline] = toJSON(merged(parseJSON([]byte(s.user.Getenv(inline))), object{"provider": providers}))
	switch {
	case logins["openai"] == "oauth" && (chosen == "openai" || chosen == ""):
		s.note("%s asks ChatGPT itself for the models of a ChatGPT login: these run without carryon.", f.name)
	case chosen != "" && providers[chosen] == nil:
		s.note("%s takes the address of the provider %q from elsewhere: it runs without carryon unless you set its options.baseURL to that of a carryon proxy.", f.name, chosen)
	}
}

// opencodeProviders returns the providers whose base URL is changed.
func (s *setup) opencodeProviders(f fork, config object, logins map[string]string, chosen string) []string {
	names := []string{f.provider}
	for provider, key := range keys {
		if s.user.Getenv(key) != "" || chosen == provider {
			names = append(names, provider)
		}
	}
	configured, _ := at(config, "provider").(object)
	names = slices.Concat(names, slices.Collect(maps.Keys(configured)), slices.Collect(maps.Keys(logins)))
	slices.Sort(names)
	return slices.Compact(names)
}

// variable is a reference to a variable in opencode's configuration.
var variable = regexp.MustCompile(`\{env:([^}]+)\}`)

// expanded returns a text of opencode's configuration with its variables filled in.
func (s *setup) expanded(text string) string {
	return variable.ReplaceAllStringFunc(text, func(reference string) string {
		return s.user.Getenv(variable.FindStringSubmatch(reference)[1])
	})
}

// opencodeConfig returns the user's configuration: all files, and the variable with
// more, which counts most.
func (s *setup) opencodeConfig(f fork) object {
	global := filepath.Join(cmp.Or(s.user.Getenv("XDG_CONFIG_HOME"), s.home(".config")), f.name)
	folders := []string{global}
	var above []string
	for dir := s.user.Dir; ; dir = filepath.Dir(dir) {
		above = append(above, filepath.Join(dir, "."+f.name), dir) // the nearest counts most, and comes last
		if dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(above)
	config := make(object)
	for _, folder := range append(folders, above...) {
		for _, name := range []string{"config.json", f.name + ".json", f.name + ".jsonc", "opencode.json", "opencode.jsonc"} {
			if name != "config.json" || folder == global {
				config = merged(config, readJSON(filepath.Join(folder, name)))
			}
		}
		if folder == global {
			config = merged(config, readJSON(s.user.Getenv(f.variables+"_CONFIG")))
		}
	}
	return merged(config, parseJSON([]byte(s.user.Getenv(f.variables+"_CONFIG_CONTENT"))))
}

// opencodeLogins returns the providers to which the user has logged in, with the kind
// of each login. It reads no keys.
func (s *setup) opencodeLogins(f fork) map[string]string {
	var logins map[string]struct {
		Type string `json:"type"`
	}
	data := cmp.Or(s.user.Getenv("XDG_DATA_HOME"), s.home(".local", "share"))
	kinds := make(map[string]string)
	if json.Unmarshal(readConfig(filepath.Join(data, f.name, "auth.json")), &logins) == nil {
		for name, login := range logins {
			kinds[name] = login.Type
		}
	}
	return kinds
}

// opencodeBase returns the base URL of a provider that the user has not changed, or
// "" if it is not known.
func (s *setup) opencodeBase(f fork, name string) string {
	switch base := wellKnown[name]; {
	case name == f.provider:
		return f.base
	case base != "":
		return base
	}
	cache := cmp.Or(s.user.Getenv("XDG_CACHE_HOME"), s.home(".cache"))
	models := readConfig(filepath.Join(cache, f.name, "models.json")) // megabytes, of which one text is needed
	return rawjson.TextOf(rawjson.Member(rawjson.Member(models, name), "api"))
}
