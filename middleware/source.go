package middleware

import (
	"sync"
	"sync/atomic"

	"github.com/carryon-go/carryon/adapter"
)

// turnSource holds the source of the current turn, which any goroutine may close.
type turnSource[C any] struct {
	mu      sync.Mutex
	current adapter.Source[C] // nil if there is none
}

// get returns the current source, or nil.
func (s *turnSource[C]) get() adapter.Source[C] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// set makes source the current one, or closes it if the stream was closed.
func (s *turnSource[C]) set(source adapter.Source[C], closed *atomic.Bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if closed.Load() {
		_ = source.Close() // the caller is told that the stream is closed
		return false
	}
	s.current = source
	return true
}

// close closes the current source.
func (s *turnSource[C]) close() error {
	s.mu.Lock()
	source := s.current
	s.current = nil
	s.mu.Unlock()
	if source == nil {
		return nil
	}
	return source.Close()
}
