//go:build unix

package proxy

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/files"
)

// pipe returns the path of a named pipe. To open it would wait for somebody who writes.
func pipe(t *testing.T, path string) string {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// A pipe in the place of a file is an error, and nobody waits for it.
func TestPipesAreNotOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"the figures": {"-stats", pipe(t, filepath.Join(dir, "figures"))},
		"their lock":  {"-stats", filepath.Join(dir, "locked")},
	} {
		pipe(t, filepath.Join(dir, "locked.lock"))
		c := parsed(t, append(args, "-listen", "127.0.0.1:0")...)
		_, err := Start(t.Context(), c, loggerTo(newBuffer()))
		require.ErrorIs(t, err, files.ErrNotRegular, name)
		require.ErrorContains(t, err, "-stats: ")
		require.NoError(t, os.Remove(filepath.Join(dir, "locked.lock")))
	}
	_, err := parse("-settings", pipe(t, filepath.Join(dir, "settings")))
	require.ErrorIs(t, err, files.ErrNotRegular)
}

// The off switch works on, whatever is in the place of the file of settings.
func TestAPipeInThePlaceOfTheSettings(t *testing.T) {
	t.Parallel()
	path := fileOf(t, "max-attempts = 2\n")
	s := newScene(t, "-settings", path)
	require.NoError(t, os.Remove(path))
	pipe(t, path)
	s.control(t).obey(signalReload)
	assert.Contains(t, s.logs.String(), "the settings were not changed")
	s.control(t).obey(signalOff)
	assert.False(t, s.report(t).Settings.Continuing)
}
