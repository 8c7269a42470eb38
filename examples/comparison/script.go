package main

import (
	"encoding/json"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/todo"
)

const task = "Build a small web page about tea."

// script returns the answers of the scripted model, one per request. Twice the
// model announces its next step and stops.
func script() []carryontest.Turn {
	return []carryontest.Turn{
		writeTodos(todo.InProgress, todo.Pending, todo.Pending),
		writeTea("index.html", "<h1>Tea</h1>", todo.Completed, todo.InProgress, todo.Pending),
		carryontest.Text("index.html is in place. Next, I will write style.css."),
		writeTea("style.css", "h1 { color: darkgreen }", todo.Completed, todo.Completed, todo.InProgress),
		carryontest.Text("The styles are done. Now let me add the README."),
		writeTea("README.md", "# Tea", todo.Completed, todo.Completed, todo.Completed),
		carryontest.Text("All done: the page, its styles and the README."),
	}
}

// writeTea writes a file and the updated list in one turn.
func writeTea(path, content string, statuses ...todo.Status) carryontest.Turn {
	file := map[string]string{"path": path, "content": content}
	return carryontest.Call(writeFile, encode(file)).
		AndCall(todo.WriteTool().Name, encode(teaTodos(statuses)))
}

func writeTodos(statuses ...todo.Status) carryontest.Turn {
	return carryontest.Call(todo.WriteTool().Name, encode(teaTodos(statuses)))
}

func teaTodos(statuses []todo.Status) map[string]any {
	return map[string]any{"todos": []todo.Todo{
		{ID: "1", Content: "Write index.html", Status: statuses[0]},
		{ID: "2", Content: "Write style.css", Status: statuses[1]},
		{ID: "3", Content: "Write README.md", Status: statuses[2]},
	}}
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(data)
}
