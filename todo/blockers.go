package todo

import (
	"encoding/json"
	"iter"
	"strings"
)

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
