package terminal

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestTextIsMadeFitToBeShown(t *testing.T) {
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
		assert.Equal(t, want, clean(text), "%q", text)
		for cut := range text {
			var c cleaner
			assert.Equal(t, want, c.clean(text[:cut])+c.clean(text[cut:]), "%q cut at %d", text, cut)
		}
	}
}

func TestSequenceThatNeverEndsHidesLittle(t *testing.T) {
	t.Parallel()
	assert.Contains(t, clean("\x1b]0;"+strings.Repeat("x", 2*maxSequence)+"end"), "end")
}

func FuzzTextIsFitToBeShown(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m \x1b]0;t\a 茶 \xff", 12)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		got := clean(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Fatalf("%q became %q", text, got)
		}
		columns = 2 + max(columns, -columns, 0)%100
		for line := range strings.Lines(got) {
			for _, row := range wrap(strings.TrimRight(line, "\n"), columns) {
				if row = strings.TrimRight(row, " "); Width(row) > columns {
					t.Fatalf("%q has %d columns of %d", row, Width(row), columns)
				}
			}
			if fitted := Fit(line, columns); Width(fitted) > columns {
				t.Fatalf("%q has %d columns of %d", fitted, Width(fitted), columns)
			}
		}
	})
}

func TestLinesAreBrokenBetweenWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text    string
		columns int
		want    []string
	}{
		{"", 5, []string{""}},
		{"one two", 7, []string{"one two"}},
		{"one two", 6, []string{"one", "two"}},
		{"one  two", 4, []string{"one", "two"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"toolong", 3, []string{"too", "lon", "g"}},
		{"    code here", 9, []string{"    code", "here"}},
		{"茶茶茶", 4, []string{"茶茶", "茶"}},
		{"茶茶茶", 5, []string{"茶茶", "茶"}},
		{"e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
	} {
		assert.Equal(t, test.want, wrap(test.text, test.columns), "%q in %d", test.text, test.columns)
	}
}

func TestTextIsCutToFit(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "exactly", Fit("exactly", 7))
	assert.Equal(t, "exac..", Fit("exactly", 6))
	assert.Equal(t, "茶..", Fit("茶茶茶", 5))
	assert.Equal(t, "one..", Fit("one two three", 6))
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a b c", OneLine(" a\n\tb \x1b[2J c\r\n"))
}
