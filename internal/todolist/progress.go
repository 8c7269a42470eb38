package todolist

// Watermarks are the best state of a list in a user turn. They convert to and
// from continuation.Watermarks.
type Watermarks struct {
	Set       bool
	Todos     int // how many there were when the list was first seen
	Completed int
	Active    int
}

// Used counts the attempts and continuations since the last progress.
type Used struct {
	Attempts      int // continuations that no tool call answered
	Continuations int // all of them
}

// MaxAdded is how many todos added since then can be progress.
const MaxAdded = 20

// Observe returns the watermarks after a list was seen, and the new counts:
// zero after progress, otherwise used.
//
// Progress means that more todos are completed than ever before in the user
// turn, or that fewer are active. Reordering, rewording, toggling a status and
// adding an item again are no progress. Nor is the first list, because there is
// nothing to compare it with. Todos that were added later count only up to MaxAdded,
// because a model may add finished ones without end.
func (w Watermarks) Observe(list *Summary, used Used) (Watermarks, Used) {
	if !w.Set {
		return Watermarks{Set: true, Todos: list.Todos, Completed: list.Completed, Active: list.Active}, used
	}
	if w.Precedes(list.Completed, list.Active) {
		used = Used{}
	}
	w.Completed, w.Active = max(w.Completed, list.Completed), min(w.Active, list.Active)
	return w, used
}

// Precedes reports whether a list with these counts is progress; see
// [Watermarks.Observe].
func (w Watermarks) Precedes(completed, active int) bool {
	return w.Set && (completed > w.Completed && w.Completed < w.Todos+MaxAdded || active < w.Active)
}
