package todo

import (
	"encoding/json"
	"strings"
	"unicode"
)

// echoOf returns the list that the result of a tool repeats, or nil, and whether the
// result names it as all todos. Many tools answer each call with their whole list.
func echoOf(result string) (list []Todo, all bool) {
	var parsed writeArguments
	switch v := resultValue(strings.TrimSpace(result)).(type) {
	case string:
		parsed.items = listing(v)
	case nil:
	default:
		fields, _ := v.(map[string]any)
		_, all = field(fields, "all_todos", "allTodos", "all_tasks", "allTasks", "all_items", "allItems").([]any)
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
	value, err := decode(text)
	if err != nil {
		return jsonBehind(text)
	}
	fields, isObject := value.(map[string]any)
	if !isObject {
		return value
	}
	if inner, ok := field(fields, "output", "result", "text", "message").(string); ok && !holdsList(fields) {
		return resultValue(strings.TrimSpace(inner))
	}
	if parts, ok := field(fields, "content").([]any); ok { // a result of MCP
		return resultValue(strings.TrimSpace(textOfParts(parts)))
	}
	return value
}

// holdsList reports whether an object has a member that unwrap reads as the list.
func holdsList(fields map[string]any) bool { return field(fields, listNames...) != nil }

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
	value := resultValue(strings.TrimSpace(result))
	if fields, ok := value.(map[string]any); ok {
		if inner, ok := field(fields, "task", "todo", "item", "created").(map[string]any); ok {
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
	value := resultValue(strings.TrimSpace(result))
	if fields, ok := value.(map[string]any); ok {
		value = field(fields, append([]string{"created", "added", "new_todos"}, listNames...)...)
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

const (
	// maxReport is the size in bytes up to which a JSON result may be the report of a
	// failure. A longer result repeats the list.
	maxReport = 16 << 10
	// maxOpening is how many bytes of a plain-text result are examined.
	maxOpening = 80
)

// reportsFailure reports whether the result of a todo-writing call says that
// the call failed, so that its list never took effect. The history has no flag
// for that, only the text of the result. Only its beginning counts, because
// many tools repeat the list, and a todo may be "Fix the error".
func reportsFailure(result string) bool {
	text := strings.TrimSpace(result)
	if strings.HasPrefix(text, `"`) && len(text) <= maxReport {
		var inner string
		if json.Unmarshal([]byte(text), &inner) == nil {
			text = strings.TrimSpace(inner)
		}
	}
	if strings.HasPrefix(text, "{") {
		return len(text) <= maxReport && objectReportsFailure(text)
	}
	return textReportsFailure(text)
}

// objectReportsFailure examines the members with which tools and MCP mark a failure.
func objectReportsFailure(object string) bool {
	var fields struct {
		IsError      any `json:"isError"`
		IsErrorSnake any `json:"is_error"`
		Error        any `json:"error"`
		Errors       any `json:"errors"`
		Success      any `json:"success"`
		OK           any `json:"ok"`
		Status       any `json:"status"`
	}
	if json.Unmarshal([]byte(object), &fields) != nil {
		return false
	}
	if fields.IsError == true || fields.IsErrorSnake == true || fields.Success == false || fields.OK == false {
		return true
	}
	status, _ := fields.Status.(string)
	switch strings.ToLower(status) {
	case "error", "failed", "failure", "denied", "rejected":
		return true
	}
	return notEmpty(fields.Error) || notEmpty(fields.Errors)
}

// notEmpty reports whether the JSON value v is more than null, false, 0 or an
// empty string, array or object.
func notEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// textReportsFailure examines the beginning of a text: a word such as "Error"
// or "ValidationError" with a colon after it or in a tag, or a phrase.
func textReportsFailure(text string) bool {
	text = strings.TrimLeftFunc(strings.TrimPrefix(text, "**"), isDecoration)
	opening := strings.ToLower(text[:min(len(text), maxOpening)])
	for range 2 { // a tag may precede the word
		rest := strings.TrimLeftFunc(opening, isWordRune)
		word := opening[:len(opening)-len(rest)]
		if strings.HasSuffix(word, "error") || strings.HasSuffix(word, "exception") {
			if rest == "" || strings.ContainsRune(":>](!*\n", rune(rest[0])) {
				return true
			}
		}
		if !strings.HasPrefix(rest, ">") {
			break
		}
		opening = strings.TrimLeftFunc(rest[1:], isDecoration)
	}
	return beginsLikeFailure(opening)
}

// beginsLikeFailure reports whether opening is one of the phrases, other than
// "Error:", with which frameworks and agents tell the model that a call failed
// or that the user did not allow it.
func beginsLikeFailure(opening string) bool {
	for _, phrase := range [...]string{
		"an error ", "error calling ", "error executing ", "error invoking ", "error parsing ", "error running ",
		"error saving ", "error updating ", "error while ", "error writing ", "error - ", "validation error",
		"failed to ", "failed:", "failure:", "tool call failed", "tool execution failed", "the tool execution failed",
		"the tool call returned the following error", "invalid ", "cannot ", "could not ", "unable to ",
		"unknown tool", "tool not found", "permission denied",
		"user declined ", "user rejected ", "the user declined ", "the user denied ", "the user rejected ",
	} {
		if strings.HasPrefix(opening, phrase) {
			return true
		}
	}
	return strings.Contains(opening, " is not a valid tool")
}

// isDecoration reports whether r may precede the first word: white space, an
// opening bracket, the sign of a heading, a digit, or a symbol such as a red
// cross. A bullet may not, because an item of the list follows it.
func isDecoration(r rune) bool {
	switch r {
	case '[', '<', '#':
		return true
	}
	sign := r > unicode.MaxASCII && (unicode.IsSymbol(r) || unicode.Is(unicode.Mn, r))
	return sign || unicode.IsSpace(r) || unicode.IsDigit(r)
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.'
}
