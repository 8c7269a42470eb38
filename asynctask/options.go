package asynctask

import (
	"fmt"

	"github.com/carryon-go/carryon/internal/clock"
)

// The bounds of a Manager unless options say otherwise.
const (
	// DefaultLimit is how many tasks may run at a time.
	DefaultLimit = 5
	// DefaultOutputSize is how many bytes of output are kept in all.
	DefaultOutputSize = 16 << 20
)

// Unlimited is the limit of a Manager that has none.
const Unlimited = -1

// MaxUndelivered is how many ended tasks may wait for delivery, all sessions
// taken together, before no more are started.
const MaxUndelivered = 10_000

// maxHistory is how many ended tasks whose ends were delivered are kept, all
// sessions taken together, so that sessions that never come back cost nothing
// in the long run.
const maxHistory = 10_000

// unlimitedHistory is how many ended tasks a session has if the limit says
// nothing about it.
const unlimitedHistory = 10

// Option configures a [Manager]. One that is used wrongly panics when it is
// made, with a message that begins with "asynctask: ".
type Option func(*options)

type options struct {
	limit           int
	outputSize      int
	oneConversation bool
	cancellations   bool
	onPanic         func(recovered any)
	clock           clock.Clock
}

// WithLimit sets how many tasks may run at a time, in place of [DefaultLimit];
// [Unlimited] is no limit.
func WithLimit(n int) Option {
	if n < 1 && n != Unlimited {
		panic(fmt.Sprintf("asynctask: limit %d is not positive (use asynctask.Unlimited for none)", n))
	}
	return func(o *options) { o.limit = n }
}

// WithOutputSize sets how many bytes of output are kept in all, in place of
// [DefaultOutputSize]. Beyond it the oldest outputs shrink to head and tail:
// first those that were delivered, then those that were not.
func WithOutputSize(bytes int) Option {
	if bytes < 1 {
		panic(fmt.Sprintf("asynctask: output size %d is not positive", bytes))
	}
	return func(o *options) { o.outputSize = bytes }
}

// WithOneConversation says that the program has one conversation: every task
// belongs to it, and every session is it, the empty one too. Without it, tasks
// that were started without a session run but are not delivered.
func WithOneConversation() Option {
	return func(o *options) { o.oneConversation = true }
}

// WithCancellations has the model told of cancelled tasks too. Without it they
// show in the status summary only, for who cancels a task knows.
func WithCancellations() Option {
	return func(o *options) { o.cancellations = true }
}

// OnPanic sets what is told of a panic in a subscriber. It is called where the
// subscriber was. Without it, or with nil, such panics are dropped.
func OnPanic(f func(recovered any)) Option {
	return func(o *options) { o.onPanic = f }
}

// WithClock replaces the system's clock, for tests.
func WithClock(c Clock) Option {
	if c == nil {
		panic("asynctask: nil clock")
	}
	return func(o *options) { o.clock = c }
}

// Clock tells the time and calls back later.
type Clock = clock.Clock

// Timer is a pending call of a [Clock]'s AfterFunc.
type Timer = clock.Timer

// history is how many ended tasks a session has.
func (o *options) history() int {
	if o.limit == Unlimited {
		return unlimitedHistory
	}
	return 2 * o.limit
}
