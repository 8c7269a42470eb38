package rawjson_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/rawjson"
)

func TestMember(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1}`: "1", `{"b":{"a":2},"a":[1, 2]}`: "[1, 2]", ` { "a" : "x" } `: `"x"`, `{"\u0061":1}`: "1", `{"b":1}`: "", `{}`: "",
		`[{"a":1}]`: "", `"a"`: "", ``: "", `{"a":`: "",
	} {
		assert.Equal(t, want, string(rawjson.Member([]byte(text), "a")), text)
	}
}

// All functions must read the same one of two members with the same name.
func TestOfMembersWithTheSameNameTheLastOneCounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1,"a":2}`: "2", `{"a":1,"b":3,"a":{"x":[]}}`: `{"x":[]}`, `{"a":1,"\u0061":2}`: "2", `{"a":1,"a":null}`: "null",
	} {
		assert.Equal(t, want, string(rawjson.Member([]byte(text), "a")), text)
		s := rawjson.Over([]byte("[" + text + ",9]"))
		require.True(t, s.Open('[') && s.Element())
		assert.Equal(t, want, string(s.Peek("a")), text)
		assert.Equal(t, text, string(s.Raw()), "the scanner stays where it is")

		var decoded map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(text), &decoded))
		assert.Equal(t, want, string(decoded["a"]), "as encoding/json has it")
	}
}

func TestElements(t *testing.T) {
	t.Parallel()
	assert.Equal(t, [][]byte{[]byte("1"), []byte(`{"a":[2]}`), []byte(`"x"`)}, rawjson.Elements([]byte(` [ 1 , {"a":[2]},"x"]`)))
	for _, text := range []string{`[]`, ``, `null`, `{"a":[1]}`, `"[1]"`} {
		assert.Empty(t, rawjson.Elements([]byte(text)), text)
	}
}

func TestMemberElements(t *testing.T) {
	t.Parallel()
	of := func(text string) [][]byte { return rawjson.MemberElements([]byte(text), "a") }
	assert.Equal(t, [][]byte{[]byte("1"), []byte(`{"a":[2]}`)}, of(`{"b":[0],"a":[1, {"a":[2]}]}`))
	assert.Equal(t, [][]byte{[]byte("2")}, of(`{"a":[1],"a":[2]}`), "of several the last one counts")
	for _, text := range []string{`{"a":[1],"a":{}}`, `{"b":[1]}`, `{"a":[]}`, `[1]`, ``} {
		assert.Empty(t, of(text), text)
	}
}

func TestScalars(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{`"a\n"`: "a\n", `""`: "", `null`: "", `1`: "", ``: "", `{"a":"b"}`: ""} {
		assert.Equal(t, want, rawjson.TextOf([]byte(raw)), raw)
	}
	for raw, want := range map[string]int{`0`: 0, `-7`: -7, `12`: 12} {
		n, ok := rawjson.Int([]byte(raw))
		assert.True(t, ok, raw)
		assert.Equal(t, want, n, raw)
	}
	for _, raw := range []string{``, `null`, `"1"`, `1.5`, `1e2`, `99999999999999999999`} {
		_, ok := rawjson.Int([]byte(raw))
		assert.False(t, ok, raw)
	}
	for _, raw := range []string{``, `null`, `""`, `[]`, `{}`} {
		assert.True(t, rawjson.IsEmpty([]byte(raw)), raw)
	}
	for _, raw := range []string{`0`, `false`, `" "`, `[0]`, `{"a":null}`} {
		assert.False(t, rawjson.IsEmpty([]byte(raw)), raw)
	}
}

func TestObjectEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{}`: 2, `{"a":"}"}x`: 9, ` {}`: -1, `{`: -1, `{"a":1`: -1, `[]`: -1, ``: -1, `"{}"`: -1, `{}{}`: 2,
	} {
		assert.Equal(t, want, rawjson.ObjectEnd([]byte(text)), text)
	}
}

func TestAppendToAnArray(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`: `[7,8]`, `[ ]`: `[7,8 ]`, `[1]`: `[1,7,8]`, "[1 ,\n2 ]": "[1 ,\n2,7,8 ]", `{"a":[]}`: `{"a":[]}`, `null`: `null`,
	} {
		var e rawjson.Edits
		s := rawjson.Over([]byte(text))
		e.Append(&s, []byte("7"), []byte("8"))
		assert.True(t, s.OK(), text)
		assert.Equal(t, len(text), s.At(), "the value was read: %s", text)
		assert.Equal(t, want, string(e.Apply([]byte(text))))
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `{"a":"\"","b":[1],"c":{"d":null}}`,
		string(rawjson.Object("a", `"`, "b", []int{1}, "c", json.RawMessage(rawjson.Object("d", nil)))))
	assert.Panics(t, func() { rawjson.Object("a", func() {}) })
}

// The iterators skip values that the loop does not read, and values that are
// not an object or array.
func TestIteratorsPassOverWhatIsNotRead(t *testing.T) {
	t.Parallel()
	s := rawjson.Over([]byte(` [ {"a" : {"x":[1]}, "b": 2 ,"c":[ 3 , {"d":4} ] } , null, [5] ]`))
	var names []string
	var values []string
	for i := range s.Elements() {
		names = append(names, strconv.Itoa(i))
		for name := range s.Members() {
			names = append(names, name)
			switch name {
			case "b":
				values = append(values, string(s.Raw()))
			case "c":
				for range s.Elements() {
					if s.Kind() == '3' {
						values = append(values, string(s.Raw()))
					}
				}
			}
		}
	}
	assert.True(t, s.OK())
	assert.Zero(t, s.Kind())
	assert.Equal(t, []string{"0", "a", "b", "c", "1", "2"}, names)
	assert.Equal(t, []string{"2", "3"}, values)
	for range s.Members() {
		assert.Fail(t, "there is nothing left")
	}
}

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
