package terminal

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width returns how many columns a text takes.
func Width(text string) int { return uniseg.StringWidth(text) }

// wrap breaks a line into lines of at most that many columns, between words
// where possible. It keeps spaces at the end of the last line, because more text
// may follow.
func wrap(text string, columns int) []string {
	var lines []string
	for {
		used, space, cut := 0, 0, -1
		for rest, state, at := text, -1, 0; rest != "" && cut < 0; {
			var cluster string
			var width int
			cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
			if cluster == " " {
				space = at
			}
			used += width
			if used > columns && cluster != " " && at > 0 {
				cut = at
			}
			at += len(cluster)
		}
		if cut < 0 {
			return append(lines, text)
		}
		if strings.TrimLeft(text[:space], " ") != "" {
			cut = space
		}
		lines = append(lines, strings.TrimRight(text[:cut], " "))
		text = strings.TrimLeft(text[cut:], " ")
	}
}

// Fit returns text, shortened to that many columns.
func Fit(text string, columns int) string {
	if uniseg.StringWidth(text) <= columns {
		return text
	}
	used, end := len(".."), 0
	for rest, state := text, -1; rest != ""; {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		used += width
		if used > columns {
			break
		}
		end += len(cluster)
	}
	return strings.TrimRight(text[:end], " ") + ".."
}
