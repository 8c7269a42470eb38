package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newSandbox returns a sandbox with a secret beside it.
func newSandbox(t *testing.T) (files *sandbox, beside string) {
	t.Helper()
	beside = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(beside, "secret.txt"), []byte("secret"), 0o600))
	files, err := openSandbox(filepath.Join(beside, "box"))
	require.NoError(t, err)
	t.Cleanup(files.close)
	return files, beside
}

func TestFilesAreWrittenAndRead(t *testing.T) {
	t.Parallel()
	files, beside := newSandbox(t)
	require.NoError(t, files.write("a/b/c.txt", "one"))
	require.NoError(t, files.write("a/b/c.txt", "two"))
	text, broken, err := files.read("a/b/c.txt")
	require.NoError(t, err)
	assert.Equal(t, "two", text)
	assert.False(t, broken)
	data, err := os.ReadFile(filepath.Join(beside, "box", "a", "b", "c.txt"))
	require.NoError(t, err)
	assert.Equal(t, "two", string(data))
	names, err := files.list("")
	require.NoError(t, err)
	assert.Equal(t, []string{"a/b/c.txt"}, names)
}

func TestNothingIsReachedOutsideOfTheFolder(t *testing.T) {
	t.Parallel()
	files, beside := newSandbox(t)
	box := filepath.Join(beside, "box")
	require.NoError(t, os.Symlink(filepath.Join(beside, "secret.txt"), filepath.Join(box, "link.txt")))
	require.NoError(t, os.Symlink("../secret.txt", filepath.Join(box, "relative.txt")))
	require.NoError(t, os.Symlink(beside, filepath.Join(box, "up")))
	paths := []string{
		"", "..", "../secret.txt", "a/../../secret.txt", filepath.Join(beside, "secret.txt"), "/etc/passwd",
		"link.txt", "relative.txt", "up/secret.txt", "up/new.txt",
	}
	for _, path := range paths {
		text, _, err := files.read(path)
		require.ErrorIs(t, err, errOutside, path)
		assert.Empty(t, text)
		err = files.write(path, "overwritten")
		require.ErrorIs(t, err, errOutside, path)
		assert.NotContains(t, err.Error(), box, "the error does not reveal the folder's path")
	}
	_, err := files.list("..")
	require.ErrorIs(t, err, errOutside)
	data, err := os.ReadFile(filepath.Join(beside, "secret.txt"))
	require.NoError(t, err)
	assert.Equal(t, "secret", string(data))
	entries, err := os.ReadDir(beside)
	require.NoError(t, err)
	assert.Len(t, entries, 2)
}

func TestFilesThatCannotBeUsedAreRefused(t *testing.T) {
	t.Parallel()
	files, beside := newSandbox(t)
	require.NoError(t, os.Mkdir(filepath.Join(beside, "box", "folder"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(beside, "box", "huge.txt"), make([]byte, 10<<20), 0o600))
	for path, want := range map[string]string{
		"folder":    "folder is a folder",
		"huge.txt":  "huge.txt has 10240 KiB; files of up to 64 KiB can be used",
		"not/there": "not/there: no such file or directory",
	} {
		_, _, err := files.read(path)
		require.EqualError(t, err, want)
	}
	require.EqualError(t, files.write("new.txt", strings.Repeat("x", maxFile+1024)), "new.txt would have 65 KiB; a file has at most 64 KiB")
	require.EqualError(t, files.write("folder", "x"), "folder is a folder")
	require.EqualError(t, files.write("huge.txt", "x"), "huge.txt has 10240 KiB; files of up to 64 KiB can be used")
}

func TestBytesThatAreNotUTF8AreReplaced(t *testing.T) {
	t.Parallel()
	files, beside := newSandbox(t)
	require.NoError(t, os.WriteFile(filepath.Join(beside, "box", "latin1.txt"), []byte("caf\xe9"), 0o600))
	text, broken, err := files.read("latin1.txt")
	require.NoError(t, err)
	assert.True(t, broken)
	assert.Equal(t, "caf\ufffd", text)
}

func TestLongListsAreBounded(t *testing.T) {
	t.Parallel()
	files, beside := newSandbox(t)
	for i := range maxFiles + 5 {
		require.NoError(t, os.WriteFile(filepath.Join(beside, "box", strings.Repeat("x", i+1)), nil, 0o600))
	}
	names, err := files.list(".")
	require.NoError(t, err)
	assert.Len(t, names, maxFiles)
}

func TestSandboxIsANewFolderUnlessNamed(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	files, err := openSandbox("")
	require.NoError(t, err)
	defer files.close()
	assert.DirExists(t, files.dir)
	assert.Contains(t, files.dir, "carryon-chat-")

	notAFolder := filepath.Join(files.dir, "file")
	require.NoError(t, os.WriteFile(notAFolder, nil, 0o600))
	_, err = openSandbox(notAFolder)
	require.Error(t, err)
}
