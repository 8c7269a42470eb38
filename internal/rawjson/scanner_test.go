package rawjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

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
