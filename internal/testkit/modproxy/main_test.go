package main

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tree writes files into a new git repository.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	_, err := output(root, "git", "init", "-q")
	require.NoError(t, err)
	return root
}

func example() map[string]string {
	return map[string]string{
		".gitignore":         "ignored\n",
		"ignored":            "x",
		"LICENSE":            "Do as you like.\n",
		"go.mod":             "module example.com/top\n\ngo 1.25.0\n",
		"top.go":             "// Package top is imported.\npackage top\n\n// Name is a name.\nconst Name = \"top\"\n",
		"sub/go.mod":         "module example.com/top/sub\n\ngo 1.25.0\n\nreplace example.com/top => ../\n\nrequire example.com/top v0.0.0\n",
		"sub/sub.go":         "// Package sub imports.\npackage sub\n\nimport \"example.com/top\"\n\n// Name is a name.\nconst Name = top.Name\n",
		"sub/testdata/x":     "x",
		"examples/go.mod":    "module example.com/top/examples\n\ngo 1.25.0\n",
		"scripts/a/go.mod":   "module example.com/top/scripts/a\n\ngo 1.25.0\n",
		"testdata/x/go.mod":  "module example.com/none\n\ngo 1.25.0\n",
		"deep/er/plain.text": "x",
	}
}

func TestAProgramCanUseTheModulesOfAProxy(t *testing.T) {
	t.Parallel()
	proxy := t.TempDir()
	require.NoError(t, run(io.Discard, tree(t, example()), "v1.2.3-check", proxy, false))

	program := tree(t, map[string]string{
		"go.mod":  "module program\n\ngo 1.25.0\n",
		"main.go": "package main\n\nimport \"example.com/top/sub\"\n\nfunc main() { print(sub.Name) }\n",
	})
	for _, args := range [][]string{
		{"get", "example.com/top/sub@v1.2.3-check"},
		{"build", "-o", filepath.Join(program, "program"), "."},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = program
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -modcacherw", "GOMODCACHE="+filepath.Join(program, "modules"),
			"GOPROXY=file://"+filepath.ToSlash(proxy), "GONOSUMDB=example.com", "CGO_ENABLED=0")
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %v: %s", args, text)
	}
	assert.FileExists(t, filepath.Join(program, "program"))
}

func TestAModuleHasItsOwnFiles(t *testing.T) {
	t.Parallel()
	proxy := t.TempDir()
	require.NoError(t, run(io.Discard, tree(t, example()), "v1.2.3", proxy, false))
	for dir, want := range map[string][]string{
		"example.com/top": {
			"example.com/top@v1.2.3/.gitignore", "example.com/top@v1.2.3/deep/er/plain.text", "example.com/top@v1.2.3/go.mod",
			"example.com/top@v1.2.3/LICENSE", "example.com/top@v1.2.3/top.go",
		},
		"example.com/top/sub": {
			"example.com/top/sub@v1.2.3/go.mod", "example.com/top/sub@v1.2.3/sub.go", "example.com/top/sub@v1.2.3/testdata/x",
			"example.com/top/sub@v1.2.3/LICENSE", // the repository's, as the go command does it
		},
	} {
		archive, err := zip.OpenReader(filepath.Join(proxy, dir, "@v", "v1.2.3.zip"))
		require.NoError(t, err)
		names := make([]string, 0, len(archive.File))
		for _, file := range archive.File {
			names = append(names, file.Name)
		}
		require.NoError(t, archive.Close())
		assert.ElementsMatch(t, want, names)
	}
	assert.NoDirExists(t, filepath.Join(proxy, "example.com/top/examples"))
	assert.NoDirExists(t, filepath.Join(proxy, "example.com/top/scripts"))
}

func TestAReleaseIsWrittenIntoTheTree(t *testing.T) {
	t.Parallel()
	root := tree(t, example())
	require.NoError(t, run(io.Discard, root, "v1.2.3", "", true))
	text, err := os.ReadFile(filepath.Join(root, "sub", "go.mod"))
	require.NoError(t, err)
	assert.Equal(t, "module example.com/top/sub\n\ngo 1.25.0\n\nrequire example.com/top v1.2.3\n", string(text))
}

func TestWhatCannotBeReleasedIsRefused(t *testing.T) {
	t.Parallel()
	foreign := example()
	foreign["sub/go.mod"] += "replace example.org/x => ../x\n"
	for want, c := range map[string]struct {
		files        map[string]string
		version, out string
		edit         bool
	}{
		"is not a version":          {files: example(), version: "1.2", out: t.TempDir()},
		"one of -o and -edit":       {files: example(), version: "v1.2.3"},
		"replaces example.org/x":    {files: foreign, version: "v1.2.3", out: t.TempDir()},
		"not a git repository":      {files: nil, version: "v1.2.3", out: t.TempDir()},
		"unknown directive: modulo": {files: map[string]string{"go.mod": "modulo x\n"}, version: "v1.2.3", out: t.TempDir()},
	} {
		root := t.TempDir()
		if c.files != nil {
			root = tree(t, c.files)
		}
		assert.ErrorContains(t, run(io.Discard, root, c.version, c.out, c.edit), want)
	}
}
