package transport

import (
	"bytes"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// group is what is known of an event whose last line is not in yet. All offsets
// are into the source's buffer.
type group struct {
	end    int // where its lines end that are in
	looked int // bytes after it in which no line ends

	named bool // there is a field that belongs to the event to come
	wrong bool // it is called an error

	from, to int    // where the JSON stands, if it is in one line
	lines    *lines // the JSON, if it goes on in another line
}

// lines is JSON that comes in several lines.
type lines struct {
	joined []byte
	nested rawjson.Balance
}

// add takes the next line. It reports whether the event is whole, and what it
// is; the event then ends at g.end.
func (g *group) add(b []byte, l line) (kind, bool) {
	text := b[l.from:l.to]
	if from, to, ok := payload(b, l); ok {
		return g.data(b, l, from, to)
	}
	held := g.named || g.lines != nil
	switch {
	case len(text) == 0:
		g.end = l.end
		return g.unfinished(), true
	case !held && begins(text, doneMark):
		g.end = l.end
		return done, true
	case !held && text[0] == '{': // an error, in place of an event
		g.from, g.to, g.end = l.from, l.to, l.end
		return failure, true
	}
	name, value, _ := bytes.Cut(text, []byte(":"))
	switch string(name) {
	case "event":
		g.wrong = string(bytes.TrimSpace(value)) == "error"
		g.named = true
	case "id", "retry":
		g.named = true
	}
	g.end = l.end
	return filler, !g.named && g.lines == nil
}

// data takes a data line, whose value stands between two offsets.
func (g *group) data(b []byte, l line, from, to int) (kind, bool) {
	value := b[from:to]
	if g.lines != nil {
		return g.more(l, value)
	}
	switch end := objectEnd(value); {
	case begins(value, doneMark):
		g.end = l.end
		return done, true
	case len(value) == 0 || value[0] != '{': // a heartbeat, say
		g.end = l.end
		return g.unfinished(), true
	case end < 0:
		g.lines = &lines{joined: bytes.Clone(value)}
		g.lines.nested.Add(value)
		g.end = l.end
		return filler, false
	default:
		g.from, g.to = from, to
		g.end = l.end
		return g.whole(end == len(value)), true
	}
}

// more takes one more data line of JSON that began in another.
func (g *group) more(l line, value []byte) (kind, bool) {
	m := g.lines
	before := len(m.joined)
	m.joined = append(append(m.joined, '\n'), value...)
	m.nested.Add(m.joined[before:])
	switch {
	case m.nested.Closed():
		g.end = l.end
		return g.whole(objectEnd(m.joined) == len(m.joined)), true
	case len(value) > 0 && objectEnd(value) == len(value):
		// This line is an event of its own, which those before it never were.
		g.looked = 0
		return failure, true
	}
	g.end = l.end
	return filler, false
}

// whole is what an event with an object is.
func (g *group) whole(sound bool) kind {
	if g.wrong || !sound {
		return failure
	}
	return chunk
}

// unfinished is what an event without an object is.
func (g *group) unfinished() kind {
	if g.wrong || g.lines != nil {
		return failure
	}
	return filler
}

// objectEnd returns the length of the object that b begins with, or -1 if it is
// not whole.
func objectEnd(b []byte) int {
	s := rawjson.Over(b)
	if s.Kind() != '{' {
		return -1
	}
	if s.Skip(); !s.OK() {
		return -1
	}
	return s.At()
}
