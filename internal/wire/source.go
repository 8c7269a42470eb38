package wire

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// Source is one turn of a streamed answer: its body, cut into events.
type Source struct {
	reader       sse.Reader
	continuation bool
	began        bool        // its first lines have come
	lineEnd      sse.LineEnd // of its first lines
	closed       atomic.Bool
}

var _ adapter.Source[sse.Event] = (*Source)(nil)

// NewSource returns the caller's own turn, or the turn of the continuation k. It
// closes body when it is closed.
func NewSource(body io.ReadCloser, k *adapter.Continuation) *Source {
	if k == nil {
		return &Source{reader: sse.NewReader(body)}
	}
	return &Source{reader: sse.NewReader(touched{body, k.Touch}), continuation: true}
}

// Recv returns the next event. It returns the caller's own turn to the last
// byte. In a continuation, it leaves out blank lines, unless there are very
// many in a row, and an incomplete event at the end.
func (s *Source) Recv() (sse.Event, error) {
	for skipped := 0; ; skipped++ {
		e, err := s.reader.Next()
		s.learnLineEnd(e.Raw)
		if err != nil {
			if s.closed.Load() || s.continuation && !errors.Is(err, io.EOF) {
				return e, err
			}
			var ok bool
			if e, ok = s.reader.Rest(); !ok {
				return e, err
			}
		}
		if !s.continuation || !isBlank(&e) || skipped == maxBlank {
			return e, nil
		}
	}
}

// TryRecv returns the next event if all of it has arrived. It leaves out what
// Recv leaves out.
func (s *Source) TryRecv() (sse.Event, bool) {
	for !s.closed.Load() {
		e, ok := s.reader.TryNext()
		s.learnLineEnd(e.Raw)
		if !ok || !s.continuation || !isBlank(&e) {
			return e, ok
		}
	}
	return sse.Event{}, false
}

// learnLineEnd notes how lines of the answer end, from the first of them. What carryon
// writes before any of them is shown ends its lines in the same way: some clients fail
// on a mixture.
func (s *Source) learnLineEnd(lines []byte) {
	if s.began || len(lines) == 0 {
		return
	}
	s.began = true
	s.lineEnd, _ = sse.EndOf(lines)
}

// maxBlank is how many blank lines are left out at a time. The receiver must
// check from time to time whether the call has ended.
const maxBlank = 1000

// isBlank reports whether the event is a blank line.
func isBlank(e *sse.Event) bool {
	return e.Kind == sse.NonData && (e.Raw[0] == '\n' || e.Raw[0] == '\r')
}

// Close closes the body, which ends a Recv that is running.
func (s *Source) Close() error {
	s.closed.Store(true)
	return s.reader.Close()
}

// touched is a body that reports when bytes arrive.
type touched struct {
	io.ReadCloser

	touch func()
}

// Read implements [io.Reader].
func (t touched) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if n > 0 {
		t.touch()
	}
	return n, err
}
