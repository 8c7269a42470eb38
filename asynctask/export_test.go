package asynctask

import "github.com/carryon-go/carryon/internal/clock"

// WithClock replaces the system's clock.
func WithClock(c clock.Clock) Option { return clock.Option[Option](c) }

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
