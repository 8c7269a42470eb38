package script

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlanNamesWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]string{
		Example: {
			"Write tea/outline.md", "Write tea/guide.md", "Check the files in tea", "Sign tea/guide.md for the author",
		},
		"Please make me a poem on the Grüne Wiese, by Ada Lovelace": {
			"Write grüne-wiese/outline.md", "Write grüne-wiese/poem.md", "Check the files in grüne-wiese",
			"Sign grüne-wiese/poem.md as Ada Lovelace",
		},
		"I need notes.md and docs/plan.txt": {
			"Write notes.md", "Write docs/plan.txt", "Check the files in .", "Sign docs/plan.txt for the author",
		},
		"write something": {
			"Write something/outline.md", "Write something/text.md", "Check the files in something",
			"Sign something/text.md for the author",
		},
		"write ../../etc/passwd": {
			"Write etc-passwd/outline.md", "Write etc-passwd/text.md", "Check the files in etc-passwd",
			"Sign etc-passwd/text.md for the author",
		},
		"write !!!": {"Write text/outline.md", "Write text/text.md", "Check the files in text", "Sign text/text.md for the author"},
	} {
		assert.True(t, wantsWork(said), said)
		var steps []string
		for i, step := range plan(said) {
			steps = append(steps, step.Content)
			assert.Equal(t, i == 0, step.Status == "in_progress")
		}
		assert.Equal(t, want, steps)
	}
}

func TestSmallTalkIsNoWork(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"Hello.", "Thank you!", "What can you do?", "write", "e.g. what"} {
		assert.False(t, wantsWork(said), said)
	}
}

func TestNamesAreUnderstood(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Ada Lovelace": "Ada Lovelace", "It is Ada.": "Ada", "my name is Ada Lovelace!": "Ada Lovelace", "by Ada": "Ada", "It": "It",
	} {
		assert.Equal(t, want, nameIn(strings.Fields(said)), said)
	}
}
