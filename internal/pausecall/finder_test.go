package pausecall_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/pausecall"
	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/pause"
)

// found is a Finder's result for a turn's text.
type found struct {
	shown  string // by all Writes together
	reason string
	ok     bool
	rest   string
}

// stream writes the pieces of a turn and ends it.
func stream(pieces ...string) found {
	var f pausecall.Finder
	var shown strings.Builder
	for _, piece := range pieces {
		shown.WriteString(f.Write(piece))
	}
	got := found{shown: shown.String()}
	got.reason, got.ok, got.rest = f.End()
	return got
}

// bytewise cuts text into pieces of one byte.
func bytewise(text string) []string {
	pieces := make([]string, len(text))
	for i := range len(text) {
		pieces[i] = text[i : i+1]
	}
	return pieces
}

func ExampleFinder() {
	var finder pausecall.Finder
	for _, chunk := range []string{"No key: to", " stop here. ", "`todo_", "pause('the API key is", " missing')`", "."} {
		fmt.Printf("%q\n", finder.Write(chunk))
	}
	reason, ok, rest := finder.End()
	fmt.Printf("%q %t %q\n", reason, ok, rest)
	// Output:
	// "No key: "
	// "to stop here. "
	// ""
	// ""
	// ""
	// ""
	// "the API key is missing" true ""
}

func TestIsPrefix(t *testing.T) {
	t.Parallel()
	for i := range len(pause.ToolName) {
		assert.True(t, pausecall.IsPrefix(pause.ToolName[:i]), "%d", i)
		assert.True(t, pausecall.IsPrefix(strings.ToUpper(pause.ToolName[:i])), "%d", i)
	}
	for _, name := range []string{"todo_pause", "TODO_PAUSE", "o", "todo_w", "todo_pau\u017f", "todo_pause_", " t"} {
		assert.False(t, pausecall.IsPrefix(name), "%q", name)
	}
}

func TestFinderCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, shown, reason, rest string }{
		// Quotes, names and spaces.
		{text: `todo_pause('no key')`, reason: "no key"},
		{text: `todo_pause("no key")`, reason: "no key"},
		{text: "todo_pause(`no key`)", reason: "no key"},
		{text: "todo_pause(\u201cno key\u201d)", reason: "no key"},
		{text: "todo_pause(\u2018no key\u2019)", reason: "no key"},
		{text: "todo_pause(\u201cno key\")", reason: "no key"},
		{text: "todo_pause(\u2018no key')", reason: "no key"},
		{text: `TODO_Pause('no key')`, reason: "no key"},
		{text: `todo_pause('')`},
		{text: `todo_pause()`},
		{text: "todo_pause( \n)"},
		{text: "todo_pause \t( \r\n'no key'\n\t )", reason: "no key"},
		{text: `todo_pause(reason='no key')`, reason: "no key"},
		{text: `todo_pause(reason = "no key")`, reason: "no key"},
		{text: `todo_pause( Reason: "no key" )`, reason: "no key"},
		{text: "todo_pause(\n  reason:\n  'no key'\n)", reason: "no key"},

		// Characters in a reason.
		{text: `todo_pause('can't reach db')`, reason: "can't reach db"},
		{text: `todo_pause('can't reach 'db'')`, reason: "can't reach 'db'"},
		{text: "todo_pause(\u2018can\u2019t reach db\u2019)", reason: "can\u2019t reach db"},
		{text: `todo_pause("no 'key' in \"a.js\"")`, reason: `no 'key' in "a.js"`},
		{text: `todo_pause("He said “stop” (like “this”) twice")`, reason: "He said “stop” (like “this”) twice"},
		{text: `todo_pause('run(\'x\') failed')`, reason: "run('x') failed"},
		{text: "todo_pause(\u201cf(\\\u201d) failed\u201d)", reason: "f(\u201d) failed"},
		{text: `todo_pause('C:\\temp\new is missing \d')`, reason: `C:\temp\new is missing \d`},
		{text: `todo_pause('ends in \\')`, reason: `ends in \`},
		{text: "todo_pause('two\nlines')", reason: "two\nlines"},
		{text: `todo_pause('see (a) and b) for more')`, reason: "see (a) and b) for more"},
		{text: `todo_pause('a', 'b')`, reason: "a', 'b"},
		{text: "todo_pause('缺少密钥')", reason: "缺少密钥"},
		{text: "todo_pause('\xff\xe2\x80')", reason: "\xff\xe2\x80"},
		{text: "todo_pause('" + strings.Repeat("x", 586) + "')", reason: strings.Repeat("x", 586)},
		{text: `todo_pause('first todo_pause("second")')`, reason: `first todo_pause("second")`},

		// Text after the call.
		{text: "todo_pause('no key').", reason: "no key"},
		{text: "todo_pause('no key') . \r\n\t\u3000\n", reason: "no key"},
		{text: "todo_pause('no key')。", reason: "no key"},

		// Text before the call.
		{text: "I am blocked. todo_pause('no key')", shown: "I am blocked. ", reason: "no key"},
		{text: "Blocked:\n\ntodo_pause('no key')\n", shown: "Blocked:\n\n", reason: "no key"},
		{text: "functions.todo_pause('no key')", shown: "functions.", reason: "no key"},
		{text: "(todo_pause('no key')", shown: "(", reason: "no key"},
		{text: "\xfftodo_pause('no key')", shown: "\xff", reason: "no key"},

		{text: "*Blocked.* (“So:”) - todo_pause('no key')", shown: "*Blocked.* (“So:”) - ", reason: "no key"},
		{text: "Why? \u2026 todo_pause('no key')", shown: "Why? \u2026 ", reason: "no key"},
		{text: "没有密钥。todo_pause('no key')", shown: "没有密钥。", reason: "no key"},
		{text: "接下来：todo_pause('no key')", shown: "接下来：", reason: "no key"},
		{text: "I will stop\r\n- todo_pause('no key')", shown: "I will stop\r\n- ", reason: "no key"},

		// Arguments as JSON.
		{text: `todo_pause({"reason":"no key"})`, reason: "no key"},
		{text: "I can't. todo_pause( {\n \"reason\": \"no \\\"key\\\"\" }\n ).", shown: "I can't. ", reason: `no "key"`},
		{text: "```json\ntodo_pause({\"reason\":\"no key\"})\n```", reason: "no key"},
		{text: `todo_pause({})`},

		// Nothing but a JSON object.
		{text: `{"name":"todo_pause","arguments":{"reason":"no key"}}`, reason: "no key"},
		{text: `{"name":"todo_pause","parameters":{"reason":"no key"}}`, reason: "no key"},
		{text: `{"name":"todo_pause","arguments":"{\"reason\":\"no key\"}"}`, reason: "no key"},
		{text: `{"name":"todo_pause","parameters":"{\"reason\":\"no key\"}"}.`, reason: "no key"},
		{text: `{ "arguments" : {"reason" : "no } key"} , "type" : "function" , "name" : "TODO_Pause" }` + "\n", reason: "no } key"},
		{text: " \n{\"name\":\"todo_pause\",\"arguments\":{\"reason\":\"缺少密钥\"}}", shown: " \n", reason: "缺少密钥"},
		{text: "```json\n{\n  \"name\": \"todo_pause\",\n  \"arguments\": {\"reason\": \"no key\"}\n}\n```\n", reason: "no key"},
		{text: "`{\"name\":\"todo_pause\",\"arguments\":{\"reason\":\"no key\"}}`", reason: "no key"},
		{text: `{"name":"todo_pause"}`},
		{text: `{"name":"todo_pause","arguments":{}}`},
		{text: `{"name":"todo_pause","arguments":"no key"}`, reason: "no key"},

		// Backticks of the call, and of the text around.
		{text: "`todo_pause('no key')`", reason: "no key"},
		{text: "Now: `todo_pause('no key')`.", shown: "Now: ", reason: "no key"},
		{text: "``todo_pause('no key')``", reason: "no key"},
		{text: "```todo_pause('no key')```", reason: "no key"},
		{text: "````todo_pause('no key')````", shown: "`", reason: "no key"},
		{text: "```\ntodo_pause('no key')\n```\n", reason: "no key"},
		{text: "So:\n```python\n\n  todo_pause('no key')\n```", shown: "So:\n", reason: "no key"},
		{text: "```c++ \r\ntodo_pause('no key')\n```", reason: "no key"},
		{text: "```objective-c\ntodo_pause('no key')\n```", reason: "no key"},
		{text: "```run; todo_pause('no key')```", shown: "```run; ", reason: "no key", rest: "```"},
		{text: "`todo_pause('no key')", reason: "no key"},
		{text: "```go\ntodo_pause('no key')", reason: "no key"},
		{text: "```go\nf()\n```\n\ntodo_pause('no key').", shown: "```go\nf()\n", reason: "no key", rest: "```\n\n"},
		{text: "```go\nf()\ntodo_pause('no key')\n```\n", shown: "```go\nf()\n", reason: "no key", rest: "\n```"},
		{text: "`f(); todo_pause('no key')`.", shown: "`f(); ", reason: "no key", rest: "`"},

		// Of several, the last.
		{text: "todo_pause('a'). todo_pause('b')", shown: "todo_pause('a'). ", reason: "b"},
		{text: "todo_pause('a');\n`todo_pause('b')`", shown: "todo_pause('a');\n", reason: "b"},
		{text: "todo_pause('never closed\ntodo_pause(\"b\")", reason: "b", rest: "todo_pause('never closed\n"},
	} {
		want := found{shown: c.shown, reason: c.reason, ok: true, rest: c.rest}
		assert.Equal(t, want, stream(c.text), "%q", c.text)
		assert.Equal(t, want, stream(bytewise(c.text)...), "%q, by bytes", c.text)
	}
}

func TestFinderTextThatIsNoCall(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "plain text", "total", "to do", "todo", "todo_pause", "`todo_pause`", "todo_pause (", "todo_pause(", "todo_pause(reason",
		"todo_pause('", "todo_pause('no key", "todo_pause('no key'", "todo_pause('no key\")", "todo_pause(\"no key\u201d)",
		"todo_pause('no key'))", "todo_pause('no key');", "todo_pause('no key')!", "todo_pause('no key'), then go on",
		"todo_pause('no key')\nNow the next one.", "todo_pause() is for what blocks you", "todo_pause(no key)", "todo_pause(reason)", "todo_pause(reason=)", "todo_pause(why='no key')",
		"todo_pause['no key']", "todo_pause: 'no key'", "todo_pause\n('no key')", "todo_pause({'reason': 'no key'})",
		"todo_pause('ends in \\')", "todo_pauses('no key')", "todo-pause('no key')",
		"todo_todo_pause('no key')", "my_todo_pause('no key')", "2todo_pause('no key')", "autotodo_pause('no key')",
		"caf\u00e9todo_pause('no key')", "cafe\u0301todo_pause('no key')", "\u0434\u0430todo_pause('no key')",
		"todo_pau\u017fe('no key')", "todo_pause(rea\u017fon='no key')",
		"Call todo_pause('reason') ONLY if there's an error preventing you from continuing.",
		"I will not call todo_pause('no key')", "I will not call `todo_pause('no key')`.", "I will **not** todo_pause('no key')",
		"Not now, \u2014 todo_pause('no key')", "One.\nDon't (todo_pause('no key')", "I won't `todo_pause({\"reason\":\"no key\"})`",
		"请调用todo_pause('no key')", "サーバーtodo_pause('no key')", "see`todo_pause('no key')`", "todo_pause('a') todo_pause('b')",
		"todo_pause todo_pause('b')", `todo_pause('never closed, todo_pause("b")`, "2 todo_pause('no key')",
		`{"name":"edit_file","arguments":{"reason":"no key"}}`, `{"name":"todo_pause","arguments":{"reason":"no key"}} is what I would call`,
		`Call: {"name":"todo_pause","arguments":{"reason":"no key"}}`, `{"name":"todo_pause"`, `{"name":"todo_pause"}}`, `{"name":"todo_pause",}`,
		`{"name":"todo_pause","name":"todo_pause"}`, `{"name":"todo_pause","arguments":[]}`, `{"name":"todo_pause","arguments":1}`,
		`{"name":"todo_pause","arguments":null}`, `{"name":"todo_pause","result":"no key"}`, `{"name":"todo_pause","type":"result"}`,
		`{"arguments":{"reason":"no key"}}`, `{"name":{"a":"todo_pause"}}`, `[{"name":"todo_pause"}]`, `{}`, `{`, `{"reason":"no key"}`, "```json\n{}\n```",
		"```go\nf()\n```\n{\"name\":\"todo_pause\"}", `todo_pause({"reason":"no key"}`, `todo_pause({"reason":"no key"}) now`, `todo_pause({"reason":"no key"}, 1)`,
		`{"name":"todo_pause","arguments":{"reason":"` + strings.Repeat("x", 600) + `"}}`,
		"print(todo_pause('no key'))", "**todo_pause('no key')**", "```go\nfunc main() {}\n```\n", "````", "``` ```", "`t",
		"todo_pause('" + strings.Repeat("x", 587) + "')", "todo_pause('no key')" + strings.Repeat(" ", 581),
		"todo_pause('no key')\xe3\x80", "todo_pause(\xe2\x80", "todo_pause('no key')\xff",
	} {
		got := stream(text)
		assert.False(t, got.ok, "%q", text)
		assert.Empty(t, got.reason, "%q", text)
		assert.Equal(t, text, got.shown+got.rest, "%q", text)
		assert.Equal(t, got, stream(bytewise(text)...), "%q, by bytes", text)
	}
}

func TestFinderHoldsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	long := "todo_pause('" + strings.Repeat("x", 588)
	type step struct{ write, show string }
	for name, steps := range map[string][]step{
		"a word":           {{"the. ", "the. "}, {"t", ""}, {"otal", "total"}, {":\n", ":\n"}, {"to", ""}, {"p", "top"}},
		"inside a word":    {{"a", "a"}, {"t", "t"}, {"\u00e9", "\u00e9"}, {"t", "t"}, {".", "."}, {" t", " "}},
		"in a sentence":    {{"I will not", "I will not"}, {" todo", " todo"}, {"_pause('a')", "_pause('a')"}, {". t", ". "}},
		"a quoted end":     {{"\u201cNo.\xe2", "\u201cNo.\xe2"}, {"\x80", "\x80"}, {"\x9d t", "\x9d "}, {"odo_pause('a')", ""}},
		"an object":        {{" {\"na", " "}, {"me\": \"todo", ""}, {"_pause\"}", ""}, {".", ""}, {" No", "{\"name\": \"todo_pause\"}. No"}},
		"another object":   {{"{\"na", ""}, {"mes\"", "{\"names\""}, {": [{", ": [{"}},
		"another tool":     {{"{\"name\":\"todo_", ""}, {"write\"", "{\"name\":\"todo_write\""}},
		"a later object":   {{"Yes: ", "Yes: "}, {"{\"name\"", "{\"name\""}},
		"600 of an object": {{"{\"name\":\"" + strings.Repeat("x", 591), ""}, {"x", "{\"name\":\"" + strings.Repeat("x", 592)}},
		"a split letter":   {{"\xc3", "\xc3"}, {"\xa9", "\xa9"}, {"todo", "todo"}, {"\u00e9t", "\u00e9t"}},
		"a call":           {{"So: todo", "So: "}, {"_pause", ""}, {"('no", ""}, {" key')", ""}, {" .", ""}},
		"more follows":     {{"todo_pause('no key')", ""}, {" ", ""}, {"and", "todo_pause('no key') and"}, {"", ""}},
		"another follows":  {{"todo_pause('a'). t", "todo_pause('a'). "}, {"odo", ""}, {"_pause('b')", ""}},
		"inline code":      {{"see: `", "see: "}, {"f.", "`f."}, {"`", ""}, {" and", "` and"}},
		"a block":          {{"```", ""}, {"go\n", ""}, {"func", "```go\nfunc"}, {" f()\n```", " f()\n"}, {"\n\nDone", "```\n\nDone"}},
		"600 bytes":        {{long, ""}, {"x", long + "x"}, {"t", "t"}, {". t", ". "}},
		"600 of spaces":    {{"todo_pause('a')" + strings.Repeat(" ", 585), ""}, {" ", "todo_pause('a')" + strings.Repeat(" ", 586)}},
		"not a quote":      {{"todo_pause(\xe2", ""}, {"\x80", ""}, {"\xa6", "todo_pause(\u2026"}},
	} {
		var f pausecall.Finder
		held := ""
		for _, s := range steps {
			held += s.write
			assert.Equal(t, s.show, f.Write(s.write), "%s: %q", name, s.write)
			held = held[len(s.show):]
			assert.Equal(t, held != "", f.Held(), "%s: %q", name, s.write)
		}
	}
}

func TestFinderEndResets(t *testing.T) {
	t.Parallel()
	var f pausecall.Finder
	f.Write("a")
	f.Write(". todo")
	_, ok, rest := f.End()
	assert.False(t, ok)
	assert.Equal(t, "todo", rest)
	assert.False(t, f.Held())

	// The last letter of the previous turn does not precede this one.
	assert.Equal(t, "a", f.Write("a"))
	_, _, rest = f.End()
	assert.Empty(t, rest)
	assert.Empty(t, f.Write("todo_pause('no key')"))
	reason, ok, rest := f.End()
	assert.True(t, ok)
	assert.Equal(t, "no key", reason)
	assert.Empty(t, rest)

	_, ok, rest = f.End()
	assert.False(t, ok)
	assert.Empty(t, rest)
}

func TestFinderRelease(t *testing.T) {
	t.Parallel()
	var f pausecall.Finder
	assert.Empty(t, f.Release())
	assert.Equal(t, "So: ", f.Write("So: todo_pause('no key')"))
	assert.Equal(t, "todo_pause('no key')", f.Release())
	assert.False(t, f.Held())
	_, ok, rest := f.End()
	assert.False(t, ok)
	assert.Empty(t, rest)
}

func TestFinderAllocatesNothingForPlainText(t *testing.T) {
	pieces := plainPieces()
	var f pausecall.Finder
	shown := 0
	assert.Zero(t, measure.Allocations(func() {
		for _, piece := range pieces {
			shown += len(f.Write(piece))
		}
	}))
	assert.NotZero(t, shown)
	assert.False(t, f.Held())
}

// grammar is the grammar of a printed call as regular expressions: the same
// rules, written another way, to compare the Finder with.
type grammar struct {
	head, object, end, key, tail, escaped *regexp.Regexp

	bodies []*regexp.Regexp
}

func newGrammar() *grammar {
	const space = "[ \t\r\n\v\f]*"
	g := &grammar{
		head:    regexp.MustCompile("(?i)^(`{0,3}|```[0-9a-z_+-]*" + space + "\n" + space + ")todo_pause[ \t]*\\(" + space),
		object:  regexp.MustCompile("(?i)^" + space + "(`{0,3}|```[0-9a-z_+-]*" + space + "\n" + space + ")(\\{)"),
		end:     regexp.MustCompile("^" + space + `\)`),
		key:     regexp.MustCompile("(?i)^reason" + space + "[=:]" + space),
		tail:    regexp.MustCompile("^(?:[`.\u3002\u0085\t\v\f\r\n]|\\p{Z})*$"),
		escaped: regexp.MustCompile("\\\\(['\"`\u2018\u2019\u201c\u201d\\\\])"),
		bodies:  []*regexp.Regexp{regexp.MustCompile(`^()\)`)},
	}
	for _, quotes := range []string{"''", `""`, "``", "\u2018[\u2019']", "\u201c[\u201d\"]"} {
		opening, size := utf8.DecodeRuneInString(quotes)
		g.bodies = append(g.bodies,
			regexp.MustCompile("(?s)^"+string(opening)+`((?:\\.|[^\\])*?)`+quotes[size:]+space+`\)`))
	}
	return g
}

// read reads a whole turn and returns all the text to show, and the reason.
func (g *grammar) read(text string) (shown, reason string, ok bool) {
	if shown, reason, ok := g.readObject(text); ok {
		return shown, reason, true
	}
	for i := max(0, len(text)-600); i < len(text); i++ {
		head := g.head.FindStringSubmatch(text[i:])
		if head == nil || withinSentence(text[:i]) {
			continue
		}
		reason, tail, closed := g.argument(text[i+len(head[0]):])
		if !closed || !g.tail.MatchString(tail) {
			continue
		}
		return text[:i] + around(head[1], tail), reason, true
	}
	return text, "", false
}

// around returns the part of a call that belongs to the text around it.
func around(opener, tail string) string {
	last := strings.LastIndex(tail, "`")
	switch {
	case opener == "" && last >= 0:
		return tail[:last+1]
	case last < 0 && len(opener) > 3 && strings.TrimSpace(opener) == "```":
		return opener
	}
	return ""
}

// withinSentence reports whether text ends within a sentence.
func withinSentence(text string) bool {
	within := false
	for _, r := range text {
		switch {
		case r == '_' || unicode.In(r, unicode.L, unicode.N, unicode.M):
			within = true
		case strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029:;\u2026\uff1a\uff1b", r) || unicode.Is(unicode.Sentence_Terminal, r):
			within = false
		}
	}
	return within
}

// readObject reads a turn that is nothing but a JSON object.
func (g *grammar) readObject(text string) (shown, reason string, ok bool) {
	at := g.object.FindStringSubmatchIndex(text)
	if at == nil || len(text)-at[2] > 600 {
		return "", "", false
	}
	object := text[at[4]:]
	var members map[string]any
	dec := json.NewDecoder(strings.NewReader(object))
	if dec.Decode(&members) != nil || keys(object) != len(members) {
		return "", "", false
	}
	tail := object[dec.InputOffset():]
	for key, value := range members {
		text, _ := value.(string)
		_, isObject := value.(map[string]any)
		_, isText := value.(string)
		switch {
		case key == "name" && strings.EqualFold(text, "todo_pause"), key == "type" && text == "function":
		case (key == "arguments" || key == "parameters") && (isObject || isText):
			raw, _ := json.Marshal(value)
			reason, _ = pausetool.Parse(string(raw), pausetool.Lenient)
		default:
			return "", "", false
		}
	}
	_, named := members["name"]
	_, arguments := members["arguments"]
	_, parameters := members["parameters"]
	if !named || arguments && parameters || !g.tail.MatchString(tail) {
		return "", "", false
	}
	return text[:at[2]] + around(text[at[2]:at[3]], tail), reason, true
}

// keys counts the keys of a JSON object, equal ones too.
func keys(object string) (n int) {
	dec := json.NewDecoder(strings.NewReader(object))
	_, _ = dec.Token()
	for ; dec.More(); n++ {
		var value json.RawMessage
		_, _ = dec.Token()
		_ = dec.Decode(&value)
	}
	return n
}

// argument reads the text after the opening parenthesis.
func (g *grammar) argument(text string) (reason, tail string, ok bool) {
	if strings.HasPrefix(text, "{") {
		var arguments json.RawMessage
		dec := json.NewDecoder(strings.NewReader(text))
		err := dec.Decode(&arguments)
		tail = text[dec.InputOffset():]
		end := g.end.FindString(tail)
		reason, _ = pausetool.Parse(string(arguments), pausetool.Lenient)
		return reason, tail[len(end):], err == nil && end != ""
	}
	named := text[len(g.key.FindString(text)):]
	for i, body := range g.bodies {
		from := named
		if i == 0 {
			from = text // a key needs a value
		}
		if m := body.FindStringSubmatch(from); m != nil {
			return g.escaped.ReplaceAllString(m[1], "$1"), from[len(m[0]):], true
		}
	}
	return "", "", false
}

// checkFinder compares a turn cut into pieces with the same turn in one piece,
// and that with the grammar.
func checkFinder(t *testing.T, g *grammar, pieces []string) {
	t.Helper()
	text := strings.Join(pieces, "")
	var f pausecall.Finder
	shown, written := "", 0
	for _, piece := range pieces {
		shown += f.Write(piece)
		written += len(piece)
		require.True(t, strings.HasPrefix(text, shown), "%q is no beginning of %q", shown, text)
		require.LessOrEqual(t, written-len(shown), 600)
		require.Equal(t, written > len(shown), f.Held())
	}
	got := found{shown: shown}
	got.reason, got.ok, got.rest = f.End()
	require.Equal(t, stream(text), got, "%q", pieces)
	require.Equal(t, stream(bytewise(text)...), got, "%q", pieces)
	if !got.ok {
		require.Equal(t, text, got.shown+got.rest, "%q", text)
	}
	all, reason, ok := g.read(text)
	require.Equal(t, found{shown: all, reason: reason, ok: ok}, found{shown: got.shown + got.rest, reason: got.reason, ok: got.ok}, "%q", text)
}

// cut cuts text before each byte whose bit in at is set.
func cut(text string, at uint64) []string {
	var pieces []string
	from := 0
	for i := 1; i < len(text); i++ {
		if at>>(i%61)&1 == 1 {
			pieces = append(pieces, text[from:i])
			from = i
		}
	}
	return append(pieces, text[from:])
}

func TestFinderIsTheSameForAnySplit(t *testing.T) {
	t.Parallel()
	parts := []string{
		"todo_pause", "TODO_PAUSE", "todo_", "t", "(", ")", "'", "\"", "`", "```", "\u201c", "\u201d", "\u2018", "\u2019", "reason", "=", ":",
		" ", "\n", ".", "\\", "no key", "\u00e9", "缺", "\xe2\x80", "\xff", "go", "_", "todo_pause('", "')", "`todo_pause(\"", "\")`",
		"todo_pause(reason='no key')", ". ", "{", "}", `{"name":"todo_pause"`, `,"arguments":{`, `"reason":"no key"`, `todo_pause({`, "})", "\n```\n", "\u3000", "。", strings.Repeat("long ", 110),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	g, calls := newGrammar(), 0
	texts := 5000
	if measure.RaceDetector {
		texts = 1000
	}
	for range texts {
		var text strings.Builder
		for range 1 + rng.IntN(9) {
			text.WriteString(parts[rng.IntN(len(parts))])
		}
		if _, _, ok := g.read(text.String()); ok {
			calls++
		}
		checkFinder(t, g, cut(text.String(), rng.Uint64()&rng.Uint64()))
	}
	assert.Greater(t, calls, texts/100)
}

func FuzzFinder(f *testing.F) {
	for i, seed := range []string{
		"", "plain text", "todo_pause('no key')", "I stop. `todo_pause(\"can't\")`.\n", "todo_pause(reason: \u201cno key\u201d)", "todo_pause()",
		"todo_pause('a'). todo_pause('b')", "todo_todo_pause('a')", "I won't todo_pause('a')", `{"name":"todo_pause","arguments":{"reason":"a"}}`,
		"`{\"type\":\"function\",\"parameters\":\"{}\",\"name\":\"todo_pause\"}`", `todo_pause({"reason":"a"}).`,
		"```go\nf()\n```\ntodo_pause('a')", "```\ntodo_pause('a')\n```",
		"todo_pause('a', todo_pause(\"b\\\"\")", "\u00e9todo_pause('a')", "缺todo_pause(`a`)。", "todo_pause('\xe2\x80", "total `t` to todo",
	} {
		f.Add(seed, uint64(0x9e3779b97f4a7c15)>>i)
	}
	g := newGrammar()
	f.Fuzz(func(t *testing.T, text string, at uint64) {
		checkFinder(t, g, cut(text, at))
	})
}

// plainPieces returns text as a model streams it, none of which begins a call.
func plainPieces() []string {
	return strings.SplitAfter("The quick brown fox jumps over the lazy dog, and the todo list gets shorter by one; "+
		"tests still pass, the total is 42, na\u00efve caf\u00e9s serve tea at three, and nothing is left to be found here. ", " ")
}

func BenchmarkFinderWrite(b *testing.B) {
	plain := plainPieces()
	for _, c := range []struct {
		name   string
		pieces []string
	}{
		{"text=plain/pieces=words", plain},
		{"text=plain/pieces=one", []string{strings.Join(plain, "")}},
		{"text=call/pieces=words", strings.SplitAfter("todo_pause('Permission denied when trying to write to /etc/nginx/. Need sudo access')", " ")},
	} {
		b.Run(c.name, func(b *testing.B) {
			size := 0
			for _, piece := range c.pieces {
				size += len(piece)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var f pausecall.Finder
			for b.Loop() {
				for _, piece := range c.pieces {
					f.Write(piece)
				}
				if f.Held() {
					f.End()
				}
			}
		})
	}
}
