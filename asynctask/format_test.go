package asynctask

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/records"
)

var fewEnded = rules{history: 10, limit: Off}

// full returns an account in which every field is set.
func full(t require.TestingT) account {
	a := begun(t, "one", "two", "three")
	a, err := a.begin(record{ID: "four", Name: "four", Until: noon.Add(time.Hour)}, noon, unlimited)
	require.NoError(t, err)
	output := Message("done")
	output.EmittedVars = map[string]string{"name": "value"}
	a, _, err = a.end("one", completed(output), noon.Add(time.Minute), fewEnded)
	require.NoError(t, err)
	a, d := delivered(a, 1)
	d.Anchor = delivery.Anchor{Message: 3, Digest: 5}
	a = a.settle(d, delivery.Repeat, fewEnded)
	a, d = delivered(a, 2)
	a = a.settle(d, delivery.Read, fewEnded)
	a, _, err = a.end("two", failed(errors.New("broken")), noon.Add(2*time.Minute), fewEnded)
	require.NoError(t, err)
	long := &result{State: Completed, LeftOut: 2, Texts: []excerpt{{Name: messageName, Head: "begin", Tail: "end", Cut: 7}}}
	a, _, err = a.end("three", long.measured(), noon.Add(3*time.Minute), fewEnded)
	require.NoError(t, err)
	a, _ = delivered(a, 3)
	return a
}

// says collects the fields that are set in a value, nested ones included.
func says(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			says(v.Elem(), set)
		}
	case reflect.Slice:
		for i := range v.Len() {
			says(v.Index(i), set)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			name := v.Type().Name() + "." + field.Name
			if field.Tag.Get("json") != "-" {
				set[name] = set[name] || !v.Field(i).IsZero()
			}
			says(v.Field(i), set)
		}
	}
}

// All later versions must read what this version writes: a change of the golden file
// needs a new version of the format.
func TestFormatOfRecords(t *testing.T) {
	t.Parallel()
	a := full(t)
	set := map[string]bool{}
	says(reflect.ValueOf(a), set)
	for field, isSet := range set {
		assert.True(t, isSet, "%s: the golden file says nothing of it", field)
	}

	path := filepath.Join("testdata", "account-v1.txt")
	record, err := format().Encode(a)
	require.NoError(t, err)
	if flag.Lookup("update").Value.String() == "true" { // that of package asynctask_test
		require.NoError(t, os.WriteFile(path, record, 0o644)) //nolint:gosec // as the other golden files
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(record))

	var read account
	require.NoError(t, format().Decode(want, &read))
	read = read.with(read.Tasks)
	for i := range a.Tasks {
		if a.Tasks[i].Result != nil {
			stripped := *a.Tasks[i].Result
			stripped.Err = nil // stays in its process
			a.Tasks[i].Result = &stripped
		}
	}
	assert.Equal(t, a, read)
}

func TestRecordsOfNewerVersionsAreRefused(t *testing.T) {
	t.Parallel()
	engine := records.NewMemoryEngine()
	newer := format()
	newer.Version++
	record, err := newer.Encode(map[string]int{"Novelty": 1})
	require.NoError(t, err)
	key := format().Key("a")
	write := func(_ time.Time, _ []byte) ([]byte, time.Duration, error) { return record, time.Hour, nil }
	require.NoError(t, engine.Update(t.Context(), key, write))

	m := NewManager(WithRecords(engine))
	_, err = m.Tasks(t.Context(), "a")
	require.ErrorIs(t, err, records.ErrNewer)
	require.ErrorIs(t, m.Finish(t.Context(), Ticket{Session: "a", ID: "x"}, nil), records.ErrNewer)
	require.NoError(t, engine.Update(t.Context(), key, func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
		assert.Equal(t, record, old, "it is as it was")
		return old, time.Hour, nil
	}))
}
