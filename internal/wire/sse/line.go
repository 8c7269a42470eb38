package sse

import "bytes"

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
