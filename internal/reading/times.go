package reading

import (
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
)

// Times are when the parts of the current turn of a stream were read. A nil value keeps
// nothing.
type Times struct {
	Clock clock.Clock

	Finish time.Time // when the finish reason was read; zero if it was not

	first atomic.Pointer[time.Time] // when the first chunk was read, by any goroutine
}

// Begin begins the next turn.
func (t *Times) Begin() {
	t.Finish = time.Time{}
	t.first.Store(nil)
}

// ReadChunk notes the time at which the first part of a turn was read.
func (t *Times) ReadChunk() {
	if t != nil && t.first.Load() == nil {
		now := t.Clock.Now()
		t.first.Store(&now)
	}
}

// ReadFinish notes the time at which the finish reason was read.
func (t *Times) ReadFinish() {
	if t != nil {
		t.Finish = t.Clock.Now()
	}
}

// First returns when the first part was read, if one was.
func (t *Times) First() (time.Time, bool) {
	first := t.first.Load()
	if first == nil {
		return time.Time{}, false
	}
	return *first, true
}
