package jslist

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of a literal.
const (
	maxDepth = 16      // of its nesting; a list has three levels
	maxSize  = 1 << 20 // bytes of its source, with constants counted each time
)

// literal reads a literal, token by token. Each of its methods fails at anything else.
type literal struct {
	script   *script
	at       int             // the next token
	size     int             // bytes of the source that were read
	constant bool            // it is the value of a constant, in which only fixed ones may occur
	uses     map[string]bool // gets the names of constants that are not fixed
}

// take takes a symbol.
func (l *literal) take(mark string) bool {
	if !l.script.is(l.at, symbol) || l.script.text(l.at) != mark {
		return false
	}
	l.at++
	return true
}

// object reads the argument of a call.
func (l *literal) object() (map[string]any, bool) {
	value, ok := l.value(0)
	object, isObject := value.(map[string]any)
	return object, ok && isObject
}

// value reads a value.
func (l *literal) value(depth int) (any, bool) {
	s, i := l.script, l.at
	if i >= len(s.list) || depth > maxDepth {
		return nil, false
	}
	l.at++
	l.size += len(s.text(i))
	switch s.list[i].kind {
	case text, template:
		return unquote(s.text(i))
	case number:
		return json.Number(s.text(i)), isPlainNumber(s.text(i))
	case word:
		return l.named(s.text(i))
	case symbol:
		switch s.text(i) {
		case "[":
			return l.elements(depth)
		case "{":
			return l.members(depth)
		}
	case templatePart, regexp:
	}
	return nil, false
}

// named returns the value of a word.
func (l *literal) named(name string) (any, bool) {
	switch name {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null":
		return nil, true
	}
	c, known := l.script.constants[name]
	l.size += c.size
	if !known || l.constant && !c.fixed || l.size > maxSize {
		return nil, false
	}
	if !c.fixed {
		l.uses[name] = true
	}
	return c.value, true
}

// elements reads an array behind its bracket.
func (l *literal) elements(depth int) (any, bool) {
	list := []any{}
	for !l.take("]") {
		value, ok := l.value(depth + 1)
		if !ok || !l.take(",") && l.script.text(l.at) != "]" {
			return nil, false
		}
		list = append(list, value)
	}
	return list, true
}

// members reads an object behind its bracket.
func (l *literal) members(depth int) (any, bool) {
	object := map[string]any{}
	for !l.take("}") {
		key, shorthand, ok := l.key()
		if !ok {
			return nil, false
		}
		var value any
		switch {
		case l.take(":"):
			value, ok = l.value(depth + 1)
		case shorthand:
			value, ok = l.named(key)
		default:
			ok = false
		}
		if !ok || !l.take(",") && l.script.text(l.at) != "}" {
			return nil, false
		}
		object[key] = value
	}
	return object, true
}

// key reads the key of a member. A shorthand may be a member by itself.
func (l *literal) key() (key string, shorthand, ok bool) {
	i := l.at
	l.at++
	switch s := l.script; {
	case s.is(i, word):
		key, shorthand, ok = s.text(i), s.isName(i), true
	case s.is(i, text):
		key, ok = unquote(s.text(i))
	}
	return key, shorthand, ok && key != "__proto__" // which sets no member
}

// isPlainNumber reports whether a number is spelled in JavaScript as in JSON, without
// an exponent.
func isPlainNumber(text string) bool {
	whole, fraction, hasFraction := strings.Cut(text, ".")
	digits := func(text string) bool {
		return text != "" && strings.TrimLeft(text, "0123456789") == ""
	}
	return digits(whole) && (whole == "0" || whole[0] != '0') && (!hasFraction || digits(fraction))
}

// unquote returns the value of a string or of a template without ${.
func unquote(quoted string) (string, bool) {
	inside := quoted[1 : len(quoted)-1]
	if quoted[0] == '`' {
		inside = strings.ReplaceAll(strings.ReplaceAll(inside, "\r\n", "\n"), "\r", "\n")
	}
	if !strings.Contains(inside, `\`) {
		return inside, true
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(inside, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		size := unescape(&b, after)
		if size == 0 {
			return "", false
		}
		inside = after[size:]
	}
}

// escapes are the escapes of one letter.
var escapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '0': 0} //nolint:gochecknoglobals // constant

// unescape writes the character of an escape, of which text is what follows its
// backslash, and returns its length; 0 if there is no such character.
func unescape(b *strings.Builder, text string) (size int) {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case size == 0:
		return 0
	case isLineEnd(r): // the string goes on in the next line
		if strings.HasPrefix(text, "\r\n") {
			size++
		}
		return size
	case r == 'x':
		return writeCode(b, hex(text, 1, 3), 3)
	case r == 'u':
		return unescapeUnicode(b, text)
	case r == '0' && len(text) > 1 && isDigit(rune(text[1])), '1' <= r && r <= '9':
		return 0
	case r < utf8.RuneSelf && (escapes[byte(r)] != 0 || r == '0'):
		b.WriteByte(escapes[byte(r)])
	default:
		b.WriteRune(r)
	}
	return size
}

// unescapeUnicode reads u{1F680}, u00e9, and two of the latter that are one character.
func unescapeUnicode(b *strings.Builder, text string) (size int) {
	if strings.HasPrefix(text, "u{") {
		digits, _, closed := strings.Cut(text[2:], "}")
		if !closed || len(digits) == 0 || len(digits) > 8 {
			return 0
		}
		return writeCode(b, hex(text, 2, 2+len(digits)), len("u{}")+len(digits))
	}
	code := hex(text, 1, 5)
	if utf16.IsSurrogate(code) && strings.HasPrefix(text[5:], `\u`) {
		code = utf16.DecodeRune(code, hex(text, 7, 11))
		if code == utf8.RuneError {
			return 0
		}
		return writeCode(b, code, 11)
	}
	return writeCode(b, code, 5)
}

// hex returns the number that the digits from start to end are, or -1.
func hex(text string, start, end int) rune {
	if end > len(text) {
		return -1
	}
	code, err := strconv.ParseUint(text[start:end], 16, 32)
	if err != nil || code > utf8.MaxRune {
		return -1
	}
	return rune(code) //nolint:gosec // at most MaxRune
}

// writeCode writes a character, if it is one, and returns size, or else 0.
func writeCode(b *strings.Builder, code rune, size int) int {
	if !utf8.ValidRune(code) {
		return 0
	}
	b.WriteRune(code)
	return size
}
