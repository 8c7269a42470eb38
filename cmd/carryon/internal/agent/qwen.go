package agent

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

func qwen() Agent {
	return Agent{
		Name: "qwen", packages: []string{"@qwen-code/qwen-code"},
		modes:   modes{oneShot: []string{"-p", "--prompt"}, unattended: []string{"-y", "--yolo", "--approval-mode=yolo"}},
		prepare: prepareQwen,
		list:    settings{how: `"tools": {"todoWrite": {"enabled": true}} in ~/.qwen/settings.json`},
		hint:    "set the baseUrl of its modelProviders in ~/.qwen/settings.json",
	}
}

// prepareQwen writes a copy of the system's settings, which override the user's, in
// which each model has its base URL at the proxy. Models without one take theirs from
// the environment.
func prepareQwen(s *setup) {
	program(s)
	folder := cmp.Or(s.user.Getenv("QWEN_HOME"), s.home(".qwen"))
	system := readJSON(s.qwenSystemSettings())
	user, here := readJSON(filepath.Join(folder, "settings.json")), readJSON(s.here(".qwen", "settings.json"))
	variables := make(map[string]string)
	for _, settings := range []object{user, here, system} {
		inside, _ := at(settings, "env").(object)
		for name := range inside {
			variables[name] = textAt(inside, name)
		}
	}
	maps.Copy(variables, dotenv(filepath.Join(folder, ".env")))
	maps.Copy(variables, dotenv(s.here(".env")))
	maps.Copy(variables, dotenv(s.here(".qwen", ".env")))
	get := func(name string) string { return cmp.Or(s.user.Getenv(name), variables[name]) }
	if base := get("OPENAI_BASE_URL"); base != "" {
		s.Main = Upstream{Base: base, Source: "OPENAI_BASE_URL"}
	}
	changes := make(object)
	for _, settings := range []object{system, here, user} { // the first that has providers counts
		if providers, ok := at(settings, "modelProviders").(object); ok {
			if own, changed := s.qwenProviders(providers, get); changed {
				changes["modelProviders"] = own
			}
			break
		}
	}
	if base := textAt(merged(merged(user, here), system), "security", "auth", "baseUrl"); base != "" {
		changes["security"] = object{"auth": object{"baseUrl": s.route("qwen", os.Expand(base, get), "security.auth.baseUrl of qwen-code")}}
	}
	if s.list {
		changes["tools"] = object{"todoWrite": object{"enabled": true}}
	}
	if len(changes) > 0 {
		s.Files = append(s.Files, File{"QWEN_CODE_SYSTEM_SETTINGS_PATH", "settings.json", toJSON(merged(system, changes))})
	}
}

// qwenSystemSettings returns the path of the system's settings.
func (s *setup) qwenSystemSettings() string {
	path := map[string]string{
		"darwin": "/Library/Application Support/QwenCode/settings.json", "windows": `C:\ProgramData\qwen-code\settings.json`,
	}[runtime.GOOS]
	return cmp.Or(s.user.Getenv("QWEN_CODE_SYSTEM_SETTINGS_PATH"), path, "/etc/qwen-code/settings.json")
}

// qwenProviders returns a copy of model providers with other base URLs, and whether
// it has any. Each is a list of models.
func (s *setup) qwenProviders(providers object, getenv func(string) string) (own object, changed bool) {
	own = maps.Clone(providers)
	for provider, value := range providers {
		models, ok := value.([]any)
		if !ok {
			continue
		}
		models = slices.Clone(models)
		for i := range models {
			model, ok := models[i].(object)
			if base := textAt(model, "baseUrl"); ok && base != "" {
				models[i] = merged(model, object{"baseUrl": s.route(provider, os.Expand(base, getenv), "baseUrl in qwen-code's settings")})
				changed = true
			}
		}
		own[provider] = models
	}
	return own, changed
}
