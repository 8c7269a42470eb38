package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// pinned is an action by its commit, or an image by its digest. People read the tag.
var pinned = regexp.MustCompile(`uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$|FROM [\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$`)

// A tag can be moved to other code, a digest cannot.
func TestActionsAndImagesAreDigests(t *testing.T) {
	t.Parallel()
	workflows, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	require.NoError(t, err)
	require.NotEmpty(t, workflows)
	var uses []string
	for _, file := range append(workflows, filepath.Join(root, "cmd", "carryon", "Dockerfile")) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		uses = append(uses, regexp.MustCompile(`(?m)(?:uses:|^FROM) .*`).FindAllString(string(text), -1)...)
	}
	require.NotEmpty(t, uses)
	for _, use := range uses {
		assert.Regexp(t, pinned, use)
	}
}

// GitHub refuses a workflow that has a key twice, as the parser does.
func TestWorkflowsAreYAML(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, ".github", "*", "*.yml"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var workflow any
		assert.NoError(t, yaml.Unmarshal(text, &workflow), file)
	}
}

// What pins a dependency is a folder that Dependabot looks into.
func TestEveryDependencyIsUpdated(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, ".github", "dependabot.yml"))
	require.NoError(t, err)
	var config struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directory   string
			Directories []string
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	updated := map[string][]string{}
	for _, u := range config.Updates {
		for _, dir := range append(u.Directories, u.Directory) {
			if dir != "" {
				updated[u.Ecosystem] = append(updated[u.Ecosystem], dir)
			}
		}
		slices.Sort(updated[u.Ecosystem])
	}
	assert.Equal(t, foldersThatPin(t), updated)
}

// foldersThatPin returns the folders with a file that pins dependencies, by Dependabot's name for its kind.
func foldersThatPin(t *testing.T) map[string][]string {
	t.Helper()
	kinds := map[string]string{"go.mod": "gomod", "package.json": "npm", "Dockerfile": "docker"}
	folders := map[string][]string{"github-actions": {"/"}}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules"):
			return fs.SkipDir
		case !entry.IsDir() && kinds[base] != "":
			folders[kinds[base]] = append(folders[kinds[base]], path.Join("/", path.Dir(name)))
		}
		return nil
	}))
	for _, dirs := range folders {
		slices.Sort(dirs)
	}
	return folders
}
