package plaintext_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/examples/internal/plaintext"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\nlines\r\n":                         "plain\nlines\n",
		"\x1b[31mred\x1b[0m":                       "red",
		"\x1b]0;title\atext":                       "text",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1bP1;2q#0\x1b\\text":                    "text",
		"\u009b2Jtext":                             "text",
		"\u009d0;title\u009ctext":                  "text",
		"\x1b(Btext":                               "text",
		"\x1b7text":                                "text",
		"\x1b\x1b[2Jtext":                          "text",
		"bell\a, back\b, nul\x00, del\x7f":         "bell, back, nul, del",
		"\x1b]0;never ended\nnext line":            "\nnext line",
		"caf\xe9 \xff\xfe":                         "caf\ufffd \ufffd\ufffd",
		"a\tb":                                     "a    b",
		"\u202eright to left\u2066":                "right to left",
		"👩\u200d💻 茶":                               "👩\u200d💻 茶",
	} {
		assert.Equal(t, want, plaintext.Clean(text), "%q", text)
		for cut := range text {
			var c plaintext.Cleaner
			assert.Equal(t, want, c.Clean(text[:cut])+c.Clean(text[cut:]), "%q cut at %d", text, cut)
		}
	}
}

func TestSequenceThatNeverEndsHidesLittle(t *testing.T) {
	t.Parallel()
	assert.Contains(t, plaintext.Clean("\x1b]0;"+strings.Repeat("x", 512)+"end"), "end")
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m \x1b]0;t\a 茶 \xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := plaintext.Clean(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a b c", plaintext.OneLine(" a\n\tb \x1b[2J c\r\n"))
}
