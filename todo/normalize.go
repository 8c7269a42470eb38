package todo

import (
	"slices"
	"strconv"
	"strings"
)

// normalize changes list in place so that texts are trimmed and valid UTF-8,
// ids are present and unique, known statuses have their usual spelling, and at
// most one todo of each owner is in progress. It keeps an unknown status, and refuses a blank
// content.
func normalize(list []Todo) error {
	for i := range list {
		t := &list[i]
		t.ID, t.Content, t.Priority = clean(t.ID), clean(t.Content), clean(t.Priority)
		t.Owner, t.BlockedBy = clean(t.Owner), joinBlockers("", clean(t.BlockedBy))
		if t.Content == "" {
			return refuse(i+1, "content is blank", sendContent)
		}
		t.Status, _ = ParseStatus(string(t.Status))
	}
	nameAll(list)
	keepOneInProgress(list)
	return nil
}

func clean(text string) string {
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
}

// nameAll gives every todo of list a unique id. The first todo that has an id
// keeps it, and a todo without an id is named by its position, counted from 1.
// An id that is already taken gets a suffix: "3-2".
func nameAll(list []Todo) {
	taken := make(map[string]bool, len(list)) // true once a todo has the id
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

// freeID takes and returns the first free id of base, base-2, base-3, and so
// on. suffix remembers where the search for each base ended, so that a thousand
// todos of one id cost a thousand steps and not a million.
func freeID(base string, taken map[string]bool, suffix map[string]int) string {
	for id, n := base, max(suffix[base], 2); ; n++ {
		if _, ok := taken[id]; !ok {
			taken[id], suffix[base] = true, n
			return id
		}
		id = base + "-" + strconv.Itoa(n)
	}
}

// keepOneInProgress keeps the last todo in progress of each owner and makes the others
// pending. Models tend to start a todo before they complete the previous one;
// pending rather than completed means that no work is lost.
func keepOneInProgress(list []Todo) {
	var found map[string]bool // owners
	for i := range slices.Backward(list) {
		t := &list[i]
		switch {
		case t.Status != InProgress:
		case found[t.Owner]:
			t.Status = Pending
		case found == nil:
			found = map[string]bool{t.Owner: true}
		default:
			found[t.Owner] = true
		}
	}
}
