package adapter

import (
	"iter"

	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/todo"
)

// Entry is an entry of a request's history: a tool call, a message of the user, or a text
// that the agent, and not its user, has written, such as the report of a task in the
// background.
type Entry struct {
	// Call is the tool call, with its result, if the entry is none of the others.
	Call todo.Call
	// Automatic is a text for which [IsAutomatic] holds: a message with the role of
	// the user or of the system, or a part of one, also beside the results of tools.
	Automatic string
	// FromUser says that the entry is a message of the user. Its words do not matter.
	FromUser bool
}

// IsCall reports whether the entry is a tool call.
func (e *Entry) IsCall() bool { return e.Automatic == "" && !e.FromUser }

// Calls returns the tool calls of a history, or nil if the history is nil.
func Calls(history iter.Seq[Entry]) iter.Seq[todo.Call] {
	if history == nil {
		return nil
	}
	return func(yield func(todo.Call) bool) {
		for e := range history {
			if e.IsCall() && !yield(e.Call) {
				return
			}
		}
	}
}

// HistoryWalk yields the entries of a history for an adapter that reads it backwards.
// The adapter makes one for each walk, calls a method for everything that it passes,
// and returns when a method returns false.
type HistoryWalk struct {
	// Yield takes the entries; see [iter.Seq].
	Yield func(Entry) bool

	users int // messages of the user so far
}

// User passes a message with the role of the user. The text is the one that the adapter
// looks at to fill in [Request].Users. If the message has several parts, parts yields
// the texts of them, the last one first; otherwise it may be nil.
func (w *HistoryWalk) User(text string, parts iter.Seq[string]) bool {
	if IsAutomatic(text) {
		return w.Yield(Entry{Automatic: text})
	}
	if parts != nil {
		for part := range parts {
			if !w.Text(part) {
				return false
			}
		}
	}
	w.users++
	return w.Yield(Entry{FromUser: true})
}

// Text passes a text that is an entry only if the agent has written it: a message of
// the system, a part of a message, or a text beside the results of tools.
func (w *HistoryWalk) Text(text string) bool {
	return !IsAutomatic(text) || w.Yield(Entry{Automatic: text})
}

// Call passes a tool call. It fills in UserMessagesAfter.
func (w *HistoryWalk) Call(c todo.Call) bool {
	c.UserMessagesAfter = w.users
	return w.Yield(Entry{Call: c})
}

// IsAutomatic reports whether the agent, and not its user, wrote a message with the
// user's role: it consists only of elements such as
// <system-reminder>…</system-reminder>, perhaps behind lines that say that it is no
// input of the user. Such a message does not begin a user turn, and adapters do not
// count it among [Request].Users.
func IsAutomatic(text string) bool { return automatic.Is(text) }

// ToolResults matches tool results with their calls, for an adapter that reads a
// history backwards and so meets a result before its call. R is the SDK's own
// message, so that its text is read only if needed. The zero value is ready for use.
type ToolResults[R any] struct{ open map[string]*toolResult[R] } // by id: the newest result not taken yet

type toolResult[R any] struct {
	result R
	older  *toolResult[R] // of the same id
	oldest *toolResult[R] // of the same id; set in the newest only
}

// Add adds a result of the call with the id, older than all that were added before.
func (r *ToolResults[R]) Add(id string, result R) {
	added := &toolResult[R]{result: result}
	newest := r.open[id]
	switch {
	case newest != nil:
		newest.oldest.older, newest.oldest = added, added
		return
	case r.open == nil:
		r.open = make(map[string]*toolResult[R])
	}
	added.oldest = added
	r.open[id] = added
}

// Take removes the newest result for a call's id and returns it. Each result is taken
// once: some providers give parallel calls the same id or none, and an id may be used
// again further up.
func (r *ToolResults[R]) Take(id string) (result R, ok bool) {
	newest := r.open[id]
	if newest == nil {
		return result, false
	}
	if next := newest.older; next != nil {
		next.oldest = newest.oldest
		r.open[id] = next
	} else {
		delete(r.open, id)
	}
	return newest.result, true
}
