package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The command is installed as a user would, from a module proxy made of this
// repository, without a workspace. With -trimpath, what was built stays in the
// cache for the next time.
func TestInstall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds every dependency anew")
	}
	if _, err := os.Stat("../../internal/testkit/modproxy"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the repository is needed: this is the module alone, as it is published")
	}
	const version = "v0.0.0-test"
	dir := t.TempDir()
	run := func(in string, env []string, command ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), command[0], command[1:]...)
		c.Dir, c.Env = in, append(os.Environ(), env...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	cache := run(".", nil, "go", "env", "GOMODCACHE")
	run("../..", []string{"CGO_ENABLED=0"}, "go", "run", "./internal/testkit/modproxy", "-version", version, "-o", filepath.Join(dir, "proxy"))
	run(dir, []string{
		"GOBIN=" + dir, "GOWORK=off", "GOFLAGS=-modcacherw -trimpath", "GOMODCACHE=" + filepath.Join(dir, "modules"), "GOSUMDB=off", "CGO_ENABLED=0",
		"GOPROXY=file://" + filepath.Join(dir, "proxy") + ",file://" + filepath.Join(cache, "cache", "download"),
	}, "go", "install", "github.com/carryon-go/carryon/cmd/carryon@latest")
	assert.Contains(t, run(dir, nil, filepath.Join(dir, "carryon"), "version"), "carryon "+version+" ")
}
