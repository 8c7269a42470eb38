package pause

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A verdict says how far a text is a printed call. If a text is impossible, so
// is every text that begins with it; all that is held back rests on this.
type verdict int

const (
	impossible verdict = iota // not a call, whatever follows
	possible                  // the beginning of a call
	complete                  // a call, if nothing but its tail follows
)

// call is a printed call, in the order of its parts.
type call struct {
	opener string // backticks before the name, with the rest of a fence's line
	reason string // what is quoted, without escapes
	tail   string // what follows the closing parenthesis
}

const (
	blanks = " \t"
	spaces = " \t\r\n\v\f"
	fence  = "```"
)

// around returns the parts of a complete call that belong to the text around
// it: backticks in the tail that nothing in the call opened close something in
// the text before, and a bare fence that nothing closes is the end of a block.
func (c call) around() string {
	last := strings.LastIndexByte(c.tail, '`')
	switch {
	case c.opener == "" && last >= 0:
		return c.tail[:last+1]
	case last < 0 && len(c.opener) > len(fence) && strings.TrimRight(c.opener, spaces) == fence:
		return c.opener
	}
	return ""
}

// readCall reads text as a printed call from its first byte on.
func readCall(text string) (call, verdict) {
	ticks := 0
	for ticks < len(fence) && ticks < len(text) && text[ticks] == '`' {
		ticks++
	}
	opener, rest := text[:ticks], text[ticks:]
	found, v := readNamed(rest)
	if v == impossible && ticks == len(fence) {
		if rest, v = readFence(rest); v == complete {
			opener = text[:len(text)-len(rest)]
			found, v = readNamed(rest)
		}
	}
	found.opener = opener
	return found, v
}

// readFence reads what follows the backticks of a fence: a word for the
// language, the end of the line, and white space.
func readFence(text string) (rest string, v verdict) {
	line := strings.TrimLeftFunc(text, func(r rune) bool {
		return r < utf8.RuneSelf && (isWord(r) || r == '+' || r == '-')
	})
	rest = strings.TrimLeft(line, spaces)
	switch {
	case strings.Contains(line[:len(line)-len(rest)], "\n"):
		return rest, complete
	case rest == "":
		return "", possible
	}
	return "", impossible
}

// readNamed reads a call from its name on.
func readNamed(text string) (call, verdict) {
	rest, v := readLiteral(text, Name)
	if v != complete {
		return call{}, v
	}
	if rest, v = readLiteral(strings.TrimLeft(rest, blanks), "("); v != complete {
		return call{}, v
	}
	rest = strings.TrimLeft(rest, spaces)
	if tail, ok := strings.CutPrefix(rest, ")"); ok {
		return call{tail: tail}, readTail(tail)
	}
	if rest, v = readKey(rest); v != complete {
		return call{}, v
	}
	reason, tail, v := readQuoted(rest)
	if v != complete {
		return call{}, v
	}
	return call{reason: reason, tail: tail}, readTail(tail)
}

// readLiteral reads a literal of ASCII, with case ignored.
func readLiteral(text, literal string) (rest string, v verdict) {
	n := min(len(text), len(literal))
	switch {
	case !strings.EqualFold(text[:n], literal[:n]):
		return "", impossible
	case n < len(literal):
		return "", possible
	}
	return text[n:], complete
}

// readKey reads the name of the argument, if there is one.
func readKey(text string) (rest string, v verdict) {
	if text == "" || text[0]|0x20 != 'r' {
		return text, complete
	}
	if rest, v = readLiteral(text, "reason"); v != complete {
		return "", v
	}
	rest = strings.TrimLeft(rest, spaces)
	switch {
	case rest == "":
		return "", possible
	case rest[0] != '=' && rest[0] != ':':
		return "", impossible
	}
	return strings.TrimLeft(rest[1:], spaces), complete
}

// readQuoted reads the quoted reason and the closing parenthesis. A quote ends
// the reason only before a parenthesis, so that 'can't reach the host' is one.
func readQuoted(text string) (reason, tail string, v verdict) {
	if !utf8.FullRuneInString(text) {
		return "", "", possible
	}
	quote, size := utf8.DecodeRuneInString(text)
	closers := closing(quote)
	if closers == "" {
		return "", "", impossible
	}
	body, escaped := text[size:], false
	for i, r := range body {
		if !escaped && strings.ContainsRune(closers, r) {
			after := strings.TrimLeft(body[i+utf8.RuneLen(r):], spaces)
			if strings.HasPrefix(after, ")") {
				return unescape(body[:i]), after[1:], complete
			}
		}
		escaped = r == '\\' && !escaped
	}
	return "", "", possible
}

// closing returns the quotes that close what quote opens, "" if it is none.
// A curly one may be closed by a straight one, as models mix them; the other
// way round would end a reason early that quotes something in curly ones.
func closing(quote rune) string {
	switch quote {
	case '\'':
		return "'"
	case '"':
		return "\""
	case '`':
		return "`"
	case '\u2018':
		return "\u2019'"
	case '\u201c':
		return "\u201d\""
	}
	return ""
}

// unescape drops the backslash before quotes and before a backslash.
func unescape(reason string) string {
	if !strings.Contains(reason, `\`) {
		return reason
	}
	var b strings.Builder
	for i := 0; i < len(reason); i++ {
		if reason[i] == '\\' {
			next, n := utf8.DecodeRuneInString(reason[i+1:])
			if strings.ContainsRune("'\"`\u2018\u2019\u201c\u201d\\", next) {
				b.WriteString(reason[i+1 : i+1+n])
				i += n
				continue
			}
		}
		b.WriteByte(reason[i])
	}
	return b.String()
}

// readTail judges what follows the closing parenthesis.
func readTail(text string) verdict {
	for text != "" {
		if !utf8.FullRuneInString(text) {
			return possible
		}
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == '`', r == '.', r == '\u3002', unicode.IsSpace(r):
		default:
			return impossible
		}
		text = text[n:]
	}
	return complete
}
