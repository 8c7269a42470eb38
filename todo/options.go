package todo

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/records"
)

// Off as the value of a limit means no limit.
const Off = -1

// The limits of a Memory. They are far above what an agent needs and keep a runaway
// model from filling the memory. Only the number of sessions can be set.
const (
	defaultMaxItems    = 1000
	defaultMaxContent  = 64 << 10
	defaultMaxSessions = 100_000
	defaultMaxBytes    = 256 << 20
	defaultMaxAge      = 30 * 24 * time.Hour
)

// maxLabel is how many bytes an id, a status or a priority may have. They are
// single words, so there is no option for it.
const maxLabel = 1 << 10

// MemoryOption configures a new [Memory].
type MemoryOption func(*memoryOptions)

type memoryOptions struct {
	maxItems        int
	maxContent      int
	maxSessions     int
	maxBytes        int
	oneConversation bool // every session is the same, and none is needed
	onPanic         func(session string, recovered any)
	records         records.Records // nil: in memory
	maxAge          time.Duration   // on an engine
	err             error           // of the refused options
}

// WithMaxSessions sets how many sessions may have a list in memory. The default is
// 100,000; [Off] means no limit. Beyond the limit, and beyond 256 MiB for all lists
// together, the list that was read or written least recently is dropped.
func WithMaxSessions(n int) MemoryOption {
	return func(o *memoryOptions) { o.maxSessions = n }
}

// WithOneConversation says that the program has one conversation: there is one list,
// with or without a session. Without this option, a call without a session has no list,
// because otherwise users without a session would see each other's todos.
func WithOneConversation() MemoryOption {
	return func(o *memoryOptions) { o.oneConversation = true }
}

// WithRecords keeps the lists on an engine that several processes share: each process
// reads what any of them has written. [WithMaxSessions] then has no effect, and
// [WithMaxAge] has. Subscribers receive only the changes that this process
// makes. NewMemory panics if engine is nil.
func WithRecords(engine records.Records) MemoryOption {
	return func(o *memoryOptions) {
		o.records = engine
		if engine == nil {
			o.err = errors.Join(o.err, errors.New("todo: WithRecords: nil Records"))
		}
	}
}

// WithMaxAge sets how long a list is kept on the engine of [WithRecords] after it was
// last read or written. The default is 30 days; [Off] means until Forget. It has no
// effect in memory.
func WithMaxAge(age time.Duration) MemoryOption {
	return func(o *memoryOptions) {
		o.maxAge = age
		if age <= 0 && age != Off {
			o.err = errors.Join(o.err, fmt.Errorf("todo: WithMaxAge: %v is not positive (use todo.Off for no limit)", age))
		}
	}
}

// OnPanic sets a function that receives the session and the recovered value when a
// subscriber panics. It runs on the goroutine of the subscriber. Without it, or with
// nil, such panics are ignored.
func OnPanic(f func(session string, recovered any)) MemoryOption {
	return func(o *memoryOptions) { o.onPanic = f }
}

// newMemoryOptions applies the options to the defaults. It panics if one is wrong.
func newMemoryOptions(opts []MemoryOption) memoryOptions {
	o := memoryOptions{
		maxItems:    defaultMaxItems,
		maxContent:  defaultMaxContent,
		maxSessions: defaultMaxSessions,
		maxBytes:    defaultMaxBytes,
		maxAge:      defaultMaxAge,
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	err := cmp.Or(
		o.err,
		checkLimit("WithMaxItems", o.maxItems),
		checkLimit("WithMaxContent", o.maxContent),
		checkLimit("WithMaxSessions", o.maxSessions),
		checkLimit("WithMaxBytes", o.maxBytes),
	)
	if err != nil {
		panic("carryon/" + err.Error())
	}
	return o
}

func checkLimit(option string, n int) error {
	if n < 1 && n != Off {
		return fmt.Errorf("todo: %s: limit %d is not positive (use todo.Off for no limit)", option, n)
	}
	return nil
}
