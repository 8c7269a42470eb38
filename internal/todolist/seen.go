package todolist

import "github.com/carryon-go/carryon/todo"

// Seen is a session's record of its list, besides progress.
type Seen struct {
	Stale     uint64 // digest of the list that leaves one attempt
	Cancelled bool   // the list that is seen next becomes the stale one
	List      uint64 // digest of the list as it was seen last
	Touched   bool   // it was written in this user turn
}

// Next returns the record after the list was seen. It updates List and Touched
// only on request, because a digest of every list costs time. A list that is
// seen for the first time counts as written.
func (s Seen) Next(todos []todo.Todo, touched bool) Seen {
	if !s.Cancelled && !touched {
		return s
	}
	digest := Digest(todos)
	if s.Cancelled {
		s.Stale, s.Cancelled = digest, false
	}
	if touched {
		s.List, s.Touched = digest, s.Touched || digest != s.List
	}
	return s
}
