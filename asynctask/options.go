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

// Off is the limit of a Manager that has none.
const Off = -1

// unlimitedHistory is how many ended tasks a session keeps if there is no limit.
const unlimitedHistory = 10

// Option configures a [Manager]. [NewManager] panics with what is wrong with an
// option, and [TryNewManager] returns it.
type Option func(*options)

type options struct {
	limit           int
	outputSize      int
	oneConversation bool
	rules           rules
	onError         func(error)
	clock           clock.Clock
	store           Store
	err             error // of the first option that is not valid
}

func newOptions(opts []Option) (options, error) {
	o := options{limit: DefaultLimit, outputSize: DefaultOutputSize, clock: clock.System()}
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	o.rules.history = 2 * o.limit
	if o.limit == Off {
		o.rules.history = unlimitedHistory
	}
	return o, o.err
}

// require remembers the first failure.
func (o *options) require(ok bool, format string, args ...any) {
	if !ok && o.err == nil {
		o.err = fmt.Errorf("asynctask: "+format, args...)
	}
}

// WithLimit sets how many tasks may run at a time, instead of [DefaultLimit];
// [Off] is no limit. It counts the tasks of this Manager, also where a store is
// shared.
func WithLimit(n int) Option {
	return func(o *options) {
		o.require(n >= 1 || n == Off, "limit %d is not positive (use asynctask.Off for none)", n)
		o.limit = n
	}
}

// WithOutputSize sets how many bytes of output a [MemoryStore] keeps in all,
// instead of [DefaultOutputSize]. Beyond it the oldest outputs are cut to head
// and tail: first those that were delivered, then those that were not.
func WithOutputSize(bytes int) Option {
	return func(o *options) {
		o.require(bytes >= 1, "output size %d is not positive", bytes)
		o.outputSize = bytes
	}
}

// WithOneConversation says that the program has one conversation: every task
// belongs to it, and every session is it, the empty one too. Without it, tasks
// that were started without a session run but are not delivered.
func WithOneConversation() Option {
	return func(o *options) { o.oneConversation = true }
}

// WithCancellations has the model told of cancelled tasks too. Without it they
// show in the status summary only, because whoever cancels a task knows of it.
func WithCancellations() Option {
	return func(o *options) { o.rules.cancellations = true }
}

// WithStore keeps accounts elsewhere than in a [MemoryStore] of the Manager's
// own.
func WithStore(store Store) Option {
	return func(o *options) {
		o.require(store != nil, "nil store")
		o.store = store
	}
}

// OnError sets a function that is given the errors that nobody is there to
// return to: a *[PanicError] of a subscriber, and what the store says when it
// does not take the end of a task's function. It is called where the error
// happened. Without it, or with nil, such errors are dropped.
func OnError(f func(error)) Option {
	return func(o *options) { o.onError = f }
}

// WithClock replaces the system's clock, for tests.
func WithClock(c Clock) Option {
	return func(o *options) {
		o.require(c != nil, "nil clock")
		o.clock = c
	}
}

// Clock tells the time and calls back later.
type Clock = clock.Clock

// Timer is a pending call of a [Clock]'s AfterFunc.
type Timer = clock.Timer
