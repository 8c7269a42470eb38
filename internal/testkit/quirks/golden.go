package quirks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Goldens are the golden files: what clients read and what was sent.
type Goldens struct {
	// Dir is the folder testdata of this package.
	Dir string
	// Update makes Check write the files instead of comparing with them.
	Update bool
}

// maxGolden is the size limit of a golden file. Longer answers are long on
// purpose, and nobody would read their files.
const maxGolden = 16 << 10

// Check returns an error if a test's result differs from the golden file of
// that name.
func (g Goldens) Check(name, got string) error {
	if len(got) > maxGolden {
		return nil
	}
	path := filepath.Join(g.Dir, name)
	if g.Update {
		return os.WriteFile(path, []byte(got), 0o644) //nolint:gosec // a file of the repository, which anyone may read
	}
	want, err := os.ReadFile(path) //nolint:gosec // the path is the test's own
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no golden %s: look at what is new, then run the test with -update\ngot:\n%s", name, got)
	case err != nil:
		return err
	case string(want) != got:
		return fmt.Errorf("golden %s differs\nwant:\n%s\ngot:\n%s", name, want, got)
	}
	return nil
}

// Stale returns the golden files with the suffix that belong to no row.
func (g Goldens) Stale(suffix string) ([]string, error) {
	rows := map[string]bool{}
	for _, q := range All() {
		rows[q.Slug()+suffix] = true
	}
	paths, err := filepath.Glob(filepath.Join(g.Dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	var stale []string
	for _, path := range paths {
		if name := filepath.Base(path); !rows[name] {
			stale = append(stale, name)
		}
	}
	return stale, nil
}
