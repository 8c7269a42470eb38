package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/examples/internal/plaintext"
)

func FuzzTextFitsIntoColumns(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m \x1b]0;t\a 茶 \xff", 12)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = 2 + max(columns, -columns, 0)%100
		for line := range strings.Lines(plaintext.Clean(text)) {
			for _, row := range wrap(strings.TrimRight(line, "\n"), columns) {
				row = strings.TrimRight(row, " ")
				if Width(row) > columns {
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
