package transport

import (
	"bytes"
	"slices"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// maxShape is the size of the longest line that is remembered as a shape, but
// for what may differ.
const maxShape = 4 << 10

// shape is a line of a stream that was handed on as it is, its end included,
// without the values in which lines like it differ. The lines of a stream differ
// in little more than the text, so that most of them can be told to be of the
// shape of the one before, without reading what they are made of or looking for
// where they end.
type shape struct {
	fixed  []byte
	places [maxValues]place // where the values stood
	n      uint8            // of them
}

type place struct {
	at   uint16 // in what is fixed
	role role
}

// role says what a value that may differ is good for.
type role uint8

const (
	padding role = iota // nothing
	content
	thought  // reasoning
	fragment // of a tool call's arguments
	tokens   // the usage
)

// gist is what a line adds that is handed on as it is: values as they stand in
// it, nil for what it does not add.
type gist struct{ content, thought, tokens []byte }

// take takes a value. It reports false if it is not of the kind that its role
// asks for.
func (g *gist) take(r role, value []byte) bool {
	switch r {
	case content:
		g.content = value
	case thought:
		g.thought = value
	case fragment:
	case tokens:
		g.tokens = value
		return len(value) > 0 && value[0] == '{'
	case padding:
		return len(value) > 0
	}
	return rawjson.IsString(value)
}

// match reads a line of the shape from the beginning of b into g. It returns
// where the line ends, which is 0 if there is none.
func (p *shape) match(b []byte, g *gist) (end int) {
	at := 0
	for _, next := range p.places[:p.n] {
		fixed := p.fixed[at:next.at]
		if end += len(fixed); len(b) < end || string(b[end-len(fixed):end]) != string(fixed) {
			return 0
		}
		n := valueEnd(b[end:])
		if n < 0 || !g.take(next.role, b[end:end+n]) {
			return 0
		}
		end, at = end+n, int(next.at)
	}
	if at == 0 || !bytes.HasPrefix(b[end:], p.fixed[at:]) {
		return 0
	}
	return end + len(p.fixed) - at
}

// maxValue is the size of the longest value other than a string that is looked
// at for the sake of the shape.
const maxValue = 1 << 10

// valueEnd returns the length of the value that b begins with, or -1 if it is
// not on one line.
func valueEnd(b []byte) int {
	if n := rawjson.Plain(b); n > 0 {
		return n // control characters are none of it
	}
	if len(b) > 0 && b[0] != '"' {
		b = b[:min(len(b), maxValue)]
	}
	end := rawjson.Length(b)
	if end < 0 || lineEnd(b[:end]) >= 0 {
		return -1
	}
	return end
}

// learn takes a line, whose JSON begins at an offset, for the shape of those to
// come.
func (p *shape) learn(line []byte, json int, values []value) {
	p.n = 0
	if len(line) > maxShape || line[len(line)-1] != '\n' { // an LF could still follow a CR
		return
	}
	size := len(line)
	for _, v := range values {
		size -= v.to - v.from
	}
	p.fixed = slices.Grow(p.fixed[:0], size)
	at := 0
	for i, v := range values {
		p.fixed = append(p.fixed, line[at:json+v.from]...)
		p.places[i] = place{uint16(len(p.fixed)), v.role} //nolint:gosec // at most maxShape
		at = json + v.to
	}
	p.fixed, p.n = append(p.fixed, line[at:]...), uint8(len(values)) //nolint:gosec // at most maxValues
}
