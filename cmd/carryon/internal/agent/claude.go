package agent

import (
	"cmp"
	"strings"
)

func claude() Agent {
	return Agent{
		Name: "claude", packages: []string{"@anthropic-ai/claude-code"},
		modes: modes{
			oneShot:    []string{"-p", "--print"},
			unattended: []string{"--dangerously-skip-permissions", "--permission-mode=bypassPermissions"},
		},
		prepare: prepareClaude,
		list: settings{
			env: map[string]string{"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"},
			how: "CLAUDE_CODE_ENABLE_TODO_TOOLS=1 in the environment; models up to Opus 4.7, Sonnet 4.6 and Haiku 4.5 have it on",
		},
		hint: "set ANTHROPIC_BASE_URL",
	}
}

// clouds are the clouds through which Claude Code may reach its models. One that
// carryon cannot read has no base.
var clouds = []struct { //nolint:gochecknoglobals // a table
	name, use, base string
	otherwise       func(getenv func(string) string) string // the base URL that is set nowhere, or ""
}{
	{name: "Amazon Bedrock", use: "CLAUDE_CODE_USE_BEDROCK"},
	{"Vertex AI", "CLAUDE_CODE_USE_VERTEX", "ANTHROPIC_VERTEX_BASE_URL", vertexBase},
	{"Microsoft Foundry", "CLAUDE_CODE_USE_FOUNDRY", "ANTHROPIC_FOUNDRY_BASE_URL", foundryBase},
}

func vertexBase(getenv func(string) string) string {
	if region := getenv("CLOUD_ML_REGION"); region != "" {
		return vertexHost(region) + "/v1"
	}
	return ""
}

// vertexHost returns the address of Vertex AI for a region.
func vertexHost(region string) string {
	switch region {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + region + ".rep.googleapis.com"
	default:
		return "https://" + region + "-aiplatform.googleapis.com"
	}
}

func foundryBase(getenv func(string) string) string {
	resource := getenv("ANTHROPIC_FOUNDRY_RESOURCE")
	if resource == "" {
		return ""
	}
	return "https://" + resource + ".services.ai.azure.com/anthropic"
}

// prepareClaude changes the base URL where Claude Code finds it: in the environment,
// or in its settings, which override the environment.
func prepareClaude(s *setup) {
	inSettings := s.claudeVariables()
	get := func(name string) string { return cmp.Or(inSettings[name], s.user.Getenv(name)) }
	name, here := "ANTHROPIC_BASE_URL", s.root
	s.noteGoal("Claude Code")
	for _, cloud := range clouds {
		if on := get(cloud.use); on == "" || on == "0" || on == "false" {
			continue
		}
		base := ""
		if cloud.base != "" {
			base = cmp.Or(get(cloud.base), cloud.otherwise(get))
		}
		if base == "" {
			s.note("Claude Code is set up for %s, which carryon cannot stand in front of: it runs without carryon.", cloud.name)
			return
		}
		name, here = cloud.base, s.route("cloud", base, cloud.base)
	}
	if name == "ANTHROPIC_BASE_URL" {
		root := strings.TrimRight(cmp.Or(get(name), anthropic), "/")
		s.Main = Upstream{Base: root + "/v1", Source: name}
		s.Routes = append(s.Routes, Upstream{Base: root, Source: name})
	}
	if inSettings[name] == "" {
		s.Env[name] = here
		return
	}
	s.claudeSettings(object{"env": object{name: here}})
}

// claudeVariables returns the variables that Claude Code's settings set.
func (s *setup) claudeVariables() map[string]string {
	folder := cmp.Or(s.user.Getenv("CLAUDE_CONFIG_DIR"), s.home(".claude"))
	variables := make(map[string]string)
	for _, settings := range []object{
		readJSON(folder + "/settings.json"), readJSON(s.here(".claude", "settings.json")),
		readJSON(s.here(".claude", "settings.local.json")), jsonOrFile(s.flag("--settings")),
	} {
		inside, _ := at(settings, "env").(object)
		for name := range inside {
			variables[name] = textAt(inside, name)
		}
	}
	return variables
}

// jsonOrFile reads a flag's value, which is JSON or the path of a file with it.
func jsonOrFile(value string) object {
	if strings.HasPrefix(strings.TrimSpace(value), "{") {
		return parseJSON([]byte(value))
	}
	return readJSON(value)
}

// claudeSettings adds settings to those of the flag --settings, which override those
// of files.
func (s *setup) claudeSettings(more object) {
	const flag = "--settings"
	if value := s.flag(flag); value != "" {
		s.replaceFlag(flag, toJSON(merged(jsonOrFile(value), more)))
		return
	}
	s.own = append(s.own, flag, toJSON(more))
}
