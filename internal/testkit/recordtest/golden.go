// Package recordtest checks how values are encoded as records.
package recordtest

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/records"
)

// Golden checks that the value is encoded exactly as in
// testdata/<kind>-v<version>.record, and that this file is decoded to the value
// again. No field of the value may be zero: a field that is added to the type
// must also be added here, with a new version if this one has been released.
func Golden[V any](t *testing.T, format recordtable.Format, value V) {
	t.Helper()
	requireFull(t, reflect.ValueOf(value), reflect.TypeFor[V]().Name())
	encoded, err := format.Encode(value)
	require.NoError(t, err)
	name := strings.NewReplacer("carryon/", "", "/", "-v").Replace(strings.Fields(string(encoded))[0])
	golden, err := os.ReadFile(filepath.Join("testdata", name+".record"))
	require.NoError(t, err, "the record is now:\n%s", encoded)
	assert.Equal(t, strings.TrimSpace(string(golden)), string(encoded))

	var decoded V
	require.NoError(t, format.Decode(encoded, &decoded))
	assert.Equal(t, value, decoded)

	newer := recordtable.Format{Kind: format.Kind, Version: format.Version + 1}
	encoded, err = newer.Encode(value)
	require.NoError(t, err)
	require.ErrorIs(t, format.Decode(encoded, &decoded), records.ErrNewer)
}

// requireFull fails if something in v is zero.
func requireFull(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	require.False(t, v.IsZero(), "%s is not set", path)
	if _, isTime := reflect.TypeAssert[time.Time](v); isTime {
		return
	}
	switch v.Kind() { //nolint:exhaustive // the rest has no parts
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				requireFull(t, v.Field(i), path+"."+field.Name)
			}
		}
	case reflect.Slice, reflect.Array:
		require.Positive(t, v.Len(), "%s is empty", path)
		requireFull(t, v.Index(0), path+"[0]")
	case reflect.Pointer:
		requireFull(t, v.Elem(), path)
	}
}
