package rawjson_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// texts are JSON of every kind, and some that only looks like it.
var texts = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-1.50e+3`, `12345678901234567890`, `""`, `"a"`,
	` { "a" : 1 , "b" : [ ] , "c" : { } } `, "\t[\r\n1\n,\n2\n]\n", `[[],[[]],[{}],{"a":[{"b":null}]}]`,
	`{"a":1,"a":2}`, `{"":{"":""}}`, `{"\u0061\n\"":"\u00fc\ud83d\ude00\/\\"}`, `["}","{","]","[",",",":","\"","\\"]`,
	`{"a":"\\","b":"\\\"","c":"\\\\"}`, `["\ud800","\udc00","\ud800\u0061","\ud83d\ud83d\ude00"]`,
	"[\"\xff\xfe\",\"\xc3\",\"\u00fc\u2028\U0001F600\"]", `{"a":{"b":{"c":[1,[2,[3]]]}},"d":4}`,
	`{"a":1,}`, `[1,]`, `[,1]`, `[1 2]`, `{"a" 1}`, `{"a":}`, `{a:1}`, `{"a":1`, `[1`, `"a`, `"a\`, `{`, `[`, `]`, `}`, `,`, `:`, ``, ` `,
	`{"a":1}}`, `{"a":1}[`, `{1:2}`, `{"a":1 "b":2}`, `{"a":[1}`, `nul`, `"\u12`, `"\ud83d\u`, `{"a`, `{"a"`, `{"a":`, `\`, "\x00", `{"a":"b"c}`,
}

func FuzzScanner(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := rawjson.Over(text)
		found := read(&s)
		if !json.Valid(text) {
			return // it must end without a panic; its results mean nothing
		}
		assert.Equal(t, decode(t, text), found)
		assert.True(t, s.OK())
		assert.Zero(t, s.Kind(), "nothing is left")
		assert.Equal(t, len(text), s.At())

		s = rawjson.Over(text)
		assert.Equal(t, strings.Trim(string(text), " \t\r\n"), string(s.Raw()))
		assert.True(t, s.OK())
	})
}

// The Scanner neither panics on JSON that is cut off anywhere, nor takes it for
// whole.
func TestScannerOfCutJSON(t *testing.T) {
	t.Parallel()
	for _, text := range texts {
		if !json.Valid([]byte(text)) {
			continue
		}
		whole := strings.TrimRight(text, " \t\r\n")
		for n := range len(whole) {
			cut := []byte(whole[:n])
			for _, b := range [][]byte{cut, append(bytes.Clone(cut), ' ')} {
				s := rawjson.Over(b)
				read(&s)
				ok := s.OK() && s.Kind() == 0
				if last := whole[len(whole)-1]; last == '}' || last == ']' || last == '"' {
					assert.False(t, ok, "%q", b)
				}
			}
		}
	}
}

func TestScannerFindsWhereValuesStand(t *testing.T) {
	t.Parallel()
	const text = ` { "a" : [ 1.0e2 , "x" ] , "\u0062" : {"c": null} } `
	s := rawjson.Over([]byte(text))
	require.True(t, s.Open('{'))
	require.True(t, s.Member())
	assert.Equal(t, "a", string(s.Key()))
	assert.Equal(t, strings.Index(text, `"a"`), s.KeyAt())
	require.True(t, s.Open('['))
	require.True(t, s.Element())
	assert.Equal(t, "1.0e2", string(s.Raw()))
	require.True(t, s.Element())
	assert.Equal(t, `"x"`, string(s.Raw()))
	assert.Equal(t, strings.Index(text, `"x"`)+3, s.At())
	require.False(t, s.Element())
	require.True(t, s.Member())
	assert.Equal(t, "b", string(s.Key()))
	assert.Equal(t, strings.Index(text, `"\u0062"`), s.KeyAt())
	assert.Equal(t, byte('{'), s.Kind())
	assert.Equal(t, `{"c": null}`, string(s.Raw()))
	require.False(t, s.Member())
	assert.True(t, s.OK())
	assert.Zero(t, s.Kind())
}

func TestRawSharesMemoryButLeavesNoRoom(t *testing.T) {
	t.Parallel()
	text := []byte(`[1,2]`)
	s := rawjson.Over(text)
	require.True(t, s.Open('['))
	require.True(t, s.Element())
	raw := s.Raw()
	assert.Same(t, &text[1], &raw[0])
	_ = append(raw, "xxxx"...)
	assert.Equal(t, `[1,2]`, string(text))
}

func TestOpenPassesOverWhatIsNoSuchThing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":[1]}`, `"[1]"`, `12`, `null`} {
		s := rawjson.Over([]byte(text))
		assert.False(t, s.Open('['), text)
		assert.True(t, s.OK(), text)
		assert.Equal(t, len(text), s.At(), text)
	}
}

// After a syntax error, the Scanner finds nothing more.
func TestScannerStaysBad(t *testing.T) {
	t.Parallel()
	s := rawjson.Over([]byte(`{"a" 1,"b":2}`))
	require.True(t, s.Open('{'))
	require.False(t, s.Member())
	assert.False(t, s.OK())
	at := s.At()
	assert.False(t, s.Member())
	assert.False(t, s.Element())
	assert.False(t, s.Open('{'))
	assert.Nil(t, s.Raw())
	s.Skip()
	assert.Equal(t, at, s.At())
	assert.False(t, s.OK())
}

func TestScannerOfDeepJSON(t *testing.T) {
	t.Parallel()
	const depth = 1 << 20
	text := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)
	s := rawjson.Over([]byte(text))
	assert.Len(t, s.Raw(), len(text))
	s = rawjson.Over([]byte(text[:len(text)-1]))
	assert.Nil(t, s.Raw())

	s = rawjson.Over([]byte(text))
	opened, closed := 0, 0
	for s.Open('[') && s.Element() {
		opened++
	}
	for range depth - 1 {
		if !s.Element() {
			closed++
		}
	}
	assert.Equal(t, []int{depth - 1, depth - 1}, []int{opened, closed})
	assert.Zero(t, s.Kind())
	assert.True(t, s.OK())
}

func TestScannerOfALongString(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"x", `\"`, `\\`, "\u00fc", `\u00fc`} {
		long := `"` + strings.Repeat(piece, 1<<20) + `"`
		text := []byte(`{"long":` + long + `,"short":1}`)
		s := rawjson.Over(text)
		require.True(t, s.Open('{') && s.Member())
		assert.Len(t, s.Raw(), len(long))
		require.True(t, s.Member())
		assert.Equal(t, "short", string(s.Key()))
		assert.Equal(t, len(long), rawjson.Length([]byte(long)))
		assert.Equal(t, -1, rawjson.Length([]byte(long[:len(long)-1])))
	}
}

func TestLength(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`""`: 2, `"a"`: 3, `"a"b"`: 3, `"\""x`: 4, `"\\"x`: 4, `"\\\""x`: 6, ``: -1, `"`: -1, `"a`: -1, `"a\"`: -1, `"\`: -1, `a"`: 1,
		`{`: -1, `{}x`: 2, `["]"]x`: 5, `12,`: 2, `12`: 2, `null}`: 4, `}`: -1, ` 1`: -1, `,`: -1, `:`: -1,
	} {
		assert.Equal(t, want, rawjson.Length([]byte(text)), text)
	}
}

// Plain agrees with a search byte by byte, wherever in the string the special
// byte is.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, special := range []string{`"`, `\`, "\n", "\x1f", "\x00", " ", "!", "#", "[", "]", "\x7f", "\x80", "\xa2", "\xdc", "\xff"} {
		for before := range 20 {
			for after := range 20 {
				text := `"` + strings.Repeat("x", before) + special + strings.Repeat("\xfe", after) + `"` + "x\n"
				want := 1 + strings.IndexAny(text[1:], "\"\\\n\x1f\x00")
				if text[want] == '"' {
					want++
				} else {
					want = 0
				}
				require.Equal(t, want, rawjson.Plain([]byte(text)), "%q", text)
			}
		}
	}
	for _, text := range []string{"", "x", `"`, `"x`, `"12345678`, "12345678"} {
		assert.Zero(t, rawjson.Plain([]byte(text)), text)
	}
}

func TestScanningDoesNotAllocate(t *testing.T) {
	text := []byte(`{"id":"x","choices":[{"index":0,"delta":{"content":"a \"word\""},"finish_reason":null}],"usage":null}`)
	assert.Zero(t, measure.Allocations(func() {
		s := rawjson.Over(text)
		for s.Open('{'); s.Member(); {
			for s.Open('['); s.Element(); {
				s.Skip()
			}
		}
	}))
}

// scanWhatOpens reads a text as an object and as an array.
func scanWhatOpens(text []byte) {
	for _, bracket := range []byte("{[") {
		s := rawjson.Over(text)
		for s.Open(bracket); s.OK() && s.Kind() != 0; s.Skip() {
			if bracket == '{' {
				s.Member()
			} else {
				s.Element()
			}
		}
	}
}

// The time it takes grows with the length, not with its square.
func BenchmarkScannerIsLinear(b *testing.B) {
	for name, piece := range map[string]string{
		"backslashes": `\\`, "quotes": `\"`, "brackets": `[`, "strings": `"",`, "open strings": `"`, "members": `"a":1,`,
	} {
		for _, open := range []string{`"`, `[`, `{`, ``} {
			scan := func(n int) func() {
				text := []byte(open + strings.Repeat(piece, n))
				return func() { scanWhatOpens(text) }
			}
			measure.Linear(b, name+" after "+open, scan(1<<12), scan(measure.Longer<<12))
		}
	}
}

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

func TestNoEditsGiveACopy(t *testing.T) {
	t.Parallel()
	text := []byte(` {"a": 1.0e2} `)
	var e rawjson.Edits
	out := e.Apply(text)
	assert.Equal(t, string(text), string(out))
	out[0] = 'x'
	assert.Equal(t, ` {"a": 1.0e2} `, string(text))
}

func TestEditsInAnyOrder(t *testing.T) {
	t.Parallel()
	var e rawjson.Edits
	e.Insert(4, []byte("D"))
	e.Replace(1, 3, []byte("bc"))
	e.Insert(0, []byte("<"))
	e.Insert(5, []byte(">"))
	e.Insert(4, []byte("E"))
	text := []byte("aBCde")
	assert.Equal(t, "<abcdDEe>", string(e.Apply(text)))
	assert.Equal(t, "aBCde", string(text))
}

// removed returns the object without the members of a name.
func removed(t *testing.T, text, name string) string {
	t.Helper()
	var e rawjson.Edits
	s := rawjson.Over([]byte(text))
	for s.Open('{'); s.Member(); {
		from, found := s.KeyAt(), string(s.Key()) == name
		s.Skip()
		if found {
			e.Remove([]byte(text), from, s.At())
		}
	}
	require.True(t, s.OK())
	return string(e.Apply([]byte(text)))
}

func TestRemoveWhereverTheMemberStands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"x":1}`: `{}`, `{"x":1,"b":2}`: `{"b":2}`, `{"a":1,"x":{"y":[1,2]}}`: `{"a":1}`, `{"a":1,"x":"}","b":2}`: `{"a":1,"b":2}`,
		"{ \"x\" : 1 , \"b\" : 2 }": "{ \"b\" : 2 }", "{\n  \"a\": 1,\n  \"x\": 2\n}": "{\n  \"a\": 1\n}",
		"{ \"a\" : 1 , \"x\" : 2 }": "{ \"a\" : 1  }", `{"a":1}`: `{"a":1}`, `{}`: `{}`,
		`{"x":1,"x":2}`: `{}`, `{"a":1,"x":2,"x":3}`: `{"a":1}`, `{"x":1,"x":2,"b":3}`: `{"b":3}`, `{"x":1,"b":2,"x":3}`: `{"b":2}`,
		`{"a":1,"x":2,"x":3,"b":4,"x":5,"x":6}`: `{"a":1,"b":4}`,
	} {
		assert.Equal(t, want, removed(t, text, "x"), text)
	}
}

// FuzzEdits makes edits of all kinds to the members of an object, two bits of
// plan for each, and compares the decoded result.
func FuzzEdits(f *testing.F) {
	for _, text := range texts {
		for _, plan := range []uint64{0, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0xffffffffffffffff, 0x1b1b1b1b1b1b1b1b, 0x6} {
			f.Add([]byte(text), plan)
		}
	}
	for _, text := range []string{`{"a":[1],"b":[],"c":[ ],"d":2}`, "{ \"a\" : 1 ,\n\"b\" : 2 , \"c\" : 3 }", `{"a":1,"b":2,"c":3,"d":4,"e":5}`} {
		for plan := range uint64(64) {
			f.Add([]byte(text), plan)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, plan uint64) {
		if !json.Valid(text) || text[0] != '{' {
			return
		}
		var e rawjson.Edits
		want := []member{}
		s := rawjson.Over(text)
		for s.Open('{'); s.Member(); plan >>= 2 {
			from, key := s.KeyAt(), sound(string(s.Key()))
			kept := member{key, nil}
			switch plan & 3 {
			case 0:
				kept.Value = read(&s)
			case 1:
				e.ReplaceNext(&s, []byte(`"new"`))
				kept.Value = "new"
			case 2:
				s.Skip()
				e.Remove(text, from, s.At())
				continue
			case 3:
				kept.Value = appended(&e, &s)
			}
			want = append(want, kept)
		}
		changed := e.Apply(text)
		require.True(t, json.Valid(changed), "%s", changed)
		assert.Equal(t, any(want), decode(t, changed))
	})
}

// appended appends an element to the next value if it is an array, and returns
// the result.
func appended(e *rawjson.Edits, s *rawjson.Scanner) any {
	if s.Kind() != '[' {
		return read(s)
	}
	elements := []any{}
	comma := ""
	s.Open('[')
	at := s.At()
	for s.Element() {
		elements = append(elements, read(s))
		at, comma = s.At(), ","
	}
	e.Insert(at, []byte(comma+`"new"`))
	return append(elements, "new")
}

func TestEditsOfALongText(t *testing.T) {
	t.Parallel()
	text := `{"a":"` + strings.Repeat("x", 1<<20) + `","b":[]}`
	var e rawjson.Edits
	e.Insert(len(text)-2, []byte(`1`))
	e.Remove([]byte(text), 1, strings.Index(text, `,"b"`))
	assert.Equal(t, `{"b":[1]}`, string(e.Apply([]byte(text))))
}
