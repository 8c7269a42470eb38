package wire

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/rawjson"
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

func TestSideCallsSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	for metadata, want := range map[string]bool{
		"": false, "x": false, `{}`: false, `{"request_kind":"turn","thread_source":"user"}`: false, `{"request_kind":1}`: false,
		`{"request_kind":"compaction"}`: true, `{"request_kind":"turn","thread_source":"thread_title"}`: true,
	} {
		header := func(name string) string {
			if name == "X-Codex-Turn-Metadata" {
				return metadata
			}
			return ""
		}
		assert.Equal(t, want, HasSideHeader(header), metadata)
		member := append(append([]byte(`{"x-codex-turn-metadata":`), rawjson.Quote(metadata)...), '}')
		assert.Equal(t, want, HasSideMetadata(member), metadata)
	}
	assert.False(t, HasSideMetadata([]byte(`{"request_kind":"compaction"}`)))
	assert.False(t, HasSideMetadata(nil))
}

// What sub-agents say of themselves, in all agents that say it.
func TestCallsThatAreNotOfTheMainConversation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header, value string
		want          bool
	}{
		"a sub-agent of Claude Code":       {"X-Claude-Code-Agent-Id", "a1", true},
		"Claude Code itself":               {"X-Claude-Code-Session-Id", "s1", false},
		"a sub-agent of Codex":             {"X-Openai-Subagent", "review", true},
		"a thread of a sub-agent of Codex": {"X-Codex-Turn-Metadata", `{"thread_source":"subagent"}`, true},
		"a thread of a user of Codex":      {"X-Codex-Turn-Metadata", `{"thread_source":"user"}`, false},
		"a sub-agent of opencode":          {"X-Parent-Session-Id", "ses_1", true},
		"a sub-agent of Copilot":           {"X-Interaction-Type", "conversation-subagent", true},
		"a title of Copilot":               {"X-Interaction-Type", "conversation-background", true},
		"Copilot itself":                   {"X-Interaction-Type", "conversation-user", false},
	} {
		header := http.Header{c.header: {c.value}}
		assert.Equal(t, c.want, HasSubAgentHeader(header.Get), name)
	}
	assert.True(t, HasSubAgentMetadata([]byte(`{"x-codex-turn-metadata":"{\"thread_source\":\"subagent\"}"}`)))
	assert.False(t, HasSubAgentMetadata([]byte(`{"x-codex-turn-metadata":"{\"thread_source\":\"user\"}"}`)))
}
