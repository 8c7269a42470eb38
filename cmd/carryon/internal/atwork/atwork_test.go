package atwork_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/atwork"
)

func TestPlaceOfTheRecord(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	dir := t.TempDir()
	assert.Empty(t, atwork.File(none, ""))
	assert.Equal(t, filepath.Join(dir, ".local", "state", "carryon", "continued.jsonl"), atwork.File(none, dir))
	assert.Equal(t, filepath.Join(dir, "carryon", "continued.jsonl"), atwork.File(func(string) string { return dir }, "/home/me"))
}

// The record does not grow for ever, and its newest lines stay.
func TestRecordIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "continued.jsonl")
	filler := make([]byte, 1<<20)
	for i := range filler {
		filler[i] = "x\n"[i%2]
	}
	require.NoError(t, os.WriteFile(path, filler, 0o600))
	now := time.Now()
	for i := range 3 {
		require.NoError(t, atwork.Add(path, []string{strconv.Itoa(i)}, now, now))
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(600<<10))
	continued, err := atwork.Read(path)
	require.NoError(t, err)
	for i := range 3 {
		assert.True(t, continued.Has(strconv.Itoa(i), time.Time{}, time.Time{}))
	}
}
