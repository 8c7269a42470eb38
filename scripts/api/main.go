// Command api compares the exported API of the published modules with that of the last release, and fails if the
// changelog does not name a change.
//
//	go run . -root ../..                    compare with the files in api/
//	go run . -root ../.. -base /tmp/v1.2.3  compare with a checkout of the release, and report what is incompatible
//	go run . -root ../.. -write             rewrite the files in api/
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
)

func main() {
	root := flag.String("root", ".", "folder of the repository")
	base := flag.String("base", "", "folder of the last release's checkout; without it, compare with the files in api/")
	write := flag.Bool("write", false, "rewrite the files in api/")
	flag.Parse()
	report, err := run(*root, *base, *write)
	fmt.Print(report)
	if err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

// run returns a report, and an error if the changelog is not complete.
func run(root, base string, write bool) (report string, err error) {
	now, err := load(root)
	if err != nil {
		return "", err
	}
	if err := sameNames(now); err != nil {
		return "", err
	}
	if write {
		return "", writeFiles(filepath.Join(root, "api"), now)
	}
	before, report, err := lastRelease(root, base, now)
	if err != nil {
		return "", err
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	changes := compare(before, listings(now))
	lines := []string{report}
	for _, c := range changes {
		lines = append(lines, c.String()+"\n")
	}
	report = strings.Join(lines, "")
	if missing := unmentioned(changes, string(changelog)); len(missing) > 0 {
		return report, errors.New("CHANGELOG.md does not name, as code under Unreleased: " + strings.Join(missing, ", "))
	}
	return report + fmt.Sprintf("Packages: %d. Changes since the last release: %d, all in the changelog.\n", len(now), len(changes)), nil
}

// lastRelease returns the API of the last release and, with a checkout of it, a report of what is incompatible.
func lastRelease(root, base string, now packagesByPath) (api map[string][]string, report string, err error) {
	if base == "" {
		api, err = readFiles(filepath.Join(root, "api"))
		return api, "", err
	}
	before, err := load(base)
	if err != nil {
		return nil, "", err
	}
	var lines strings.Builder
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if now[path] == nil {
			lines.WriteString("incompatible: " + path + ": removed\n")
			continue
		}
		for _, change := range apidiff.Changes(before[path], now[path]).Changes {
			if !change.Compatible {
				lines.WriteString("incompatible: " + path + ": " + change.Message + "\n")
			}
		}
	}
	return listings(before), lines.String(), nil
}

// fileOf returns the name of a package's file in api/.
func fileOf(path string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(path, modulePath), "/"), "/", "-") + ".txt"
}

const modulePath = "github.com/carryon-go/carryon"

func writeFiles(dir string, now packagesByPath) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for path, lines := range listings(now) {
		text := "package " + path + "\n" + strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(filepath.Join(dir, fileOf(path)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func readFiles(dir string) (map[string][]string, error) {
	all := map[string][]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		head, body, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n")
		path, ok := strings.CutPrefix(head, "package ")
		if !ok {
			return fmt.Errorf("%s: the first line names no package", name)
		}
		all[path] = strings.Split(body, "\n")
		return nil
	})
	return all, err
}
