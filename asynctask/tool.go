package asynctask

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/tooldef"
)

// checkToolName is the name of the tool that [CheckTool] defines.
const checkToolName = "check_async_tasks"

// Definition declares a tool independently of any SDK. Its fields are Name and
// Description, both strings, and Parameters, a json.RawMessage with a JSON schema. As
// JSON, it is the function object of the Chat Completions API. In Go, copy the fields
// into the SDK's own type; a field of type any accepts the json.RawMessage.
//
// It is the same type as in package todo.
type Definition = tooldef.Definition

// CheckTool returns the tool with which a model checks its background tasks. The caller
// owns the result, but [Manager.Handle] answers only to this name.
func CheckTool() Definition {
	return Definition{
		Name: checkToolName,
		Description: "Look at the background tasks of this conversation. Without task_id it lists them all with their " +
			"status; with task_id it shows one of them, with its result if it has ended. You are told when a task " +
			"ends, so there is no need to ask again and again.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"task_id":{"type":"string",` +
			`"description":"The id of one task, or the beginning of it as far as it is unique. Leave it out to list all."}},` +
			`"additionalProperties":false}`),
	}
}

// Handle answers a call of check_async_tasks, in any case, for the session of ctx. ok
// is false for other names. result is the text of the tool message: the status summary,
// or one task with its result in the form of a reminder. If several tasks begin with
// the id, it lists those. If the call cannot be answered, result begins with "Error: ".
// If the engine fails, result tells the model, and err the program.
//
// Handle is not a delivery: the model is still told when a task ends.
func (m *Manager) Handle(ctx context.Context, name, arguments string) (result string, ok bool, err error) {
	if !strings.EqualFold(name, checkToolName) {
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
	return string(t.Result.fit(maxCompletion-len(t.ID)).appendJSON([]byte(text), t.ID))
}

// refuse tells the model why there is no task to show.
func refuse(id string, candidates []*record) string {
	if len(candidates) == 0 {
		return fmt.Sprintf("Error: no task has the id %.64q. Call %s without task_id to list them.", id, checkToolName)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Error: %d tasks begin with %.64q. Use more of the id:", len(candidates), id)
	for i, t := range candidates {
		if b.Len() > maxSummary {
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

// Get returns the task of the ticket. The error is [ErrUnknown] or the engine's error.
func (m *Manager) Get(ctx context.Context, t Ticket) (Task, error) {
	return m.accounts.task(ctx, t)
}

// Tasks returns the session's running tasks, and the ended ones that are still kept, in
// the order in which they were started. The caller owns the slice. Without a session
// there are none, except with [WithOneConversation].
func (m *Manager) Tasks(ctx context.Context, session string) (tasks []Task, err error) {
	a, _, err := m.accounts.look(ctx, session)
	for i := range a.Tasks {
		tasks = append(tasks, a.Tasks[i].view(m.accounts.key(session)))
	}
	return tasks, err
}

// withPrefix returns the task that has the id, or else all whose ids begin with
// it.
func (a *account) withPrefix(prefix string) (found []*record) {
	if t := a.find(prefix); t != nil {
		return []*record{t}
	}
	for i := range a.Tasks {
		if t := &a.Tasks[i]; prefix != "" && strings.HasPrefix(t.ID, prefix) {
			found = append(found, t)
		}
	}
	return found
}

// Wait waits until the task has ended and, if its function runs in this process, until
// the function has returned. It returns the ended task. The error is [ErrUnknown],
// [ErrClosed], the engine's error or, if ctx ends first, an error that wraps the cause
// of ctx.
func (m *Manager) Wait(ctx context.Context, t Ticket) (Task, error) {
	requireContext(ctx)
	t.Session = m.accounts.key(t.Session)
	j := m.runner.function(t)
	if j != nil {
		if err := await(ctx, j.done); err != nil {
			return Task{}, fmt.Errorf("asynctask: waiting for %s: %w", t.ID, err)
		}
		if task := m.runner.endOf(j); task.ID != "" {
			return task, nil
		}
	}
	changed := make(chan struct{}, 1)
	stop := m.poller.add(t.Session, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	for {
		task, err := m.Get(ctx, t)
		if err != nil || task.State != Running {
			return task, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Task{}, fmt.Errorf("asynctask: waiting for %s: %w", t.ID, context.Cause(ctx))
		case <-m.runner.life.Done():
			return Task{}, ErrClosed
		}
	}
}

// Summary returns the status summary of the session, or "" if it has no tasks. It has
// at most 16 KiB. Beyond that, the oldest tasks are left out, and the summary says how
// many.
//
// A status summary has a line with the number of tasks, and a line for each task in the
// order in which they were started:
//
//	[ASYNC TASKS: 2 total]
//	[1] run the tests - [RUNNING] (k3vq7mzt...)
//	[2] update the docs - [DONE] (p9dw2xha...)
//
// In parentheses is the beginning of the id: eight characters, or as many as make it
// unique in the session.
//
// Experimental: the wording may change.
func (m *Manager) Summary(ctx context.Context, session string) (string, error) {
	a, _, err := m.accounts.look(ctx, session)
	return summarize(a.Tasks), err
}
