package todo

// Status is the progress of a todo. carryon reads it as [ParseStatus] does: in any
// usual spelling, and a blank one as Pending.
type Status string

// The statuses that carryon knows. It keeps a status that [ParseStatus] does not
// know, treats it as not active, and reports it.
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
// for Pending and InProgress only, and for no other spelling of them.
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
	// Owner names the agent of a team that the todo is given to; "" means none.
	Owner string `json:"owner,omitempty"`
	// BlockedBy are the ids of the todos that have to be done before, separated by
	// commas; "" means none. carryon reads up to 64 of them.
	BlockedBy string `json:"blockedBy,omitempty"`
}
