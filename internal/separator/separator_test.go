package separator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/separator"
)

// Only the missing part of the blank line between two texts is added.
func TestOnlyWhatIsMissingIsAdded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "\n\n", "One.": "\n\n", "One. ": "\n\n", "One.\n": "\n", "One.\r\n": "\n", "One.\n\n": "", "One.\r\n\r\n": "", "One.\n\n\n": "",
	} {
		assert.Equal(t, want, separator.After(text), "%q", text)
	}
}

// The end of reasoning is the same, however it is cut into chunks.
func TestEndKnowsTheLineBreaks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "Hm.", "Hm.\n", "Hm.\r\n", "Hm.\n\n", "Hm.\n\n\n", "Hm.\r\n\r\n", "Hm.\n\nWell.", "\n", "\n\n"} {
		want := separator.After(text)
		if text == "" {
			want = ""
		}
		var whole, pieces separator.End
		whole.Add(text)
		assert.Equal(t, want, whole.Separator(), "%q", text)
		for piece := range strings.SplitAfterSeq(text, "\n") {
			pieces.Add(piece)
		}
		assert.Equal(t, want, pieces.Separator(), "%q in pieces", text)
	}
}
