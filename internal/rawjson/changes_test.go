package rawjson_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/rawjson"
)

func TestWith(t *testing.T) {
	t.Parallel()
	one, two := []byte("1"), []byte("2")
	for name, c := range map[string]struct {
		object  string
		changes []rawjson.Change
		want    string
	}{
		"nothing":                        {`{"a":1.50,"b": {"c" : 2}}`, nil, `{"a":1.50,"b":{"c" : 2}}`},
		"a member":                       {`{"a":0,"b":"é"}`, []rawjson.Change{rawjson.Set("a", one)}, `{"a":1,"b":"é"}`},
		"a missing member":               {`{"b":0}`, []rawjson.Change{rawjson.Set("a", one), rawjson.Set("c", two)}, `{"b":0,"a":1,"c":2}`},
		"the last of several changes":    {`{"a":0}`, []rawjson.Change{rawjson.Set("a", one), rawjson.Set("a", two)}, `{"a":2}`},
		"a missing one, twice":           {`{}`, []rawjson.Change{rawjson.Set("a", one), rawjson.Set("a", two)}, `{"a":2}`},
		"only if it is there":            {`{"b":0}`, []rawjson.Change{rawjson.Replace("a", one), rawjson.Replace("b", two)}, `{"b":2}`},
		"removed":                        {`{"a":0,"b":0,"a":3}`, []rawjson.Change{rawjson.Remove("a")}, `{"b":0}`},
		"set to nothing":                 {`{"a":0,"b":0}`, []rawjson.Change{rawjson.Set("b", nil)}, `{"a":0}`},
		"of several members one stays":   {`{"a":0,"b":0,"a":3}`, []rawjson.Change{rawjson.Set("a", one)}, `{"a":1,"b":0}`},
		"several that are not changed":   {`{"a":0,"a":3}`, []rawjson.Change{rawjson.Set("b", one)}, `{"a":0,"a":3,"b":1}`},
		"a name in escapes":              {`{"\u0061":0}`, []rawjson.Change{rawjson.Set("a", one)}, `{"a":1}`},
		"no object":                      {"", []rawjson.Change{rawjson.Set("a", one)}, `{"a":1}`},
		"something other than an object": {`[1]`, []rawjson.Change{rawjson.Set("a", one)}, `{"a":1}`},
		"half an object":                 {`{"b":0,"c"`, []rawjson.Change{rawjson.Set("b", one)}, `{"b":0,"c"`},
	} {
		object := []byte(c.object)
		assert.Equal(t, c.want, string(rawjson.With(object, c.changes...)), name)
		assert.Equal(t, c.object, string(object), name)
	}
}

// Many changes are found by their names.
func TestWithManyChanges(t *testing.T) {
	t.Parallel()
	var changes []rawjson.Change
	for i := range 2 * rawjson.FewChanges {
		changes = append(changes, rawjson.Set(fmt.Sprint("m", i%12), fmt.Append(nil, i)))
	}
	assert.Equal(t, `{"x":0,"m3":15,"m4":4,"m5":5,"m6":6,"m7":7,"m8":8,"m9":9,"m10":10,"m11":11,"m0":12,"m1":13,"m2":14}`,
		string(rawjson.With([]byte(`{"x":0,"m3":"old"}`), changes...)))
}
