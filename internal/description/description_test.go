package description_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/description"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, content, want string }{
		{"clean", "Fix the login page", "Fix the login page"},
		{"symbols", "GET `/users/{id}` & <b> \"x\" \\n", "GET `/users/{id}` & <b> \"x\" \\n"},
		{"other scripts", "修复登录 ñandú 🙂", "修复登录 ñandú 🙂"},
		{"apostrophe", "don't 'quote'", "don’t ’quote’"},
		{"empty", "", ""},
		{"white space", " \t\r\n\v\f", ""},
		{"trimmed", "  a b  ", "a b"},
		{"line breaks", "a\nb\r\nc\rd\n\ne", "a b c d e"},
		{"line and paragraph separator, next line", "a\u2028b\u2029c\u0085d", "a b c d"},
		{"wide spaces", "a\u00a0b\u3000c\u2003\u2009d", "a b c d"},
		{"control characters", "a\x00b\x1b[31mc\x7fd\u009be", "a b [31mc d e"},
		{"format characters", "a\u200bb\ufeffc\u202ed\u00ade\U000e0041f", "a b c d e f"},
		{"a run of all kinds", "a \n\u200b\x00\u00a0 b", "a b"},
		{"invalid UTF-8", "a\xff\xfeb\xc3", "a\ufffd\ufffdb\ufffd"},
		{"half a surrogate", "a\xed\xa0\x80b", "a\ufffd\ufffd\ufffdb"},
		{"replacement character", "a\ufffdb", "a\ufffdb"},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, description.Of(c.content), c.name)
	}
}

func TestDescribeListMarker(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		"- Fix it", "* Fix it", "+ Fix it", "• Fix it", "1. Fix it", "12) Fix it", "999. Fix it",
		"- [ ] Fix it", "- [x] Fix it", "* [X] Fix it", "1. [ ] Fix it", "[ ] Fix it", "[x] Fix it",
		"  -   Fix it", "\n-\tFix it", "-\u00a0[\u00a0]\u00a0Fix it", "•\u200bFix it",
	} {
		assert.Equal(t, "Fix it", description.Of(content), "%q", content)
	}
	for _, content := range []string{
		"-", "*", "1.", "[x]", "[ ]", "-5 degrees", "--flag", "**bold** text", "1.5 GB", "1.", "2026. Plan",
		"[link](url)", "[xy] a", "[z] a", "[x]a", "[", "[]", "[ ", "3 apples", "1: a", "a - b", ". a", ") a", "•a",
	} {
		assert.Equal(t, strings.TrimSpace(content), description.Of(content), "%q", content)
	}
	assert.Equal(t, "- Fix it", description.Of("- - Fix it"), "one marker only")
	assert.Equal(t, "[ ] Fix it", description.Of("[ ] [ ] Fix it"))
	assert.Equal(t, "[ ]", description.Of("- [ ]"), "no text after the box")
	assert.Equal(t, "it’s", description.Of("- it's"))
}

func TestDescribeCut(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	cases := []struct{ name, content, want string }{
		{"just fits", x(200), x(200)},
		{"one too long", x(201), x(197) + "..."},
		{"fits after trimming", "  " + x(200) + "\n", x(200)},
		{"fits without its marker", "999. [x] " + x(200), x(200)},
		{"too long without its marker", "999. [x] " + x(201), x(197) + "..."},
		{"at a space", x(180) + " " + x(50), x(180) + "..."},
		{"at the last space", x(170) + " xx " + x(50), x(170) + " xx..."},
		{"space is what comes next", x(197) + " " + x(50), x(197) + "..."},
		{"space only after that", x(198) + " " + x(50), x(197) + "..."},
		{"space where the last fifth begins", x(160) + " " + x(50), x(160) + "..."},
		{"space before the last fifth", x(159) + " " + x(50), x(159) + " " + x(37) + "..."},
		{"runes, not bytes", strings.Repeat("語", 201), strings.Repeat("語", 197) + "..."},
		{"just fits in runes", strings.Repeat("語", 200), strings.Repeat("語", 200)},
		{"apostrophes", strings.Repeat("'", 201), strings.Repeat("’", 197) + "..."},
		{"combining mark stays with its letter", x(196) + "e\u0301\u0323" + x(50), x(196) + "..."},
		{"combining mark fits", x(195) + "e\u0301" + x(50), x(195) + "e\u0301..."},
		{"skin tone stays with its emoji", x(196) + "👍🏽" + x(50), x(196) + "..."},
		{"marks only", "a" + strings.Repeat("\u0301", 300), "a" + strings.Repeat("\u0301", 159) + "..."},
		{
			"no space before the ellipsis",
			x(159) + " " + strings.Repeat("\u0301", 60), x(159) + "...",
		},
	}
	for _, c := range cases {
		got := description.Of(c.content)
		assert.Equal(t, c.want, got, c.name)
		assert.LessOrEqual(t, utf8.RuneCountInString(got), description.Max, c.name)
	}
}

func TestDescribeHugeContent(t *testing.T) {
	t.Parallel()
	const size = 10 << 20
	for name, content := range map[string]string{
		"words":   strings.Repeat("word ", size/5),
		"no gaps": strings.Repeat("x", size),
		"broken":  strings.Repeat("\xff", size),
		"marks":   strings.Repeat("\u0301", size/2),
	} {
		want := description.Of(content[:4000])
		for range 1000 { // for ever, if more than what shows were scanned
			require.Equal(t, want, description.Of(content), name)
		}
	}
	assert.Equal(t, "a b", description.Of(strings.Repeat(" ", size)+"a"+strings.Repeat("\n", size)+"b"))
}

func TestBlank(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", " ", "\t\r\n", "\u00a0\u3000\u2028", "\u200b\ufeff\u202e\u00ad", "\x00\x1b\u0085"} {
		assert.True(t, description.Blank(content), "%q", content)
		assert.Empty(t, description.Of(content), "%q", content)
	}
	for _, content := range []string{"a", " \n a", "-", "'", "\xff", "\u0301", "\u200b語"} {
		assert.False(t, description.Blank(content), "%q", content)
		assert.NotEmpty(t, description.Of(content), "%q", content)
	}
}

func TestBlankDescribeEveryRune(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf)
		if got := description.Blank(string(r)); got != want {
			t.Errorf("Blank(%U) = %t", r, got)
		}
		if got := description.Of("a" + string(r) + "b"); (got == "a b") != want {
			t.Errorf("Describe with %U = %q", r, got)
		}
	}
}

// Not parallel, because allocations are counted in the whole process. Both hold
// under the race detector as well.
func TestDescribeAllocations(t *testing.T) {
	for content, want := range map[string]float64{
		"Implement the retry logic of the upload client and test it": 0,
		"- [ ] Implement the retry logic":                            0,
		"修复登录页面的错误":                                                  0,
		"":                                                           0,
		" \n ":                                                       0,
		" two\n lines, and the copy does not fit on a small stack": 1,
		strings.Repeat("\U0001F642", 1000):                         1,
	} {
		got := measure.Allocations(func() { _ = description.Of(content) })
		assert.LessOrEqual(t, got, want, "%.40q", content)
	}
}

func TestBlankDescribeNeverAllocates(t *testing.T) {
	huge := strings.Repeat("\u200b \n", 1000) + strings.Repeat("x", 1<<20)
	assert.Zero(t, measure.Allocations(func() { _ = description.Blank(huge) }))
}

func FuzzDescribe(f *testing.F) {
	for _, seed := range []string{
		"", "Fix it", " - [x] it's\n", "1) a", "a\u200bb\u2028c", "\xff\xfe'", strings.Repeat("語 ", 150),
		strings.Repeat("x", 196) + "e\u0301" + strings.Repeat("x", 50), "999. [x] " + strings.Repeat("🙂", 300),
		strings.Repeat("\u0301", 250), "- - a", "-\x00[\u00a0]\ufeffb",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		got := description.Of(content)
		require.True(t, utf8.ValidString(got))
		require.LessOrEqual(t, utf8.RuneCountInString(got), description.Max)
		require.Equal(t, strings.TrimSpace(got), got)
		require.NotContains(t, got, "  ")
		for _, r := range got {
			require.True(t, r == ' ' || !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf), "%U", r)
			require.NotEqual(t, '\'', r)
		}
		require.Equal(t, description.Blank(content), got == "")
		require.Equal(t, got, description.Of(content))
		// A description describes itself, unless it has a second marker.
		again := description.Of(got)
		require.True(t, strings.HasSuffix(got, again), "%q, then %q", got, again)
		require.LessOrEqual(t, len(got)-len(again), len("999. [x] "))
		require.Equal(t, again, description.Of(" "+got+"\n"), "with or without a copy")
	})
}
