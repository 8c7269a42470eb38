package todo

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/todo/internal/jslist"
	"github.com/carryon-go/carryon/todo/internal/sqllist"
)

// effect is what a call does to a list.
type effect struct {
	whole   bool   // the items are the whole list
	shows   bool   // the call changes nothing, and its result may show the list
	changes bool   // the items are changes of a list
	items   []Todo // if whole, each with a content; if changes, an item with a known id changes that todo
}

var (
	errItem    = errors.New("it names no todo")
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
	case t.ID == "":
		return effect{}, errItem
	}
	return effect{changes: true, items: append([]Todo{t}, blockedBy(t.ID, fields)...)}, nil
}

// changesTo reads a call that gives one status to the todos that it names.
func changesTo(status Status, call *Call) (effect, error) {
	value, err := unwrapped(call.Arguments)
	named, isArray := value.([]any)
	if fields, ok := value.(map[string]any); ok && !isArray {
		named = []any{fields}
		for _, names := range [...][]string{idListNames, listNames} {
			if list, ok := arrayIn(field(fields, names...)); ok {
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
		value, _ = decode(text) // nil if it is not JSON
	}
	array, ok = value.([]any)
	return array, ok
}

// effectOfAdding reads a call that adds todos, whose ids are in its result.
func effectOfAdding(call *Call) (effect, error) {
	var parsed writeArguments
	value, err := unwrapped(call.Arguments)
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
		return effect{}, errAction
	}
	if t.ID == "" {
		return effect{}, errTarget
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
	value, err := unwrapped(arguments)
	fields, ok := value.(map[string]any)
	if err == nil && !ok {
		err = errItem
	}
	return fields, err
}

// unwrapped returns the value in arguments, without the strings and objects around it.
func unwrapped(arguments string) (any, error) {
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
		}
		break
	}
	return value, err
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

// planTool is the tool that scripts call to write the list.
const planTool = "update_plan"

// maxScripts is how many bytes of scripts are searched for a call.
const maxScripts = 4 << 20

// Reasons why a script does not count.
var (
	errScriptFailed  = errors.New("its script failed")
	errScriptRuns    = errors.New("its script has not ended")
	errScriptUnknown = errors.New("the result of its script does not say whether it ran")
	errOverlap       = errors.New("two scripts that ran at the same time wrote it")
)

// scripts is what a search knows of the scripts that may write the list.
type scripts struct {
	offered  *bool                   // whether they can write it, if known
	searched int                     // bytes of their sources
	ended    map[string]jslist.State // by cell: how a script ended, according to newer calls of wait
	doubt    error                   // why the newest call that may have written the list does not count
	overlaps map[string]bool         // cells that ended after the script that wrote the list; nil if none was found
}

// isScript reports whether a call of a tool for scripts may belong to the list. The
// tool may also be a shell of the same name, whose arguments are JSON.
func (s *search) isScript(call *Call) bool {
	isObject := strings.HasPrefix(call.Arguments, "{") && json.Valid([]byte(call.Arguments))
	return s.origin.Tool == "" && !isObject && jslist.MayCall(call.Arguments) && s.offersPlan()
}

// offersPlan reports whether scripts can write the list: the request offers
// update_plan, or its tools are not known.
func (s *search) offersPlan() bool {
	if s.scripts.offered == nil {
		offered := s.tools == nil
		if s.tools != nil {
			for tool := range s.tools {
				offered = offered || toolName("updateplan").matches(tool)
			}
		}
		s.scripts.offered = &offered
	}
	return *s.scripts.offered
}

// lookAtScript reads a script. One that has not ended well may have written the list:
// the older list is kept, and its origin says so.
func (s *search) lookAtScript(call *Call) (last bool) {
	state := s.scripts.stateOf(call)
	s.scripts.searched += len(call.Arguments)
	if s.scripts.searched > maxScripts {
		s.cut = true
		return true
	}
	plan, err := jslist.Read(call.Arguments)
	written := Call{Name: planTool}
	switch {
	case plan == nil && err == nil:
		s.others.add(call)
		return false
	case state != jslist.Completed:
		s.doubt(&written, state)
		return false
	}
	var parsed writeArguments
	if err == nil {
		err = parsed.unwrap(plan)
	}
	if err != nil {
		return s.stop(&written, err)
	}
	list, err := parsed.list()
	if err != nil {
		return s.stop(&written, err)
	}
	s.noteWriting(call, &effect{whole: true})
	s.end(origins.ToolCall, &written, list)
	s.scripts.overlaps, s.scripts.ended = s.scripts.endedCells(), nil
	return s.isOldest(call)
}

// doubt notes a call of a script that does not count because of the script's state.
func (s *search) doubt(written *Call, state jslist.State) {
	problem := errScriptUnknown
	switch state {
	case jslist.Failed:
		problem = errScriptFailed
	case jslist.Running:
		problem = errScriptRuns
	case jslist.Unknown, jslist.Completed:
	}
	if s.scripts.doubt == nil {
		s.scripts.doubt = problem
	}
	s.failed(written, problem)
}

// unconfirmed returns what Origin.Unconfirmed says.
func (s *scripts) unconfirmed() string {
	if s.doubt == nil {
		return ""
	}
	return s.doubt.Error()
}

// stateOf returns the state of a script, according to its result or the call of wait
// that told its end.
func (s *scripts) stateOf(call *Call) jslist.State {
	state, cell := jslist.StateOf(call.Result)
	if ended := s.ended[cell]; state == jslist.Running && ended != jslist.Unknown {
		state = ended
		delete(s.ended, cell) // an older script may have the same
	}
	return state
}

// lookAtWait notes how a script ended. Waiting for it once more fails, so the oldest
// end counts.
func (s *scripts) lookAtWait(call *Call) {
	state, _ := jslist.StateOf(call.Result)
	if state != jslist.Completed && state != jslist.Failed || len(s.ended) > maxChanges {
		return
	}
	fields, err := itemFields(call.Arguments)
	cell, ok := field(fields, "cell_id").(string)
	if err != nil || !ok {
		return
	}
	if s.ended == nil {
		s.ended = make(map[string]jslist.State)
	}
	s.ended[cell] = state
}

func (s *scripts) endedCells() map[string]bool {
	cells := make(map[string]bool, len(s.ended))
	for cell := range s.ended {
		cells[cell] = true
	}
	return cells
}

// isOldest reports whether no script older than a call can have run at the same time
// as the one that wrote the list.
func (s *search) isOldest(call *Call) bool {
	return call.UserMessagesAfter > 0 && len(s.scripts.overlaps) == 0
}

// lookForOverlap examines a call that is older than the script that wrote the list.
// A script that still ran then may have written the list after it.
func (s *search) lookForOverlap(kind toolKind, call *Call) (last bool) {
	switch kind {
	case waitTool:
		s.scripts.lookAtWait(call)
	case scriptTool:
		state, cell := jslist.StateOf(call.Result)
		ended := s.scripts.stateOf(call) != state // before the list was written
		delete(s.scripts.overlaps, cell)
		if state != jslist.Running || ended || !jslist.MayCall(call.Arguments) {
			break
		}
		plan, err := jslist.Read(call.Arguments)
		if plan != nil || err != nil {
			s.list, s.found = nil, false
			return s.stop(&Call{Name: planTool}, errOverlap)
		}
	default:
	}
	return s.isOldest(call)
}

// sqlCalls are the calls of a tool that keeps the list in a table, newest first.
type sqlCalls struct {
	tool  string
	calls []sqllist.Call
}

// mayUseSQL reports whether a call of a tool for SQL belongs to the list: it names the
// table, and no other tool has a newer list.
func (s *search) mayUseSQL(call *Call) bool {
	return s.origin.Tool == "" && sqllist.Mentions(call.Arguments)
}

// lookAtSQL notes a call whose statements are followed when the search has ended,
// oldest first.
func (s *search) lookAtSQL(call *Call) (last bool) {
	size := len(call.Arguments) + len(call.Result)
	if size > s.unread {
		s.cut = true
		return true
	}
	s.unread -= size
	fields, err := itemFields(call.Arguments)
	query, ok := field(fields, "query", "sql").(string)
	if err != nil || !ok || reportsFailure(call.Result) {
		return false
	}
	if s.sql.tool == "" {
		s.sql.tool = strings.Clone(call.Name)
	}
	s.wrote = s.wrote || call.UserMessagesAfter == 0 && changesTable(query)
	s.sql.calls = append(s.sql.calls, sqllist.Call{Query: query, Result: call.Result})
	return false
}

// changesTable reports whether a text has a statement that may change a table. It may be
// wrong for one that quotes such a statement.
func changesTable(query string) bool {
	for _, word := range strings.FieldsFunc(query, func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch strings.ToLower(word) {
		case "insert", "update", "delete", "replace":
			return true
		}
	}
	return false
}

// list returns the rows of the table as a normalized list.
func (c *sqlCalls) list() ([]Todo, error) {
	rows, err := sqllist.Rows(func(yield func(sqllist.Call) bool) {
		for _, call := range slices.Backward(c.calls) {
			if !yield(call) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	list := make([]Todo, len(rows))
	for i, row := range rows {
		list[i] = Todo{ID: row.ID, Content: row.Title, Status: Status(row.Status)}
	}
	return normalize(list)
}
