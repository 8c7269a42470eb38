package todo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxWrappings bounds how many strings and wrapper objects around a list are
// opened. Two strings and a wrapper is the worst seen in use.
const maxWrappings = 5

// theArguments is what messages call arguments in which no list was met yet.
const theArguments = "the arguments"

// ParseList reads the arguments of a todo-writing tool call, as a model sent
// them, into a list that follows the rules of Memory.Write and has no status
// but the four known ones.
//
// The list may be an array, an object that has it under "todos" (or "items",
// "tasks", "plan", "steps", "list", "todo_list", "todoList", "task_list",
// "checklist"), or either of them encoded as a JSON string once more, at any of
// these places. A single item in place of the array is a list of one if it has
// a "content", "task", "todo" or "step"; in place of the arguments as a whole it
// needs an id or a status as well. An item is an object or a plain string, which
// is its content.
// The content may go by "content", "task", "title", "description", "text",
// "step", "todo" or "name", of which the first that is not blank counts. Ids
// and priorities may be numbers. A missing or unknown status is pending. Key
// names match in any case, null is as good as absent, other keys are ignored,
// and of duplicate keys the last one counts.
//
// In place of an array there may be a Markdown checklist: a text of which each
// line with a check box, as in "- [x] Fix the bug", is an item. "[ ]" is
// pending, "[x]" completed, "[-]", "[~]", "[/]", "[>]" and "[*]" in progress,
// and a word such as "[done]" is read as any other status. Other lines, such
// as headings and notes, are ignored.
//
// An empty array is a valid list. Anything else that is not a list, an item
// with blank content and a value of the wrong type give an *ArgumentsError.
// There is no limit but that of encoding/json on nesting; Memory.Write has
// some.
func ParseList(arguments string) ([]Todo, error) {
	found, err := findListing(arguments)
	if err != nil {
		return nil, err
	}
	return found.list()
}

// listing is a list as it stands in the arguments of a call, and what they say
// about it.
type listing struct {
	items  []any
	action string // what to do with the list, if the tool can do several things
	merge  bool   // the items change those of the same id and leave the rest
	lone   bool   // the arguments are an item themselves
}

// list reads the items as a whole list.
func (l *listing) list() ([]Todo, error) {
	list := make([]Todo, len(l.items))
	for i, item := range l.items {
		var err error
		if list[i], err = parseItem(i+1, item); err != nil {
			return nil, err
		}
	}
	if err := normalize(list); err != nil {
		return nil, err
	}
	return list, nil
}

func findListing(arguments string) (listing, error) {
	if strings.TrimSpace(arguments) == "" {
		return listing{}, refuse(0, "the arguments are empty", sendList)
	}
	value, err := decode(arguments)
	if err != nil {
		if items := checklist(arguments); items != nil {
			return listing{items: items}, nil
		}
		return listing{}, refuse(0, "the arguments are not valid JSON: "+err.Error(), sendList)
	}
	var found listing
	err = found.unwrap(value)
	return found, err
}

// decode reads one JSON value that fills text. Numbers keep their digits.
func decode(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, errors.New("it ends too early")
		}
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after its end")
	}
	return value, nil
}

// unwrap opens value until it meets the items.
func (l *listing) unwrap(value any) error {
	where := theArguments
	for range maxWrappings {
		switch v := value.(type) {
		case []any:
			l.items = v
			return nil
		case string:
			inner, err := decode(v)
			if err != nil {
				if l.items = checklist(v); l.items != nil {
					return nil
				}
				return refuse(0, where+" should be an array and are a string that is not valid JSON: "+err.Error(), sendList)
			}
			value = inner
		case map[string]any:
			l.note(v)
			inner := field(v, "todos", "items", "tasks", "plan", "steps", "list",
				"todo_list", "todoList", "task_list", "checklist")
			named := inner != nil
			if !named {
				inner = wrapped(v)
			}
			switch {
			case inner != nil:
				value = inner
			case isItem(v, where == theArguments):
				l.items, l.lone = []any{v}, where == theArguments
				return nil
			default:
				return refuse(0, where+" have no array of todos", sendList)
			}
			if named {
				where = "the todos"
			}
		default:
			return refuse(0, fmt.Sprintf("%s should be an array and are %s", where, kind(v)), sendList)
		}
	}
	return refuse(0, where+" are wrapped too often", sendList)
}

// note keeps what an object around the items says about them.
func (l *listing) note(fields map[string]any) {
	if action, ok := field(fields, "action", "operation", "command").(string); ok {
		l.action = action
	}
	switch v := field(fields, "merge").(type) {
	case bool:
		l.merge = l.merge || v
	case string:
		l.merge = l.merge || strings.EqualFold(v, "true")
	}
}

// wrapped returns what an object without a list may hold it in.
func wrapped(fields map[string]any) any {
	if inner := field(fields, "__arg1", "input", "arguments", "args", "parameters"); inner != nil {
		return inner
	}
	// A tool that takes the list as one text calls it content, as items do.
	if text, ok := field(fields, "content").(string); ok && checklist(text) != nil {
		return text
	}
	return nil
}

// isItem reports whether an object without a list is an item itself. Titles
// and descriptions do not tell, for lists have them too, and of arguments as a
// whole a content alone does not either: it may be a plan in prose.
func isItem(fields map[string]any, whole bool) bool {
	text, _ := field(fields, "content", "task", "todo", "step").(string)
	return strings.TrimSpace(text) != "" && (!whole || saysStatus(fields) || field(fields, "id") != nil)
}

// parseItem reads one item; position counts from 1. Blank content and missing
// ids are left to normalize.
func parseItem(position int, item any) (Todo, error) {
	if text, ok := item.(string); ok {
		item = unwrapItem(text)
		if item == nil {
			return Todo{Content: text, Status: Pending}, nil
		}
	}
	fields, ok := item.(map[string]any)
	if !ok {
		return Todo{}, refuse(position, "it is "+kind(item), sendItem)
	}
	return parseFields(position, fields)
}

// unwrapItem returns the object that text encodes, or nil if it is just text.
func unwrapItem(text string) any {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil
	}
	value, err := decode(text)
	if err != nil {
		return nil
	}
	return value
}

func parseFields(position int, fields map[string]any) (t Todo, err error) {
	if t.ID, err = parseLabel(position, "id", fields); err != nil {
		return Todo{}, err
	}
	if t.Priority, err = parseLabel(position, "priority", fields); err != nil {
		return Todo{}, err
	}
	if t.Content, err = parseContent(position, fields); err != nil {
		return Todo{}, err
	}
	t.Status, err = parseItemStatus(position, fields)
	return t, err
}

// parseLabel reads a short text that models like to send as a number.
func parseLabel(position int, name string, fields map[string]any) (string, error) {
	switch v := field(fields, name).(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	default:
		return "", refuse(position, name+" is "+kind(v), "send it as a string")
	}
}

// parseContent returns the first text that is not blank; "" if there is none.
func parseContent(position int, fields map[string]any) (string, error) {
	for _, name := range []string{"content", "task", "title", "description", "text", "step", "todo", "name"} {
		switch v := field(fields, name).(type) {
		case nil:
		case string:
			if strings.TrimSpace(v) != "" {
				return v, nil
			}
		default:
			return "", refuse(position, name+" is "+kind(v), sendContent)
		}
	}
	return "", nil
}

// saysStatus reports whether an item has something that parseItemStatus reads.
func saysStatus(fields map[string]any) bool {
	return field(fields, "status", "state", "done", "completed", "complete") != nil
}

func parseItemStatus(position int, fields map[string]any) (Status, error) {
	value := field(fields, "status", "state")
	if value == nil {
		// A check box: {"task": "…", "done": true}.
		value, _ = field(fields, "done", "completed", "complete").(bool)
	}
	switch v := value.(type) {
	case string:
		if status, known := parseStatus(v); known {
			return status, nil
		}
		return Pending, nil // asking about work once too often loses none
	case bool:
		if v {
			return Completed, nil
		}
		return Pending, nil
	default:
		return "", refuse(position, "status is "+kind(v), sendStatus)
	}
}

// field returns the first of names that fields has a value for, nil if none.
// The exact spelling goes before other cases, of which the first in sorted
// order counts, so that the same arguments always give the same list.
func field(fields map[string]any, names ...string) any {
	for _, name := range names {
		if v := fields[name]; v != nil {
			return v
		}
	}
	for _, name := range names {
		found := ""
		for key, v := range fields {
			if v != nil && strings.EqualFold(key, name) && (found == "" || key < found) {
				found = key
			}
		}
		if found != "" {
			return fields[found]
		}
	}
	return nil
}

// kind names the JSON type of v for a message.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}
