package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/carryon-go/carryon/middleware"
)

// stream is the body of a streamed answer. Its reader drives it.
type stream struct {
	splice *middleware.Splice[event]
	wire   *wire
	first  *source
	shape  shape

	out  []byte // what was handled and not read yet
	err  error  // what comes after it
	open bool   // what was read so far does not end in a blank line
	cr   bool   // its last line ended in a CR
	done bool   // [DONE] was among it

	closed atomic.Bool
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if s.closed.Load() {
			return 0, http.ErrBodyReadAfterClose
		}
		if len(s.out) > 0 {
			return s.hand(p), nil
		}
		if s.err != nil {
			return s.rest(p)
		}
		if s.relays() {
			if n := s.relay(p); n > 0 {
				return n, nil
			}
		}
		s.handle()
	}
}

// hand hands on as much of what was handled as there is room for.
func (s *stream) hand(p []byte) int {
	n := copy(p, s.out)
	if s.out = s.out[n:]; len(s.out) == 0 {
		s.out = nil // so that no memory is held while the source waits
	}
	return n
}

// rest reads what is left when the splice has come to its end: what follows the
// [DONE] of a turn that was passed on, and then the error.
func (s *stream) rest(p []byte) (int, error) {
	if f := s.first; errors.Is(s.err, io.EOF) && !f.closed.Load() {
		if n := copy(p, f.buf[f.at:]); n > 0 {
			f.at += n
			return n, nil
		}
		if f.err != nil {
			return 0, f.err
		}
		return f.body.Read(p)
	}
	return 0, s.err
}

// Close implements [io.Closer].
func (s *stream) Close() error {
	s.closed.Store(true)
	return s.splice.Close()
}

// minRelay is how much room a reader must have for lines to be read right into
// it.
const minRelay = 512

// relays reports whether turn 1 is between two events.
func (s *stream) relays() bool { return s.splice.Relaying() && s.first.isIdle() }

// relay hands on lines that add text and the like and nothing else: those that
// are in, or else those that one read brings, right into p. It returns how much
// of p it has filled. What is left is for the splice to handle.
func (s *stream) relay(p []byte) int {
	f := s.first
	n, more := s.skim(f.buf[f.at:])
	if n > 0 {
		s.out = f.take(n)
		return s.hand(p)
	}
	if more || f.err != nil || len(p) < max(minRelay, 2*f.left()) {
		return 0
	}
	if !s.wire.envelope.anchored {
		p = p[:min(len(p), minBuffer)] // none of it is handed on from there
	}
	in := f.readInto(p)
	n, _ = s.skim(in)
	f.keep(in[n:])
	return n
}

// skim takes note of the lines in b up to the first that may not be handed on
// as it is, which none may before the envelope is known. It returns where they
// end, and whether there is one more.
func (s *stream) skim(b []byte) (n int, more bool) {
	for {
		l, ok := s.known(b, n)
		if !ok {
			if l, ok = lineAt(b, n, 0); !ok || !s.wire.envelope.anchored || !s.passes(b, l) {
				return n, ok
			}
		}
		n = l.end
		s.cr = b[n-1] == '\r'
	}
}

// known takes note of a line that is like the one before it, and of the blank
// one behind it.
func (s *stream) known(b []byte, from int) (line, bool) {
	var g gist
	end := s.shape.match(b[from:], &g)
	if end == 0 {
		return line{}, false
	}
	s.note(&g)
	end += from
	if s.open = end == len(b) || b[end] != '\n'; !s.open {
		end++
	}
	return line{end: end}, true
}

// passes takes note of a line if it may be handed on as it is.
func (s *stream) passes(b []byte, l line) bool {
	whole := b[l.from:l.to]
	switch {
	case len(whole) == 0:
		s.open = false
		return true
	case whole[0] == ':':
		s.open = true
		return true
	}
	from, to, isData := payload(b, l)
	if !isData {
		return false
	}
	seen := look(b[from:to])
	if !seen.ok || seen.index != middleware.NoIndex && seen.index != s.wire.called {
		return false
	}
	s.shape.learn(b[l.from:l.end], from-l.from, seen.values[:seen.n])
	s.note(&seen.gist)
	s.open = true
	return true
}

// note takes note of what a line adds that is handed on as it is.
func (s *stream) note(g *gist) {
	s.wire.scratch = s.wire.scratch[:0]
	s.splice.Text(s.wire.text(g.content))
	if g.thought != nil {
		s.splice.Reasoning(s.wire.text(g.thought))
	}
	if g.tokens != nil {
		s.wire.noteUsage(g.tokens)
		s.splice.Usage(usageOf(g.tokens))
	}
}

// handle has the splice handle what comes next.
func (s *stream) handle() {
	var e event
	var err error
	if s.splice.Relaying() {
		e, err = s.splice.Handle(s.first.Recv())
	} else {
		e, err = s.splice.Recv()
	}
	switch {
	case err == nil:
		s.show(e)
	case errors.Is(err, io.EOF):
		s.err = io.EOF
		if s.wire.ended && !s.done {
			s.out, s.done = []byte(doneEvent), true
		}
	default:
		s.err = err
	}
}

// show has an event read next. One of our own is set apart from what came
// before it.
func (s *stream) show(e event) {
	s.out = e.raw
	if e.made && s.open {
		apart := "\n"
		if s.cr {
			apart = "\n\n" // the first of them belongs to the CR
		}
		s.out = append([]byte(apart), e.raw...)
	}
	s.cr = bytes.HasSuffix(e.raw, []byte("\r"))
	s.done = s.done || e.kind == done
	s.open = !e.made && (e.kind != filler || !endsBlank(e.raw))
}

// endsBlank reports whether the last line of b is blank.
func endsBlank(b []byte) bool {
	b = bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
	return len(b) == 0 || b[len(b)-1] == '\n' || b[len(b)-1] == '\r'
}

// isIdle reports whether no line of an event has been read yet.
func (s *source) isIdle() bool {
	g := &s.group
	return !s.opaque && !g.named && g.lines == nil && g.end == s.at
}

// left is how much is in that was not taken.
func (s *source) left() int { return len(s.buf) - s.at }

// take takes lines that need no handling: the next n bytes, which are valid
// until the source is read again.
func (s *source) take(n int) []byte {
	b := s.buf[s.at : s.at+n]
	s.at += n
	s.group = group{end: s.at}
	return b
}

// readInto moves what is left to p, reads once behind it and returns both.
// What the caller does not hand on of them it gives back with keep.
func (s *source) readInto(p []byte) []byte {
	kept := copy(p, s.buf[s.at:])
	if kept == 0 {
		s.buf, s.at = nil, 0 // nothing is held while the source waits
	}
	n, err := s.body.Read(p[kept:])
	s.err = err
	return p[:kept+n]
}

// keep makes b what is left.
func (s *source) keep(b []byte) {
	s.buf, s.at, s.group = append(s.buf[:0], b...), 0, group{}
}
