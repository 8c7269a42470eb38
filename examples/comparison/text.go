package main

import (
	"strings"

	"github.com/carryon-go/carryon/examples/internal/plaintext"
)

// width is the number of columns of the output.
const width = 80

func quote(text string) string { return `"` + cut(text, maxText) + `"` }

// cut returns text as one line, shortened to that many columns.
func cut(text string, columns int) string {
	text = plaintext.OneLine(text)
	if columnsOf(text) <= columns {
		return text
	}
	end, used := 0, len("...")
	for i, r := range text {
		used += runeColumns(r)
		if used > columns {
			break
		}
		end = i + len(string(r))
	}
	return strings.TrimRight(text[:end], " ") + "..."
}

// wrap breaks text into lines of at most that many columns, between words where
// possible.
func wrap(text string, columns int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		if *last != "" && columnsOf(*last)+1+columnsOf(word) <= columns {
			*last += " " + word
			continue
		}
		if *last != "" {
			lines = append(lines, "")
		}
		for _, r := range word {
			last = &lines[len(lines)-1]
			if columnsOf(*last)+runeColumns(r) > columns {
				lines = append(lines, "")
				last = &lines[len(lines)-1]
			}
			*last += string(r)
		}
	}
	return lines
}

func columnsOf(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

// runeColumns counts two columns for every character that may be a wide one.
func runeColumns(r rune) int {
	if r >= 0x1100 {
		return 2
	}
	return 1
}
