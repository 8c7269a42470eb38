package middleware

import (
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/pause"
)

// isNested reports whether a request is a continuation that another carryon has
// sent, in another process: its last message is a prompt beside todo_pause, or
// the answer to a pause that was rejected. What a prompt begins with does on its
// own where todo_pause is not offered at all.
func isNested(r *adapter.Request) bool {
	if !r.OwnPause && !r.FixedPrefix && r.Tools > 0 && r.Tools < maxTools {
		return false
	}
	return strings.HasPrefix(r.User, continuation.PromptPreamble) || r.OwnPause && answersPause(r)
}

// answersPause reports whether the latest call of the request is a todo_pause
// whose reason carryon has rejected.
func answersPause(r *adapter.Request) bool {
	if r.History == nil || r.Unanswered {
		return false
	}
	rejected := pause.InvalidReasonError{} // what it begins with
	for call := range r.History {
		return pause.Is(call.Name) && strings.HasPrefix(call.Result, rejected.Error())
	}
	return false
}
