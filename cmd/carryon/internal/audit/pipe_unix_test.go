//go:build unix

package audit_test

import (
	"path/filepath"
	"syscall"
	"testing"

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
