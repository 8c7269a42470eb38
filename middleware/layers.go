package middleware

import (
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/pause"
)

// isNested reports whether another carryon, in another process, has sent the request
// as a continuation. Then its last message is a prompt and it offers todo_pause, or
// it answers a rejected pause. Where a continuation cannot offer todo_pause, the
// beginning of the prompt is enough.
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
	rejected := pause.InvalidReasonError{} // the result begins with its text
	for call := range adapter.Calls(r.History) {
		return pause.Is(call.Name) && strings.HasPrefix(call.Result, rejected.Error())
	}
	return false
}
