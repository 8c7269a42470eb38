package todo

import (
	"encoding/json"
	"strings"
	"unicode"
)

const (
	// maxReport is how long a result in JSON may be to be taken for the report
	// of a failure. Longer ones give back the list.
	maxReport = 16 << 10
	// maxOpening is how much of a result in words is looked at.
	maxOpening = 80
)

// reportsFailure reports whether the result of a todo-writing call says that
// the call failed, so that its list never came into force. The history has no
// flag for it, only words: how a result begins tells, and nothing further down,
// for many tools repeat the list, and a todo may well be "Fix the error".
func reportsFailure(result string) bool {
	text := strings.TrimSpace(result)
	if strings.HasPrefix(text, `"`) && len(text) <= maxReport {
		var inner string
		if json.Unmarshal([]byte(text), &inner) == nil {
			text = strings.TrimSpace(inner)
		}
	}
	if strings.HasPrefix(text, "{") {
		return len(text) <= maxReport && fieldsReportFailure(text)
	}
	return wordsReportFailure(text)
}

// fieldsReportFailure looks at the members by which tools, and MCP, mark a
// failure.
func fieldsReportFailure(object string) bool {
	var fields struct {
		IsError  any `json:"isError"`
		IsError2 any `json:"is_error"`
		Error    any `json:"error"`
		Errors   any `json:"errors"`
		Success  any `json:"success"`
		OK       any `json:"ok"`
		Status   any `json:"status"`
	}
	if json.Unmarshal([]byte(object), &fields) != nil {
		return false
	}
	if fields.IsError == true || fields.IsError2 == true || fields.Success == false || fields.OK == false {
		return true
	}
	if status, ok := fields.Status.(string); ok {
		switch strings.ToLower(status) {
		case "error", "failed", "failure", "denied", "rejected":
			return true
		}
	}
	return holds(fields.Error) || holds(fields.Errors)
}

// holds reports whether v is a value that is not empty.
func holds(v any) bool {
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

// wordsReportFailure looks at how a text begins: at a word such as "Error" or
// "ValidationError" with a colon after it or in a tag, or at a phrase.
func wordsReportFailure(text string) bool {
	text = strings.TrimLeftFunc(strings.TrimPrefix(text, "**"), isDecoration)
	opening := strings.ToLower(text[:min(len(text), maxOpening)])
	for range 2 { // a tag may stand before the word
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

// beginsLikeFailure knows how frameworks and agents begin to tell the model
// that a call failed, or that the user did not allow it, where no "Error:" does.
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

// isDecoration tells what may stand before the first word: space, an opening
// bracket, a heading, a count and signs such as a red cross. It leaves bullets
// alone, for behind them is an item of the list.
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
