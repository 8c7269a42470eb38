package records

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"
)

// MemoryEngine is an engine that lives in memory. It is for tests, and for programs
// with one process that want everything in one place. It keeps what it is told
// to keep, without a limit on the number of records, and runs no goroutine: what
// is over its time is dropped when it is met, or by [MemoryEngine.Sweep]. It is a
// [Notifier] too, among its own users.
type MemoryEngine struct {
	now func() time.Time

	mu        sync.Mutex
	entries   map[string]memoryEntry
	listeners map[string][]chan string // by topic
}

type memoryEntry struct {
	record []byte
	until  time.Time // zero: for good
}

func (e memoryEntry) isOver(now time.Time) bool { return !e.until.IsZero() && !now.Before(e.until) }

// MemoryEngineOption configures a [MemoryEngine].
type MemoryEngineOption func(*memoryEngineOptions)

type memoryEngineOptions struct{ now func() time.Time }

// WithClock sets the function that tells the engine the time; nil means
// time.Now. It must be safe for concurrent use.
func WithClock(now func() time.Time) MemoryEngineOption {
	return func(o *memoryEngineOptions) {
		if o.now = now; now == nil {
			o.now = time.Now
		}
	}
}

// NewMemoryEngine returns an empty engine. A nil option is left out.
func NewMemoryEngine(opts ...MemoryEngineOption) *MemoryEngine {
	o := memoryEngineOptions{now: time.Now}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return &MemoryEngine{now: o.now, entries: map[string]memoryEntry{}, listeners: map[string][]chan string{}}
}

// Update implements [Records]. Updates of all keys follow one another.
func (m *MemoryEngine) Update(ctx context.Context, key string, f UpdateFunc) error {
	if err := checkUpdate(ctx, f); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	old := m.entries[key]
	if old.isOver(now) {
		old = memoryEntry{}
	}
	next, keep, err := f(now, old.record)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // f may have taken its time
		return err
	}
	if len(next) == 0 {
		delete(m.entries, key)
		return nil
	}
	if err := CheckKeep(keep); err != nil {
		return err
	}
	entry := memoryEntry{record: bytes.Clone(next)}
	if keep != Off {
		entry.until = now.Add(keep)
	}
	m.entries[key] = entry
	return nil
}

// Len returns the number of records kept, those that are over their time and
// that nobody has met since included.
func (m *MemoryEngine) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.entries)
}

// Sweep drops the records that are over their time.
func (m *MemoryEngine) Sweep() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for key, entry := range m.entries {
		if entry.isOver(now) {
			delete(m.entries, key)
		}
	}
}

// waiting is how many messages wait for a listener that is slow.
const waiting = 1024

// Notify implements [Notifier].
func (m *MemoryEngine) Notify(ctx context.Context, topic, message string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, listener := range m.listeners[topic] {
		select {
		case listener <- message:
		default: // too slow: it is lost
		}
	}
	return ctx.Err()
}

// Listen implements [Notifier].
func (m *MemoryEngine) Listen(ctx context.Context, topic string, f func(message string)) error {
	messages := make(chan string, waiting)
	m.mu.Lock()
	m.listeners[topic] = append(m.listeners[topic], messages)
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.listeners[topic] = slices.DeleteFunc(m.listeners[topic], func(c chan string) bool { return c == messages })
		if len(m.listeners[topic]) == 0 {
			delete(m.listeners, topic)
		}
	}()
	f("")
	for {
		select {
		case message := <-messages:
			f(message)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
