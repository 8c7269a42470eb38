package todo

import (
	"strings"
	"unicode"
)

// ParseStatus returns the status that models and tools mean by text, and whether it
// is known. It ignores case and everything but letters, so it knows "In-Progress",
// "[x]" and "not_started". It also knows synonyms: "done" is Completed, "wip"
// InProgress, "skipped" Cancelled, and "blocked" Pending. A blank status is Pending.
// An unknown status is returned without white space around it, and is not active.
//
// carryon reads every status this way, whatever its source.
func ParseStatus(text string) (status Status, known bool) {
	switch Status(text) {
	case Pending, InProgress, Completed, Cancelled:
		return Status(text), true
	}
	if status, known = knownStatus(text); known {
		return status, true
	}
	return Status(clean(text)), false
}

func knownStatus(text string) (status Status, known bool) {
	switch letters(text) {
	case "":
		// A mark without letters, such as "?", is not known.
		return Pending, strings.Trim(text, " \t\r\n[]") == ""
	case "pending", "todo", "notstarted", "unstarted", "open", "opened", "reopened", "new", "planned", "queued",
		"waiting", "ready", "backlog", "incomplete", "upcoming", "blocked", "onhold", "undone",
		"notdone", "unchecked":
		return Pending, true
	case "inprogress", "doing", "started", "active", "current", "ongoing", "working", "workingon", "wip",
		"workinprogress", "running", "processing", "progress", "executing":
		return InProgress, true
	case "completed", "complete", "done", "finished", "closed", "resolved", "success", "succeeded", "successful",
		"checked", "fixed", "implemented", "x":
		return Completed, true
	case "cancelled", "canceled", "cancel", "skipped", "skip", "abandoned", "dropped", "removed", "deleted", "obsolete",
		"wontdo", "wontfix", "notneeded", "discarded":
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
