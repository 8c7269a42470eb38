//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/files"
	"github.com/carryon-go/carryon/cmd/carryon/internal/tunnel"
)

// Nobody waits at a named pipe for authorities.
func TestAPipeInThePlaceOfTheAuthorities(t *testing.T) {
	path := filepath.Join(t.TempDir(), "authorities.pem")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	t.Setenv("SSL_CERT_FILE", path)
	require.ErrorIs(t, new(session).start(t.Context(), tunnel.Hosts{}), files.ErrNotRegular)
	for _, free := range []string{"", os.DevNull, t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		assert.NoError(t, checkAuthorities(func(string) string { return free }), free)
	}
}
