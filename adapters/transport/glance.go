package transport

import (
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
)

// maxValues is how many values of a line may differ from those of the next.
const maxValues = 7

// value is where a value stands that differs from line to line.
type value struct {
	from, to int
	role     role
}

// glance is what a chunk is found to be at first sight.
type glance struct {
	gist   gist
	values [maxValues]value
	n      int
	adds   bool // text, reasoning, or arguments
	index  int  // of the tool call that the arguments belong to
	ok     bool // it adds such and nothing else
}

// look reads a chunk that may be handed on as it is. Whatever a continuation
// would have to know of beside the gist, and whatever ends a turn, is not ok.
func look(json []byte) glance {
	g, s := glance{index: middleware.NoIndex}, rawjson.Over(json)
	for g.ok = s.Open('{'); g.ok && s.Member(); {
		switch string(s.Key()) {
		case "choices":
			g.choices(&s)
		case "usage":
			g.varies(&s, '{', tokens)
		case "obfuscation":
			g.varies(&s, s.Kind(), padding)
		case "error":
			g.ok = rawjson.IsNull(s.Raw())
		case "object":
			g.ok = string(s.Raw()) != `"error"`
		default:
			s.Skip()
		}
	}
	g.ok = g.ok && g.adds && s.OK() && s.At() == len(json)
	return g
}

// varies reads a value that differs from line to line if it is of a kind, and
// otherwise must be empty.
func (g *glance) varies(s *rawjson.Scanner, kind byte, r role) {
	if s.Kind() != kind {
		g.ok = !says(s.Raw())
		return
	}
	raw := s.Raw()
	g.ok = g.n < maxValues && g.gist.take(r, raw)
	if g.ok {
		g.values[g.n] = value{s.At() - len(raw), s.At(), r}
		g.n++
	}
}

// choices accepts one choice, the first.
func (g *glance) choices(s *rawjson.Scanner) {
	if g.ok = !g.adds && s.Open('[') && s.Element() && s.Open('{'); !g.ok {
		return
	}
	for g.ok && s.Member() {
		switch string(s.Key()) {
		case "index":
			g.ok = string(s.Raw()) == "0"
		case "delta":
			g.delta(s)
		case "message": // what was said so far
			g.varies(s, s.Kind(), padding)
		case "finish_reason":
			g.ok = !says(s.Raw())
		default:
			s.Skip()
		}
	}
	g.ok = g.ok && !s.Element()
}

func (g *glance) delta(s *rawjson.Scanner) {
	if g.ok = s.Open('{'); !g.ok {
		return
	}
	for g.ok && s.Member() {
		switch string(s.Key()) {
		case "content":
			g.says(s, content, g.gist.content)
		case reasoningNames[0], reasoningNames[1]:
			g.says(s, thought, g.gist.thought)
		case "tool_calls":
			g.calls(s)
		case "role":
			s.Skip()
		default:
			g.ok = !says(s.Raw())
		}
	}
}

// says reads a text, which there may be one of.
func (g *glance) says(s *rawjson.Scanner, r role, before []byte) {
	if before != nil {
		g.ok = !says(s.Raw())
		return
	}
	g.adds = g.adds || s.Kind() == '"'
	g.varies(s, '"', r)
}

// calls accepts a fragment of one call that adds to its arguments alone.
func (g *glance) calls(s *rawjson.Scanner) {
	if s.Kind() != '[' {
		g.ok = !says(s.Raw())
		return
	}
	if s.Open('['); !s.Element() {
		return
	}
	if g.ok = s.Open('{'); !g.ok {
		return
	}
	for g.ok && s.Member() {
		switch string(s.Key()) {
		case "index":
			g.index = indexOf(s.Raw())
		case "function":
			g.function(s)
		case "type":
			s.Skip()
		default:
			g.ok = !says(s.Raw())
		}
	}
	g.ok = g.ok && !s.Element() && g.index != middleware.NoIndex
}

func (g *glance) function(s *rawjson.Scanner) {
	if g.ok = s.Open('{'); !g.ok {
		return
	}
	for g.ok && s.Member() {
		if string(s.Key()) != "arguments" {
			g.ok = !says(s.Raw())
			continue
		}
		g.adds = true
		g.varies(s, '"', fragment)
	}
}
