package asynctask

const (
	MaxCompletion  = maxCompletion
	MaxReminder    = maxReminder
	MaxSummary     = maxSummary
	MaxUndelivered = maxUndelivered
	OwnerLife      = ownerLife
	PollInterval   = pollInterval
	ReasonGoal     = reasonGoal
)

// ErrExited is errExited, for tests.
var ErrExited = errExited
