package adapter

import "strings"

// automaticElements are those that agents put around what they tell the model by
// themselves, in messages with the user's role.
func automaticElements() []string {
	return []string{
		"system-reminder", "system_reminder", "task-notification", "environment_context", "background-task",
		"current-task-list", "task-list-update", // Mastra's
	}
}

// IsAutomatic reports whether a message with the user's role was written by the
// agent and not by its user: it consists of elements such as
// <system-reminder>…</system-reminder>, and of nothing else. Such a message does
// not begin a user turn, and a [Dialect]'s adapter does not count it among
// [Request].Users.
func IsAutomatic(text string) bool {
	rest := trimBlank(text)
	if !strings.HasPrefix(rest, "<") {
		return false
	}
	for rest != "" {
		after, ok := cutElement(rest)
		if !ok {
			return false
		}
		rest = trimBlank(after)
	}
	return true
}

// IsReport reports whether an automatic message tells what became of work in the
// background: the calls before it are not [todo.Call].Recent.
func IsReport(text string) bool {
	lower := strings.ToLower(text)
	return strings.Contains(lower, "<task-notification") || strings.Contains(lower, "<background-task") ||
		strings.Contains(lower, "[background task") || strings.Contains(lower, "[all background tasks")
}

// cutElement returns what follows the automatic element that the text begins with.
func cutElement(text string) (rest string, ok bool) {
	for _, name := range automaticElements() {
		inside, begins := strings.CutPrefix(text, "<"+name)
		if !begins || inside == "" || inside[0] != '>' && inside[0] != ' ' {
			continue
		}
		_, rest, ok = strings.Cut(inside, "</"+name+">")
		return rest, ok
	}
	return "", false
}

// trimBlank removes white space, and the zero bytes that stand between the parts
// of a message.
func trimBlank(text string) string { return strings.Trim(text, " \t\r\n\x00") }
