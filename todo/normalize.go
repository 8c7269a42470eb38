package todo

import (
	"cmp"
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

// merge applies changes to list: a change whose id is in list replaces the
// fields of that todo for which it has a value, adds its blockers, and any other change that has a
// content is appended. list must be normalized, and so is the result.
func merge(list, changes []Todo) []Todo {
	at := make(map[string]int, len(list))
	for i := range list {
		at[list[i].ID] = i
	}
	for _, change := range changes {
		i, known := at[change.ID]
		switch {
		case known && change.ID != "":
			list[i] = changed(list[i], change)
		case change.Content != "":
			at[change.ID] = len(list)
			list = append(list, change)
		}
	}
	_ = normalize(list) // refuses only blank content, and there is none
	return list
}

// checkTargets refuses changes that merge would drop: those that have no
// content and name no todo of list or of an earlier change.
func checkTargets(list, changes []Todo) error {
	known := make(map[string]bool, len(list))
	for i := range list {
		known[list[i].ID] = true
	}
	for i, change := range changes {
		if change.Content == "" && (change.ID == "" || !known[change.ID]) {
			return refuse(i+1, "the list has no todo of this id, and content is blank", sendContent)
		}
		known[change.ID] = true
	}
	return nil
}

func changed(t, change Todo) Todo {
	t.Content = cmp.Or(change.Content, t.Content)
	t.Status = cmp.Or(change.Status, t.Status)
	t.Priority = cmp.Or(change.Priority, t.Priority)
	t.Owner = cmp.Or(change.Owner, t.Owner)
	t.BlockedBy = joinBlockers(t.BlockedBy, change.BlockedBy)
	return t
}
