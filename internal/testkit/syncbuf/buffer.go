// Package syncbuf has a buffer that tests read while others still write to it,
// such as a log.
package syncbuf

import (
	"bytes"
	"sync"
)

// Buffer collects what is written to it. The zero value is empty and ready. It is
// safe for concurrent use.
type Buffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write implements [io.Writer]. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

// String returns everything that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
