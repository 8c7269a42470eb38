package records

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"
)

// MemoryEngine keeps records in memory, for tests and for programs that run as a
// single process. It implements [Records], and [Notifier] for listeners in the same
// process. It is safe for concurrent use. Use [NewMemoryEngine]: the zero value is not
// ready.
//
// The number of records is not limited. No goroutine removes expired records: some stay
// in memory until others are stored.
type MemoryEngine struct {
	now func() time.Time

	mu        sync.Mutex
	entries   map[string]memoryEntry
	sweepAt   int                      // when there are so many entries, those over their time are removed
	listeners map[string][]chan string // by topic
}

type memoryEntry struct {
	record []byte
	until  time.Time // zero: for good
}

func (e memoryEntry) isOver(now time.Time) bool { return !e.until.IsZero() && !now.Before(e.until) }

// NewMemoryEngine returns an empty engine. Its clock is now if one is given, and
// [time.Now] otherwise. The function must be safe for concurrent use.
func NewMemoryEngine(now ...func() time.Time) *MemoryEngine {
	clock := time.Now
	if len(now) > 0 {
		clock = now[0]
	}
	return &MemoryEngine{now: clock, entries: map[string]memoryEntry{}, listeners: map[string][]chan string{}}
}

// Update implements [Records]. Only one update runs at a time, for all keys together.
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
	if err := ctx.Err(); err != nil { // f may have taken long
		return err
	}
	if len(next) == 0 {
		delete(m.entries, key)
		return nil
	}
	if err := checkKeep(keep); err != nil {
		return err
	}
	entry := memoryEntry{record: bytes.Clone(next)}
	if keep != Off {
		entry.until = now.Add(keep)
	}
	m.entries[key] = entry
	if len(m.entries) > max(m.sweepAt, minSweep) {
		m.sweep(now)
	}
	return nil
}

// Len returns the number of records, including expired ones that are still in memory.
func (m *MemoryEngine) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.entries)
}

// minSweep is the number of records up to which the expired ones are not looked for.
const minSweep = 256

// sweep removes the expired records. The caller holds the lock. The next sweep is when
// twice as many records are kept, so sweeping takes constant time for each stored one.
func (m *MemoryEngine) sweep(now time.Time) {
	for key, entry := range m.entries {
		if entry.isOver(now) {
			delete(m.entries, key)
		}
	}
	m.sweepAt = 2 * len(m.entries)
}

// waiting is how many messages are kept for a slow listener.
const waiting = 1024

// Notify implements [Notifier]. A message is dropped for a listener that already has
// 1,024 messages waiting.
func (m *MemoryEngine) Notify(ctx context.Context, topic, message string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, listener := range m.listeners[topic] {
		select {
		case listener <- message:
		default: // the listener is too slow: the message is lost
		}
	}
	return ctx.Err()
}

// Listen implements [Notifier]. It calls f on the goroutine of its caller.
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
