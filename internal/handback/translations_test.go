package handback

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A sentence ends a turn in the same way in every language.
func TestTranslations(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/translations.txt")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	want := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
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
		got := Of(text)
		switch want {
		case "hands back": // by asking, or by leaving the rest
			assert.Contains(t, []End{Asks, Leaves}, got, "%s is %v", line, got)
		case "goes on":
			assert.Contains(t, []End{Announces, Unclear}, got, "%s is %v", line, got)
		default:
			assert.Equal(t, want, got.String(), line)
		}
	}
}
