package chatcompletions

import (
	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
)

// The roles of the values that vary between chunks.
const (
	roleText wire.Role = wire.Ignored + 1 + iota
	roleReasoning
	roleUsage
)

// Classify implements [wire.Codec]. A chunk that adds text, reasoning or the
// arguments of the last tool call, and nothing else, may be relayed.
func (d *dialect) Classify(name, data []byte, v *wire.Values) bool {
	if !d.envelope.IsFixed() || string(name) == "error" {
		return false
	}
	c := classifier{values: v, call: adapter.NoIndex, ok: true}
	c.chunk(data)
	return c.ok && c.adds && (c.call == adapter.NoIndex || c.call == d.lastCall)
}

// Observe implements [wire.Codec].
func (d *dialect) Observe(role wire.Role, value []byte, r wire.Relay) {
	switch role {
	case roleText:
		r.Text(rawjson.View(value))
	case roleReasoning:
		r.Reasoning(rawjson.View(value))
	case roleUsage:
		d.SetUsage(value)
		r.Usage(usageOf(value))
	}
}

// classifier classifies a chunk.
type classifier struct {
	values *wire.Values
	call   int  // the index of the tool call that the arguments belong to
	adds   bool // text, reasoning, or arguments
	ok     bool // and nothing else

	has [roleUsage]bool // text, reasoning
}

// require adds a condition that every relayed chunk must meet.
func (c *classifier) require(ok bool) { c.ok = c.ok && ok }

// value reads a value that varies between chunks. It must start with the byte
// begin, or be empty.
func (c *classifier) value(s *rawjson.Scanner, begin byte, r wire.Role) {
	kind, raw := s.Kind(), s.Raw()
	c.require(kind == begin && c.values.Add(s.At()-len(raw), s.At(), r) || kind != begin && rawjson.IsEmpty(raw))
}

// empty reads a value that must be empty.
func (c *classifier) empty(s *rawjson.Scanner) { c.require(rawjson.IsEmpty(s.Raw())) }

func (c *classifier) chunk(json []byte) {
	s := rawjson.Over(json)
	c.require(s.Kind() == '{')
	for name := range s.Members() {
		switch name {
		case "choices":
			c.choices(&s)
		case "usage":
			c.value(&s, '{', roleUsage)
		case "obfuscation":
			c.value(&s, s.Kind(), wire.Ignored)
		case "error":
			c.require(rawjson.IsNull(s.Raw()))
		case "object":
			c.require(string(s.Raw()) != `"error"`)
		}
	}
	c.require(s.OK() && s.At() == len(json))
}

// choices accepts a single choice, with index 0.
func (c *classifier) choices(s *rawjson.Scanner) {
	c.require(!c.adds)
	for i := range s.Elements() {
		c.require(i == 0)
		for name := range s.Members() {
			switch name {
			case "index":
				c.require(string(s.Raw()) == "0")
			case "delta":
				c.delta(s)
			case "message": // what was said so far
				c.value(s, s.Kind(), wire.Ignored)
			case "finish_reason":
				c.empty(s)
			}
		}
	}
}

func (c *classifier) delta(s *rawjson.Scanner) {
	for name := range s.Members() {
		switch name {
		case "content":
			c.says(s, roleText)
		case reasoningNames[0], reasoningNames[1]:
			c.says(s, roleReasoning)
		case "tool_calls":
			c.calls(s)
		case "role":
		default:
			c.empty(s)
		}
	}
}

// says reads a string that adds text or reasoning. A chunk may have only one.
func (c *classifier) says(s *rawjson.Scanner, r wire.Role) {
	if c.has[r] || s.Kind() != '"' {
		c.empty(s)
		return
	}
	c.has[r], c.adds = true, true
	c.value(s, '"', r)
}

// calls accepts a fragment of one call that adds only to its arguments.
func (c *classifier) calls(s *rawjson.Scanner) {
	if s.Kind() != '[' {
		c.empty(s)
	}
	for i := range s.Elements() {
		c.require(i == 0)
		for name := range s.Members() {
			switch name {
			case "index":
				c.call = indexOf(s.Raw())
			case "function":
				c.function(s)
			case "type":
			default:
				c.empty(s)
			}
		}
		c.require(c.call != adapter.NoIndex)
	}
}

func (c *classifier) function(s *rawjson.Scanner) {
	for name := range s.Members() {
		if name != "arguments" {
			c.empty(s)
			continue
		}
		c.adds = true
		c.value(s, '"', wire.Ignored)
	}
}
