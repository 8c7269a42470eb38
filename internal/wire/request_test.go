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
