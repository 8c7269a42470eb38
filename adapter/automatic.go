package adapter

import "strings"

// automaticElements are the elements that agents put around their own notes to the
// model, in messages with the user's role.
func automaticElements() []string {
	return []string{
		"system-reminder", "system_reminder", "task-notification", "environment_context", "background-task",
		"current-task-list", "task-list-update", // Mastra's
		"codex_internal_context",
	}
}

// IsAutomatic reports whether the agent, and not its user, wrote a message with the
// user's role: it consists only of elements such as
// <system-reminder>…</system-reminder>. Such a message does not begin a user turn,
// and adapters do not count it among [Request].Users.
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

// IsReport reports whether an automatic message reports the end of work in the
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

// trimBlank removes white space, and the zero bytes that separate the parts of a
// message.
func trimBlank(text string) string { return strings.Trim(text, " \t\r\n\x00") }
