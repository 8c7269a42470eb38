package todo

// Status says how far a todo has come. The zero value is no known status and
// is not active.
type Status string

// The statuses carryon knows. Any other value is kept as it is and counts as
// not active.
const (
	// Pending is a todo that waits to be started.
	Pending Status = "pending"
	// InProgress is the todo being worked on.
	InProgress Status = "in_progress"
	// Completed is a todo that is done.
	Completed Status = "completed"
	// Cancelled is a todo that will not be done.
	Cancelled Status = "cancelled"
)

// Active reports whether a todo of this status still needs work: true for
// Pending and InProgress only.
func (s Status) Active() bool {
	return s == Pending || s == InProgress
}

// Todo is one item of a todo list. It is a plain value without references, so
// copying a []Todo copies the list.
type Todo struct {
	// ID names the todo within its list. It is opaque to carryon.
	ID string `json:"id"`
	// Content is what has to be done, in the words of whoever wrote the list.
	Content string `json:"content"`
	// Status says how far the todo has come.
	Status Status `json:"status"`
	// Priority is free text such as "high"; "" is none. carryon keeps the
	// order of the list and does not sort by it.
	Priority string `json:"priority,omitempty"`
}
