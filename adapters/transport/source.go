package transport

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"
)

// Sizes of a source's buffer.
const (
	minBuffer = 4 << 10
	maxEmpty  = 100 // reads in a row that give nothing
)

// source cuts a body into events.
type source struct {
	body  io.ReadCloser
	alive func() // told whenever bytes have come; nil in the caller's own turn

	buf    []byte
	at     int // where in buf the event at hand begins
	group  group
	err    error // what ended the body
	began  bool  // the first line is in
	opaque bool  // an event was too large: the rest passes as it comes
	closed atomic.Bool
}

// Recv returns the next event. In later turns it leaves fillers out.
func (s *source) Recv() (event, error) {
	for {
		e, ok := s.next()
		switch {
		case ok && s.alive != nil && e.kind == filler:
		case ok:
			return e, nil
		case s.err != nil:
			return event{}, s.err
		default:
			s.fill()
		}
	}
}

// Close closes the body, which ends a Recv that runs.
func (s *source) Close() error {
	s.closed.Store(true)
	return s.body.Close()
}

// next returns the next event that is in, and at the end of the body what is
// left.
func (s *source) next() (event, bool) {
	for !s.opaque {
		l, ok := s.line()
		if !ok {
			break
		}
		if k, ends := s.group.add(s.buf, l); ends {
			return s.cut(k), true
		}
	}
	if len(s.buf)-s.at > MaxEvent {
		s.opaque = true
	}
	switch rest := len(s.buf) - s.at; {
	case rest > 0 && s.opaque:
		s.group.end = len(s.buf)
		return s.cut(failure), true
	case rest > 0 && s.err != nil && !s.closed.Load() && (s.alive == nil || errors.Is(s.err, io.EOF)):
		return s.last(), true
	}
	return event{}, false
}

// line returns the next line of the event at hand.
func (s *source) line() (line, bool) {
	g := &s.group
	l, ok := lineAt(s.buf, g.end, g.looked)
	if !ok {
		g.looked = len(bytes.TrimSuffix(s.buf[g.end:], []byte("\r")))
		return l, false
	}
	g.looked = 0
	if !s.began {
		s.began = true
		l.skipMark(s.buf)
	}
	return l, true
}

// last returns what is left at the end of the body, in which the last line may
// have no end.
func (s *source) last() event {
	g := &s.group
	if g.end < len(s.buf) {
		l := line{from: g.end, to: len(bytes.TrimSuffix(s.buf, []byte("\r"))), end: len(s.buf)}
		if !s.began {
			l.skipMark(s.buf)
		}
		if k, ends := g.add(s.buf, l); ends {
			return s.cut(k)
		}
	}
	return s.cut(g.unfinished())
}

// cut takes the event at hand out of the buffer.
func (s *source) cut(k kind) event {
	g := &s.group
	e := event{raw: s.buf[s.at:g.end:g.end], kind: k}
	switch {
	case g.lines != nil:
		e.joined = g.lines.joined
	case g.to > 0:
		e.from, e.to = g.from-s.at, g.to-s.at
	}
	s.at = g.end
	*g = group{end: g.end}
	return e
}

// fill reads once from the body.
func (s *source) fill() {
	s.compact()
	if cap(s.buf)-len(s.buf) < minBuffer/2 {
		grown := make([]byte, len(s.buf), max(minBuffer, 2*cap(s.buf)))
		copy(grown, s.buf)
		s.buf = grown
	}
	for range maxEmpty {
		n, err := s.body.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		s.err = err
		if n > 0 && s.alive != nil {
			s.alive()
		}
		if n > 0 || err != nil {
			return
		}
	}
	s.err = io.ErrNoProgress
}

// compact moves what is in the buffer to its beginning.
func (s *source) compact() {
	if s.at == 0 {
		return
	}
	s.buf = s.buf[:copy(s.buf, s.buf[s.at:])]
	s.group.end -= s.at
	s.at = 0
}
