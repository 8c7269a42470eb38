// Package toolcall reads what the calls of agents' tools have in common: the spelling of a
// name, the object in the arguments, and whether a result reports a failure.
package toolcall

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// Name is the name of a tool in lower case, without "_" and "-": agents spell the same
// tool todo_write, TodoWrite, todowrite and todo-write.
type Name string

// NewName returns the Name of a tool, "" for a blank one.
func NewName(tool string) Name { return Name(AppendName(nil, strings.TrimSpace(tool))) }

// AppendName appends the Name of a tool. A caller that has room needs no memory.
func AppendName(to []byte, tool string) []byte {
	for i := range len(tool) {
		if letter, ok := plain(tool[i]); ok {
			to = append(to, letter)
		}
	}
	return to
}

// plain returns a letter of a name as it is in a [Name], if it is there.
func plain(letter byte) (_ byte, ok bool) {
	if 'A' <= letter && letter <= 'Z' {
		letter += 'a' - 'A'
	}
	return letter, letter != '_' && letter != '-'
}

// Matches reports whether tool is a spelling of n. It runs for every call of a
// history, so it allocates nothing.
func (n Name) Matches(tool string) bool {
	at := 0
	for i := range len(tool) {
		letter, ok := plain(tool[i])
		if !ok {
			continue
		}
		if at == len(n) || n[at] != letter {
			return false
		}
		at++
	}
	return at == len(n)
}

// Names reports whether tool is a spelling of n, with or without the namespace that MCP
// clients put before a name.
func (n Name) Names(tool string) bool {
	return n.Matches(Bare(tool)) || n.Matches(tool)
}

// AnyNames reports whether tool is a spelling of one of names.
func AnyNames(names []Name, tool string) bool {
	return slices.ContainsFunc(names, func(n Name) bool { return n.Names(tool) })
}

// Bare returns a name without the namespace that MCP clients put before it.
func Bare(tool string) string {
	if end := strings.LastIndex(tool, "__"); end >= 0 {
		return tool[end+len("__"):]
	}
	return tool
}

// IDs yields the ids in a list of them, separated by commas, each with or without "#".
func IDs(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range strings.SplitSeq(list, ",") {
			id = strings.TrimPrefix(strings.TrimSpace(id), "#")
			if id != "" && !yield(id) {
				return
			}
		}
	}
}

// MaxWrappings bounds how many strings and objects around a list are unwrapped.
// Models were seen to send up to two strings and an object.
const MaxWrappings = 5

// ErrNoObject says that arguments hold something other than an object.
var ErrNoObject = errors.New("it names no todo")

// Decode reads text as one JSON value. Numbers keep their digits.
func Decode(text string) (any, error) {
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

// Fields returns the object in arguments, or [ErrNoObject].
func Fields(arguments string) (map[string]any, error) {
	value, err := Unwrapped(arguments)
	fields, ok := value.(map[string]any)
	if err == nil && !ok {
		err = ErrNoObject
	}
	return fields, err
}

// Unwrapped returns the value in arguments, without the strings and objects around it.
func Unwrapped(arguments string) (any, error) {
	value, err := Decode(arguments)
	for range MaxWrappings {
		switch v := value.(type) {
		case string:
			value, err = Decode(v)
			continue
		case map[string]any:
			if inner := Wrapped(v); inner != nil {
				value = inner
				continue
			}
		}
		break
	}
	return value, err
}

// Wrapped returns the value of a member that models put all arguments in, or nil.
func Wrapped(fields map[string]any) any {
	return Field(fields, "__arg1", "input", "arguments", "args", "parameters")
}

// Field returns the value of the first of names that fields has a value for, or nil.
// An exact spelling takes precedence over other cases. Of several other cases the
// first in sorted order counts, so that the same arguments always give the same list.
func Field(fields map[string]any, names ...string) any {
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

const (
	// maxReport is the size in bytes up to which a JSON result may be the report of a
	// failure. A longer result repeats the list.
	maxReport = 16 << 10
	// maxOpening is how many bytes of a plain-text result are examined.
	maxOpening = 80
)

// ReportsFailure reports whether the result of a call says that the call failed,
// so that it had no effect: a list was not written, a message not sent. The
// history has no flag for that, only the text of the result. Only its beginning
// counts, because many tools repeat the list, and a todo may be "Fix the error".
func ReportsFailure(result string) bool {
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
		"an error ", "error calling ", "error deleting ", "error executing ", "error invoking ", "error parsing ", "error running ",
		"error saving ", "error sending ", "error updating ", "error while ", "error writing ", "error - ", "validation error",
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
