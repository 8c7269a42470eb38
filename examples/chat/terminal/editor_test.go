package terminal

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// typed returns an editor that has read the bytes of a terminal, and the lines
// that it returned.
func typed(bytes string) (*editor, []string) {
	e := &editor{}
	return e, press(e, bytes)
}

func press(e *editor, bytes string) (entered []string) {
	k := &keys{in: bufio.NewReader(strings.NewReader(bytes))}
	for {
		key, err := k.next()
		if err != nil {
			return entered
		}
		if line, done := e.press(key); done {
			entered = append(entered, line)
		}
	}
}

// family is one character to a reader.
const family = "\U0001F468\u200d\U0001F469\u200d\U0001F467"

const (
	up, down, right, left = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
)

func TestLinesAreEdited(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"abc":                                     "abc",
		"abc\x7f\x08":                             "a",
		"ac" + left + "b":                         "abc",
		"bc\x01a":                                 "abc",
		"bc\x1b[Ha\x1b[Fd":                        "abcd",
		"abc\x01" + right + "\x1b[3~":             "ac",
		"abc\x01\x04":                             "bc",
		"one two \x17":                            "one ",
		"one\x17":                                 "",
		"abc" + left + "\x15":                     "c",
		"abc" + left + "\x0b":                     "ab",
		"tea 茶\x7f茶茶" + left + "\x7f":             "tea 茶",
		left + "\x7f\x1b[3~" + right:              "",
		"a\x1b[1;5Cb\x1b[Zc\x00\x1f":              "abc",
		"\x1bOHa\x1bOFb":                          "ab",
		"a\xffb":                                  "a\ufffdb",
		"\x1b[200~a\nb\r\tc\x1b[201~":             "a\nb\n c",
		"\x1b[200~a\r\nb\x1b[201~\nc":             "a\nb\nc",
		"a\x1b\rb\nc":                             "a\nb\nc",
		"one\ntwo\x17\x17":                        "",
		"ab" + family + "\x7f":                    "ab",
		"a" + family + "b" + left + left + "c":    "ac" + family + "b",
		"a" + family + "\x01" + right + "\x1b[3~": "a",
		"e\u0301" + left + "x":                    "xe\u0301",
		"a🇩🇪🇫🇷\x7f":                               "a🇩🇪",
		"\x1b[200~\x03\x04\x1b[201~ok":            "ok",
		"a\x1b":                                   "a",
	} {
		e, entered := typed(keys)
		assert.Equal(t, want, string(e.line), "%q", keys)
		assert.Empty(t, entered)
	}
}

func TestTabCompletesWords(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"/h\t":           "/help",
		"/h\t\t":         "/history",
		"/h\t\t\t":       "/help",
		"/H\t":           "/help",
		"/s\tx":          "/set x",
		"/help\t":        "/help",
		"/nope\t":        "/nope",
		"\t":             "",
		"a\t":            "a",
		"/h\t\x7f\x7f\t": "/help",
	} {
		e := &editor{words: []string{"/help", "/history", "/set "}}
		press(e, keys)
		assert.Equal(t, want, string(e.line), "%q", keys)
	}
}

func TestSeveralLinesAreShownOnOne(t *testing.T) {
	t.Parallel()
	e, entered := typed("\x1b[200~one\ntwo\x1b[201~")
	assert.Empty(t, entered)
	text, cursor := e.shown(20)
	assert.Equal(t, "one\u23cetwo", text)
	assert.Equal(t, 7, cursor)
	_, entered = typed("\x1b[200~one\ntwo\x1b[201~\r")
	assert.Equal(t, []string{"one\ntwo"}, entered)
	e, _ = typed("ab" + family + family)
	text, cursor = e.shown(5)
	assert.Equal(t, family+family, text, "a character is shown whole")
	assert.Equal(t, 4, cursor)
}

func TestEnteredLinesAreRecalled(t *testing.T) {
	t.Parallel()
	e, entered := typed("one\rtwo\rtwo\r  \rdraft" + up + up)
	assert.Equal(t, []string{"one", "two", "two", "  "}, entered)
	assert.Equal(t, "one", string(e.line), "what was entered twice is there once")
	e, _ = typed("one\rdraft" + up + up + up + down + down)
	assert.Equal(t, "draft", string(e.line))
	e, _ = typed("one\rtwo\r" + up + up + "\r" + up)
	assert.Equal(t, "one", string(e.line))
	e, _ = typed(strings.Repeat("a\rb\r", 200))
	assert.Len(t, e.entered, maxEntered)
}

func TestLineIsBounded(t *testing.T) {
	t.Parallel()
	e, _ := typed(strings.Repeat("x", 2*maxLine))
	assert.LessOrEqual(t, len(string(e.line)), maxLine)
}

func TestLongLineIsShownAroundTheCursor(t *testing.T) {
	t.Parallel()
	e, _ := typed("abcdefghij")
	text, cursor := e.shown(5)
	assert.Equal(t, "ghij", text)
	assert.Equal(t, 4, cursor)
	e.at = 0
	text, cursor = e.shown(5)
	assert.Equal(t, "abcd", text)
	assert.Zero(t, cursor)
	e, _ = typed("茶茶茶茶")
	text, cursor = e.shown(5)
	assert.Equal(t, "茶茶", text)
	assert.Equal(t, 4, cursor)
}
