package responses_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/wire/responses"
)

// body is a body that was kept.
type body string

func (b body) Bytes() ([]byte, error) { return []byte(b), nil }

func TestToolsAreNamed(t *testing.T) {
	t.Parallel()
	const request = `{"input":"Go.","tools":[{"type":"function","name":"bash"},{"type":"web_search"},` +
		`{"type":"namespace","name":"tasks","tools":[{"type":"function","name":"update_plan"}]},{"type":"tool_search"}]}`
	facts, _, ok := responses.New().Parse(nil, []byte(request), body(request))
	require.True(t, ok)
	assert.Equal(t, []string{"bash", "update_plan", "tasks", "tool_search"}, slices.Collect(facts.ToolNames.ToolNames))
}
