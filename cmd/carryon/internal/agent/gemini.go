package agent

import (
	"cmp"
	"path/filepath"
)

// gemini asks Google's API with a key, Vertex AI, or Code Assist with a Google login.
// No flag and no variable turns its task tracker on, and only Gemini 2 has another list.
func gemini() Agent {
	return Agent{
		Name: "gemini", packages: []string{"@google/gemini-cli"},
		modes:   modes{oneShot: []string{"-p", "--prompt"}, unattended: []string{"-y", "--yolo", "--approval-mode=yolo"}},
		prepare: prepareGemini,
		list:    settings{how: `"experimental": {"taskTracker": true} in ~/.gemini/settings.json`, only: true},
		hint:    "set GOOGLE_GEMINI_BASE_URL, or with a Google login CODE_ASSIST_ENDPOINT, to the address of a carryon proxy",
	}
}

// prepareGemini changes the base URLs of all three services. That of Google's API is
// also the sign of another login where the user has chosen none: gemini-cli would refuse
// to start, or start without the user's key.
func prepareGemini(s *setup) {
	for _, service := range []struct{ route, variable, otherwise string }{
		{"gemini", "GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"},
		{"vertex", "GOOGLE_VERTEX_BASE_URL", s.geminiVertex()},
		{"code-assist", "CODE_ASSIST_ENDPOINT", "https://cloudcode-pa.googleapis.com"},
	} {
		base := s.geminiSetting(service.variable)
		switch {
		case base != "" || service.route != "gemini" || s.geminiHasLogin():
			s.Env[service.variable] = s.route(service.route, cmp.Or(base, service.otherwise), service.variable)
		case s.geminiSetting("GEMINI_API_KEY") != "":
			s.note(`gemini-cli's settings name no login, and with a key alone it runs without carryon: ` +
				`add "security": {"auth": {"selectedType": "gemini-api-key"}} to ~/.gemini/settings.json.`)
		}
	}
	if s.list {
		s.note("gemini-cli keeps a todo list with Gemini 2, and with other models after %s; -list does not change that.", gemini().list.how)
	}
}

// geminiHasLogin reports whether the user has chosen a login, or a variable names one.
func (s *setup) geminiHasLogin() bool {
	if s.geminiSetting("GOOGLE_GENAI_USE_GCA") == "true" || s.geminiSetting("GOOGLE_GENAI_USE_VERTEXAI") == "true" {
		return true
	}
	for _, path := range []string{
		cmp.Or(s.user.Getenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH"), "/etc/gemini-cli/settings.json"),
		s.geminiHome(".gemini", "settings.json"), s.here(".gemini", "settings.json"),
	} {
		if textAt(readJSON(path), "security", "auth", "selectedType") != "" {
			return true
		}
	}
	return false
}

// geminiVertex returns the base URL of Vertex AI. A key belongs to no location.
func (s *setup) geminiVertex() string {
	switch location := s.geminiSetting("GOOGLE_CLOUD_LOCATION"); {
	case location == "us", location == "eu":
		return vertexHost(location)
	case location == "", s.geminiSetting("GOOGLE_API_KEY") != "":
		return vertexHost("global")
	default:
		return vertexHost(location)
	}
}

// geminiSetting returns a variable of the environment, or of the first file in which
// gemini-cli looks for more of them.
func (s *setup) geminiSetting(name string) string {
	if value := s.user.Getenv(name); value != "" {
		return value
	}
	var paths []string
	for dir := s.user.Dir; ; dir = filepath.Dir(dir) {
		paths = append(paths, filepath.Join(dir, ".gemini", ".env"), filepath.Join(dir, ".env"))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, path := range append(paths, s.geminiHome(".gemini", ".env"), s.geminiHome(".env")) {
		if readConfig(path) != nil {
			return dotenv(path)[name]
		}
	}
	return ""
}

// geminiHome returns a path below what gemini-cli takes for the user's home.
func (s *setup) geminiHome(elements ...string) string {
	return filepath.Join(append([]string{cmp.Or(s.user.Getenv("GEMINI_CLI_HOME"), s.user.Home)}, elements...)...)
}
