package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/turnresult"
	"github.com/carryon-go/carryon/internal/wire/protocols"
	"github.com/carryon-go/carryon/middleware"
)

// The table has the reasons as outcomes print them.
func TestReasonsAreReal(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for r := reasons.None; !strings.HasPrefix(r.String(), "continuation.Reason("); r++ {
		known[r.String()] = true
		explained, _, _ := strings.Cut(middleware.Outcome{Turns: 1, Reason: r}.Explanation(), ": ")
		known[explained] = true
	}
	for _, row := range read(t, "docs/how-it-decides.md").tableUnder(t, "Nothing happened?") {
		assert.True(t, known[row[0]], "no such reason: %s", row[0])
	}
}

// The table of measurements has the promises that "make bench" measures, in its words.
func TestPromisesAreMeasured(t *testing.T) {
	t.Parallel()
	list, err := shell(t.Context(), filepath.Join(root, "conformance"), "go run ./bench -list -carryon none", "CGO_ENABLED=0").Output()
	require.NoError(t, err)
	var documented []string
	for _, row := range read(t, "docs/benchmarks.md").tableUnder(t, "The table") {
		for measured := range strings.SplitSeq(row[1], "; ") {
			name, _, _ := strings.Cut(measured, " = ")
			documented = append(documented, row[0]+" | "+name)
		}
	}
	assert.ElementsMatch(t, strings.Split(strings.TrimSpace(string(list)), "\n"), documented, "run \"make bench\"")
}

// The dashboard names every result of a continuation, in the order of the code.
func TestResultsAreListed(t *testing.T) {
	t.Parallel()
	description := regexp.MustCompile(`"title": "Continuations by result",\s*"description": "(.*)"`).FindStringSubmatch(read(t, "cmd/carryon/dashboard.json").text)
	require.NotNil(t, description)
	var described []string
	for _, name := range regexp.MustCompile(`(\w+): `).FindAllStringSubmatch(description[1], -1) {
		described = append(described, name[1])
	}
	assert.Equal(t, turnresult.All(), described)
}

// The table of protocols has the ends of the paths that the transport acts on.
func TestPathsAreTheProtocols(t *testing.T) {
	t.Parallel()
	for _, row := range read(t, "docs/protocols.md").table(t)[:4] {
		for _, path := range regexp.MustCompile("`([^`?]+)").FindAllStringSubmatch(row[1], -1) {
			if strings.ContainsAny(path[1], "/:") {
				assert.Equal(t, path[1], protocols.Endpoint("/v1/x"+path[1]))
			}
		}
	}
	assert.Len(t, protocols.New(), 4)
}

// Flags in the prose, such as -max-attempts, are flags of the command.
func TestFlagsExist(t *testing.T) {
	t.Parallel()
	bin := carryonCommand(t)
	var help strings.Builder
	for _, command := range []string{"proxy", "run", "audit"} {
		out, err := shell(t.Context(), root, bin+"/carryon "+command+" -h").Output()
		require.NoError(t, err)
		help.Write(out)
	}
	foreign := map[string]bool{"-p": true, "-e": true, "-d": true, "-h": true} // of agents, curl and every command
	found := 0
	for _, p := range pages(t) {
		if p.path == "docs/decisions.md" {
			continue
		}
		for _, code := range regexp.MustCompile("`(?:carryon (?:run|proxy|audit) )?(-[a-z][a-z-]*)").FindAllStringSubmatch(p.prose(), -1) {
			if !foreign[code[1]] {
				assert.Regexp(t, `(?m)^ +-?`+code[1]+`\b`, help.String(), p.path)
				found++
			}
		}
	}
	assert.Greater(t, found, 30)
}

// The alerts and docs/operators.md ask for metrics that package otel and docs/operators.md list.
func TestAlertsNameMetrics(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/operators.md")
	counted := make(map[string]bool)
	for _, row := range page.table(t) {
		counted[strings.Trim(row[0], "`")] = true
	}
	for _, item := range regexp.MustCompile(`(?m)^//   - (carryon\.[\w.]+)`).FindAllStringSubmatch(read(t, "otel/doc.go").text, -1) {
		name := strings.ReplaceAll(item[1], ".", "_")
		counted[name], counted[name+"_total"], counted[name+"_seconds"] = true, true, true
	}
	texts := page.text + read(t, "cmd/carryon/alerts.yml").text
	names := regexp.MustCompile(`\bcarryon_\w+`).FindAllString(strings.ReplaceAll(texts, "{carryon_", "{"), -1)
	require.Greater(t, len(names), 4)
	for _, name := range names {
		assert.True(t, counted[name], "there is no %s", name)
	}
}
