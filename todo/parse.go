package todo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/internal/toolcall"
)

// listNames are the members that hold a list.
var listNames = []string{ //nolint:gochecknoglobals // constant
	"all_todos", "allTodos", "all_tasks", "allTasks", "all_items", "allItems",
	"todos", "items", "tasks", "plan", "steps", "list", "todo_list", "todoList", "task_list", "checklist", "updates",
	"descriptions", "titles", "contents", "texts",
}

// idListNames are the members that hold ids of several todos.
var idListNames = []string{"ids", "todo_ids", "todoIds", "task_ids", "taskIds"} //nolint:gochecknoglobals // constant

// contentNames are the members that hold what has to be done.
var contentNames = []string{ //nolint:gochecknoglobals // constant
	"content", "task", "title", "subject", "description", "text", "step", "todo", "name",
}

// idNames are the members that hold an id.
var idNames = []string{"id", "taskId", "task_id", "todoId", "todo_id"} //nolint:gochecknoglobals // constant

// ParseList reads the arguments of a call that writes a todo list, as a model sent
// them. The result is normalized as by [Memory.Write].
//
// The list may be an array, or an object that has the array under "todos" (or "items",
// "tasks", "plan", "steps", "list", "todo_list", "todoList", "task_list", "checklist",
// "updates"). The array and the object may each be encoded as a JSON string. A single
// item instead of the array is a list of one if it has a "content", "task", "todo" or
// "step"; instead of the whole arguments, it also needs an id or a status.
//
// An item is an object, or a plain string, which is its content. The content is the
// first non-blank value of "content", "task", "title", "subject", "description",
// "text", "step", "todo" and "name". Ids and priorities may be numbers. "owner" is a
// string, and "blockedBy" an array of ids; these two keys must have this spelling, and all
// others match in any case. null counts as absent, and the last of several equal keys and
// of several items with one id counts.
//
// The status is a "status" or "state", or stands under any name that says so: a boolean
// such as "isComplete", "is_done", "checked" or "open", a time such as "completedAt", or a
// share such as "progress" or "percentDone", which is 100 percent, or 1, if the item is
// done. If one member says that the item is done and another that it is not, its status is
// not known. A missing status becomes [Pending]. But if no item has a status that carryon
// knows, and some have members besides their text and id that may say one, then no status
// is known. An unknown status is kept, and is not active.
//
// A text instead of the array may be a Markdown checklist: each line with a check box,
// such as "- [x] Fix the bug", is an item. "[ ]" is pending, "[x]" completed, "[-]",
// "[~]", "[/]", "[>]" and "[*]" in progress, and a word such as "[done]" is read like
// any other status. Other lines, such as headings, are ignored.
//
// An empty array is a valid list. For anything else that is not a list, for an item
// with blank content, and for a value of the wrong type, the error is an
// [*ArgumentsError]. ParseList has no limits except that of encoding/json on nesting;
// Memory.Write has limits.
func ParseList(arguments string) ([]Todo, error) {
	parsed, err := parseArguments(arguments)
	if err != nil {
		return nil, err
	}
	return parsed.list()
}

// writeArguments are the arguments of a todo-writing call, as read.
type writeArguments struct {
	items  []any
	action string // what the call does, for tools that do several things
	merge  bool   // the items change an older list instead of replacing it
	single bool   // the arguments are one item, not a list
}

// writes reports whether the call writes the list. Some tools read the list with the
// same arguments, and leave the items empty or fill them in; others are called once
// per todo.
func (a *writeArguments) writes() bool {
	switch strings.ToLower(a.action) {
	case "", "write", "set", "replace", "create", "update", "plan":
		return !a.single
	}
	return false
}

// list returns the items as a normalized list.
func (a *writeArguments) list() ([]Todo, error) {
	list, err := a.whole()
	if err != nil {
		return nil, err
	}
	return normalize(list)
}

// whole returns the items as a whole list. If none of them says a status that carryon
// knows, and some have members that may say one, the statuses are not known.
func (a *writeArguments) whole() ([]Todo, error) {
	list, says, err := a.parse()
	if err != nil || slices.ContainsFunc(says, func(p progress) bool { return p.isKnown() }) ||
		!slices.ContainsFunc(says, func(p progress) bool { return p.other || p.isMentioned() }) {
		return list, err
	}
	for i := range list {
		if list[i].Status == "" {
			list[i].Status = notStated
		}
	}
	return list, nil
}

// todos returns the items as they are, with fields left blank that an item does
// not mention.
func (a *writeArguments) todos() ([]Todo, error) {
	list, _, err := a.parse()
	return list, err
}

// parse returns the items, and what each says of its status.
func (a *writeArguments) parse() ([]Todo, []progress, error) {
	todos, says := make([]Todo, len(a.items)), make([]progress, len(a.items))
	for i, item := range a.items {
		var err error
		todos[i], says[i], err = parseItem(i+1, item)
		if err != nil {
			return nil, nil, err
		}
	}
	if slices.ContainsFunc(says, func(p progress) bool { return p.percents }) {
		for i := range says {
			says[i].asPercentage()
			todos[i].Status = says[i].status()
		}
	}
	return todos, says, nil
}

func parseArguments(arguments string) (writeArguments, error) {
	if strings.TrimSpace(arguments) == "" {
		return writeArguments{}, refuse(0, "the arguments are empty", sendList)
	}
	value, err := toolcall.Decode(arguments)
	if err != nil {
		if items := checklist(arguments); items != nil {
			return writeArguments{items: items}, nil
		}
		return writeArguments{}, refuse(0, "the arguments are not valid JSON: "+err.Error(), sendList)
	}
	var parsed writeArguments
	err = parsed.unwrap(value)
	return parsed, err
}

// unwrap opens value until it finds the items.
func (a *writeArguments) unwrap(value any) error {
	const outermost = "the arguments"
	where := outermost // until the list is found under a name
	for range toolcall.MaxWrappings {
		switch v := value.(type) {
		case []any:
			a.items = v
			return nil
		case string:
			decoded, err := toolcall.Decode(v)
			if err != nil {
				a.items = checklist(v)
				if a.items != nil {
					return nil
				}
				return refuse(0, where+" should be an array and are a string that is not valid JSON: "+err.Error(), sendList)
			}
			value = decoded
		case map[string]any:
			a.readMode(v)
			if named := toolcall.Field(v, listNames...); named != nil {
				value, where = named, "the todos"
				continue
			}
			value = wrappedIn(v)
			if value != nil {
				continue
			}
			if !isItem(v, where == outermost) {
				return refuse(0, where+" have no array of todos", sendList)
			}
			a.items, a.single = []any{v}, where == outermost
			return nil
		default:
			return refuse(0, fmt.Sprintf("%s should be an array and are %s", where, kind(v)), sendList)
		}
	}
	return refuse(0, where+" are wrapped too often", sendList)
}

// readMode reads from an object around the items what the call does with them.
func (a *writeArguments) readMode(fields map[string]any) {
	if action, ok := toolcall.Field(fields, "action", "operation", "command").(string); ok {
		a.action = action
	}
	a.merge = a.merge || toolcall.Field(fields, "updates") != nil
	switch v := toolcall.Field(fields, "merge").(type) {
	case bool:
		a.merge = a.merge || v
	case string:
		a.merge = a.merge || strings.EqualFold(v, "true")
	}
}

// wrappedIn returns the member of an object that may hold the list, if the object has
// none itself.
func wrappedIn(fields map[string]any) any {
	if inner := toolcall.Wrapped(fields); inner != nil {
		return inner
	}
	// A tool that takes the list as one text calls it content, as items do.
	if text, ok := toolcall.Field(fields, "content").(string); ok && checklist(text) != nil {
		return text
	}
	return nil
}

// isItem reports whether an object without a list is itself an item. A title or
// a description is not enough, because lists have them too. If the object is
// the whole arguments, a content alone is not enough either: it may be a plan
// in prose.
func isItem(fields map[string]any, whole bool) bool {
	text, _ := toolcall.Field(fields, "content", "task", "todo", "step").(string)
	return strings.TrimSpace(text) != "" && (!whole || hasStatus(fields) || toolcall.Field(fields, "id") != nil)
}

// parseItem reads one item; position counts from 1. Blank contents, missing ids
// and missing statuses are left to normalize.
func parseItem(position int, item any) (Todo, progress, error) {
	if text, ok := item.(string); ok {
		item = decodeObject(text)
		if item == nil {
			return Todo{Content: clean(text)}, progress{}, nil
		}
	}
	fields, ok := item.(map[string]any)
	if !ok {
		return Todo{}, progress{}, refuse(position, "it is "+kind(item), sendItem)
	}
	return parseFields(position, fields)
}

// decodeObject returns the object that text encodes, or nil if it is just text.
func decodeObject(text string) any {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil
	}
	value, _ := toolcall.Decode(text) // nil if it is not JSON
	return value
}

func parseFields(position int, fields map[string]any) (Todo, progress, error) {
	id, wrongID := parseLabel(position, fields, idNames...)
	priority, wrongPriority := parseLabel(position, fields, "priority")
	content, wrongContent := parseContent(position, fields)
	owner, _ := fields["owner"].(string)
	says := progressOf(fields)
	return Todo{
			ID: clean(id), Content: clean(content), Status: says.status(), Priority: priority,
			Owner: clean(owner), BlockedBy: joinBlockers(idsIn(fields["blockedBy"]), idsIn(fields["addBlockedBy"])),
		},
		says, cmp.Or(wrongID, wrongPriority, wrongContent, checkStatus(position, fields))
}

// checkStatus refuses a status that is neither a text nor a boolean.
func checkStatus(position int, fields map[string]any) error {
	switch v := toolcall.Field(fields, "status", "state").(type) {
	case nil, string, bool:
		return nil
	default:
		return refuse(position, "status is "+kind(v), sendStatus)
	}
}

// parseLabel reads a short text that models often send as a number, from the first of
// the names that is present.
func parseLabel(position int, fields map[string]any, names ...string) (string, error) {
	switch v := toolcall.Field(fields, names...).(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	default:
		return "", refuse(position, names[0]+" is "+kind(v), "send it as a string")
	}
}

// parseContent returns the first text that is not blank, or "".
func parseContent(position int, fields map[string]any) (string, error) {
	for _, name := range contentNames {
		switch v := toolcall.Field(fields, name).(type) {
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

// hasStatus reports whether an item has a member that is about its status.
func hasStatus(fields map[string]any) bool {
	says := progressOf(fields)
	return says.isMentioned()
}

// kind names the JSON type of v, for error messages.
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

// checklist reads a Markdown checklist. It returns an item, in the form that
// parseItem reads, for each line with a check box; nil if there is none.
func checklist(text string) []any {
	var items []any
	for line := range strings.Lines(text) {
		if status, content, ok := checkBox(line); ok {
			items = append(items, map[string]any{"content": content, "status": string(status)})
		}
	}
	return items
}

// checkBox reads a line such as "- [x] Fix the bug", "2. [ ] Test it" or
// "[done] Ship it".
func checkBox(line string) (status Status, content string, ok bool) {
	box, opened := strings.CutPrefix(afterBullet(strings.TrimSpace(line)), "[")
	mark, content, _ := strings.Cut(box, "]")
	text := strings.TrimSpace(content)
	if !opened || mark == "" || text == content {
		return "", "", false // "[]" is an array and "[text](address)" a link
	}
	status, ok = checkMark(strings.TrimSpace(mark))
	return status, text, ok
}

func checkMark(mark string) (status Status, ok bool) {
	switch mark {
	case "-", "~", "/", ">", "*":
		return InProgress, true
	case "✓", "✔", "✅":
		return Completed, true
	}
	if status, known := ParseStatus(mark); known {
		return status, true
	}
	isWord := strings.ContainsFunc(mark, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	return Pending, !isWord // "[1]" is a reference, but "[?]" is a check box
}

// afterBullet returns line without the "-", "*", "+", "1." or "1)" of an item.
func afterBullet(line string) string {
	if rest := strings.TrimLeft(line, "-*+"); rest != line {
		return strings.TrimSpace(rest)
	}
	number := strings.TrimLeftFunc(line, unicode.IsDigit)
	if rest := strings.TrimLeft(number, ".)"); number != line && rest != number {
		return strings.TrimSpace(rest)
	}
	return line
}

// normalize changes list in place so that texts are trimmed and valid UTF-8,
// ids are present and unique, known statuses have their usual spelling, and at
// most one todo of each owner is in progress. It keeps an unknown status, and refuses a blank
// content. Of several todos with one id, it keeps the last.
func normalize(list []Todo) ([]Todo, error) {
	for i := range list {
		t := &list[i]
		t.ID, t.Content, t.Priority = clean(t.ID), clean(t.Content), clean(t.Priority)
		t.Owner, t.BlockedBy = clean(t.Owner), joinBlockers("", clean(t.BlockedBy))
		if t.Content == "" {
			return nil, refuse(i+1, "content is missing or blank", sendContent)
		}
		t.Status, _ = ParseStatus(string(t.Status))
	}
	list = lastOfEachID(list)
	nameAll(list)
	keepOneInProgress(list)
	return list, nil
}

// lastOfEachID returns the list with the last of several todos with one id, in the place
// of the first.
func lastOfEachID(list []Todo) []Todo {
	at := make(map[string]int, len(list))
	kept := list[:0]
	for _, t := range list {
		if first, known := at[t.ID]; known && t.ID != "" {
			kept[first] = t
			continue
		}
		at[t.ID] = len(kept)
		kept = append(kept, t)
	}
	return kept
}

func clean(text string) string {
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
}

// nameAll names every todo of list that has no id by its position, counted from 1. If
// another todo has that id, it gets a suffix: "3-2".
func nameAll(list []Todo) {
	taken := make(map[string]bool, len(list))
	for i := range list {
		taken[list[i].ID] = true
	}
	for i := range list {
		if list[i].ID == "" {
			list[i].ID = freeID(strconv.Itoa(i+1), taken)
		}
	}
}

// freeID takes and returns the first free id of base, base-2, base-3, and so on.
func freeID(base string, taken map[string]bool) string {
	id := base
	for n := 2; taken[id]; n++ {
		id = base + "-" + strconv.Itoa(n)
	}
	taken[id] = true
	return id
}

// keepOneInProgress keeps the last todo in progress of each owner and makes the others
// pending. Models tend to start a todo before they complete the previous one;
// pending rather than completed means that no work is lost.
func keepOneInProgress(list []Todo) {
	var found map[string]bool // owners
	for i := range slices.Backward(list) {
		t := &list[i]
		switch {
		case t.Status != InProgress:
		case found[t.Owner]:
			t.Status = Pending
		case found == nil:
			found = map[string]bool{t.Owner: true}
		default:
			found[t.Owner] = true
		}
	}
}

// merge applies changes to list: a change whose id is in list replaces the
// fields of that todo for which it has a value, adds its blockers, and any other change that has a
// content is appended. list must be normalized, and so is the result.
func merge(list, changes []Todo) []Todo {
	at := make(map[string]int, len(list))
	for i := range list {
		at[list[i].ID] = i
	}
	for _, change := range changes {
		i, known := at[change.ID]
		switch {
		case known && change.ID != "":
			list[i] = changed(list[i], change)
		case change.Content != "":
			at[change.ID] = len(list)
			list = append(list, change)
		}
	}
	list, _ = normalize(list) // refuses only blank content, and there is none
	return list
}

// checkTargets refuses changes that merge would drop: those that have no
// content and name no todo of list or of an earlier change.
func checkTargets(list, changes []Todo) error {
	known := make(map[string]bool, len(list))
	for i := range list {
		known[list[i].ID] = true
	}
	for i, change := range changes {
		if change.Content == "" && (change.ID == "" || !known[change.ID]) {
			return refuse(i+1, "the list has no todo of this id, and content is missing or blank", sendContent)
		}
		known[change.ID] = true
	}
	return nil
}

func changed(t, change Todo) Todo {
	t.Content = cmp.Or(change.Content, t.Content)
	t.Status = cmp.Or(change.Status, t.Status)
	t.Priority = cmp.Or(change.Priority, t.Priority)
	t.Owner = cmp.Or(change.Owner, t.Owner)
	t.BlockedBy = joinBlockers(t.BlockedBy, change.BlockedBy)
	return t
}
