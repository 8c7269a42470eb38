package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/fakellm"
)

// files are the todos of the task: one file each.
var files = []string{"index.html", "style.css", "README.md"} //nolint:gochecknoglobals // the task

// model plays one that announces the next step in place of taking it, as long as
// nobody asks it to carry on. What it does follows from the request alone, so
// that side calls of an agent do not disturb it.
type model struct{}

// respond answers a request.
func (model) respond(r fakellm.Request) fakellm.Turn {
	return model{}.turn(r).Usage(1000, 20).Delay(time.Millisecond) // some clients read a body that is complete badly
}

func (model) turn(r fakellm.Request) fakellm.Turn {
	write, ok := writerOf(r.Tools)
	if !ok {
		return fakellm.Text("A page about tea") // a title, say
	}
	listed, written := progressOf(r)
	list, hasList := listOf(r.Tools)
	switch {
	case hasList && listed < written:
		return call(list, list.arguments(written))
	case written == len(files):
		return fakellm.Text("All done: the page, its styles and the README.")
	case hasList && listed < 0:
		return call(list, list.arguments(0))
	case written > 0 && !asked(r):
		return fakellm.Text(files[written-1] + " is in place. Next, I will write " + files[written] + ".")
	}
	return call(write, write.arguments(files[written]))
}

func call[T any](t tool[T], arguments string) fakellm.Turn {
	return fakellm.Call(t.name, arguments).ID(fmt.Sprint("call_", time.Now().UnixNano()))
}

// progressOf returns how many todos were listed as done, -1 before there is a
// list, and how many files were written.
func progressOf(r fakellm.Request) (listed, written int) {
	listed = -1
	for _, m := range r.Messages {
		for _, c := range m.ToolCalls {
			if _, ok := listOf([]string{c.Name}); ok {
				listed = strings.Count(c.Arguments, "completed") + strings.Count(c.Arguments, "[x]")
			} else if _, ok := writerOf([]string{c.Name}); ok && slices.ContainsFunc(files, func(f string) bool { return strings.Contains(c.Arguments, f) }) {
				written++
			}
		}
	}
	return listed, written
}

// asked reports whether the last message is carryon's prompt.
func asked(r fakellm.Request) bool { return isPrompt(r.Last().Content) }

func isPrompt(text string) bool {
	return strings.Contains(text, "no new message has come from the user")
}

// tool is one of an agent's, and how it is called.
type tool[T any] struct {
	name      string
	arguments func(T) string
}

// listOf returns the tool that writes the todo list.
func listOf(names []string) (tool[int], bool) {
	shapes := map[string]func(done int) string{
		"todowrite":   todos("priority"),
		"todo_write":  todos("id"),
		"TodoWrite":   todos("activeForm"),
		"write_todos": todos(""),
		"Checklist":   func(done int) string { return toJSON(map[string]any{"checklist": checklist(done)}) },
		"update_plan": func(done int) string {
			return strings.NewReplacer(`"todos"`, `"plan"`, `"content"`, `"step"`).Replace(todos("")(done))
		},
	}
	return first(names, shapes)
}

func todos(more string) func(done int) string {
	return func(done int) string {
		list := make([]map[string]any, 0, len(files))
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
			list = append(list, item)
		}
		return toJSON(map[string]any{"todos": list})
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

// writerOf returns the tool that writes a file.
func writerOf(names []string) (tool[string], bool) {
	content := "<p>Tea.</p>"
	with := func(path, text string) func(string) string {
		return func(file string) string { return toJSON(map[string]any{path: workspace(file), text: content}) }
	}
	return first(names, map[string]func(string) string{
		"write":      with("filePath", "content"), // opencode
		"write_file": with("file_path", "content"),
		"Write":      with(writePath(names), "content"),
		"exec_command": func(file string) string {
			return toJSON(map[string]any{"cmd": "echo '" + content + "' > " + workspace(file)})
		},
		"shell": func(file string) string {
			return toJSON(map[string]any{"command": []string{"sh", "-c", "echo '" + content + "' > " + workspace(file)}})
		},
		"shell_command": func(file string) string {
			return toJSON(map[string]any{"command": "echo '" + content + "' > " + workspace(file)})
		},
	})
}

// writePath returns what Write calls its path: two agents have a tool of that
// name.
func writePath(names []string) string {
	if slices.Contains(names, "Checklist") {
		return "filepath" // continue
	}
	return "file_path"
}

func first[T any](names []string, shapes map[string]func(T) string) (tool[T], bool) {
	for _, name := range names {
		if arguments, ok := shapes[name]; ok {
			return tool[T]{name, arguments}, true
		}
	}
	return tool[T]{}, false
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // only maps of texts
	}
	return string(text)
}
