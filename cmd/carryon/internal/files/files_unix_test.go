//go:build unix

package files_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/files"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, link, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink(pipe, link))
	require.NoError(t, os.WriteFile(file, []byte("hello"), 0o600))
	for _, path := range []string{pipe, link, dir, "/dev/zero", "/dev/stdin"} {
		_, err := files.Read(path, 10)
		require.ErrorIs(t, err, files.ErrNotRegular, path)
		require.ErrorContains(t, err, path)
	}
	_, err := files.Read(filepath.Join(dir, "none"), 10)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = files.Read(file, 4)
	require.EqualError(t, err, file+" is larger than 4 bytes")
	content, err := files.Read(file, 5)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(content))
}
