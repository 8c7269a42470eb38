package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// files are the todos of the task: one file each.
var files = []string{"index.html", "style.css", "README.md"} //nolint:gochecknoglobals // the task

// model plays a model that announces its next step instead of taking it, until somebody asks it to carry on. Its answer
// depends on the request alone, so that an agent's side calls do not disturb it.
type model struct {
	dir   string      // where the agent works
	ended atomic.Bool // its last answer to a request with tools called none of them

	claims bool         // it claims to be done after each file, in place of announcing the next
	subs   atomic.Int32 // sub-agents that have ended
}

// respond answers a request.
func (m *model) respond(r fakellm.Request) fakellm.Turn {
	_, writes := m.writerOf(r.Tools)
	switch {
	case m.claims && (writes || inCode(r) || isSub(r)):
		turn, ended := m.claim(r)
		m.ended.Store(ended)
		return turn
	case writes, inCode(r):
		turn, ended := m.next(r)
		m.ended.Store(ended)
		return turn
	case routes(r):
		return said(`{"complexity_reasoning":"It is short.","complexity_score":10,"reasoning":"It is short.","model_choice":"flash"}`)
	}
	return said("A page about tea") // a title, say
}

// next is the next step of the work. ended says that it calls no tool.
func (m *model) next(r fakellm.Request) (turn fakellm.Turn, ended bool) {
	written := m.written(r)
	if update, ok := updateList(r, written); ok {
		return update, false
	}
	switch {
	case written == len(files):
		return said("All done: the page, its styles and the README."), true
	case written > 0 && !asked(r):
		return said(files[written-1] + " is in place. Next, I will write " + files[written] + "."), true
	}
	return m.write(r, files[written]), false
}

// updateList is a call that brings the list up to date, if the agent keeps one.
func updateList(r fakellm.Request, written int) (fakellm.Turn, bool) {
	if inCode(r) {
		return updateListInCode(r, written)
	}
	list, hasList := listOf(r)
	switch {
	case hasList:
		name, arguments := list.next(r, written)
		return call(name, arguments), name != ""
	case slices.Contains(r.Tools, "ToolSearch") && count(r, "ToolSearch", "") == 0: // Claude Code offers the list's tools once the model has found them
		return call("ToolSearch", toJSON(map[string]any{"query": "select:TodoWrite,TaskCreate,TaskUpdate", "max_results": 5})), true
	}
	return fakellm.Turn{}, false
}

// write is a call that writes a file.
func (m *model) write(r fakellm.Request, file string) fakellm.Turn {
	write, _ := m.writerOf(r.Tools)
	switch {
	case inCode(r):
		return script("const r = await tools.exec_command({cmd: " + toJSON(m.shell(file)) + "}); text(r.output);")
	case isCustom(r, write.name):
		return custom(write.name, m.patch(file))
	}
	return call(write.name, write.arguments(file))
}

// routes reports whether gemini-cli asks how hard a task is, and so which model is to work on it.
func routes(r fakellm.Request) bool {
	body := string(r.Body)
	return strings.Contains(body, "complexity_score") || strings.Contains(body, "model_choice")
}

func call(name, arguments string) fakellm.Turn {
	return timed(fakellm.Call(name, arguments).ID(fmt.Sprint("call_", time.Now().UnixNano())))
}

func said(text string) fakellm.Turn { return timed(fakellm.Text(text)) }

// timed adds usage to a turn, and the pauses of a real model: some clients misread a body that is complete at once.
func timed(t fakellm.Turn) fakellm.Turn { return t.Usage(1000, 20).Delay(time.Millisecond) }

// written returns how many files the calls in the request have written.
func (m *model) written(r fakellm.Request) (n int) {
	if inCode(r) {
		return count(r, codeTool, "tools.exec_command(")
	}
	for _, c := range callsOf(r) {
		if _, ok := m.writerOf([]string{c.Name}); ok && slices.ContainsFunc(files, func(f string) bool { return strings.Contains(c.Arguments, f) }) {
			n++
		}
	}
	return n
}

func callsOf(r fakellm.Request) (calls []fakellm.ToolCall) {
	for _, m := range r.Messages {
		calls = append(calls, m.ToolCalls...)
	}
	return calls
}

// asked reports whether the last message is carryon's prompt.
func asked(r fakellm.Request) bool { return isPrompt(r.Last().Content) }

func isPrompt(text string) bool {
	return strings.Contains(text, "no new message has come from the user")
}

// writer is an agent's tool that writes files.
type writer struct {
	name      string
	arguments func(file string) string
}

// writerOf returns the tool that writes a file.
func (m *model) writerOf(names []string) (writer, bool) {
	with := func(path, text string) func(string) string {
		return func(file string) string {
			return toJSON(map[string]any{path: filepath.Join(m.dir, file), text: content})
		}
	}
	shapes := map[string]func(string) string{
		"write":       with("filePath", "content"), // opencode
		"write_file":  with("file_path", "content"),
		"save_file":   with("file_path", "content"),
		"create":      with("path", "file_text"),    // Copilot CLI
		"create_file": with("path", "content"),      // grok-cli
		"editor":      with("path", "new_text"),     // cline
		"Create":      with("file_path", "content"), // droid
		"Write":       with("file_path", "content"),

		"apply_patch": func(file string) string { // opencode, for OpenAI's models
			return toJSON(map[string]any{"patchText": m.patch(file)})
		},

		"exec_command": func(file string) string { return toJSON(map[string]any{"cmd": m.shell(file)}) },
		"shell": func(file string) string {
			return toJSON(map[string]any{"command": []string{"sh", "-c", m.shell(file)}})
		},
		"shell_command": func(file string) string { return toJSON(map[string]any{"command": m.shell(file)}) },
	}
	switch { // agents have tools of the same name
	case slices.Contains(names, "Checklist"): // continue
		shapes["Write"] = with("filepath", "content")
	case slices.Contains(names, "write_tasks"): // nanocoder
		shapes["write_file"] = with("path", "content")
	case slices.Contains(names, "use_capability"): // reasonix
		shapes["write_file"] = with("path", "content")
	case slices.Contains(names, "TodoList"): // kimi-code
		shapes["Write"] = with("path", "content")
	case slices.Contains(names, "todo"): // pi
		shapes["write"] = with("path", "content")
	}
	for _, name := range []string{"save_file", "write", "write_file", "create", "create_file", "editor", "Create", "Write", "exec_command", "shell", "shell_command", "apply_patch"} {
		if arguments, ok := shapes[name]; ok && slices.Contains(names, name) {
			return writer{name, arguments}, true
		}
	}
	return writer{}, false
}

// content is what the files hold.
const content = "<p>Tea.</p>"

// shell is a command that writes a file.
func (m *model) shell(file string) string {
	return "echo '" + content + "' > " + filepath.Join(m.dir, file)
}

// patch is a patch that adds a file.
func (m *model) patch(file string) string {
	return "*** Begin Patch\n*** Add File: " + filepath.Join(m.dir, file) + "\n+" + content + "\n*** End Patch"
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // only maps of texts
	}
	return string(text)
}
