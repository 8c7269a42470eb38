package asynctask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/scope"
)

// CheckToolName is the name of the tool that [CheckTool] defines.
const CheckToolName = "check_async_tasks"

// Definition is a tool in a form that belongs to no SDK. Its JSON is the
// function object of the Chat Completions API. It converts to the type of the
// same name in package todo, for programs that declare the tools of both.
type Definition struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Parameters is a JSON schema.
	Parameters json.RawMessage `json:"parameters"`
}

// CheckTool returns the tool a model looks at background tasks with. Each call
// returns a value of its own, which the caller may change; Manager.Handle
// answers to the name it has here.
func CheckTool() Definition {
	return Definition{
		Name: CheckToolName,
		Description: "Look at the background tasks of this conversation. Without task_id it lists them all with their " +
			"status; with task_id it shows one of them, with its result if it has ended. You are told when a task " +
			"ends, so there is no need to ask again and again.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"task_id":{"type":"string",` +
			`"description":"The id of one task, or the beginning of it as far as it is unique. Leave it out to list all."}},` +
			`"additionalProperties":false}`),
	}
}

// Handle answers a call to check_async_tasks, in any case of the letters, for
// the session of ctx. ok is false for other names. result is the text of the
// tool message: the status summary, or one task with its result as a reminder
// shows it. If several tasks begin with the id it lists those, and what cannot
// be answered starts with "Error: ". To look is not a delivery: the end of a
// task is told all the same.
func (m *Manager) Handle(ctx context.Context, name, arguments string) (result string, ok bool) {
	if !strings.EqualFold(name, CheckToolName) {
		return "", false
	}
	if ctx == nil {
		panic("asynctask: nil context")
	}
	id, err := parseTaskID(arguments)
	if err != nil {
		return "Error: " + err.Error(), true
	}
	session := scope.Session(ctx)
	if id != "" {
		return m.check(session, id), true
	}
	if summary := m.Summary(session); summary != "" {
		return summary, true
	}
	return "No async tasks.", true
}

// check describes one task.
func (m *Manager) check(session, id string) string {
	m.mu.Lock()
	t, err := m.find(session, id)
	if err != nil {
		m.mu.Unlock()
		return refuse(id, err)
	}
	l, started, ended, result, now := line{t.id, t.name, t.state}, t.started, t.ended, t.result, m.clock.Now()
	m.mu.Unlock()

	text := fmt.Sprintf("%s - [%s] (%s)\nStarted %s, ", l.name, l.state.label(), l.id, started.UTC().Format(time.RFC3339))
	if result == nil {
		return text + fmt.Sprintf("running for %s.", now.Sub(started).Round(time.Second))
	}
	text += fmt.Sprintf("ended after %s.\n", ended.Sub(started).Round(time.Second))
	return string(result.cut(MaxCompletion).append([]byte(text)))
}

// refuse tells the model why there is no task to show.
func refuse(id string, err error) string {
	var ambiguous *AmbiguousError
	if !errors.As(err, &ambiguous) {
		return fmt.Sprintf("Error: no task has the id %.64q. Call %s without task_id to list them.", id, CheckToolName)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Error: %d tasks begin with %.64q. Use more of the id:", len(ambiguous.Candidates), id)
	for i, t := range ambiguous.Candidates {
		if b.Len() > MaxSummary {
			fmt.Fprintf(&b, "\n(%d more not shown)", len(ambiguous.Candidates)-i)
			break
		}
		fmt.Fprintf(&b, "\n%s - [%s] (%s)", t.Name, t.State.label(), t.ID)
	}
	return b.String()
}

var errArguments = errors.New(`send {"task_id":"..."} to look at one task, or {} to list all`)

// parseTaskID reads the arguments of a call, which models and frameworks get
// wrong in some ways: an id where an object should be, the name that reminders
// give to it, the dots that a summary puts behind it, an object in a string.
func parseTaskID(arguments string) (string, error) {
	arguments = strings.TrimSpace(arguments)
	decoder := json.NewDecoder(strings.NewReader(arguments))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil || decoder.More() {
		if strings.HasPrefix(arguments, "{") {
			return "", errArguments
		}
		value = arguments // perhaps a bare id
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return taskID(value)
	}
	for _, key := range []string{"task_id", "agent_id", "id", "__arg1"} {
		if value = fields[key]; value == nil {
			continue
		}
		if text, ok := value.(string); ok && key == "__arg1" {
			return parseTaskID(text)
		}
		return taskID(value)
	}
	return "", nil
}

// taskID returns the id that value is, "" if it is nothing.
func taskID(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", nil
	case json.Number:
		return value.String(), nil
	case string:
		id := strings.TrimSuffix(strings.TrimSpace(value), "...")
		if id == "" || checkID(id) == nil {
			return id, nil
		}
	}
	return "", errArguments
}
