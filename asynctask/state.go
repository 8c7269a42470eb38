package asynctask

// State says how far a task has come. A task begins as Running and changes its
// state once.
type State string

// The states.
const (
	// Running is a task that has not ended.
	Running State = "running"
	// Completed is a task that ended well.
	Completed State = "completed"
	// Failed is a task that ended with an error or in a panic.
	Failed State = "failed"
	// Cancelled is a task that was called off. Its function may still be
	// running: it is up to the function to look at its ctx.
	Cancelled State = "cancelled"
)

// label returns the state as the status summary shows it.
func (s State) label() string {
	switch s {
	case Running:
		return "RUNNING"
	case Completed:
		return "DONE"
	case Failed:
		return "FAILED"
	case Cancelled:
		return "CANCELLED"
	}
	return string(s)
}
