package todolist

// Watermarks are the best state of a list in a user turn. They convert to and
// from continuation.Watermarks.
type Watermarks struct {
	Set       bool
	Completed int
	Active    int
}

// Used counts the attempts and continuations since the last progress.
type Used struct {
	Attempts      int // continuations that no tool call answered
	Continuations int // all of them
}

// Observe returns the watermarks after a list was seen, and the new counts:
// zero after progress, otherwise used.
//
// Progress means that more todos are completed than ever before in the user
// turn, or that fewer are active. Reordering, rewording, toggling a status and
// adding an item again are no progress. Nor is the first list, because there is
// nothing to compare it with.
func (w Watermarks) Observe(list *Summary, used Used) (Watermarks, Used) {
	if !w.Set {
		return Watermarks{Set: true, Completed: list.Completed, Active: list.Active}, used
	}
	if list.Completed > w.Completed || list.Active < w.Active {
		used = Used{}
	}
	w.Completed, w.Active = max(w.Completed, list.Completed), min(w.Active, list.Active)
	return w, used
}
