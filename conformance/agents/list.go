package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// list is an agent's tool that keeps a todo list.
type list struct {
	// next returns the call that updates the list after so many files were written; name is "" if the list is up to
	// date.
	next func(r fakellm.Request, written int) (name, arguments string)
}

// listOf returns the tool that keeps the list.
func listOf(r fakellm.Request) (list, bool) {
	wholes := map[string]func(done int) string{
		"todowrite":   todos("todos", "priority"),
		"todo_write":  todos("todos", "id"),
		"TodoWrite":   todos("todos", "activeForm"),
		"write_todos": todos("todos", "activeForm"),
		"task_write":  todos("tasks", "activeForm"),
		"update_plan": func(done int) string { return strings.ReplaceAll(todos("plan", "")(done), `"content"`, `"step"`) },
		"TodoList": func(done int) string { // kimi-code's
			return strings.NewReplacer(`"content"`, `"title"`, `"completed"`, `"done"`).Replace(todos("todos", "")(done))
		},
		"Checklist": func(done int) string { return toJSON(map[string]any{"checklist": checklist(done)}) },
	}
	if slices.Contains(r.Tools, "use_capability") { // reasonix
		wholes["todo_write"] = todos("todos", "")
	}
	if strings.Contains(r.Path, "enerateContent") {
		wholes["write_todos"] = func(done int) string {
			return strings.ReplaceAll(todos("todos", "")(done), `"content"`, `"description"`)
		}
	}
	for _, name := range r.Tools {
		if arguments, ok := wholes[name]; ok {
			return list{whole(name, arguments)}, true
		}
		switch name {
		case "todo":
			return list{piItems}, true
		case "create_todo_list":
			return list{grokTodos}, true
		case "TaskCreate":
			return list{claudeTasks}, true
		case "sql":
			return list{copilotRows}, true
		case "tracker_create_task":
			return list{geminiTasks}, true
		}
	}
	return list{}, false
}

// whole returns a list.next for a tool that writes the whole list each time.
func whole(name string, arguments func(done int) string) func(fakellm.Request, int) (string, string) {
	return func(r fakellm.Request, written int) (string, string) {
		listed := -1
		for _, c := range callsOf(r) {
			if c.Name == name {
				listed = strings.Count(c.Arguments, "completed") + strings.Count(c.Arguments, "[x]") + strings.Count(c.Arguments, `"done"`)
			}
		}
		if listed >= written {
			return "", ""
		}
		return name, arguments(written)
	}
}

// todos returns a function that makes a list in JSON, with the member more in each todo.
func todos(key, more string) func(done int) string {
	return func(done int) string {
		items := make([]map[string]any, 0, len(files))
		for i, f := range files {
			status := "pending"
			if i < done {
				status = "completed"
			} else if i == done {
				status = "in_progress"
			}
			item := map[string]any{"content": "Write " + f, "status": status}
			switch more {
			case "id":
				item["id"] = strconv.Itoa(i + 1)
			case "priority":
				item["priority"] = "high"
			case "activeForm":
				item["activeForm"] = "Writing " + f
			}
			items = append(items, item)
		}
		return toJSON(map[string]any{key: items})
	}
}

func checklist(done int) string {
	lines := make([]string, 0, len(files))
	for i, f := range files {
		mark := " "
		if i < done {
			mark = "x"
		}
		lines = append(lines, "- ["+mark+"] Write "+f)
	}
	return strings.Join(lines, "\n")
}

// count returns how many calls of a tool have a text in their arguments.
func count(r fakellm.Request, name, text string) (n int) {
	for _, c := range callsOf(r) {
		if c.Name == name && strings.Contains(c.Arguments, text) {
			n++
		}
	}
	return n
}

// piItems is the list.next of pi, which keeps the list item by item.
func piItems(r fakellm.Request, written int) (name, arguments string) {
	added, toggled := count(r, "todo", `"add"`), count(r, "todo", `"toggle"`)
	switch {
	case added < len(files):
		return "todo", toJSON(map[string]any{"action": "add", "text": "Write " + files[added]})
	case toggled < written:
		return "todo", toJSON(map[string]any{"action": "toggle", "id": toggled + 1})
	}
	return "", ""
}

// grokTodos is the list.next of grok-cli, which has a tool for the whole list and one for changes.
func grokTodos(r fakellm.Request, written int) (name, arguments string) {
	completed := count(r, "update_todo_list", "completed")
	switch {
	case count(r, "create_todo_list", "") == 0:
		return "create_todo_list", strings.ReplaceAll(todos("todos", "id")(0), `"id"`, `"priority":"high","id"`)
	case completed < written:
		return "update_todo_list", toJSON(map[string]any{"updates": []any{map[string]any{"id": strconv.Itoa(completed + 1), "status": "completed"}}})
	}
	return "", ""
}

// claudeTasks is the list.next of Claude Code, which has a tool for each change of an item, and returns an item's id
// when it creates it.
func claudeTasks(r fakellm.Request, written int) (name, arguments string) {
	added, completed := count(r, "TaskCreate", ""), count(r, "TaskUpdate", "completed")
	switch {
	case added < len(files):
		return "TaskCreate", toJSON(map[string]any{"subject": "Write " + files[added], "description": "Write " + files[added]})
	case completed < written:
		return "TaskUpdate", toJSON(map[string]any{"taskId": strconv.Itoa(completed + 1), "status": "completed"})
	}
	return "", ""
}

var createdTask = regexp.MustCompile(`Created task ([0-9a-f]+):`)

// geminiTasks is the list.next of gemini-cli, which names a task when it creates it.
func geminiTasks(r fakellm.Request, written int) (name, arguments string) {
	var ids []string
	for _, m := range r.Messages {
		for _, match := range createdTask.FindAllStringSubmatch(m.Content, -1) {
			ids = append(ids, match[1])
		}
	}
	closed := count(r, "tracker_update_task", "closed")
	switch {
	case len(ids) < len(files):
		return "tracker_create_task", toJSON(map[string]any{"title": "Write " + files[len(ids)], "description": "Write it", "type": "task"})
	case closed < written:
		return "tracker_update_task", toJSON(map[string]any{"id": ids[closed], "status": "closed"})
	}
	return "", ""
}

// copilotRows is the list.next of Copilot CLI, which keeps its list in an SQL table.
func copilotRows(r fakellm.Request, written int) (name, arguments string) {
	const query = `{"description":"Keep the list","query":%s}`
	rows := make([]string, 0, len(files))
	for _, f := range files {
		rows = append(rows, "('"+f+"', 'Write "+f+"', 'Write it', 'pending')")
	}
	statement := "INSERT INTO todos (id, title, description, status) VALUES " + strings.Join(rows, ", ")
	if count(r, "sql", "INSERT") > 0 {
		done := count(r, "sql", "UPDATE")
		if done >= written {
			return "", ""
		}
		statement = "UPDATE todos SET status = 'done' WHERE id = '" + files[done] + "'"
	}
	return "sql", fmt.Sprintf(query, toJSON(statement))
}
