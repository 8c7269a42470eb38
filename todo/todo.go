package todo

import (
	"encoding/json"
	"iter"
	"strings"
	"unicode"
)

// Status is the progress of a todo. carryon reads it as [ParseStatus] does: in any
// usual spelling, and a blank one as Pending.
type Status string

// The statuses that carryon knows. It keeps a status that [ParseStatus] does not
// know, treats it as not active, and reports it.
const (
	// Pending means that work on the todo has not started.
	Pending Status = "pending"
	// InProgress means that the todo is being worked on.
	InProgress Status = "in_progress"
	// Completed means that the todo is done.
	Completed Status = "completed"
	// Cancelled means that the todo will not be done.
	Cancelled Status = "cancelled"
)

// Active reports whether a todo of this status still needs work. It is true
// for Pending and InProgress only, and for no other spelling of them.
func (s Status) Active() bool {
	return s == Pending || s == InProgress
}

// Todo is one item of a todo list. It is a plain value without references, so
// copying a []Todo copies the list.
type Todo struct {
	// ID identifies the todo within its list. carryon does not interpret it.
	ID string `json:"id"`
	// Content says what has to be done, in the words of the list's author.
	Content string `json:"content"`
	// Status is the progress of the todo.
	Status Status `json:"status"`
	// Priority is free text such as "high"; "" means none. carryon keeps the
	// order of the list and does not sort by priority.
	Priority string `json:"priority,omitempty"`
	// Owner names the agent of a team that the todo is given to; "" means none.
	Owner string `json:"owner,omitempty"`
	// BlockedBy are the ids of the todos that have to be done before, separated by
	// commas; "" means none. carryon reads up to 64 of them.
	BlockedBy string `json:"blockedBy,omitempty"`
}

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
	status, known = knownStatus(text)
	if known {
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

// maxBlockers is how many blockers of a todo are read.
const maxBlockers = 64

// Blockers returns the ids in t.BlockedBy.
func (t Todo) Blockers() iter.Seq[string] { return blockers(t.BlockedBy) }

// blockers returns the ids in a list of them, separated by commas, each with or without
// "#".
func blockers(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range strings.SplitSeq(list, ",") {
			id = strings.TrimPrefix(strings.TrimSpace(id), "#")
			if id != "" && !yield(id) {
				return
			}
		}
	}
}

// joinBlockers returns the ids of both, each once.
func joinBlockers(blockedBy, more string) string {
	if blockedBy == "" && more == "" {
		return ""
	}
	ids := make([]string, 0, maxBlockers)
	known := make(map[string]bool, maxBlockers)
	for _, list := range [...]string{blockedBy, more} {
		for id := range blockers(list) {
			if len(ids) == maxBlockers {
				break
			}
			if !known[id] {
				known[id] = true
				ids = append(ids, id)
			}
		}
	}
	return strings.Join(ids, ",")
}

// idsIn returns the ids in a value that a model sent: an array of ids, or a text with
// one or several. It returns "" for anything else.
func idsIn(value any) string {
	switch v := value.(type) {
	case string:
		if items, err := decode(v); err == nil {
			if array, ok := items.([]any); ok {
				return idsIn(array)
			}
		}
		return joinBlockers("", clean(v))
	case json.Number:
		return v.String()
	case []any:
		ids := make([]string, 0, min(len(v), maxBlockers))
		for _, item := range v[:min(len(v), maxBlockers)] {
			switch id := item.(type) {
			case string:
				ids = append(ids, clean(id))
			case json.Number:
				ids = append(ids, id.String())
			}
		}
		return joinBlockers("", strings.Join(ids, ","))
	}
	return ""
}
