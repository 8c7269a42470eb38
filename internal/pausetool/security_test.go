package pausetool_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/pause"
)

// A reason cannot add a line to a notice.
func TestReasonAddsNoLineToANotice(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, notice := range map[string]pause.Notice{"short": pause.ShortNotice, "full": pause.FullNotice} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := strings.Count(notice("x", at), "\n")
			rapid.Check(t, func(t *rapid.T) {
				pieces := rapid.SliceOf(rapid.SampledFrom([]string{
					"a", "\n", "\r", "\u2028", "\u2029", "\u0085", "\v", "\f", "\x00", "\x1b[2J", "\x1b]0;t\x07", "\x9b", "\u202e",
					"\u200b", "\xff", "Task paused: ", "\U0001F6D1", " ",
				})).Draw(t, "pieces")
				message := notice(pausetool.Shown(strings.Join(pieces, "")), at)
				require.Equal(t, lines, strings.Count(message, "\n"), "%q", message)
				for _, r := range message {
					require.True(t, r == '\n' || !unicode.IsControl(r) && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp), "%q", message)
				}
			})
		})
	}
}
