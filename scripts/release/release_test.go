package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const top = "github.com/carryon-go/example"

// files returns a small repository with all that a release looks at: two libraries, the command, and an example that is
// not published.
func files() map[string]string {
	return map[string]string{
		".gitignore":          "ignored.go\n",
		"LICENSE":             "Do as you like.\n",
		"README.md":           "# Example\n\n<!-- until the first release -->\nThere is no release.\n<!-- end -->\n<!-- from the first release\nThere are releases.\n-->\n",
		"docs/guide.md":       "# Guide\n",
		"CHANGELOG.md":        "# Changelog\n\n## [Unreleased]\n\nThe first one.\n",
		"go.mod":              "module " + top + "\n\ngo 1.25.0\n",
		"top.go":              "// Package example is imported.\npackage example\n\n// Name is a name.\nconst Name = \"top\"\n",
		"stores/one/go.mod":   "module " + top + "/stores/one\n\ngo 1.25.0\n\nreplace " + top + " => ../..\n\nrequire " + top + " v0.0.0\n",
		"stores/one/one.go":   "// Package one imports.\npackage one\n\nimport example \"" + top + "\"\n\n// Name is a name.\nconst Name = example.Name\n",
		"examples/go.mod":     "module " + top + "/examples\n\ngo 1.25.0\n",
		"examples/example.go": "// Package examples is not published.\npackage examples\n\n// Name is a name.\nconst Name = \"example\"\n",
		"cmd/carryon/go.mod": "module " + top + "/cmd/carryon\n\ngo 1.25.0\n\nrequire (\n\t" + top + " v0.0.0\n\t" +
			top + "/stores/one v0.0.0\n)\n",
		"cmd/carryon/main.go": `package main

import (
	"fmt"
	"runtime/debug"

	"` + top + `/stores/one"
)

func main() {
	info, _ := debug.ReadBuildInfo()
	fmt.Println("carryon", info.Main.Version, one.Name)
}
`,
		"cmd/carryon/carryon.service": "[Service]\n",
		"cmd/carryon/Dockerfile":      dockerfile("COPY carryon /usr/local/bin/carryon", licences, "USER nonroot"),
	}
}

const licences = "COPY LICENSE THIRD_PARTY_NOTICES.txt /usr/share/doc/carryon/"

func dockerfile(lines ...string) string {
	return "FROM gcr.io/distroless/static\n" + strings.Join(lines, "\n") + "\nENTRYPOINT [\"/usr/local/bin/carryon\"]\n"
}

// repository commits files, some of them changed. An empty text removes a file.
func repository(t *testing.T, changes map[string]string) *release {
	t.Helper()
	root, work := t.TempDir(), t.TempDir()
	all := files()
	maps.Copy(all, changes)
	for name, text := range all {
		if text == "" {
			continue
		}
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	tools, err := filepath.Abs(".")
	require.NoError(t, err)
	git(t, root, "init", "-q", "-b", "main")
	git(t, root, "add", "--all")
	git(t, root, "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "all")
	return &release{root: root, version: "v0.1.0", date: time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC), work: work, tools: tools, out: t.Output()}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	text, err := output(t.Context(), dir, nil, "git", args...)
	require.NoError(t, err)
	return string(text)
}

func TestAReleaseIsRehearsed(t *testing.T) {
	t.Parallel()
	r := repository(t, nil)
	var said bytes.Buffer
	r.out = &said
	require.NoError(t, os.WriteFile(filepath.Join(r.root, "new.go"), []byte("package example\n"), 0o600))
	require.NoError(t, r.check(t.Context()))
	assert.Contains(t, said.String(), "not committed")
	assert.Equal(t, 5, strings.Count(said.String(), "ok  "))
	assert.Empty(t, git(t, r.root, "tag"), "a rehearsal leaves the repository alone")

	clone, dist := filepath.Join(r.work, "clone"), filepath.Join(r.work, "dist")
	assert.Equal(t, "cmd/carryon/v0.1.0\nstores/one/v0.1.0\nv0.1.0\n", git(t, clone, "tag"))
	mod, err := os.ReadFile(filepath.Join(clone, "cmd/carryon/go.mod"))
	require.NoError(t, err)
	assert.Equal(t, "module "+top+"/cmd/carryon\n\ngo 1.25.0\n\nrequire (\n\t"+top+" v0.1.0\n\t"+top+"/stores/one v0.1.0\n)\n", string(mod))
	readme, err := os.ReadFile(filepath.Join(clone, "README.md"))
	require.NoError(t, err)
	assert.Equal(t, "# Example\n\nThere are releases.\n", string(readme))
	changelog, err := os.ReadFile(filepath.Join(clone, "CHANGELOG.md"))
	require.NoError(t, err)
	assert.Equal(t, "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2030-01-02\n\nThe first one.\n", string(changelog))

	entries, err := os.ReadDir(dist)
	require.NoError(t, err)
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	assert.Equal(t, []string{
		"carryon_0.1.0_darwin_amd64.cdx.json", "carryon_0.1.0_darwin_amd64.tar.gz",
		"carryon_0.1.0_darwin_arm64.cdx.json", "carryon_0.1.0_darwin_arm64.tar.gz",
		"carryon_0.1.0_linux_amd64.cdx.json", "carryon_0.1.0_linux_amd64.tar.gz",
		"carryon_0.1.0_linux_arm64.cdx.json", "carryon_0.1.0_linux_arm64.tar.gz",
		"carryon_0.1.0_windows_amd64.cdx.json", "carryon_0.1.0_windows_amd64.zip",
		"checksums.txt", "notes.md",
	}, names)
	tamperedWith(t, r, dist)
}

// tamperedWith changes what was built, one thing after the other, and expects that each is found.
func tamperedWith(t *testing.T, r *release, dist string) {
	t.Helper()
	c := *r
	c.root = filepath.Join(r.work, "clone")
	require.NoError(t, c.verify(t.Context(), dist))
	for want, tamper := range map[string]func(){
		"has another checksum": func() { appendTo(t, dist, "carryon_0.1.0_linux_arm64.tar.gz") },
		"checksums.txt has no carryon_0.1.0_darwin_arm64.tar.gz": func() {
			require.NoError(t, os.Remove(filepath.Join(dist, "carryon_0.1.0_darwin_arm64.tar.gz")))
			require.NoError(t, writeChecksums(dist))
		},
		"does not name " + top: func() {
			require.NoError(t, os.WriteFile(filepath.Join(dist, "carryon_0.1.0_linux_amd64.cdx.json"), []byte(`{}`), 0o600))
			require.NoError(t, writeChecksums(dist))
		},
		"built with GOARCH=amd64, not arm64": func() {
			require.NoError(t, os.Rename(filepath.Join(dist, "carryon_0.1.0_darwin_amd64.tar.gz"), filepath.Join(dist, "carryon_0.1.0_darwin_arm64.tar.gz")))
			require.NoError(t, os.WriteFile(filepath.Join(dist, "carryon_0.1.0_darwin_amd64.tar.gz"), archiveOf(t, dist, "darwin_arm64"), 0o600))
			require.NoError(t, writeChecksums(dist))
		},
		"it has no LICENSE": func() {
			binary := filepath.Join(r.work, "gopath", "bin", "linux_arm64", "carryon")
			require.NoError(t, pack(filepath.Join(dist, "carryon_0.1.0_linux_arm64.tar.gz"), []packed{{"carryon", binary, 0o755}}, time.Time{}))
			require.NoError(t, writeChecksums(dist))
		},
	} {
		copied := filepath.Join(t.TempDir(), "dist")
		require.NoError(t, os.CopyFS(copied, os.DirFS(dist)))
		tamper()
		require.ErrorContains(t, c.verify(t.Context(), dist), want)
		require.NoError(t, os.RemoveAll(dist))
		require.NoError(t, os.CopyFS(dist, os.DirFS(copied)))
	}
	c.version = "v0.2.0"
	require.Error(t, c.verify(t.Context(), dist), "of another version")
}

func archiveOf(t *testing.T, dist, platform string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dist, "carryon_0.1.0_"+platform+".tar.gz"))
	require.NoError(t, err)
	return text
}

func appendTo(t *testing.T, dist, name string) {
	t.Helper()
	file := filepath.Join(dist, name)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(text, 0), 0o600))
}

// Each of these would break the release for somebody.
func TestWhatUsersWouldMeetIsFound(t *testing.T) {
	t.Parallel()
	all := files()
	for name, c := range map[string]struct {
		changes map[string]string
		version string
		want    string
	}{
		"the changelog says nothing":       {changes: map[string]string{"CHANGELOG.md": "## [Unreleased]\n"}, want: "CHANGELOG.md has nothing to say about v0.1.0"},
		"the changelog has no heading":     {changes: map[string]string{"CHANGELOG.md": "All is new.\n"}, want: `has no heading "## [Unreleased]"`},
		"a mark has no end":                {changes: map[string]string{"docs/guide.md": "<!-- until the first release -->\n"}, want: "has no end"},
		"a hidden text has no end":         {changes: map[string]string{"docs/guide.md": "<!-- from the first release\n"}, want: "has no end"},
		"the version is none":              {version: "0.1", want: `"0.1" is no version`},
		"a module of others is replaced":   {changes: map[string]string{"go.mod": all["go.mod"] + "\nreplace example.org/x => ../x\n"}, want: "replaces example.org/x"},
		"a module that is not published":   {changes: uses("examples"), want: top + "/examples"},
		"a file that git ignores":          {changes: map[string]string{"top.go": "package example\n", "ignored.go": "package example\n\nconst Name = \"\"\n"}, want: "undefined: example.Name"},
		"names that differ in case":        {changes: map[string]string{"TOP.go": "package example\n"}, want: "case-insensitive file name collision"},
		"a module that needs cgo":          {changes: map[string]string{"stores/one/one.go": "package one\n\nimport \"C\"\n\nconst Name = \"\"\n"}, want: "build constraints exclude"},
		"it does not compile on Windows":   {changes: map[string]string{"cmd/carryon/w_windows.go": "package main\n\nvar _ int = \"\"\n"}, want: "windows/amd64"},
		"the program says another version": {changes: map[string]string{"cmd/carryon/main.go": strings.Replace(all["cmd/carryon/main.go"], "info.Main.Version", `info.Path`, 1)}, want: "the program says that it is"},
		"there is no licence":              {changes: map[string]string{"LICENSE": ""}, want: "LICENSE"},
		"there is no unit":                 {changes: map[string]string{"cmd/carryon/carryon.service": ""}, want: "carryon.service"},
		"the image copies what is missing": {changes: image("COPY carryon config /etc/", "USER nonroot"), want: "copies config, which is not in the build context"},
		"the image starts something else":  {changes: image("COPY carryon /bin/carryon", "USER nonroot"), want: "is not what it copies"},
		"the image has no notices":         {changes: image("COPY carryon LICENSE /usr/local/bin/", "USER nonroot"), want: "has no THIRD_PARTY_NOTICES.txt"},
		"the image runs as root":           {changes: image("COPY carryon /usr/local/bin/carryon", licences), want: "runs as root"},
		"an instruction is none":           {changes: image("COPIES carryon /usr/local/bin/carryon"), want: "unknown instruction: COPIES"},
		"an instruction is deprecated":     {changes: image("COPY carryon /usr/local/bin/carryon", licences, "USER nonroot", "MAINTAINER us"), want: "MaintainerDeprecated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := repository(t, c.changes)
			if c.version != "" {
				r.version = c.version
			}
			require.ErrorContains(t, r.check(t.Context()), c.want)
		})
	}
}

// uses has the library import a package of the repository.
func uses(module string) map[string]string {
	return map[string]string{
		"stores/one/go.mod": files()["stores/one/go.mod"] + fmt.Sprintf("\nreplace %[1]s/%[2]s => ../../%[2]s\n\nrequire %[1]s/%[2]s v0.0.0\n", top, module),
		"stores/one/one.go": fmt.Sprintf("package one\n\nimport \"%s/%s\"\n\nconst Name = %s.Name\n", top, module, module),
	}
}

func image(lines ...string) map[string]string {
	return map[string]string{"cmd/carryon/Dockerfile": dockerfile(lines...)}
}

// What users see differs from what go.sum says: an upload was changed after the tag.
func TestASumThatIsWrongIsFound(t *testing.T) {
	t.Parallel()
	r := repository(t, nil)
	tags, err := r.prepare(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(r.root, "top.go"), []byte(files()["top.go"]+"\n// Changed.\n"), 0o600))
	require.NoError(t, r.tag(t.Context(), tags))
	require.ErrorContains(t, r.tryClone(t.Context(), tags), "checksum mismatch")
}

func TestAVersionIsReleasedOnce(t *testing.T) {
	t.Parallel()
	r := repository(t, nil)
	git(t, r.root, "tag", "v0.1.0")
	require.ErrorContains(t, r.check(t.Context()), "v0.1.0 is not newer than the release v0.1.0")
}

func TestWrongUseIsExplained(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"which of check, prepare, build and notices?": nil,
		`there is no "publish"`:                       {"publish"},
		"build needs -o":                              {"build"},
		"notices needs -o":                            {"notices"},
	} {
		require.ErrorContains(t, run(t.Context(), args, t.Output()), want)
	}
}
