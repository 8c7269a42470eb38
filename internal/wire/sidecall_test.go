package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsSideCall(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "Go on.": false,
		"CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.":               true,
		"<system-reminder>This is a side question from the user. You must":       true,
		"<system-reminder>Today is Sunday.</system-reminder>":                    false,
		"Explain what \"CRITICAL: Respond with TEXT ONLY\" does to the model.":   false,
		"You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff.":  true,
		"You are now acting as the memory extraction subagent. Analyze the most": true,
	} {
		assert.Equal(t, want, IsSideCall(text), text)
	}
}
