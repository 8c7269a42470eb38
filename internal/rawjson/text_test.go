package rawjson_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/rawjson"
)

func TestText(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`""`: "", `"plain"`: "plain", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\u0041\u00fC\u20aC"`: "Aü€",
		`"\ud83d\ude00!"`: "😀!", `"\uD83D\uDE00"`: "😀", `"\ud83d"`: "\ufffd", `"\ude00\ud83d"`: "\ufffd\ufffd",
		`"\ud83dx"`: "\ufffdx", `"\ud83d\u0041"`: "\ufffdA", `"\ud83d\n"`: "\ufffd\n", `"\u0000"`: "\x00",
	} {
		text, _ := rawjson.Text([]byte(raw), nil)
		assert.Equal(t, want, string(text), raw)
	}
}

// Invalid escapes are kept as they are, so that no text is lost.
func TestTextOfBadEscapes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`"\x41"`: `\x41`, `"\u12"`: `\u12`, `"\u12g4 \n"`: "\\u12g4 \n", `"\u@@@@"`: `\u@@@@`, `"\u-001"`: `\u-001`, `"a\"`: `a\`,
		`"\ud83d\u12"`: "\ufffd\\u12", `"\U0041"`: `\U0041`,
	} {
		text, _ := rawjson.Text([]byte(raw), nil)
		assert.Equal(t, want, string(text), raw)
	}
}

func TestTextCopiesOnlyWhatIsEscaped(t *testing.T) {
	t.Parallel()
	raw := []byte(`"plain"`)
	scratch := make([]byte, 0, 64)
	text, grown := rawjson.Text(raw, scratch)
	assert.Same(t, &raw[1], &text[0])
	assert.Empty(t, grown)

	first, grown := rawjson.Text([]byte(`"a\n"`), grown)
	second, grown := rawjson.Text([]byte(`"b\n"`), grown)
	assert.Equal(t, "a\nb\n", string(grown))
	_ = append(first, "xxx"...)
	assert.Equal(t, []string{"a\n", "b\n"}, []string{string(first), string(second)})
	assert.Equal(t, cap(scratch), cap(grown), "the scratch is used")

	assert.Equal(t, "before: ü", string(rawjson.AppendText([]byte("before: "), []byte(`"\u00fc"`))))
}

func FuzzText(f *testing.F) {
	for _, text := range []string{
		``, `a`, `\`, `\\`, `\"`, `\u`, `\u12`, `\u00fc`, `\ud83d\ude00`, `\ud83d\u0041`, `\ud83d\ud83d\ude00`, `\ud83d`, `\uD83D\uDE0`,
		"\xff", "\xf0\x9f\x98", `\x`, "\x00", "ü\u2028",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, inner string) {
		raw := []byte(`"` + inner + `"`)
		var want string
		text, _ := rawjson.Text(raw, nil)
		if json.Unmarshal(raw, &want) == nil {
			assert.Equal(t, want, sound(string(text)))
		}

		for _, s := range []string{inner, string(text)} {
			quoted := rawjson.Quote(s)
			var decoded string
			require.NoError(t, json.Unmarshal(quoted, &decoded), "%q", quoted)
			assert.Equal(t, sound(s), decoded)
			assert.Equal(t, "x"+string(quoted), string(rawjson.AppendQuote([]byte("x"), s)))
			back, _ := rawjson.Text(quoted, nil)
			assert.Equal(t, sound(s), string(back))
		}
	})
}

func TestQuoteIsSpelledPlainly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": `""`, "a": `"a"`, `"\`: `"\"\\"`, "\n\t\x01": `"\n\t\u0001"`, "<a&b>": `"<a&b>"`, "Grüße 😀": `"Grüße 😀"`, "\xff": `"\ufffd"`,
		"\u2028": `"\u2028"`, "\x7f": "\"\x7f\"",
	} {
		assert.Equal(t, want, string(rawjson.Quote(text)), "%q", text)
	}
	long := strings.Repeat("ü\n", 1<<16)
	assert.True(t, utf8.Valid(rawjson.Quote(long)))
	assert.Len(t, rawjson.Quote(long), 2+4<<16)
}

func TestIsStringAndIsNull(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][2]bool{
		``: {false, true}, `null`: {false, true}, `""`: {true, false}, `"null"`: {true, false}, `0`: {false, false}, `{}`: {false, false},
		`"`: {false, false},
	} {
		assert.Equal(t, want, [2]bool{rawjson.IsString([]byte(raw)), rawjson.IsNull([]byte(raw))}, raw)
	}
	assert.True(t, rawjson.IsNull(nil))
}
