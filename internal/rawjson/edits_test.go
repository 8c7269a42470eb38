package rawjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/rawjson"
)

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
				raw := s.Raw()
				e.Replace(s.At()-len(raw), s.At(), []byte(`"new"`))
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
