package todo

// changes reads the items as changes of a list: what an item does not mention
// is left blank.
func (l *listing) changes() ([]Todo, error) {
	changes := make([]Todo, len(l.items))
	for i, item := range l.items {
		var err error
		if changes[i], err = parseItem(i+1, item); err != nil {
			return nil, err
		}
		if fields, ok := item.(map[string]any); ok && !saysStatus(fields) {
			changes[i].Status = ""
		}
		changes[i].ID, changes[i].Content = clean(changes[i].ID), clean(changes[i].Content)
	}
	return changes, nil
}

// merge applies changes to list: a todo of the same id takes over what is not
// blank, any other with a content is appended. list must be normalized, and so
// is what merge returns.
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
	_ = normalize(list) // refuses blank content, and there is none
	return list
}

// checkTargets refuses changes that merge would drop: those without a content
// of a todo that neither list nor an earlier change has.
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
	if change.Content != "" {
		t.Content = change.Content
	}
	if change.Status != "" {
		t.Status = change.Status
	}
	if change.Priority != "" {
		t.Priority = change.Priority
	}
	return t
}
