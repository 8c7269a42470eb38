package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
)

// prepare writes the version into the changelog, the documents, and each go.mod and go.sum, and returns the tags.
func (r *release) prepare(ctx context.Context) (tags []string, err error) {
	if err := r.checkVersion(ctx); err != nil {
		return nil, err
	}
	if err := r.writeChangelog(); err != nil {
		return nil, err
	}
	if err := r.writeDocuments(); err != nil {
		return nil, err
	}
	listed, err := r.modproxy(ctx, "-edit")
	if err != nil {
		return nil, err
	}
	tags = strings.Fields(string(listed))
	// A go.sum has a hash of other modules, which contain a go.sum of their own. After as many rounds as there are
	// modules, all are right.
	for range tags {
		changed, err := r.writeSums(ctx, tags)
		if err != nil {
			return nil, err
		}
		if !changed {
			return tags, nil
		}
	}
	return nil, errors.New("the modules require each other in a circle")
}

// checkVersion returns an error unless the version is newer than every release.
func (r *release) checkVersion(ctx context.Context) error {
	if !semver.IsValid(r.version) || semver.Canonical(r.version) != r.version {
		return fmt.Errorf("%q is no version like v0.1.0", r.version)
	}
	tags, err := output(ctx, r.root, nil, "git", "tag", "--list", "v*")
	if err != nil {
		return err
	}
	for tag := range strings.FieldsSeq(string(tags)) {
		if semver.Compare(tag, r.version) >= 0 {
			return fmt.Errorf("%s is not newer than the release %s", r.version, tag)
		}
	}
	return nil
}

// modproxy runs the command that knows the modules of a repository.
func (r *release) modproxy(ctx context.Context, args ...string) ([]byte, error) {
	args = append([]string{"run", "./internal/testkit/modproxy", "-root", r.root, "-version", r.version}, args...)
	return output(ctx, filepath.Join(r.tools, "..", ".."), []string{"CGO_ENABLED=0"}, "go", args...)
}

// writeSums writes the hashes of the repository's modules into each go.sum, and reports whether one has changed.
func (r *release) writeSums(ctx context.Context, tags []string) (changed bool, err error) {
	proxy, err := os.MkdirTemp(r.work, "proxy")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(proxy) //nolint:errcheck // a temporary folder
	if _, err := r.modproxy(ctx, "-o", proxy); err != nil {
		return false, err
	}
	own := make(map[string]bool)
	for _, tag := range tags {
		module, err := modulePath(r.dirOf(tag))
		if err != nil {
			return false, err
		}
		own[module] = true
	}
	for _, tag := range tags {
		wrote, err := r.writeSum(r.dirOf(tag), proxy, own)
		if err != nil {
			return false, err
		}
		changed = changed || wrote
	}
	return changed, nil
}

// writeSum writes the hashes of the repository's modules that the module in dir requires into its go.sum.
func (r *release) writeSum(dir, proxy string, own map[string]bool) (changed bool, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false, err
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return false, err
	}
	file := filepath.Join(dir, "go.sum")
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	after := bytes.Clone(before)
	for _, require := range mod.Require {
		if !own[require.Mod.Path] {
			continue
		}
		sums, err := sumsOf(filepath.Join(proxy, filepath.FromSlash(require.Mod.Path), "@v", r.version), require.Mod.Path, r.version)
		if err != nil {
			return false, err
		}
		old := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(require.Mod.Path) + ` .*\n`)
		after = append(old.ReplaceAll(after, nil), sums...)
	}
	if bytes.Equal(before, after) {
		return false, nil
	}
	return true, os.WriteFile(file, after, 0o644) //nolint:gosec // as it was
}

// sumsOf returns the lines of a go.sum for a module whose files begin with prefix.
func sumsOf(prefix, path, version string) (string, error) {
	module, err := dirhash.HashZip(prefix+".zip", dirhash.Hash1)
	if err != nil {
		return "", err
	}
	mod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(prefix + ".mod") })
	return fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", path, version, module, path, version, mod), err
}

const unreleased = "## [Unreleased]\n"

// writeChangelog turns what is not released into the notes of this version.
func (r *release) writeChangelog() error {
	file := filepath.Join(r.root, "CHANGELOG.md")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, after, found := strings.Cut(string(text), unreleased)
	if !found {
		return fmt.Errorf("CHANGELOG.md has no heading %q", strings.TrimSpace(unreleased))
	}
	heading := fmt.Sprintf("## [%s] - %s\n", strings.TrimPrefix(r.version, "v"), r.date.Format("2006-01-02"))
	if err := os.WriteFile(file, []byte(before+unreleased+"\n"+heading+after), 0o644); err != nil { //nolint:gosec // as it was
		return err
	}
	_, err = r.notes()
	return err
}

// notes returns what the changelog says of the version.
func (r *release) notes() (string, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(text), "\n## ["+strings.TrimPrefix(r.version, "v")+"] - ")
	_, rest, _ = strings.Cut(rest, "\n")
	notes, _, _ := strings.Cut(rest, "\n## [")
	notes = strings.TrimSpace(notes)
	if !found || notes == "" {
		return "", fmt.Errorf("CHANGELOG.md has nothing to say about %s", r.version)
	}
	return notes + "\n", nil
}

// untilReleased is text that is true only as long as there is no release.
var untilReleased = regexp.MustCompile(`(?s)<!-- until the first release -->\n.*?<!-- end -->\n\n?`)

// fromRelease is text that is true only once there is a release. Until then it is a comment, which readers do not see.
var fromRelease = regexp.MustCompile(`(?s)<!-- from the first release\n(.*?)-->\n`)

// writeDocuments removes what is true only before a release, and shows what is true only after it.
func (r *release) writeDocuments() error {
	files, err := filepath.Glob(filepath.Join(r.root, "docs", "*.md"))
	if err != nil {
		return err
	}
	for _, file := range append(files, filepath.Join(r.root, "README.md")) {
		before, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		after := fromRelease.ReplaceAll(untilReleased.ReplaceAll(before, nil), []byte("$1"))
		for _, mark := range []string{"until the first release", "from the first release"} {
			if bytes.Contains(after, []byte("<!-- "+mark)) {
				return fmt.Errorf("%s: a mark %q has no end", file, mark)
			}
		}
		if !bytes.Equal(before, after) {
			if err := os.WriteFile(file, after, 0o644); err != nil { //nolint:gosec // as it was
				return err
			}
		}
	}
	return nil
}
