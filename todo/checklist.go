package todo

import (
	"strings"
	"unicode"
)

// checklist reads a Markdown checklist. It returns an item, in the form that
// parseItem reads, for each line with a check box; nil if there is none.
func checklist(text string) []any {
	var items []any
	for line := range strings.Lines(text) {
		if status, content, ok := checkBox(line); ok {
			items = append(items, map[string]any{"content": content, "status": string(status)})
		}
	}
	return items
}

// checkBox reads a line such as "- [x] Fix the bug", "2. [ ] Test it" or
// "[done] Ship it".
func checkBox(line string) (status Status, content string, ok bool) {
	box, opened := strings.CutPrefix(afterBullet(strings.TrimSpace(line)), "[")
	mark, content, _ := strings.Cut(box, "]")
	text := strings.TrimSpace(content)
	if !opened || mark == "" || text == content {
		return "", "", false // "[]" is an array and "[text](address)" a link
	}
	status, ok = checkMark(strings.TrimSpace(mark))
	return status, text, ok
}

func checkMark(mark string) (status Status, ok bool) {
	switch mark {
	case "-", "~", "/", ">", "*":
		return InProgress, true
	case "✓", "✔", "✅":
		return Completed, true
	}
	if status, known := ParseStatus(mark); known {
		return status, true
	}
	isWord := strings.ContainsFunc(mark, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	return Pending, !isWord // "[1]" is a reference, but "[?]" is a check box
}

// afterBullet returns line without the "-", "*", "+", "1." or "1)" of an item.
func afterBullet(line string) string {
	if rest := strings.TrimLeft(line, "-*+"); rest != line {
		return strings.TrimSpace(rest)
	}
	number := strings.TrimLeftFunc(line, unicode.IsDigit)
	if rest := strings.TrimLeft(number, ".)"); number != line && rest != number {
		return strings.TrimSpace(rest)
	}
	return line
}
