package todo

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/records"
)

// Off is the value of a limit that lifts it.
const Off = -1

// The default limits of a Memory. They are far above what an agent needs and
// keep a runaway model from filling the memory.
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

// MemoryOption changes a setting of a new Memory.
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

// WithMaxItems sets how many todos a list may have, 1,000 by default; Off lifts the
// limit. A longer list is refused.
func WithMaxItems(n int) MemoryOption {
	return func(o *memoryOptions) { o.maxItems = n }
}

// WithMaxContent sets how many bytes the content of a todo may have, 64 KiB by default;
// Off lifts the limit. A list with a longer content is refused.
func WithMaxContent(bytes int) MemoryOption {
	return func(o *memoryOptions) { o.maxContent = bytes }
}

// WithMaxSessions sets how many sessions may have a list at a time, 100,000 by default;
// Off lifts the limit. A further session drops the list that was not read or written for the
// longest time.
func WithMaxSessions(n int) MemoryOption {
	return func(o *memoryOptions) { o.maxSessions = n }
}

// WithMaxBytes sets roughly how many bytes the lists of all sessions may take together,
// 256 MiB by default; Off lifts the limit. Beyond it, the lists that were not read or written
// for the longest time are dropped, but never the one being written.
func WithMaxBytes(bytes int) MemoryOption {
	return func(o *memoryOptions) { o.maxBytes = bytes }
}

// WithOneConversation says that the program has one conversation: there is one list,
// with or without a session. Without this option, calls without a session have no
// list, because users whose sessions the program does not name would see each other's
// todos.
func WithOneConversation() MemoryOption {
	return func(o *memoryOptions) { o.oneConversation = true }
}

// WithRecords keeps the lists on an engine that several processes share, instead of
// in memory: each process reads what any of them has written. WithMaxSessions and
// WithMaxBytes have no effect then, and WithMaxAge does. Subscribers hear only of
// changes that this process makes. A nil engine is refused.
func WithRecords(engine records.Records) MemoryOption {
	return func(o *memoryOptions) {
		o.records = engine
		if engine == nil {
			o.err = errors.Join(o.err, errors.New("todo: WithRecords: nil Records"))
		}
	}
}

// WithMaxAge sets how long a list is kept on the engine of WithRecords after it was
// last read or written, 30 days by default; Off keeps it until Forget. It has no effect in memory.
func WithMaxAge(age time.Duration) MemoryOption {
	return func(o *memoryOptions) {
		o.maxAge = age
		if age <= 0 && age != Off {
			o.err = errors.Join(o.err, fmt.Errorf("todo: WithMaxAge: %v is not positive (use todo.Off for no limit)", age))
		}
	}
}

// OnPanic sets a function that is called with the session and the recovered
// value when a subscriber panics, on the goroutine that ran the subscriber.
// Without it, or with nil, such panics are dropped.
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
