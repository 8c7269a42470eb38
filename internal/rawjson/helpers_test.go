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

// read reads the next value as encoding/json would, except that an object
// becomes a list of all its members, in order, including those with the same
// name.
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

// sound replaces each byte that is not UTF-8 by U+FFFD, as encoding/json does.
func sound(text string) string { return string([]rune(text)) }

// decode reads JSON with encoding/json, in the form that [read] returns.
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
