package decision_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/decision"
)

func TestConditionsAllHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range len(decision.Conditions{}) {
		var c decision.Conditions
		c[i] = decision.Met
		name := c.String()
		assert.Regexp(t, "^[a-z_]+$", name)
		assert.False(t, seen[name], name)
		seen[name] = true
	}
	assert.Len(t, seen, len(decision.Conditions{}))
}

func TestConditionsString(t *testing.T) {
	t.Parallel()
	assert.Empty(t, decision.Conditions{}.String())
	assert.Equal(t, "!enabled", marksNotMet(decision.ConditionEnabled).String())
	assert.Equal(t, "enabled in_scope unbroken !no_tool_calls", marksNotMet(decision.ConditionNoToolCalls).String())
}
