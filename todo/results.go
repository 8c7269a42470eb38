package todo

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/internal/toolcall"
)

// echoOf returns the list that the result of a tool repeats, or nil, and whether the
// result names it as all todos. Many tools answer each call with their whole list.
func echoOf(result string) (list []Todo, all bool) {
	var parsed writeArguments
	switch v := resultValue(result).(type) {
	case string:
		parsed.items = listing(v)
	case nil:
	default:
		fields, _ := v.(map[string]any)
		_, all = toolcall.Field(fields, "all_todos", "allTodos", "all_tasks", "allTasks", "all_items", "allItems").([]any)
		if parsed.unwrap(v) != nil || parsed.single || !allHaveStatus(parsed.items) {
			return nil, false
		}
	}
	if len(parsed.items) == 0 && !all {
		return nil, false
	}
	list, err := parsed.list()
	if err != nil {
		return nil, false
	}
	return list, all
}

// resultValue returns the JSON of a result, even if a sentence precedes it, or the
// text of the result.
func resultValue(text string) any {
	text = strings.TrimSpace(text)
	value, err := toolcall.Decode(text)
	if err != nil {
		return jsonBehind(text)
	}
	return unwrapped(value)
}

// unwrapped returns the value that a framework, a protocol or MCP has put into a wrapper.
func unwrapped(value any) any {
	switch v := value.(type) {
	case string:
		return resultValue(v)
	case []any:
		if areTexts(v) {
			return resultValue(textOfParts(v))
		}
	}
	fields, isObject := value.(map[string]any)
	if !isObject {
		return value
	}
	inner := toolcall.Field(fields, "output", "result", "text", "message")
	if text, ok := inner.(string); ok && !holdsList(fields) {
		return resultValue(text)
	}
	if inner != nil && len(fields) == 1 {
		return unwrapped(inner)
	}
	if parts, ok := toolcall.Field(fields, "content").([]any); ok { // a result of MCP
		return resultValue(textOfParts(parts))
	}
	return value
}

// holdsList reports whether an object has a member that unwrap reads as the list.
func holdsList(fields map[string]any) bool { return toolcall.Field(fields, listNames...) != nil }

// areTexts reports whether an array has the parts of a message, and no todos.
func areTexts(parts []any) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part any) bool {
		fields, _ := part.(map[string]any)
		_, isText := fields["text"].(string)
		return !isText || fields["type"] != "text"
	})
}

func textOfParts(parts []any) string {
	var b strings.Builder
	for _, part := range parts {
		if fields, ok := part.(map[string]any); ok {
			text, _ := fields["text"].(string)
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// jsonBehind returns the JSON that follows a sentence, as in "Saved: [{…}]", or
// the text itself.
func jsonBehind(text string) any {
	for _, opening := range [...]string{"[{", `{"`, "[\n", "{\n"} {
		_, rest, found := strings.Cut(text, opening)
		if !found {
			continue
		}
		decoder := json.NewDecoder(strings.NewReader(opening + rest))
		decoder.UseNumber()
		var value any
		if decoder.Decode(&value) == nil {
			return value
		}
	}
	return text
}

// allHaveStatus reports whether every item is an object with a status.
func allHaveStatus(items []any) bool {
	for _, item := range items {
		if fields, ok := item.(map[string]any); !ok || !hasStatus(fields) {
			return false
		}
	}
	return true
}

// listing reads the lines of a text that have a status, with their ids: a checklist,
// "[x] #1: Fix the bug" and "#1 [completed] Fix the bug (ann) [blocked by #3, #4]".
func listing(text string) []any {
	var items []any
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		id, rest := cutNumber(line)
		status, content, ok := checkBox(rest)
		if !ok {
			continue
		}
		if id == "" {
			id, content = cutNumber(content)
		}
		item := map[string]any{"content": content, "status": string(status)}
		if id != "" {
			item["id"] = id
			readTeam(item, content)
		}
		items = append(items, item)
	}
	return items
}

// readTeam reads the blockers and the owner that end the content of a numbered line. The
// owner stays in the content, because a word in brackets may be a part of it.
func readTeam(item map[string]any, content string) {
	if before, blockers, found := cutLast(content, "[blocked by ", "]"); found {
		content = before
		item["content"], item["blockedBy"] = content, blockers
	}
	if before, owner, found := cutLast(content, " (", ")"); found && before != "" && !strings.ContainsAny(owner, " \t") {
		item["owner"] = strings.TrimPrefix(owner, "@")
	}
}

// cutLast returns the text between the last opening mark and the closing mark that ends
// text, and what is before it.
func cutLast(text, opening, closing string) (before, between string, found bool) {
	inner, found := strings.CutSuffix(text, closing)
	at := strings.LastIndex(inner, opening)
	if !found || at < 0 {
		return text, "", false
	}
	return strings.TrimSpace(inner[:at]), inner[at+len(opening):], true
}

// cutNumber returns the id that a text begins with, as "#1" or "#1:", and what
// follows it.
func cutNumber(text string) (id, rest string) {
	after, found := strings.CutPrefix(text, "#")
	if !found {
		return "", text
	}
	rest = strings.TrimLeftFunc(after, isIDRune)
	id = after[:len(after)-len(rest)]
	if id == "" {
		return "", text
	}
	return id, strings.TrimSpace(strings.TrimPrefix(rest, ":"))
}

func isIDRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}

// createdTask begins the results of gemini-cli's task tracker, such as "Created task
// a1b2c3: Read the file".
const createdTask = "Created task "

// idIn returns the id of the item that a result is about: from its JSON, or the first
// "#1" in its text, or where gemini-cli writes it.
func idIn(result string) string {
	value := resultValue(result)
	if fields, ok := value.(map[string]any); ok {
		if inner, ok := toolcall.Field(fields, "task", "todo", "item", "created").(map[string]any); ok {
			fields = inner
		}
		id, _ := parseLabel(0, fields, idNames...)
		return id
	}
	text, _ := value.(string)
	if after, ok := strings.CutPrefix(text, createdTask); ok {
		id, _, ok := strings.Cut(after, ":")
		if ok && id != "" && strings.IndexFunc(id, func(r rune) bool { return !isIDRune(r) }) < 0 {
			return id
		}
	}
	_, after, found := strings.Cut(text, "#")
	if !found {
		return ""
	}
	id, _ := cutNumber("#" + after)
	return id
}

// idsOfNew returns the ids of the todos that a result says it has added: of the items or
// ids in its JSON, or of its lines that begin with "#1".
func idsOfNew(result string) (ids []string) {
	value := resultValue(result)
	if fields, ok := value.(map[string]any); ok {
		value = toolcall.Field(fields, append([]string{"created", "added", "new_todos"}, listNames...)...)
	}
	items, _ := value.([]any)
	for _, item := range items {
		fields, ok := item.(map[string]any)
		if !ok {
			fields = map[string]any{"id": item}
		}
		id, _ := parseLabel(0, fields, idNames...)
		ids = append(ids, clean(id))
	}
	text, _ := value.(string)
	for line := range strings.Lines(text) {
		if id, _ := cutNumber(afterBullet(strings.TrimSpace(line))); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}
