package rawjson

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxNesting is how deep a valid object may be. Many clients read none that is deeper.
const maxNesting = 1024

// ValidObjectEnd returns the length of the object that b begins with, as [ObjectEnd]
// does, but only if that is JSON in every byte: a client can then read it, whatever
// parser it has. It reads b once, and strings eight bytes at a time.
func ValidObjectEnd(b []byte) int {
	if len(b) == 0 || b[0] != '{' {
		return -1
	}
	c := checker{json: b}
	for c.value() && c.afterValue() {
		if c.depth == 0 {
			return c.at
		}
	}
	return -1
}

// checker checks JSON. Its methods report false where the text is not JSON.
type checker struct {
	json    []byte
	at      int
	depth   int
	objects [maxNesting / 64]uint64 // a bit for each level: whether that is an object
}

// peek returns the first byte of the next token, or 0 at the end.
func (c *checker) peek() byte {
	for ; c.at < len(c.json); c.at++ {
		if b := c.json[c.at]; !isSpace(b) {
			return b
		}
	}
	return 0
}

// value reads a value without members or elements. Of any other value it reads the
// brackets, down to the first value that has none.
func (c *checker) value() bool {
	for {
		switch first := c.peek(); first {
		case '"':
			return c.text()
		case '{', '[':
			if c.isEmpty(first) {
				return true
			}
			if !c.enter(first == '{') {
				return false
			}
		case 't':
			return c.literal("true")
		case 'f':
			return c.literal("false")
		case 'n':
			return c.literal("null")
		default:
			return c.number()
		}
	}
}

// isEmpty reads a pair of brackets with nothing between them, if it is next.
func (c *checker) isEmpty(opening byte) bool {
	from := c.at
	c.at++
	if c.peek() == opening+2 { // in ASCII, a bracket is closed by the next but one
		c.at++
		return true
	}
	c.at = from
	return false
}

// enter reads the bracket of an object or an array that has something in it, and the
// first key of an object.
func (c *checker) enter(isObject bool) bool {
	if c.depth == maxNesting {
		return false
	}
	word, bit := &c.objects[c.depth/64], uint64(1)<<(c.depth%64)
	c.depth++
	c.at++
	if !isObject {
		*word &^= bit
		return true
	}
	*word |= bit
	return c.key()
}

// inObject reports whether the innermost open bracket is that of an object.
func (c *checker) inObject() bool {
	level := c.depth - 1
	return c.objects[level/64]&(1<<(level%64)) != 0
}

// key reads a member's key, and the colon behind it.
func (c *checker) key() bool {
	if c.peek() != '"' || !c.text() || c.peek() != ':' {
		return false
	}
	c.at++
	return true
}

// afterValue reads what may follow a value: the brackets that close, and the comma and
// the key before the next value.
func (c *checker) afterValue() bool {
	for c.depth > 0 {
		isObject := c.inObject()
		switch c.peek() {
		case ',':
			c.at++
			return !isObject || c.key()
		case '}':
			if !isObject {
				return false
			}
		case ']':
			if isObject {
				return false
			}
		default:
			return false
		}
		c.at++
		c.depth--
	}
	return true
}

// text reads a string.
func (c *checker) text() bool {
	from := c.at + 1
	var seen uint64
	for c.at = from; ; {
		end, bits := special(c.json, c.at)
		seen |= bits
		switch {
		case end >= len(c.json) || c.json[end] < ' ':
			return false
		case c.json[end] == '"':
			c.at = end + 1
			return seen&highs == 0 || utf8.Valid(c.json[from:end])
		}
		n := escapeLength(c.json[end:])
		if n == 0 {
			return false
		}
		c.at = end + n
	}
}

// escapeLength returns the length of the escape that b begins with, or 0.
func escapeLength(b []byte) int {
	switch {
	case unit(b) >= 0:
		return len(`\u0000`)
	case len(b) > 1 && strings.IndexByte(`"\/bfnrt`, b[1]) >= 0:
		return 2
	}
	return 0
}

func (c *checker) literal(word string) bool {
	if !bytes.HasPrefix(c.json[c.at:], []byte(word)) {
		return false
	}
	c.at += len(word)
	return true
}

// number reads a number. A client may read less than Go does, so that the grammar
// counts.
func (c *checker) number() bool {
	c.skip("-")
	if !c.skip("0") && !c.digits() {
		return false
	}
	if c.skip(".") && !c.digits() {
		return false
	}
	if c.skip("eE") {
		c.skip("+-")
		return c.digits()
	}
	return true
}

// skip reads one byte of the set, if it is next.
func (c *checker) skip(set string) bool {
	if c.at == len(c.json) || strings.IndexByte(set, c.json[c.at]) < 0 {
		return false
	}
	c.at++
	return true
}

// digits reads one digit or more.
func (c *checker) digits() bool {
	from := c.at
	for c.at < len(c.json) && '0' <= c.json[c.at] && c.json[c.at] <= '9' {
		c.at++
	}
	return c.at > from
}
