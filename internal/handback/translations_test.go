package handback_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/handback"
)

// A sentence ends a turn in the same way in every language.
func TestTranslations(t *testing.T) {
	t.Parallel()
	want := ""
	for _, line := range linesOf(t, "translations.txt") {
		if line == "" {
			want = ""
		}
		if line == "" || line[0] == '#' {
			continue
		}
		label, text, found := strings.Cut(line, ": ")
		require.True(t, found, line)
		if want == "" {
			want = label
		}
		got := handback.Of(text)
		switch want {
		case "hands back": // by asking, or by leaving the rest
			assert.Contains(t, []handback.End{handback.Asks, handback.Leaves}, got, "%s is %v", line, got)
		case "goes on":
			assert.Contains(t, []handback.End{handback.Announces, handback.Unclear}, got, "%s is %v", line, got)
		default:
			assert.Equal(t, want, got.String(), line)
		}
	}
}
