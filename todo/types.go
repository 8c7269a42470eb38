package todo

// Status is the progress of a todo. The zero value is not one of the known
// statuses and is not active.
type Status string

// The statuses that carryon knows. It keeps any other value unchanged and
// treats it as not active.
const (
	// Pending means that work on the todo has not started.
	Pending Status = "pending"
	// InProgress means that the todo is being worked on.
	InProgress Status = "in_progress"
	// Completed means that the todo is done.
	Completed Status = "completed"
	// Cancelled means that the todo will not be done.
	Cancelled Status = "cancelled"
)

// Active reports whether a todo of this status still needs work. It is true
// for Pending and InProgress only.
func (s Status) Active() bool {
	return s == Pending || s == InProgress
}

// Todo is one item of a todo list. It is a plain value without references, so
// copying a []Todo copies the list.
type Todo struct {
	// ID identifies the todo within its list. carryon does not interpret it.
	ID string `json:"id"`
	// Content says what has to be done, in the words of the list's author.
	Content string `json:"content"`
	// Status is the progress of the todo.
	Status Status `json:"status"`
	// Priority is free text such as "high"; "" means none. carryon keeps the
	// order of the list and does not sort by priority.
	Priority string `json:"priority,omitempty"`
}
