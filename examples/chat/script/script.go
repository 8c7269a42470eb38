// Package script is a model that needs no key. It behaves like real models.
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

// Example is a message that the model can handle.
const Example = "Write a short guide about tea."

// The tools that the model knows besides those of carryon.
const (
	writeFile  = "write_file"
	checkFiles = "check_files"
)

// taskNote begins a message with the results of background tasks.
const taskNote = "---\nSystem Note: "

// Answer returns the model's answer, which depends on the request alone, as with a real model. The model knows three
// kinds of todos (Write, Check, Sign). Before each one, it stops after announcing it.
func Answer(r carryontest.Request) carryontest.Turn {
	m := readRequest(r)
	switch {
	case m.said != "":
		return m.hear()
	case m.failed != "" && m.asked:
		return carryontest.Pause("A tool does not do its work: " + m.failed)
	case m.failed != "":
		return carryontest.Text("That did not work. I will try it another way.")
	case m.written:
		return write(m.completed())
	case m.step.Content == "":
		return carryontest.Text("Everything is done.")
	case m.checked:
		return write(m.completed()).AndText("The check is done.")
	case m.asked, m.fresh:
		return m.work()
	case m.checking:
		return carryontest.Text("The check is running. I will go on when it is done.")
	case m.is("Check"):
		return m.work()
	}
	return carryontest.Text(fmt.Sprintf("Next, I will %s.", lowerFirst(m.step.Content)))
}

// moment is what the model reads from a request.
type moment struct {
	list     []todo.Todo // as written last
	step     todo.Todo   // the one to do next; zero if there is none
	said     string      // the new message of the user, if the request ends with one
	failed   string      // the error of the last tool call
	asked    bool        // carryon asks the model to carry on
	written  bool        // a file was just written
	fresh    bool        // the list was just written in answer to the user
	checking bool        // a check was started for the list
	checked  bool        // that check has ended
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
		m.said, _, _ = strings.Cut(last.Content, "\n\n"+taskNote) // a note may follow
	}
	return m
}

// isUsers reports whether the user wrote a message.
func isUsers(message carryontest.Message) bool {
	return message.Role == "user" && !strings.HasPrefix(message.Content, taskNote)
}

// lastError returns the error of the last tool call, or "" if it succeeded.
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

// recall reads a call that the model made. Calls are read newest first.
func (m *moment) recall(call carryontest.ToolCall, last carryontest.Message) {
	switch call.Name {
	case todo.WriteTool().Name:
		m.list, _ = todo.ParseList(call.Arguments) // the model wrote it
		m.fresh = m.fresh && last.ToolCallID == call.ID
	case checkFiles:
		m.checking = true
	case asynctask.CheckTool().Name:
		m.checked = last.ToolCallID == call.ID && !strings.Contains(last.Content, "[RUNNING]")
	}
}

func (m moment) is(verb string) bool { return strings.HasPrefix(m.step.Content, verb+" ") }

// work calls the tool for the next step.
func (m moment) work() carryontest.Turn {
	_, target, _ := strings.Cut(m.step.Content, " ")
	switch {
	case m.is("Write"):
		return writeTo(target, contentOf(target))
	case m.is("Check") && m.checking:
		return carryontest.Call(asynctask.CheckTool().Name, `{}`)
	case m.is("Check"):
		return carryontest.Call(checkFiles, encode(map[string]string{"folder": folderOf(target)}))
	}
	file, name, ok := strings.Cut(strings.TrimPrefix(m.step.Content, "Sign "), " as ")
	if !ok {
		return carryontest.Pause(fmt.Sprintf("I need to sign %s, but you have not said who the author is. "+
			"What name should I use?", strings.TrimSuffix(file, nameless)))
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
	return carryontest.Call(todo.WriteTool().Name, encodeList(list))
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
