package rawjson_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// member is a member of an object.
type member struct {
	Key   string
	Value any
}

// read reads the value that comes next as encoding/json would, except that an
// object is a list of members: in order, and all of those with the same name.
func read(s *rawjson.Scanner) any {
	switch s.Kind() {
	case '{':
		members := []member{}
		for s.Open('{'); s.Member(); {
			key := sound(string(s.Key()))
			members = append(members, member{key, read(s)})
		}
		return members
	case '[':
		elements := []any{}
		for s.Open('['); s.Element(); {
			elements = append(elements, read(s))
		}
		return elements
	}
	return scalar(s.Raw())
}

func scalar(raw []byte) any {
	switch {
	case rawjson.IsString(raw):
		text, _ := rawjson.Text(raw, nil)
		return sound(string(text))
	case rawjson.IsNull(raw):
		return nil
	case string(raw) == "true", string(raw) == "false":
		return string(raw) == "true"
	}
	return json.Number(raw)
}

// sound has U+FFFD in the place of each byte that is not UTF-8, as
// encoding/json has.
func sound(text string) string { return string([]rune(text)) }

// decode reads JSON with encoding/json into what [read] makes of it.
func decode(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return next(t, d)
}

func next(t *testing.T, d *json.Decoder) any {
	t.Helper()
	token, err := d.Token()
	require.NoError(t, err)
	switch token {
	case json.Delim('{'):
		members := []member{}
		for d.More() {
			key, ok := next(t, d).(string)
			require.True(t, ok)
			members = append(members, member{key, next(t, d)})
		}
		_, err = d.Token()
		require.NoError(t, err)
		return members
	case json.Delim('['):
		elements := []any{}
		for d.More() {
			elements = append(elements, next(t, d))
		}
		_, err = d.Token()
		require.NoError(t, err)
		return elements
	}
	return token
}
