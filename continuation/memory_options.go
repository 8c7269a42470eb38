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

// MemoryStoreOption configures a [MemoryStore]. Making one never panics: a value that
// is refused is reported by [NewMemoryStore] and [TryNewMemoryStore].
type MemoryStoreOption func(*memoryOptions)

type memoryOptions struct {
	maxSessions int
	maxAge      time.Duration
	now         func() time.Time
	err         error // of the options that are refused
}

// WithMaxSessions sets the number of sessions beyond which the least recently
// used are forgotten; 0 means [DefaultMaxSessions]. A negative number is
// refused. So is [Off], which lifts the limit of todo.WithMaxSessions: this store
// is always bounded.
func WithMaxSessions(n int) MemoryStoreOption {
	return func(o *memoryOptions) {
		if n < 0 {
			o.refuse("WithMaxSessions: %d is negative", n)
		}
		o.maxSessions = cmp.Or(n, DefaultMaxSessions)
	}
}

// WithMaxAge sets the age at which a session that no call has used is forgotten;
// 0 means [DefaultMaxAge] and [Off] no limit. Other negative values are refused.
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
