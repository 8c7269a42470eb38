package terminal_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/terminal"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "",
		"ok\tyes\nno":                         "ok\tyes\nno",
		"\x1b[31;1mFAIL\x1b[0m x_test.go":     "FAIL x_test.go",
		"\x1b]0;title\aFAIL":                  "FAIL",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;":  "link8;;",
		"one\r\ntwo\r\r\nthree":               "one\ntwo\nthree",
		"  3%\r 50%\r100%\ndone":              "100%\ndone",
		"at the end\r":                        "at the end",
		"a\u2028b\u0085c\vd":                  "a\nb\nc\nd",
		"\u202eevil\u202c \u200bzero\x00\x07": "evil zero",
		"bad \xff byte":                       "bad \ufffd byte",
		"non\u00a0breaking":                   "non breaking",
		"cut \x1b[3":                          "cut ",
	} {
		got := terminal.Plain(text)
		assert.Equal(t, want, got, "%q", text)
		assert.Equal(t, got, terminal.Plain(got), "%q", text)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\r\n\u202e")
	f.Add(strings.Repeat("\x1b]", 100))
	f.Fuzz(func(t *testing.T, text string) {
		got := terminal.Plain(text)
		assert.True(t, utf8.ValidString(got))
		for _, r := range got {
			assert.True(t, r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r), "%q", r)
		}
		assert.Equal(t, got, terminal.Plain(got))
	})
}
