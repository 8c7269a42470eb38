package todo

import (
	"errors"
	"strings"
)

// effect is what a call does to a list.
type effect struct {
	whole   bool   // the items are the whole list
	shows   bool   // the call changes nothing, and its result may show the list
	changes bool   // the items are changes of a list
	items   []Todo // if whole, each with a content; if changes, an item with a known id changes that todo
}

var errItem = errors.New("it names no todo")

// effectOfItem reads a call of a tool that is called once for each todo.
func effectOfItem(kind toolKind, call *Call) (effect, error) {
	if kind == listTool {
		return effect{shows: true}, nil
	}
	fields, err := itemFields(call.Arguments)
	if err != nil {
		return effect{}, err
	}
	t, err := parseItemFields(fields)
	switch {
	case err != nil:
		return effect{}, err
	case kind == createTool:
		return createOf(&t, call)
	case kind == completeTool:
		t.Status = Completed
	}
	if t.ID == "" {
		return effect{}, errItem
	}
	return effect{changes: true, items: append([]Todo{t}, blockedBy(t.ID, fields)...)}, nil
}

// blockedBy returns the changes of the todos that the one of id blocks from now on.
func blockedBy(id string, fields map[string]any) []Todo {
	var changes []Todo
	for blocked := range blockers(idsIn(fields["addBlocks"])) {
		changes = append(changes, Todo{ID: blocked, BlockedBy: idsIn(id)})
	}
	return changes
}

// createOf returns the effect of a call that adds a todo. Often only the result has
// the todo's id.
func createOf(t *Todo, call *Call) (effect, error) {
	if strings.TrimSpace(t.Content) == "" {
		return effect{}, errItem
	}
	if t.ID == "" {
		t.ID = idIn(call.Result)
	}
	if t.Status == "" {
		t.Status = Pending
	}
	return effect{changes: true, items: []Todo{*t}}, nil
}

// effectOfAction reads a call of a tool with actions, such as
// {"action":"add","text":"…"}.
func effectOfAction(action string, call *Call) (effect, error) {
	fields, err := itemFields(call.Arguments)
	if err != nil {
		return effect{}, err
	}
	switch action {
	case "list", "read", "view", "get", "show":
		return effect{shows: true}, nil
	case "clear", "reset":
		return effect{whole: true}, nil
	case "add", "create", "append", "insert":
		return addOf(fields, call)
	}
	t, err := parseItemFields(fields)
	if err != nil {
		return effect{}, err
	}
	switch action {
	case "complete", "done", "finish", "check":
		t.Status = Completed
	case "start", "begin":
		t.Status = InProgress
	case "uncheck", "reopen":
		t.Status = Pending
	case "delete", "remove", "cancel":
		t.Status = Cancelled
	case "toggle":
		t.Status = toggledTo(call.Result)
	case "update", "edit", "set_status":
	default:
		return effect{}, errors.New("its action is not known")
	}
	if t.ID == "" {
		return effect{}, errItem
	}
	return effect{changes: true, items: []Todo{t}}, nil
}

// addOf returns the effect of a call that adds one todo or several.
func addOf(fields map[string]any, call *Call) (effect, error) {
	if texts, ok := field(fields, append([]string{"texts"}, listNames...)...).([]any); ok {
		parsed := writeArguments{items: texts}
		items, err := parsed.todos()
		if err != nil {
			return effect{}, err
		}
		if len(items) == 1 && items[0].ID == "" {
			items[0].ID = idIn(call.Result)
		}
		return effect{changes: true, items: items}, nil
	}
	t, err := parseItemFields(fields)
	if err != nil {
		return effect{}, err
	}
	return createOf(&t, call)
}

// toggledTo returns the new status of a todo, according to the result.
func toggledTo(result string) Status {
	text := strings.ToLower(result)
	for _, open := range [...]string{"uncompleted", "reopened", "unchecked", "not done", "incomplete", "pending"} {
		if strings.Contains(text, open) {
			return Pending
		}
	}
	return Completed
}

// itemFields returns the object in arguments.
func itemFields(arguments string) (map[string]any, error) {
	value, err := decode(arguments)
	for range maxWrappings {
		switch v := value.(type) {
		case string:
			value, err = decode(v)
			continue
		case map[string]any:
			if inner := field(v, "__arg1", "input", "arguments", "args", "parameters"); inner != nil {
				value = inner
				continue
			}
			return v, nil
		}
		break
	}
	if err == nil {
		err = errItem
	}
	return nil, err
}

// parseItemFields reads one todo. Any field may be missing.
func parseItemFields(fields map[string]any) (Todo, error) {
	t, err := parseFields(1, fields)
	t.ID, t.Content = clean(t.ID), clean(t.Content)
	return t, err
}

// unwrapCall returns the call that a wrapper makes, such as
// tool_call{"name":"todo_write","arguments":{…}}, or the call itself.
func unwrapCall(call *Call) Call {
	if !isWrapper(call.Name) {
		return *call
	}
	value, err := decode(call.Arguments)
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return *call
	}
	name, _ := field(fields, "name", "tool_name", "tool").(string)
	inner := *call
	switch arguments := field(fields, "arguments", "args", "input", "parameters").(type) {
	case string:
		inner.Arguments = arguments
	case map[string]any, []any:
		inner.Arguments = encodeAny(arguments)
	default:
		return *call
	}
	inner.Name = name
	return inner
}
