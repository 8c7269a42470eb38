// Package sse reads and writes server-sent events as the providers of language
// models send them: events whose data is a JSON object, in any framing. It
// knows no protocol: its callers interpret the events.
//
// It differs from the standard where providers do. An event ends with its data
// line if the data is a whole JSON object: no blank line need follow, and the
// event can be shown before its blank line has arrived. A line that is not a
// field is an event of its own, unless it is inside another event.
package sse

import (
	"bytes"
	"io"
	"slices"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// Line is the position of a line in a buffer: its text from From to To, and its
// LF, CRLF or CR up to End.
type Line struct{ From, To, End int }

// LineAt returns the line that begins at from. It skips the first n bytes in
// its search for the end. It reports false if the end is not in the buffer. A
// CR at the end of the buffer does not end a line yet, because an LF may
// follow.
func LineAt(b []byte, from, n int) (Line, bool) {
	end := BreakAt(b[from+n:])
	if end < 0 {
		return Line{}, false
	}
	to := from + n + end
	switch after := b[to+1:]; {
	case b[to] == '\n', len(after) > 0 && after[0] != '\n':
		return Line{from, to, to + 1}, true
	case len(after) > 0:
		return Line{from, to, to + 2}, true
	}
	return Line{}, false
}

// LineEnd is what ends the lines of a stream.
type LineEnd uint8

// The line ends.
const (
	LF LineEnd = iota
	CRLF
	CR
)

// String returns the bytes of the line end.
func (e LineEnd) String() string {
	return [...]string{LF: "\n", CRLF: "\r\n", CR: "\r"}[e]
}

// EndOf returns what ends the last of the lines. It reports false if nothing
// does.
func EndOf(lines []byte) (LineEnd, bool) {
	switch {
	case bytes.HasSuffix(lines, []byte("\r\n")):
		return CRLF, true
	case bytes.HasSuffix(lines, []byte("\n")):
		return LF, true
	case bytes.HasSuffix(lines, []byte("\r")):
		return CR, true
	}
	return LF, false
}

// window is the size of the first window in the search for the end of a line.
const window = 512

// BreakAt returns the index of the first LF or CR, or -1. It searches windows
// that double in size: otherwise the search for a CR would read the whole
// buffer although an LF is near.
func BreakAt(b []byte) int {
	for from, size := 0, window; from < len(b); from, size = from+size, 2*size {
		part := b[from:min(from+size, len(b))]
		lf := bytes.IndexByte(part, '\n')
		if lf >= 0 {
			part = part[:lf]
		}
		if cr := bytes.IndexByte(part, '\r'); cr >= 0 {
			return from + cr
		}
		if lf >= 0 {
			return from + lf
		}
	}
	return -1
}

// Field is the kind of a line.
type Field uint8

// The kinds of lines. Any other line is Unknown.
const (
	Unknown Field = iota
	Blank         // it ends an event
	Comment
	Data
	Name // the line "event: …"
	Other
)

// Field returns the kind of the line, and the offsets of its value without the
// white space around it.
func (l Line) Field(b []byte) (f Field, from, to int) {
	name, value, hasValue := bytes.Cut(b[l.From:l.To], []byte(":"))
	from = l.To - len(bytes.TrimLeft(value, blanks))
	to = from + len(bytes.Trim(value, blanks))
	switch {
	case string(name) == "data" && hasValue:
		f = Data
	case l.From == l.To:
		f = Blank
	case len(name) == 0:
		f = Comment
	case string(name) == "event":
		f = Name
	case string(name) == "id", string(name) == "retry":
		f = Other
	}
	return f, from, to
}

const blanks = " \t"

// Event is a piece of a stream: an event, or the bytes between two events. Its
// bytes are valid until the next use of the [Reader], unless the event owns
// them. Nobody may change them.
type Event struct {
	Raw     []byte // its lines, with their ends
	Kind    Kind
	Written bool // made by carryon, not read
	Owned   bool // nothing else will use its memory

	from, to int    // where the data stands in Raw
	joined   []byte // the data, if it came in several lines
}

// Kind says what an event consists of.
type Kind uint8

// The kinds.
const (
	NonData Kind = iota // blank lines, comments, and fields without data
	Text                // data that is no JSON object, or a line that is no field
	Object              // a JSON object
	Broken              // what should be one: it is cut off, too long, or outside of a data line
)

// Data returns the event's data, or the line that is not a field.
func (e *Event) Data() []byte {
	if e.joined != nil {
		return e.joined
	}
	return e.Raw[e.from:e.to]
}

// IsBlank reports whether the event is a blank line.
func (e *Event) IsBlank() bool { return e.Kind == NonData && len(bytes.Trim(e.Raw, "\r\n")) == 0 }

// Name returns the value of the last event field, or nothing.
func (e *Event) Name() (name []byte) {
	lines := e.Raw
	if e.joined == nil && e.to > 0 {
		lines = lines[:e.from] // the event ends with its data line
	}
	lines = bytes.TrimPrefix(lines, []byte(byteOrderMark))
	for len(lines) > 0 {
		end := BreakAt(lines)
		if end < 0 {
			end = len(lines)
		}
		if value, ok := bytes.CutPrefix(lines[:end], []byte("event:")); ok {
			name = bytes.Trim(value, blanks)
		}
		lines = lines[min(end+1, len(lines)):]
	}
	return name
}

// Clone returns e as an event that owns its bytes.
func (e *Event) Clone() Event {
	c := *e
	c.Raw, c.joined, c.Owned = e.Keep(e.Raw), e.Keep(e.joined), true
	return c
}

// Keep returns a part of e's bytes that stays valid. It copies the part, unless
// e owns its bytes.
func (e *Event) Keep(part []byte) []byte {
	if e.Owned {
		return part
	}
	return slices.Clone(part)
}

// DataStart is how a data line begins in an event that carryon wrote.
const DataStart = "data: "

// Written returns an event with a copy of the data. It has no event field if the
// name is empty.
func Written(name string, data []byte, kind Kind) Event {
	raw := make([]byte, 0, len("event: \n")+len(name)+len(DataStart)+len(data)+len("\n\n"))
	if name != "" {
		raw = append(append(append(raw, "event: "...), name...), '\n')
	}
	raw = append(raw, DataStart...)
	return New(append(raw, data...), len(raw), kind)
}

// New returns the event with the lines in raw, up to the end of its data. The
// data begins at from; New makes one line of it. The event takes ownership of
// raw.
func New(raw []byte, from int, kind Kind) Event {
	for rest := raw[from:]; ; {
		at := BreakAt(rest)
		if at < 0 {
			break
		}
		rest[at], rest = ' ', rest[at+1:] // JSON has line breaks only between its tokens
	}
	to := len(raw)
	return Event{Raw: append(raw, "\n\n"...), from: from, to: to, Kind: kind, Written: true, Owned: true}
}

// Lines returns the event's lines. Those of an event that carryon wrote end as
// end says.
func (e *Event) Lines(end LineEnd) []byte {
	if !e.Written || end == LF {
		return e.Raw
	}
	return bytes.ReplaceAll(e.Raw, []byte("\n"), []byte(end.String()))
}

// Document returns an event for a whole JSON document, so that code that reads
// events can read documents too. The white space around the document is not
// part of the data.
func Document(b []byte, written bool) Event {
	e := Event{Raw: b, Kind: Broken, Written: written}
	e.from = len(b) - len(bytes.TrimLeft(b, " \t\r\n"))
	e.to = max(e.from, len(bytes.TrimRight(b, " \t\r\n")))
	if rawjson.ObjectEnd(b[e.from:e.to]) == e.to-e.from {
		e.Kind = Object
	}
	return e
}

// assembler joins lines to one event; the next event gets a new assembler. All
// offsets are into the reader's buffer.
type assembler struct {
	end       int        // offset after the last line added
	searched  int        // bytes after end that were searched and have no line end
	multiline *multiline // data that continues in another line
	fields    bool       // the event has a field
	strict    bool       // an object must be valid JSON
}

// next returns the assembler of the event that begins at an offset.
func (a *assembler) next(at int) assembler { return assembler{strict: a.strict, end: at} }

// found is the kind of an event, and the offsets of its data if that is one
// line.
type found struct {
	kind     Kind
	from, to int
}

// multiline is data in several lines.
type multiline struct {
	joined  []byte
	balance rawjson.Balance
}

func (m *multiline) add(value []byte) {
	m.joined = append(m.joined, value...)
	m.balance.Add(value)
}

// add adds the next line. It reports whether the event is whole; the event then
// ends at a.end.
func (a *assembler) add(b []byte, l Line) (found, bool) {
	field, from, to := l.Field(b)
	if field == Data {
		return a.addData(b, l, from, to)
	}
	inside := a.fields || a.multiline != nil
	a.end = l.End
	switch field {
	case Blank:
		return a.unfinished(), true
	case Name, Other:
		a.fields = true
		return found{}, false
	case Unknown:
		kind := Text
		if !inside {
			if b[l.From] == '{' { // an error, in place of an event
				kind = Broken
			}
			return found{kind, l.From, l.To}, true
		}
	}
	return found{}, !inside
}

// addData adds a data line with the value b[from:to].
func (a *assembler) addData(b []byte, l Line, from, to int) (found, bool) {
	value := b[from:to]
	if a.multiline != nil {
		return a.addMore(l, value)
	}
	a.end = l.End
	end := a.objectEnd(value)
	switch {
	case end == len(value):
		return found{Object, from, to}, true
	case end >= 0:
		return found{Broken, from, to}, true
	case len(value) > 0 && value[0] == '{':
		a.multiline = new(multiline)
		a.multiline.add(value)
		return found{}, false
	}
	return found{Text, from, to}, true
}

// objectEnd returns the length of the object that data begins with, or -1.
func (a *assembler) objectEnd(data []byte) int {
	if a.strict {
		return rawjson.ValidObjectEnd(data)
	}
	return rawjson.ObjectEnd(data)
}

// addMore adds another data line to data of several lines.
func (a *assembler) addMore(l Line, value []byte) (found, bool) {
	m := a.multiline
	m.joined = append(m.joined, '\n')
	m.add(value)
	isClosed := m.balance.Closed()
	if !isClosed && rawjson.ObjectEnd(value) == len(value) {
		// This line is a whole event, and is read again. The lines before it are Broken.
		return found{kind: Broken}, true
	}
	a.end = l.End
	if isClosed && a.objectEnd(m.joined) == len(m.joined) {
		return found{kind: Object}, true
	}
	return found{kind: Broken}, isClosed
}

// unfinished returns the kind of the event if it ends now.
func (a *assembler) unfinished() found {
	if a.multiline != nil {
		return found{kind: Broken}
	}
	return found{}
}

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

// NewStrictReader returns a Reader of src that takes an object for Broken unless all of
// it is JSON.
func NewStrictReader(src io.ReadCloser) Reader {
	return Reader{src: src, assembler: assembler{strict: true}}
}

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
		*a = a.next(len(byteOrderMark))
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
	*a = a.next(r.at)
	return e
}

// fill reads once from src.
func (r *Reader) fill() {
	rest := r.Buffered()
	if r.owned || cap(r.buf)-len(rest) < minBuffer/2 {
		r.buf = append(make([]byte, 0, max(minBuffer, 2*len(rest))), rest...)
	} else if r.at > 0 {
		r.buf = r.buf[:copy(r.buf, rest)]
	}
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
	r.assembler = r.assembler.next(r.at)
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
	r.buf, r.at, r.assembler = append(r.buf[:0], b...), 0, r.assembler.next(0)
}

// GiveAway gives the memory of the buffer to the events that are cut from it, which
// own their bytes then.
func (r *Reader) GiveAway() { r.owned = true }
