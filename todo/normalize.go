package todo

import (
	"strconv"
	"strings"
)

// normalize brings list, which it changes in place, into the form every list
// of this package has: texts trimmed and valid UTF-8, ids present and unique,
// statuses in their usual spelling, at most one todo in progress. An unknown
// status stays as it is. It refuses blank content.
func normalize(list []Todo) error {
	for i := range list {
		t := &list[i]
		t.ID, t.Content, t.Priority = clean(t.ID), clean(t.Content), clean(t.Priority)
		if t.Content == "" {
			return refuse(i+1, "content is blank", sendContent)
		}
		if status, known := parseStatus(string(t.Status)); known {
			t.Status = status
		} else {
			t.Status = Status(clean(string(t.Status)))
		}
	}
	nameAll(list)
	keepOneInProgress(list)
	return nil
}

func clean(text string) string {
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
}

// nameAll gives every todo of list an id of its own. An id that was given stays
// with the first todo that has it; a todo without one is named by its position,
// counted from 1; any that would be taken already gets a suffix: "3-2".
func nameAll(list []Todo) {
	taken := make(map[string]bool, len(list)) // true: a todo already goes by it
	for i := range list {
		if list[i].ID != "" {
			taken[list[i].ID] = false
		}
	}
	suffix := map[string]int{}
	for i := range list {
		id := list[i].ID
		if id != "" && !taken[id] {
			taken[id] = true
			continue
		}
		if id == "" {
			id = strconv.Itoa(i + 1)
		}
		list[i].ID = freeID(id, taken, suffix)
	}
}

// freeID takes the first free id among base, base-2, base-3, and so on. suffix
// remembers where the search for a base ended, so that a thousand todos of one
// id cost a thousand steps and not a million.
func freeID(base string, taken map[string]bool, suffix map[string]int) string {
	id := base
	n := max(suffix[base], 2)
	for {
		if _, ok := taken[id]; !ok {
			break
		}
		id = base + "-" + strconv.Itoa(n)
		n++
	}
	taken[id], suffix[base] = true, n
	return id
}

// keepOneInProgress leaves only the last todo of list that is in progress so:
// models tend to start the next one before they tick off the one before, and
// the others become pending rather than done, so that no work is lost.
func keepOneInProgress(list []Todo) {
	found := false
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Status != InProgress {
			continue
		}
		if found {
			list[i].Status = Pending
		}
		found = true
	}
}
