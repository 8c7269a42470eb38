package main

import (
	"strings"

	"github.com/carryon-go/carryon/pause"
)

// width is how many columns there are.
const width = 80

// line returns text as one line that is safe to print, whatever a model wrote.
func line(text string) string { return pause.Sanitize(text) }

func quote(text string) string { return `"` + cut(text, maxSaid) + `"` }

// cut returns as much of text as goes into that many columns, as one line.
func cut(text string, columns int) string {
	text = line(text)
	if columnsOf(text) <= columns {
		return text
	}
	end, used := 0, len("...")
	for i, r := range text {
		if used += runeColumns(r); used > columns {
			break
		}
		end = i + len(string(r))
	}
	return strings.TrimRight(text[:end], " ") + "..."
}

// wrap breaks text into lines of at most that many columns, between words
// where it can.
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

// runeColumns errs on the wide side: from here on characters may take two.
func runeColumns(r rune) int {
	if r >= 0x1100 {
		return 2
	}
	return 1
}
