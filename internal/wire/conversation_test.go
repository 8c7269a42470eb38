package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
)

func TestTextsAreAttached(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`{"content": "a"}`:                      `{"content": "aX\"Y"}`,
		`{"content": ""}`:                       `{"content": "X\"Y"}`,
		`{"content": null}`:                     `{"content": "X\"Y"}`,
		`{"content": [ "a" ] }`:                 `{"content": [ "a","(X\")","(Y)" ] }`,
		`{"content": []}`:                       `{"content": []}`,
		`{"content": 1}`:                        `{"content": 1}`,
		`{"role": "user"}`:                      `{"role": "user","content":"X\"Y"}`,
		`{"output": "a"}`:                       `{"output": "aX\"Y"}`,
		`{"content": "a", "b": {"content": 1}}`: `{"content": "aX\"Y", "b": {"content": 1}}`,
		`{"content": ["a"], "role": "user", "content": "b"}`: `{"content": ["a"], "role": "user", "content": "bX\"Y"}`,
		`{"content": "a", "content": []}`:                    `{"content": "a", "content": []}`,
		`"a"`:                                                `"a"`,
		`[{"content": "a"}]`:                                 `[{"content": "a"}]`,
	} {
		before, behind := `[{"content": "z"}, `, `, {"content": "z"}]`
		additions := adapter.Additions{Attachments: []adapter.Attachment{{Message: 1, Text: `X"`}, {Message: 3, Text: "no such message"}, {Message: 1, Text: "Y"}}}
		var e rawjson.Edits
		list := []byte(before + message + behind)
		wire.Attach(&e, rawjson.Over(list), &additions, func(text string) []byte { return rawjson.Quote("(" + text + ")") }, "content", "output")
		assert.Equal(t, before+want+behind, string(e.Apply(list)), message)
	}
}

// A message that the agent wrote is none of the user's. A summary stands for what has answered the user, too.
func TestMessagesOfTheUser(t *testing.T) {
	t.Parallel()
	const (
		summary  = "This session is being continued from a previous conversation that ran out of context."
		reminder = "<system-reminder>Today is Sunday.</system-reminder>"
		answer   = "\x00" // of the model
	)
	for name, c := range map[string]struct {
		messages         []string
		user, previous   string
		users, firstCall int
		unanswered       bool
	}{
		"one":                        {[]string{"Go."}, "Go.", "", 1, 0, true},
		"answered":                   {[]string{"Go.", answer}, "Go.", "", 1, 2, false},
		"another":                    {[]string{"Go.", answer, "Stop."}, "Stop.", "<" + answer + ">", 2, 0, true},
		"a reminder behind it":       {[]string{"Go.", reminder}, "Go.", "", 1, 0, true},
		"a reminder behind a call":   {[]string{"Go.", answer, reminder}, "Go.", "", 1, 2, false},
		"a summary behind it":        {[]string{"Go.", summary}, "Go.", "", 1, 0, false},
		"a summary before it":        {[]string{summary, "Go."}, "Go.", "<" + summary + ">", 1, 0, true},
		"a summary alone":            {[]string{summary}, "", "", 0, 0, false},
		"a summary, then a call":     {[]string{summary, answer}, "", "", 0, 2, false},
		"a summary, then a reminder": {[]string{"Go.", summary, reminder}, "Go.", "", 1, 0, false},
		"nothing":                    {nil, "", "", 0, 0, false},
	} {
		var f wire.Facts
		list := rawjson.Over([]byte("[]"))
		f.Begin(&list)
		for _, m := range c.messages {
			if m == answer {
				f.AddAnswer(true)
			} else {
				f.AddUser(m)
			}
			f.EndMessage([]byte(m))
		}
		firstCall := 0
		f.End(func(content []byte) string {
			if content == nil {
				return ""
			}
			return "<" + string(content) + ">"
		}, func(_ rawjson.Scanner, first int, _ func(string)) { firstCall = first + 1 })
		if f.Loop != nil {
			f.Loop(func(string) {})
		}
		assert.Equal(t, []any{c.user, c.previous, c.users, c.unanswered}, []any{f.User, f.Previous, f.Users, f.Unanswered}, name)
		assert.Equal(t, c.firstCall, firstCall, name)
		assert.Equal(t, len(c.messages), f.Messages, name)
	}
}

func TestMessagesOfTheUserUseNoMemory(t *testing.T) { //nolint:paralleltest // measures memory
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		var f wire.Facts
		for _, text := range [...]string{"Go.", "<b>Go.</b>", "<system-reminder>Today is Sunday.</system-reminder>"} {
			f.AddUser(text)
			f.EndMessage(nil)
		}
	}))
}
