package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/cmd/carryon/internal/audit"
)

// A session with very many turns is read to its end, and only so many of them are judged.
func TestSessionWithManyTurns(t *testing.T) {
	t.Parallel()
	const turns = 1100
	var b strings.Builder
	line := func(kind string, i int, content string) {
		fmt.Fprintf(&b, `{"type":%q,"sessionId":"s","uuid":"%s%d","message":{"role":%q,"content":[%s],"stop_reason":"end_turn"}}`+"\n", kind, kind, i, kind, content)
	}
	for i := range turns {
		line("user", i, `{"type":"text","text":"Go."}`)
		name, input := "Read", `{"file_path":"a"}`
		if i < 5 {
			name, input = "TaskCreate", `{"subject":"a"}`
		}
		line("assistant", -1-i, fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":%q,"input":%s}`, i, name, input))
		line("user", -1-i, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"t%d","content":"Task #%d created"}`, i, i+1))
		line("assistant", i, `{"type":"text","text":"Next, I will do it."}`)
	}
	report := run(t, "", write(t, "a.jsonl", b.String()))
	assert.Equal(t, 1000, report.All.Ended)
	assert.Equal(t, audit.Skipped{Turns: 100}, report.Skipped)
	assert.Positive(t, report.All.Stalled)
	assert.Equal(t, turns, report.All.UserTurns)
}
