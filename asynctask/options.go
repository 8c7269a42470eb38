package asynctask

import (
	"fmt"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/records"
)

// Default bounds of a Manager.
const (
	defaultLimit        = 25
	defaultSessionLimit = 5
	defaultMemory       = 64 << 20
	defaultTaskLife     = 24 * time.Hour
	defaultRetention    = 7 * 24 * time.Hour
)

// Off as a limit, a life or a retention means no limit.
const Off = -1

// unlimitedHistory is how many ended tasks a session keeps if there is no limit.
const unlimitedHistory = 10

// Option configures a [Manager]. [NewManager] panics if an option is invalid.
type Option func(*options)

type options struct {
	limit           int
	memory          int
	retention       time.Duration
	oneConversation bool
	summaryInSystem bool
	rules           rules
	onError         func(error)
	clock           clock.Clock
	engine          records.Records
	err             error // of the first option that is not valid
}

func newOptions(opts []Option) (options, error) {
	o := options{
		limit: defaultLimit, memory: defaultMemory, retention: defaultRetention,
		rules: rules{life: defaultTaskLife}, clock: clock.System(),
	}
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	if o.rules.limit == 0 {
		o.rules.limit = defaultSessionLimit
		if o.limit == Off || o.limit < defaultSessionLimit {
			o.rules.limit = o.limit
		}
	}
	o.rules.history = 2 * o.rules.limit
	if o.rules.limit == Off {
		o.rules.history = unlimitedHistory
	}
	return o, o.err
}

// store returns a new store for the accounts.
func (o *options) store() store {
	if o.engine != nil {
		return newSharedStore(o.engine, o.retention)
	}
	return newMemoryStore(o)
}

// require remembers the first failure.
func (o *options) require(ok bool, format string, args ...any) {
	if !ok && o.err == nil {
		o.err = fmt.Errorf("asynctask: "+format, args...)
	}
}

// WithLimit sets how many functions this Manager runs at a time, in all sessions
// together. The default is 25; [Off] means no limit.
func WithLimit(n int) Option {
	return func(o *options) {
		o.require(n >= 1 || n == Off, "limit %d is not positive (use asynctask.Off for none)", n)
		o.limit = n
	}
}

// WithSessionLimit sets how many tasks of a session run at a time, in all processes.
// The default is 5, or the limit of [WithLimit] if that is lower or Off; [Off] means no
// limit. A session limit below that of WithLimit keeps one session from taking all
// slots.
func WithSessionLimit(n int) Option {
	return func(o *options) {
		o.require(n >= 1 || n == Off, "session limit %d is not positive (use asynctask.Off for none)", n)
		o.rules.limit = n
	}
}

// WithMemory sets how many bytes the Manager keeps of all sessions together. The
// default is 64 MiB. Beyond it, the least recently used sessions first lose most of
// their outputs, and are then dropped if that is not enough; sessions with running
// tasks stay. It has no effect with [WithRecords].
func WithMemory(bytes int) Option {
	return func(o *options) {
		o.require(bytes >= 1, "memory %d is not positive", bytes)
		o.memory = bytes
	}
}

// WithTaskLife sets how long a task of Begin may run while nobody is attached to it;
// then it fails with [ErrOwnerLost]. The default is a day; [Off] means no limit.
func WithTaskLife(d time.Duration) Option {
	return func(o *options) {
		o.require(d > 0 || d == Off, "task life %v is not positive (use asynctask.Off for none)", d)
		o.rules.life = d
	}
}

// WithRetention sets how long a session is kept after its last use, even if ended tasks
// have not been delivered. The default is a week; [Off] means no limit.
func WithRetention(d time.Duration) Option {
	return func(o *options) {
		o.require(d > 0 || d == Off, "retention %v is not positive (use asynctask.Off for none)", d)
		o.retention = d
	}
}

// WithOneConversation says that the program has one conversation: every task belongs to
// it, with or without a session. Without this option, the model is never told about
// tasks that are started without a session.
func WithOneConversation() Option {
	return func(o *options) { o.oneConversation = true }
}

// WithCancellations also tells the model about cancelled tasks. By default they appear
// only in the status summary, because whoever cancels a task knows about it.
func WithCancellations() Option {
	return func(o *options) { o.rules.cancellations = true }
}

// WithSummaryInSystem makes the middleware append the status summary to the system
// message of every request. By default it is next to the reminder, and only if it has
// changed. With this option the beginning of requests changes, so providers cannot
// cache the prompt.
func WithSummaryInSystem() Option {
	return func(o *options) { o.summaryInSystem = true }
}

// WithRecords keeps accounts in an engine that several processes may share. The default
// is memory. If the engine is also a [records.Notifier], processes learn at once what
// others end or cancel; otherwise they check every 5 seconds.
func WithRecords(engine records.Records) Option {
	return func(o *options) {
		o.require(engine != nil, "nil records")
		o.engine = engine
	}
}

// OnError sets a function for errors that no method can return: a *middleware.PanicError of a
// subscriber, and errors of the engine while it is read or stores the end of a task in
// the background. It runs on the goroutine on which the error happened, and may be
// called concurrently. Without it, or with nil, such errors are ignored.
func OnError(f func(error)) Option {
	return func(o *options) { o.onError = f }
}

var _ = clock.Settable(func(c clock.Clock) Option { return func(o *options) { o.clock = c } })
