package pausetool_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

func TestShownIsSafeToPrint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, want string }{
		{good, good},
		{"\U0001F6D1 na\u00efve \u7f3a\u5c11", "\U0001F6D1 na\u00efve \u7f3a\u5c11"},

		// White space.
		{"  a \t\r\n\v\f b  ", "a b"},
		{"a\u00a0\u3000\u2028\u2029\u0085b", "a b"},
		{"a \u200b\x00 b", "a b"},
		{"a\nb", "a b"},

		// Control and format characters.
		{"a\x00b\x07c\x08d\x7fe", "abcde"},
		{"a\u0080b\u009cc", "abc"},
		{"\ufeffa\u200bb\u200cc\u200dd\u2060e\u00adf", "abcdef"},
		{"\u202eabc\u202c\u2066d\u2069\u200e\u200f\u061c", "abcd"},
		{"a\U000E0041b", "ab"},

		// Escape sequences.
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b[1;38;2;1;2;3mx\x1b[?25l\x1b[2J\x1b[H", "x"},
		{"\u009b31mred", "red"},
		{"\x1b]0;title\aend", "end"},
		{"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"\u009d0;title\u009cend", "end"},
		{"a\x1bPdcs\x1b\\b\x1b_apc\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e", "abcde"},
		{"\x1b]0;cut \x1b[31mshort", "short"},
		{"\x1b(Ba\x1bcb\x1b7c\x1b\\d", "abcd"},
		{"\x1b[2 qa\x1b([31mb", "a31mb"},
		{"a\x1b\u00e9b\x1b", "a\u00e9b"},
		{"a\x1b[", "a"},
		{"a\x1b[12", "a"},
		{"a\x1b[12\u00e9", "a\u00e9"},
		{"a\x1b]0;no end", "a0;no end"},
		{"a\x1b]b\x1b]c\x1b]d", "ad"},
		{"a\x1b\x1b[31mb", "ab"},

		// Not UTF-8.
		{"a\xffb", "a\ufffdb"},
		{"a\xff\xfe\xfdb", "a\ufffdb"},
		{"\xe2\x80", "\ufffd"},
		{"\xed\xa0\x80x", "\ufffdx"},
		{"\x9b31m", "\ufffd31m"},
	} {
		assert.Equal(t, c.want, pausetool.Shown(c.reason), "%q", c.reason)
	}
}

func BenchmarkShownIsLinear(b *testing.B) {
	for _, unit := range []string{"\x1b]", "\x1b", "\x1b[", "\x1b[0", "\u009d", " ", "\u200b", "\x1b]a\x1b["} {
		show := func(n int) func() {
			reason := strings.Repeat(unit, n/len(unit))
			return func() { pausetool.Shown(reason) }
		}
		measure.Linear(b, strconv.Quote(unit), show(32<<10), show(measure.Longer*32<<10))
	}
}

func TestShownIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, want string }{
		{"", "no reason given"},
		{" \x00\u200b\x1b[0m", "no reason given"},
		{"\x1b[31mstuck\n", "stuck"},
		{strings.Repeat("x", 500), strings.Repeat("x", 500)},
		{strings.Repeat("x", 501), strings.Repeat("x", 500)},
		{strings.Repeat("\u7f3a", 600), strings.Repeat("\u7f3a", 500)},
		{strings.Repeat("x", 499) + " y", strings.Repeat("x", 499)},
		{strings.Repeat("\u200b", 600) + "x", "x"},
		{strings.Repeat(" x", 300), strings.TrimSpace(strings.Repeat("x ", 250))},
	} {
		assert.Equal(t, c.want, pausetool.Shown(c.reason), "%q", c.reason)
	}
}

func FuzzShown(f *testing.F) {
	for _, seed := range []string{"", "a b", "\x1b[31mred\x1b[0m", "\x1b]0;t\a", "\u009b1m\xff", "\u202e\u200b\ufeff\n", "\x1b]\x1b\\\x1b("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reason string) {
		shown := pausetool.Shown(reason)
		require.True(t, utf8.ValidString(shown))
		require.Equal(t, shown, pausetool.Shown(shown))
		require.Equal(t, shown, strings.Join(strings.Fields(shown), " "))
		require.False(t, strings.ContainsFunc(shown, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
		}))
		require.NotEmpty(t, shown)
		require.LessOrEqual(t, utf8.RuneCountInString(shown), pausetool.MaxReason)
	})
}
