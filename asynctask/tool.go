package asynctask

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/tooldef"

	"github.com/carryon-go/carryon/internal/scope"
)

// CheckToolName is the name of the tool that [CheckTool] defines.
const CheckToolName = "check_async_tasks"

// Definition declares a tool independently of any SDK. Its fields are Name and
// Description, both strings, and Parameters, a json.RawMessage that holds a JSON
// schema. Its JSON is the function object of the Chat Completions API. In Go, copy
// its fields into the SDK's own type; where that has parameters of type any, it
// accepts the json.RawMessage.
//
// It is the same type as in package todo.
type Definition = tooldef.Definition

// CheckTool returns the tool with which a model looks at background tasks. The caller
// owns the returned value, but Manager.Handle answers only to this name.
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

// Handle answers a call of check_async_tasks, whose name matches in any case, for the
// session of ctx. ok is false for other names. result is the text of the tool
// message: the status summary, or one task with its result in the form of a reminder.
// If several tasks begin with the id, it lists those. A call that cannot be answered
// gets a result that begins with "Error: ". A look is not a delivery: the model is
// still told when a task ends. If the engine fails, result tells the model, and err
// the program.
func (m *Manager) Handle(ctx context.Context, name, arguments string) (result string, ok bool, err error) {
	if !strings.EqualFold(name, CheckToolName) {
		return "", false, nil
	}
	requireContext(ctx)
	id, ok := parseTaskID(arguments)
	if !ok {
		return `Error: send {"task_id":"..."} to look at one task, or {} to list all`, true, nil
	}
	a, now, err := m.accounts.look(ctx, scope.Session(ctx))
	switch {
	case err != nil:
		return "Error: the tasks cannot be looked up now.", true, err
	case id != "":
		return describe(a.withPrefix(id), id, now), true, nil
	case len(a.Tasks) == 0:
		return "No async tasks.", true, nil
	}
	return summarize(a.Tasks), true, nil
}

// describe describes to the model the one task that was found, or says why there is
// not one.
func describe(found []*record, id string, now time.Time) string {
	if len(found) != 1 {
		return refuse(id, found)
	}
	t := found[0]
	text := fmt.Sprintf("%s\nStarted %s, ", t.line("", t.ID), t.Started.UTC().Format(time.RFC3339))
	if t.Result == nil {
		return text + fmt.Sprintf("running for %s.", now.Sub(t.Started).Round(time.Second))
	}
	text += fmt.Sprintf("ended after %s.\n", t.Ended.Sub(t.Started).Round(time.Second))
	return string(t.Result.fit(MaxCompletion-len(t.ID)).appendJSON([]byte(text), t.ID))
}

// refuse tells the model why there is no task to show.
func refuse(id string, candidates []*record) string {
	if len(candidates) == 0 {
		return fmt.Sprintf("Error: no task has the id %.64q. Call %s without task_id to list them.", id, CheckToolName)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Error: %d tasks begin with %.64q. Use more of the id:", len(candidates), id)
	for i, t := range candidates {
		if b.Len() > MaxSummary {
			fmt.Fprintf(&b, "\n(%d more not shown)", len(candidates)-i)
			break
		}
		b.WriteString(t.line("\n", t.ID))
	}
	return b.String()
}

// parseTaskID reads the arguments of a call. It tolerates mistakes of models and
// frameworks: an id in place of the object, the name for it that reminders use, the
// dots that a summary puts behind it, an object in a string. It reports false if the
// arguments make no sense.
func parseTaskID(arguments string) (id string, ok bool) {
	arguments = strings.TrimSpace(arguments)
	decoder := json.NewDecoder(strings.NewReader(arguments))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil || decoder.More() {
		if strings.HasPrefix(arguments, "{") {
			return "", false
		}
		value = arguments // perhaps a bare id
	}
	if fields, ok := value.(map[string]any); ok {
		value = cmp.Or(fields["task_id"], fields["agent_id"], fields["id"], fields["__arg1"])
		if text, ok := value.(string); ok && text == fields["__arg1"] {
			return parseTaskID(text)
		}
	}
	switch value := value.(type) {
	case nil:
		return "", true
	case json.Number:
		return value.String(), true
	case string:
		id = strings.TrimSuffix(strings.TrimSpace(value), "...")
		return id, id == "" || checkID(id) == nil
	}
	return "", false
}
