//go:build unix

package audit_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/audit"
)

// Reading a pipe would wait for somebody who writes.
func TestPipesAreNotRead(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, filepath.Dir(pipe)} {
		_, err := audit.Run(t.Context(), &audit.Config{Paths: []string{path}})
		require.ErrorIs(t, err, audit.ErrNoneThere)
	}
}

// Nor does a pipe beside a database keep anybody waiting: it is named.
func TestAPipeInThePlaceOfALog(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".local", "share", "opencode", "opencode.db")
	database, err := os.ReadFile("testdata/home/.local/share/opencode/opencode.db")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, database, 0o600))
	require.NoError(t, syscall.Mkfifo(path+"-wal", 0o600))
	report := run(t, home)
	require.Len(t, report.Unread, 1)
	assert.Equal(t, audit.Unread{Path: path, Why: path + "-wal is no regular file"}, report.Unread[0])
}

// A folder that cannot be read is named, and the rest is read.
func TestAFolderThatCannotBeRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root can read every folder")
	}
	home := t.TempDir()
	require.NoError(t, os.CopyFS(home, os.DirFS("testdata/home")))
	closed := []string{filepath.Join(home, ".qwen", "projects"), filepath.Join(home, ".claude", "projects", "-closed")}
	for _, dir := range closed {
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.Chmod(dir, 0))
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) }) //nolint:gosec // so that it can be removed
	}
	for _, report := range []*audit.Report{run(t, home), run(t, "", home)} {
		assert.Equal(t, 2, report.Agents["Claude Code"].Sessions)
		assert.ElementsMatch(t, []audit.Unread{{closed[0], "permission denied"}, {closed[1], "permission denied"}}, report.Unread)
	}
}
