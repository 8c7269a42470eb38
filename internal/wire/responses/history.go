package responses

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/todo"
)

// inputOf returns the input of the request with the body: its items, or its
// string.
func inputOf(b wire.Body) [][]byte {
	body, err := b.Bytes()
	if err != nil {
		return nil
	}
	input := rawjson.Member(body, "input")
	if rawjson.IsString(input) {
		return [][]byte{input}
	}
	return rawjson.Elements(input)
}

// history yields the entries of the input, newest first, each call with its result.
func history(b wire.Body) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		w := walk{HistoryWalk: adapter.HistoryWalk{Yield: yield}}
		for _, raw := range slices.Backward(inputOf(b)) {
			if item := itemOf(raw); !w.pass(&item) {
				return
			}
		}
	}
}

// walk is a walk through the items of an input, from the last one.
type walk struct {
	adapter.HistoryWalk

	results, notices adapter.ToolResults[[]byte]
}

// pass passes an item, and reports whether the walk goes on.
func (w *walk) pass(item *fields) bool {
	switch string(item.role) {
	case `"user"`:
		return w.User(identityOf(item.content), texts(item.content))
	case `"system"`, `"developer"`:
		return w.Text(contentOf(item.content))
	}
	switch {
	case item.typeName == "function_call" || item.typeName == "custom_tool_call":
		return w.Call(w.callOf(item))
	case item.typeName == "custom_tool_call_output" && item.name != nil: // a script has sent it while it ran
		w.notices.Add(rawjson.TextOf(item.callID), item.output)
	case strings.HasSuffix(item.typeName, "_output"):
		w.results.Add(rawjson.TextOf(item.callID), item.output)
	}
	return true
}

// texts yields the texts of a content's parts, the last one first.
func texts(content []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range slices.Backward(rawjson.Elements(content)) {
			if text := rawjson.Member(part, "text"); rawjson.IsString(text) && !yield(rawjson.TextOf(text)) {
				return
			}
		}
	}
}

// callOf returns a tool call with its result, or else with its newest notice.
func (w *walk) callOf(item *fields) todo.Call {
	c := todo.Call{ID: rawjson.TextOf(item.callID), Name: rawjson.TextOf(item.name), Arguments: textOrJSON(item.arguments)}
	output, answered := w.results.Take(c.ID)
	if !answered {
		output, answered = w.notices.Take(c.ID)
	}
	if answered {
		c.Answered, c.Result = true, contentOf(output)
	}
	return c
}

// contentOf returns the text of a content, which is a string or a list of parts.
func contentOf(raw []byte) string {
	if rawjson.IsString(raw) {
		return rawjson.TextOf(raw)
	}
	var b strings.Builder
	s := rawjson.Over(raw)
	for range s.Elements() {
		b.WriteString(rawjson.TextOf(s.Peek("text")))
	}
	return b.String()
}

// Attachable implements [wire.Request].
func (r *request) Attachable(b wire.Body) func(message int) (string, bool) {
	var items [][]byte
	return func(i int) (string, bool) {
		if items == nil {
			items = inputOf(b)
		}
		if i >= len(items) {
			return "", false
		}
		text, _, ok := attachableTo(items[i])
		return contentOf(text), ok
	}
}

// attachableTo returns the value of an item that a text can be joined to, and
// the name of its member: the content of a user's message, or the output of a
// call. For an input that is a string, the name is "".
func attachableTo(raw []byte) (text []byte, member string, ok bool) {
	if rawjson.IsString(raw) {
		return raw, "", true
	}
	item := itemOf(raw)
	member, text = "content", item.content
	switch item.typeName {
	case "function_call_output", "custom_tool_call_output":
		member, text = "output", item.output
	default:
		if string(item.role) != `"user"` {
			return text, member, false
		}
	}
	return text, member, takesText(text)
}

// addLoop adds what identifies a tool loop: the items up to its first call, which
// has the index firstCall. input is at the list. It leaves out reasoning, because
// not every client sends it again.
func addLoop(input rawjson.Scanner, firstCall int, add func(string)) {
	for i := range input.Elements() {
		if item := readItem(&input); item.kind != reasoning {
			add(rawjson.View(item.role))
			add(identityOf(item.content))
			add(rawjson.View(item.callID))
			add(rawjson.View(item.name))
			add(rawjson.View(item.arguments))
			add(contentOf(item.output))
		}
		if i == firstCall {
			return
		}
	}
}

// ToolNames implements [adapter.ToolNamer]. It includes tools in namespaces and in
// items of the input, tools that only scripts can call, and the tool search, which has
// only a type.
func (r *request) ToolNames(yield func(string) bool) {
	body, err := r.later.Bytes()
	if err != nil || !yieldNames(rawjson.Member(body, "tools"), yield) || !r.lite {
		return
	}
	input := rawjson.Over(rawjson.Member(body, "input"))
	for range input.Elements() {
		if item := readItem(&input); item.typeName == additionalTools && !yieldNames(item.tools, yield) {
			return
		}
	}
}

// yieldNames yields the names of a list of tools, and returns whether to go on.
func yieldNames(tools []byte, yield func(string) bool) bool {
	s := rawjson.Over(tools)
	for range s.Elements() {
		t := readTool(&s)
		inner := rawjson.Over(t.tools)
		for range inner.Elements() {
			if nested := readTool(&inner); !nested.yieldName(yield) {
				return false
			}
		}
		if !t.yieldName(yield) {
			return false
		}
	}
	return true
}

// toolSearch is the type of a tool that has no name.
const toolSearch = "tool_search"

// yieldName yields the name of a tool that has one, and those of the tools that its
// scripts can call. It returns whether to go on.
func (t *tool) yieldName(yield func(string) bool) bool {
	name := rawjson.TextOf(t.name)
	if t.kind == toolSearch {
		name = toolSearch
	}
	if name != "" && !yield(name) {
		return false
	}
	return t.kind != "custom" || yieldScripted(rawjson.View(t.description), yield)
}

// yieldScripted yields the names of the tools that scripts can call, from the description
// of the tool that runs them.
func yieldScripted(description string, yield func(string) bool) bool {
	for _, declaration := range agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Declares }) {
		for rest := description; ; {
			_, after, found := strings.Cut(rest, declaration.Text)
			if !found {
				break
			}
			length := strings.IndexFunc(after, func(r rune) bool { return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if length > 0 && after[length] == '(' && !yield(strings.Clone(after[:length])) {
				return false
			}
			rest = after
		}
	}
	return true
}
