package continuation

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Defaults of a [MemoryStore].
const (
	DefaultMaxSessions = 100_000
	DefaultMaxAge      = 24 * time.Hour
)

// MemoryStoreOption configures a [MemoryStore]. Making one never panics:
// [NewMemoryStore] panics on a refused value, and [TryNewMemoryStore] returns an
// error.
type MemoryStoreOption func(*memoryOptions)

type memoryOptions struct {
	maxSessions int
	maxAge      time.Duration
	now         func() time.Time
	err         error // of the refused options
}

// WithMaxSessions sets how many sessions the store keeps; beyond that it forgets the
// least recently used. 0 means [DefaultMaxSessions]. Negative numbers are refused,
// and so is [Off]: unlike todo.Memory, this store is always bounded.
func WithMaxSessions(n int) MemoryStoreOption {
	return func(o *memoryOptions) {
		if n < 0 {
			o.refuse("WithMaxSessions: %d is negative", n)
		}
		o.maxSessions = cmp.Or(n, DefaultMaxSessions)
	}
}

// WithMaxAge sets how long a session is kept after its last use; 0 means
// [DefaultMaxAge] and [Off] no limit. Other negative values are refused.
func WithMaxAge(age time.Duration) MemoryStoreOption {
	return func(o *memoryOptions) {
		if age < 0 && age != Off {
			o.refuse("WithMaxAge: %v is negative (use continuation.Off for no limit)", age)
		}
		o.maxAge = cmp.Or(age, DefaultMaxAge)
	}
}

// WithClock sets the function that tells the store the time; nil means
// time.Now. It must be safe for concurrent use.
func WithClock(now func() time.Time) MemoryStoreOption {
	return func(o *memoryOptions) {
		if o.now = now; now == nil {
			o.now = time.Now
		}
	}
}

func (o *memoryOptions) refuse(format string, value any) {
	o.err = errors.Join(o.err, fmt.Errorf("continuation: "+format, value))
}
