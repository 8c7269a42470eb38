package transport

import "bytes"

// line is where a line stands in a buffer: its text, and then its end, which is
// LF, CRLF or CR.
type line struct{ from, to, end int }

// skipMark leaves a byte order mark out of the first line.
func (l *line) skipMark(b []byte) {
	if begins(b[l.from:l.to], byteOrderMark) {
		l.from += len(byteOrderMark)
	}
}

// lineAt returns the line that begins at from, in whose first n bytes there is
// no end. It reports false if the end is not in yet. That is also so for a CR at
// the end of what is in, to which an LF may belong.
func lineAt(b []byte, from, n int) (line, bool) {
	end := lineEnd(b[from+n:])
	if end < 0 {
		return line{}, false
	}
	switch to := from + n + end; {
	case b[to] == '\n':
		return line{from, to, to + 1}, true
	case to+1 == len(b):
		return line{}, false
	case b[to+1] == '\n':
		return line{from, to, to + 2}, true
	default:
		return line{from, to, to + 1}, true
	}
}

// window is how far ahead the end of a line is looked for at first.
const window = 512

// lineEnd returns where the first LF or CR stands, or -1. It looks through
// windows that double in size: a search for CR would else read the whole buffer
// behind an LF that is near.
func lineEnd(b []byte) int {
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

// What lines of a stream begin with.
const (
	byteOrderMark = "\xef\xbb\xbf"
	dataField     = "data:"
	doneMark      = "[DONE]"
)

func begins(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

// payload returns where the value of a data line begins and ends, without the
// white space around it. It reports false for other lines.
func payload(b []byte, l line) (from, to int, ok bool) {
	text := b[l.from:l.to]
	if !begins(text, dataField) {
		return 0, 0, false
	}
	from, to = l.from+len(dataField), l.to
	for from < to && isBlank(b[from]) {
		from++
	}
	for to > from && isBlank(b[to-1]) {
		to--
	}
	return from, to, true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
