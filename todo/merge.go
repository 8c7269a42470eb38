package todo

import "cmp"

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
