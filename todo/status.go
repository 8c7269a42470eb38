package todo

import (
	"strings"
	"unicode"
)

// parseStatus returns the status that models and other tools mean by text. It
// ignores case and everything but letters, so it knows "In-Progress", "[x]" and
// "not_started". A blank status is Pending.
func parseStatus(text string) (status Status, known bool) {
	switch letters(text) {
	case "":
		// A mark without letters, such as "?", is not known.
		blank := strings.Trim(text, " \t\r\n[]") == ""
		return Pending, blank
	case "pending", "todo", "notstarted", "unstarted", "open", "new", "planned",
		"queued", "waiting", "ready", "backlog", "incomplete", "upcoming":
		return Pending, true
	case "inprogress", "doing", "started", "active", "current", "ongoing",
		"working", "wip", "running", "processing", "progress":
		return InProgress, true
	case "completed", "complete", "done", "finished", "closed", "resolved",
		"success", "succeeded", "checked", "x":
		return Completed, true
	case "cancelled", "canceled", "cancel", "skipped", "abandoned", "dropped",
		"removed", "deleted", "obsolete", "wontdo", "notneeded":
		return Cancelled, true
	}
	return "", false
}

// letters returns the letters of text in lower case.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}
