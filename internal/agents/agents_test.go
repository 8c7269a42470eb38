package agents_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/agents"
)

// A fact that is spelled wrongly matches nothing, and no other test would notice.
func TestFactsAreSpelledAsTheRulesReadThem(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, a := range agents.All() {
		assert.False(t, named[a.Name], "%s: all facts of an agent stand together", a.Name)
		named[a.Name] = a.Name != "pi" // its header stands behind the more specific ones
	}
	isWord, isName := regexp.MustCompile(`^[a-z0-9_-]+$`), regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	for _, e := range agents.Collect(func(a *agents.Agent) []agents.Element { return a.Elements }) {
		assert.Regexp(t, isWord, e.Name)
	}
	for _, tool := range agents.Collect(func(a *agents.Agent) []agents.Tool { return a.Tools }) {
		assert.Regexp(t, isName, tool.Name)
		assert.NotEqual(t, agents.NoList, tool.Kind, tool.Name)
	}
	for _, l := range agents.Collect(func(a *agents.Agent) []agents.Launch { return a.Launches }) {
		assert.NotEmpty(t, l.Begins)
		for _, text := range []string{l.Begins, l.Promise, l.IDs} {
			assert.Equal(t, strings.ToLower(text), text)
		}
	}
	for _, h := range agents.Collect(func(a *agents.Agent) []agents.Fact { return append(a.Headers, a.Metadata...) }) {
		assert.Equal(t, http.CanonicalHeaderKey(h.Text), h.Text)
	}
	for _, h := range agents.Collect(func(a *agents.Agent) []agents.Mark { return a.SubAgentHeaders }) {
		assert.Equal(t, http.CanonicalHeaderKey(h.Member), h.Member)
	}
	for _, f := range agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Reports }) {
		assert.Equal(t, strings.ToLower(f.Text), f.Text)
	}
	for _, f := range agents.Collect(func(a *agents.Agent) []agents.Fact {
		return slices.Concat(a.SideCalls, a.Banners, a.Nudges, a.Summaries)
	}) {
		assert.Equal(t, strings.TrimSpace(f.Text), f.Text)
		assert.NotEmpty(t, f.Text)
	}
}
