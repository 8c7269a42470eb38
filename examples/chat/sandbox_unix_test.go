//go:build unix

package main

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPipesAreRefused(t *testing.T) {
	t.Parallel()
	files, beside := newSandbox(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(beside, "box", "pipe"), 0o600))
	_, _, err := files.read("pipe")
	require.EqualError(t, err, "pipe is not an ordinary file")
	require.EqualError(t, files.write("pipe", "x"), "pipe is not an ordinary file")
}
