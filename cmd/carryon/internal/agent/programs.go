package agent

import (
	"cmp"
	"strings"
)

// The default base URLs.
const (
	openAI    = "https://api.openai.com/v1"
	anthropic = "https://api.anthropic.com"
	xAI       = "https://api.x.ai/v1"
)

// program prepares any program whose SDK reads its base URL from the environment.
func program(s *setup) {
	s.Env["OPENAI_BASE_URL"], s.Env["OPENAI_API_BASE"], s.Env["ANTHROPIC_BASE_URL"] = s.base(), s.base(), s.root
	s.Env["GROK_BASE_URL"] = s.route("xai", cmp.Or(s.setting("GROK_BASE_URL"), xAI), "GROK_BASE_URL")
	s.Env["OPENAI_HOST"] = s.root // goose's, without a path
	if host := s.setting("OPENAI_HOST"); host != "" {
		s.Env["OPENAI_HOST"] = s.route("openai", host, "OPENAI_HOST")
	}
	s.Routes = append(s.Routes, Upstream{
		Prefix: "/v1", Header: "Anthropic-Version", // its SDKs always send it
		Base: withoutVersion(cmp.Or(s.setting("ANTHROPIC_BASE_URL"), anthropic)) + "/v1", Source: "ANTHROPIC_BASE_URL",
	})
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"} {
		if base := strings.TrimRight(s.setting(name), "/"); base != "" {
			s.Main = Upstream{Base: base, Source: name}
			break
		}
	}
}

// withoutVersion returns a base URL of Anthropic's API without /v1, as its SDKs
// expect it.
func withoutVersion(base string) string {
	return strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")
}

// setting returns a variable of the environment. Many programs read those that the
// environment lacks from the file .env: a base URL counts there if the key that
// belongs to it is there too.
func (s *setup) setting(name string) string {
	provider, _, _ := strings.Cut(name, "_")
	if value, key := s.user.Getenv(name), provider+"_API_KEY"; value != "" || s.user.Getenv(key) != "" {
		return value
	} else if variables := dotenv(s.here(".env")); variables[key] != "" {
		return variables[name]
	}
	return ""
}
