package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// module writes the files of a module and returns its folder.
func module(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return dir
}

func TestNoticesHaveTheLicencesOfWhatIsCompiled(t *testing.T) {
	t.Parallel()
	one := module(t, map[string]string{
		"LICENSE": "Permissive.\n", "NOTICE": "By one.\n", "license.go": "package one\n", "LICENSES.md/README": "no file",
		"fast/copied/COPYING.txt": "Copied.\n", "fast/copied/c.go": "", "unused/LICENSE": "Not compiled.\n",
	})
	two := module(t, map[string]string{"LICENCE.md": "Permissive.\n", "license-apache": "Other.\n", "PATENTS": "Granted.\n"})
	got, err := noticesOf([]dependency{
		{"example.com/one v1.0.0", filepath.Join(one, "fast", "copied"), one},
		{"example.com/one v1.0.0", one, one},
		{"example.com/two v2.0.0", two, two},
	})
	require.NoError(t, err)
	line := strings.Repeat("=", 80)
	assert.Equal(t, "carryon contains the following software, under these licences.\n"+
		"\n"+line+"\nexample.com/one v1.0.0: fast/copied/COPYING.txt\n\nCopied.\n"+
		"\n"+line+"\nexample.com/one v1.0.0: LICENSE\nexample.com/two v2.0.0: LICENCE.md\n\nPermissive.\n"+
		"\n"+line+"\nexample.com/one v1.0.0: NOTICE\n\nBy one.\n"+
		"\n"+line+"\nexample.com/two v2.0.0: PATENTS\n\nGranted.\n"+
		"\n"+line+"\nexample.com/two v2.0.0: license-apache\n\nOther.\n", got)

	bare := module(t, map[string]string{"LICENSE": "\n", "unused/LICENSE": "Not compiled.\n"})
	_, err = noticesOf([]dependency{{"example.com/bare v1.0.0", bare, bare}})
	require.EqualError(t, err, "example.com/bare v1.0.0 has no licence")
}

func TestNoticesNameAllOfAProgram(t *testing.T) {
	t.Parallel()
	r := repository(t, nil)
	info := &debug.BuildInfo{GoVersion: "go1.2", Deps: []*debug.Module{
		{Path: top + "/stores/one", Version: "v0.1.0"},
		{Path: "example.com/one", Version: "v1.0.0"},
		{Path: "example.com/two", Version: "v2.0.0"},
	}}
	require.NoError(t, r.verifyNotices("\nGo go1.2: LICENSE\nexample.com/one v1.0.0: LICENSE\nexample.com/two v2.0.0: COPYING\n", info))
	require.EqualError(t, r.verifyNotices("\nGo go1.2: LICENSE\nexample.com/one v1.0.1: LICENSE\nexample.com/two v2.0.0: COPYING\n", info),
		"THIRD_PARTY_NOTICES.txt does not name example.com/one v1.0.0")
	require.ErrorContains(t, r.verifyNotices("", info), "does not name Go go1.2")
}

// The notices of the real command, from the working tree, name what its program contains.
func TestNoticesOfTheCommand(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	r := &release{root: root, tools: ".", work: t.TempDir(), out: t.Output()}
	dir := t.TempDir()
	require.NoError(t, r.writeNotices(t.Context(), dir))
	text, err := os.ReadFile(filepath.Join(dir, noticesFile))
	require.NoError(t, err)
	for _, module := range []string{"Go go1", "github.com/redis/go-redis/v9 v", "go.yaml.in/yaml/v2 v", "github.com/klauspost/compress v"} {
		assert.Contains(t, string(text), "\n"+module)
	}
	assert.Contains(t, string(text), ": zstd/internal/xxhash/LICENSE.txt\n", "a package with a licence of its own")
	assert.NotContains(t, string(text), "github.com/carryon-go/carryon")
}
