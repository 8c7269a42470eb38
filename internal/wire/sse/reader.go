package sse

import (
	"bytes"
	"io"
)

// MaxEvent is the size in bytes of the largest event that a Reader reads. From
// a larger event on, it returns the rest of the stream in pieces that are
// Broken.
const MaxEvent = 32 << 20

// Sizes of a reader's buffer.
const (
	minBuffer     = 4 << 10
	maxEmptyReads = 100 // in a row
)

// byteOrderMark may stand before the first line.
const byteOrderMark = "\xef\xbb\xbf"

// Reader reads events. A caller that relays a stream may also take unread lines
// from the buffer while [Reader.IsBetween] is true.
type Reader struct {
	src io.ReadCloser

	buf       []byte
	at        int // where in buf the next event begins
	assembler assembler
	err       error // what ended src
	began     bool  // an event was returned
	oversize  bool  // an event was too large
	owned     bool  // buf belongs to the events that are cut from it
}

// NewReader returns a Reader of src.
func NewReader(src io.ReadCloser) Reader { return Reader{src: src} }

// Close closes src.
func (r *Reader) Close() error { return r.src.Close() }

// Next returns the next event. At the end of src it returns src's error; Rest
// then has the bytes after the last whole event.
func (r *Reader) Next() (Event, error) {
	for {
		if e, ok := r.TryNext(); ok {
			return e, nil
		}
		if r.err != nil {
			return Event{}, r.err
		}
		r.fill()
	}
}

// Rest returns the bytes after the last whole event, once src has ended. Their last
// line may have no end.
func (r *Reader) Rest() (Event, bool) {
	if len(r.Buffered()) == 0 {
		return Event{}, false
	}
	a := &r.assembler
	if a.end < len(r.buf) {
		l := Line{a.end, len(bytes.TrimSuffix(r.buf, []byte("\r"))), len(r.buf)}
		if f, whole := a.add(r.buf, l); whole {
			return r.cut(f), true
		}
	}
	return r.cut(a.unfinished()), true
}

// TryNext returns the next event if all of it is in the buffer.
func (r *Reader) TryNext() (Event, bool) {
	a := &r.assembler
	if !r.began && a.end == 0 && bytes.HasPrefix(r.buf, []byte(byteOrderMark)) {
		*a = assembler{end: len(byteOrderMark)}
	}
	for !r.oversize {
		l, ok := LineAt(r.buf, a.end, a.searched)
		if !ok {
			a.searched = len(bytes.TrimSuffix(r.buf[a.end:], []byte("\r")))
			break
		}
		a.searched = 0
		if f, whole := a.add(r.buf, l); whole {
			return r.cut(f), true
		}
	}
	r.oversize = r.oversize || len(r.Buffered()) > MaxEvent
	if r.oversize && len(r.Buffered()) > 0 {
		a.end = len(r.buf)
		return r.cut(found{kind: Broken}), true
	}
	return Event{}, false
}

// cut takes the assembler's event out of the buffer.
func (r *Reader) cut(f found) Event {
	a := &r.assembler
	e := Event{Raw: r.buf[r.at:a.end:a.end], Kind: f.kind, Owned: r.owned}
	switch {
	case a.multiline != nil:
		e.joined = a.multiline.joined
	case f.to > 0:
		e.from, e.to = f.from-r.at, f.to-r.at
	}
	r.at, r.began = a.end, true
	*a = assembler{end: r.at}
	return e
}

// fill reads once from src.
func (r *Reader) fill() {
	rest, to := r.Buffered(), r.buf
	if r.owned || cap(to)-len(rest) < minBuffer/2 {
		to = make([]byte, max(minBuffer, 2*len(rest)))
	}
	r.buf = to[:copy(to[:cap(to)], rest)]
	r.assembler.end -= r.at
	r.at, r.owned = 0, false
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf, r.err = r.buf[:len(r.buf)+n], err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// IsBetween reports whether the reader is between two events: it has read no
// line of the next one.
func (r *Reader) IsBetween() bool {
	a := &r.assembler
	return !r.oversize && !a.fields && a.multiline == nil && a.end == r.at
}

// Buffered returns the bytes in the buffer.
func (r *Reader) Buffered() []byte { return r.buf[r.at:] }

// Take takes the first n bytes from the buffer. They are valid until the next
// use of the reader.
func (r *Reader) Take(n int) []byte {
	b := r.buf[r.at : r.at+n]
	r.at += n
	r.assembler = assembler{end: r.at}
	return b
}

// Read reads the bytes in the buffer, and then from src.
func (r *Reader) Read(p []byte) (int, error) {
	switch n := min(len(p), len(r.Buffered())); {
	case n > 0:
		return copy(p, r.Take(n)), nil
	case r.err != nil:
		return 0, r.err
	}
	return r.src.Read(p)
}

// MoveTo moves the buffer's bytes to the beginning of p, which must be at least
// as large, and returns their number.
func (r *Reader) MoveTo(p []byte) int {
	n := copy(p, r.Buffered())
	if n == 0 || r.owned {
		r.buf, r.owned = nil, false // holds no memory while src waits
	}
	r.Restore(nil)
	return n
}

// ReadInto reads once from src into p, unless src has ended. The buffer must be
// empty. The caller must Restore the bytes that it does not use.
func (r *Reader) ReadInto(p []byte) (n int) {
	if r.err == nil {
		n, r.err = r.src.Read(p)
	}
	return n
}

// Restore fills the buffer, which must be empty, with a copy of b.
func (r *Reader) Restore(b []byte) {
	r.buf, r.at, r.assembler = append(r.buf[:0], b...), 0, assembler{}
}

// GiveAway gives the memory of the buffer to the events that are cut from it, which
// own their bytes then.
func (r *Reader) GiveAway() { r.owned = true }
