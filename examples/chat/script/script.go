// Package script is a model that needs no key: it plays a real one's part, with
// its habits.
package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/todo"
)

// Example is something that the model can do.
const Example = "Write a short guide about tea."

// The tools that it knows besides those of carryon.
const (
	writeFile  = "write_file"
	checkFiles = "check_files"
)

// taskNote is what a message with the results of background tasks begins with.
const taskNote = "---\nSystem Note: "

// Answer is the model: what it says follows from the request alone, as
// with a real one. It knows four kinds of todos, and stops before each next one
// to announce it, although nobody has asked it to.
func Answer(r carryontest.Request) carryontest.Turn {
	m := readRequest(r)
	switch {
	case m.said != "":
		return m.hear()
	case m.failed != "" && m.asked:
		return carryontest.Pause("A tool does not do its work: " + m.failed)
	case m.failed != "":
		return carryontest.Text("That did not work.")
	case m.written:
		return write(m.completed())
	case m.step.Content == "":
		return carryontest.Text("All is done.")
	case m.checked:
		return write(m.completed()).AndText("The check is through.")
	case m.asked, m.fresh:
		return m.work()
	case m.checking:
		return carryontest.Text("The check is running. I will go on when it is through.")
	case m.is("Check"):
		return m.work()
	}
	return carryontest.Text(fmt.Sprintf("Next, I will %s.", lowerFirst(m.step.Content)))
}

// moment is what the model makes of a request.
type moment struct {
	list     []todo.Todo // as it was written last
	step     todo.Todo   // the one to do next; zero if there is none
	said     string      // what the user has just said
	failed   string      // the error of the last tool
	asked    bool        // carryon asks to carry on
	written  bool        // a file was just written
	fresh    bool        // the list was just made, or changed, for the user
	checking bool        // a check was started for the list
	checked  bool        // and has ended
}

func readRequest(r carryontest.Request) moment {
	last := r.Last()
	m := moment{asked: r.HasTool("todo_pause")}
	if n := len(r.Messages); n > 2 {
		m.fresh = isUsers(r.Messages[n-3])
	}
	for i := len(r.Messages) - 1; i >= 0 && m.list == nil; i-- {
		for _, call := range r.Messages[i].ToolCalls {
			m.recall(call, last)
		}
	}
	if next := slices.IndexFunc(m.list, func(t todo.Todo) bool { return t.Status.Active() }); next >= 0 {
		m.step = m.list[next]
	}
	m.checked = m.is("Check") && (m.checked || strings.Contains(last.Content, "async task(s) completed:"))
	m.written = strings.HasPrefix(last.Content, "OK: wrote ")
	m.failed = lastError(r.Messages)
	if isUsers(last) && !m.asked {
		m.said, _, _ = strings.Cut(last.Content, "\n\n"+taskNote) // what follows is a note
	}
	return m
}

// isUsers reports whether a message is the user's own.
func isUsers(message carryontest.Message) bool {
	return message.Role == "user" && !strings.HasPrefix(message.Content, taskNote)
}

// lastError returns what the last call of a tool failed with, "" if it did not.
func lastError(messages []carryontest.Message) string {
	for _, message := range slices.Backward(messages) {
		if message.Role == "tool" {
			line, _, _ := strings.Cut(message.Content, "\n")
			if strings.HasPrefix(line, "Error:") {
				return line
			}
			return ""
		}
	}
	return ""
}

// recall takes note of a call that the model has made, from the last one back.
func (m *moment) recall(call carryontest.ToolCall, last carryontest.Message) {
	switch call.Name {
	case todo.WriteToolName:
		m.list, _ = todo.ParseList(call.Arguments) // it is the model's own
		m.fresh = m.fresh && last.ToolCallID == call.ID
	case checkFiles:
		m.checking = true
	case asynctask.CheckToolName:
		m.checked = last.ToolCallID == call.ID && !strings.Contains(last.Content, "[RUNNING]")
	}
}

func (m moment) is(verb string) bool { return strings.HasPrefix(m.step.Content, verb+" ") }

// work does the next step with the tools.
func (m moment) work() carryontest.Turn {
	_, target, _ := strings.Cut(m.step.Content, " ")
	switch {
	case m.is("Write"):
		return writeTo(target, contentOf(target))
	case m.is("Check") && m.checking:
		return carryontest.Call(asynctask.CheckToolName, `{}`)
	case m.is("Check"):
		return carryontest.Call(checkFiles, encode(map[string]string{"folder": folderOf(target)}))
	}
	file, name, ok := strings.Cut(strings.TrimPrefix(m.step.Content, "Sign "), " as ")
	if !ok {
		return carryontest.Pause(fmt.Sprintf("I am to sign %s, but you have not said who the author is. "+
			"Whose name shall I put there?", strings.TrimSuffix(file, nameless)))
	}
	return writeTo(file, contentOf(file)+"\nBy "+name+"\n")
}

func writeTo(file, content string) carryontest.Turn {
	return carryontest.Call(writeFile, encode(map[string]string{"path": file, "content": content}))
}

// completed returns the list with the step completed and the next one begun.
func (m moment) completed() []todo.Todo {
	list, next := make([]todo.Todo, 0, len(m.list)), false
	for _, t := range m.list {
		switch {
		case t.ID == m.step.ID:
			t.Status, next = todo.Completed, true
		case next && t.Status == todo.Pending:
			t.Status, next = todo.InProgress, false
		}
		list = append(list, t)
	}
	return list
}

func write(list []todo.Todo) carryontest.Turn {
	return carryontest.Call(todo.WriteToolName, encodeList(list))
}

func encodeList(list []todo.Todo) string { return encode(map[string]any{"todos": list}) }

func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(data)
}
