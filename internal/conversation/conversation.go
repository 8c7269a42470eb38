// Package conversation reads from the messages of a request, in their order, which of them
// the user has written, and what has answered the last of those.
package conversation

import (
	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/automatic"
)

// Reader fills in what a request says of its user. M is what an adapter keeps of a message.
// The zero value is ready. For each message, an adapter calls
//
//  1. AddUser, if the message has the role of the user,
//  2. AddAnswer, if it is of the model or of a tool,
//  3. EndMessage, for any message,
//
// and End after the last one.
type Reader[M any] struct {
	adapter.Request

	firstCall int // the number of the message with the first call after the user's last message, or 0
	previous  M   // the message before the user's last one
	last      M   // the message that was added last
}

// Begin begins the list of messages again: if a request has several lists, the last one
// counts.
func (r *Reader[M]) Begin() {
	var none M
	r.Messages, r.System, r.Users, r.User, r.FirstUser, r.Unanswered = 0, 0, 0, "", "", false
	r.firstCall, r.previous, r.last = 0, none, none
}

// AddUser adds a message with the role of the user, which text identifies. The agent may
// have written it; a summary is then also of what answered the user.
func (r *Reader[M]) AddUser(text string) {
	if adapter.IsAutomatic(text) {
		r.Unanswered = r.Unanswered && !automatic.IsSummary(text)
		return
	}
	if r.Users == 0 {
		r.FirstUser = text
	}
	r.Users++
	r.User, r.Unanswered, r.firstCall, r.previous = text, true, 0, r.last
}

// AddAnswer adds a message of the model, which may call tools, or of a tool.
func (r *Reader[M]) AddAnswer(calls bool) {
	r.Unanswered = false
	if calls && r.firstCall == 0 {
		r.firstCall = r.Messages + 1
	}
}

// EndMessage ends the message that was added.
func (r *Reader[M]) EndMessage(message M) {
	r.Messages++
	r.last = message
}

// End sets Previous, if nothing has answered the user's last message. textOf returns the text
// that identifies a message, "" for none. End returns the index of the message with the first
// call after the user's last message, or -1.
func (r *Reader[M]) End(textOf func(M) string) (firstCall int) {
	if r.Unanswered {
		r.Previous = textOf(r.previous)
	}
	return r.firstCall - 1
}
