package adapter_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
)

// The end of reasoning is the same, however it is cut into chunks.
func TestReasoningEndKnowsTheLineBreaks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "Hm.", "Hm.\n", "Hm.\r\n", "Hm.\n\n", "Hm.\n\n\n", "Hm.\r\n\r\n", "Hm.\n\nWell.", "\n", "\n\n"} {
		want := adapter.SeparatorAfter(text)
		if text == "" {
			want = ""
		}
		var whole, pieces adapter.ReasoningEnd
		whole.Add(text)
		assert.Equal(t, want, whole.Separator(), "%q", text)
		for piece := range strings.SplitAfterSeq(text, "\n") {
			pieces.Add(piece)
		}
		assert.Equal(t, want, pieces.Separator(), "%q in pieces", text)
	}
}

func TestKeptReasoningIsJoinedAsTextIs(t *testing.T) {
	t.Parallel()
	var r adapter.KeptReasoning
	for _, turn := range []struct {
		text string
		keep bool
	}{{"One.", true}, {"", true}, {"Two.\n", true}, {"Failed.", false}, {"Three.", true}} {
		r.SetTurn(turn.text)
		r.EndTurn(turn.keep)
	}
	assert.Equal(t, "One.\n\nTwo.\n\nThree.", r.Text())
}
