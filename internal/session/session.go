// Package session has the transitions of [continuation.State]: pure functions
// that take the state of a session and return the next one.
//
//   - claim.go: how a call claims a session for a continuation, and releases it
//   - userturn.go: what a user turn is, and what a new one resets
//   - this file: pauses, and what is remembered of the todo list
//
// The decision itself is [continuation.Evaluate]. Package todolist evaluates a
// list.
package session

import (
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/todolist"
	"github.com/carryon-go/carryon/todo"
)

// Pause returns the state after the session was paused. digest is the digest of
// its todo list, or 0 if the list is unknown.
func Pause(s continuation.State, reason string, now time.Time, digest uint64) continuation.State {
	s.Paused = continuation.Pause{Reason: reason, Since: now}
	return MarkStale(s, digest)
}

// Resume returns the state after a person let a paused session go on. Its list
// gets the full number of attempts again.
func Resume(s continuation.State) continuation.State {
	s.Paused = continuation.Pause{}
	s.Stale, s.Cancelled = 0, false
	return s
}

// MarkStale returns the state after a user turn ended, exhausted or paused,
// with a list of that digest. Later turns get one attempt until the list
// changes. A digest of 0 changes nothing.
func MarkStale(s continuation.State, digest uint64) continuation.State {
	if digest != 0 {
		s.Stale = digest
	}
	return s
}

// Cancel returns the state after the caller cancelled a call: later calls and
// turns get one attempt until the list changes. digest is the digest of the
// list. It is 0 if the call has not read the list; then the next list that is
// seen counts.
func Cancel(s continuation.State, digest uint64) continuation.State {
	s.Cancelled = digest == 0
	return MarkStale(s, digest)
}

// ObserveList returns the state after the list was seen: what is new about it, and
// whether the model wrote it in this user turn.
func ObserveList(s continuation.State, todos []todo.Todo, written todo.Written) continuation.State {
	list := todolist.Summarize(todos, nil)
	watermarks, used := todolist.Watermarks(s.Watermarks).Observe(&list, todolist.Used{Attempts: s.Attempts, Continuations: s.Continuations})
	s.Watermarks, s.Attempts, s.Continuations = continuation.Watermarks(watermarks), used.Attempts, used.Continuations
	s.Touched = s.Touched || written == todo.WrittenNow
	if s.Cancelled {
		s.Stale, s.Cancelled = todolist.Digest(todos), false
	}
	return s
}
