package pausecall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carryon-go/carryon/internal/pausetool"
)

// match says whether a text is a printed call. If a text is impossible, so
// is every text that begins with it, so Finder can show it.
type match int

const (
	impossible match = iota // not a call, no matter what follows
	possible                // the beginning of a call
	complete                // a call, unless more than its tail follows
)

// call is a printed call, in the order of its parts.
type call struct {
	opener string // backticks before the name, with the rest of a fence's line
	reason string // the quoted text, unescaped, or the reason in the arguments
	tail   string // the text after the closing parenthesis or brace
}

const (
	blanks = " \t"
	spaces = " \t\r\n\v\f"
	fence  = "```"
)

// around returns the part of a complete call that belongs to the text around
// it. Backticks in the tail that the call did not open close something in the
// text before it, and a bare fence that nothing closes ends a block.
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

// A form reads text as one form of a call, without backticks before it.
type form func(text string) (call, match)

// readCall reads text as a printed call that begins at its first byte.
func readCall(text string, read form) (call, match) {
	head := text[:min(len(text), len(fence))]
	ticks := len(head) - len(strings.TrimLeft(head, "`"))
	opener, rest := text[:ticks], text[ticks:]
	found, m := read(rest)
	if m == impossible && ticks == len(fence) {
		rest, m = readFence(rest)
		if m == complete {
			opener = text[:len(text)-len(rest)]
			found, m = read(rest)
		}
	}
	found.opener = opener
	return found, m
}

// readFence reads the text after the backticks of a fence: the name of a
// language, the end of the line, and white space.
func readFence(text string) (rest string, m match) {
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

// readNamed reads a call that begins with the name of the tool.
func readNamed(text string) (call, match) {
	rest, m := readLiteral(text, pausetool.Name)
	if m != complete {
		return call{}, m
	}
	rest, m = readLiteral(strings.TrimLeft(rest, blanks), "(")
	if m != complete {
		return call{}, m
	}
	rest = strings.TrimLeft(rest, spaces)
	if tail, ok := strings.CutPrefix(rest, ")"); ok {
		return call{tail: tail}, readTail(tail)
	}
	if strings.HasPrefix(rest, "{") {
		return readArguments(rest)
	}
	rest, m = readKey(rest)
	if m != complete {
		return call{}, m
	}
	reason, tail, m := readQuoted(rest)
	if m != complete {
		return call{}, m
	}
	return call{reason: reason, tail: tail}, readTail(tail)
}

// readLiteral reads an ASCII literal in any case.
func readLiteral(text, literal string) (rest string, m match) {
	n := min(len(text), len(literal))
	switch {
	case !strings.EqualFold(text[:n], literal[:n]):
		return "", impossible
	case n < len(literal):
		return "", possible
	}
	return text[n:], complete
}

// readKey reads the name of the argument, which is optional.
func readKey(text string) (rest string, m match) {
	if text == "" || text[0]|0x20 != 'r' {
		return text, complete
	}
	rest, m = readLiteral(text, "reason")
	if m != complete {
		return "", m
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
// the reason only before a parenthesis, so 'can't reach the host' is one reason.
func readQuoted(text string) (reason, tail string, m match) {
	if !utf8.FullRuneInString(text) {
		return "", "", possible
	}
	_, size := utf8.DecodeRuneInString(text)
	closers := closing(text[:size])
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

// closing returns the quotes that may close quote, or "" if it is not a quote.
// A straight quote may close a curly one, because models mix them. A curly one
// does not close a straight one: the reason may quote something in curly ones.
func closing(quote string) string {
	switch quote {
	case "'", "\"", "`":
		return quote
	case "\u2018":
		return "\u2019'"
	case "\u201c":
		return "\u201d\""
	}
	return ""
}

// unescape removes the backslash before a quote or another backslash.
func unescape(reason string) string {
	if !strings.Contains(reason, `\`) {
		return reason
	}
	return strings.NewReplacer(`\\`, `\`, `\'`, "'", `\"`, `"`, "\\`", "`",
		"\\\u2018", "\u2018", "\\\u2019", "\u2019", "\\\u201c", "\u201c", "\\\u201d", "\u201d").Replace(reason)
}

// readTail returns how the text after the call matches the call.
func readTail(text string) match {
	rest := strings.TrimLeftFunc(text, func(r rune) bool {
		return r == '`' || r == '.' || r == '\u3002' || unicode.IsSpace(r)
	})
	switch {
	case rest == "":
		return complete
	case !utf8.FullRuneInString(rest):
		return possible
	}
	return impossible
}
