package todo

import (
	"cmp"
	"errors"
	"strings"

	"github.com/carryon-go/carryon/internal/toolcall"
)

// effect is what a call does to a list.
type effect struct {
	whole   bool   // the items are the whole list
	shows   bool   // the call changes nothing, and its result may show the list
	changes bool   // the items are changes of a list
	items   []Todo // if whole, each with a content; if changes, an item with a known id changes that todo
}

var (
	errItem    = toolcall.ErrNoObject
	errOneTodo = errors.New("its calls have one todo each")
	// An action that is not followed leaves an older list out of date.
	errAction = errors.New("its action is not known")
	errTarget = errors.New("it names its todo in a way that carryon does not read")
)

// effectOfItem reads a call of a tool that adds or changes todos.
func effectOfItem(kind toolKind, call *Call) (effect, error) {
	switch kind {
	case listTool:
		return effect{shows: true}, nil
	case addTool:
		return effectOfAdding(call)
	case completeTool:
		return changesTo(Completed, call)
	case removeTool:
		return changesTo(Cancelled, call)
	}
	fields, err := toolcall.Fields(call.Arguments)
	if err != nil {
		return effect{}, err
	}
	t, err := parseItemFields(fields)
	switch {
	case err != nil:
		return effect{}, err
	case kind == createTool:
		return createOf(&t, call)
	case t.ID == "":
		return effect{}, errItem
	}
	return effect{changes: true, items: append([]Todo{t}, blockedBy(t.ID, fields)...)}, nil
}

// changesTo reads a call that gives one status to the todos that it names.
func changesTo(status Status, call *Call) (effect, error) {
	value, err := toolcall.Unwrapped(call.Arguments)
	named, isArray := value.([]any)
	if fields, ok := value.(map[string]any); ok && !isArray {
		named = []any{fields}
		for _, names := range [...][]string{idListNames, listNames} {
			if list, ok := arrayIn(toolcall.Field(fields, names...)); ok {
				named = list
				break
			}
		}
	}
	does := effect{changes: true}
	for i, item := range named {
		if _, isItem := item.(map[string]any); !isItem {
			item = map[string]any{"id": item}
		}
		t, _, wrong := parseItem(i+1, item)
		if wrong != nil || t.ID == "" {
			return effect{}, cmp.Or(wrong, errItem)
		}
		does.items = append(does.items, Todo{ID: t.ID, Status: status})
	}
	return does, err
}

// arrayIn returns an array that a model may have written as a text.
func arrayIn(value any) (array []any, ok bool) {
	if text, isText := value.(string); isText {
		value, _ = toolcall.Decode(text) // nil if it is not JSON
	}
	array, ok = value.([]any)
	return array, ok
}

// effectOfAdding reads a call that adds todos, whose ids are in its result.
func effectOfAdding(call *Call) (effect, error) {
	var parsed writeArguments
	value, err := toolcall.Unwrapped(call.Arguments)
	if err == nil {
		err = parsed.unwrap(value)
	}
	if err != nil {
		fields, isObject := value.(map[string]any)
		if !isObject {
			return effect{}, err
		}
		parsed.items = []any{fields} // one todo, without an array
	}
	items, err := parsed.todos()
	if err != nil {
		return effect{}, err
	}
	ids := idsOfNew(call.Result)
	for i := range items {
		t := &items[i]
		if t.Content == "" {
			return effect{}, errItem
		}
		if t.ID == "" && len(ids) == len(items) {
			t.ID = ids[i]
		}
		t.Status = cmp.Or(t.Status, Pending)
	}
	return effect{changes: true, items: items}, nil
}

// blockedBy returns the changes of the todos that the one of id blocks from now on.
func blockedBy(id string, fields map[string]any) []Todo {
	var changes []Todo
	for blocked := range toolcall.IDs(idsIn(fields["addBlocks"])) {
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
	fields, err := toolcall.Fields(call.Arguments)
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
		return effect{}, errAction
	}
	if t.ID == "" {
		return effect{}, errTarget
	}
	return effect{changes: true, items: []Todo{t}}, nil
}

// addOf returns the effect of a call that adds one todo or several.
func addOf(fields map[string]any, call *Call) (effect, error) {
	if texts, ok := toolcall.Field(fields, append([]string{"texts"}, listNames...)...).([]any); ok {
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

// parseItemFields reads one todo. Any field may be missing.
func parseItemFields(fields map[string]any) (Todo, error) {
	t, _, err := parseFields(1, fields)
	return t, err
}

// unwrapCall returns the call that a wrapper makes, such as
// tool_call{"name":"todo_write","arguments":{…}}, or the call itself.
func unwrapCall(call *Call) Call {
	if !isWrapper(call.Name) {
		return *call
	}
	value, err := toolcall.Decode(call.Arguments)
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return *call
	}
	name, _ := toolcall.Field(fields, "name", "tool_name", "tool").(string)
	inner := *call
	switch arguments := toolcall.Field(fields, "arguments", "args", "input", "parameters").(type) {
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
