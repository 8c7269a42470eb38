package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// noticesFile has the licences of what the program contains, which most of them want to go with every copy of it.
const noticesFile = "THIRD_PARTY_NOTICES.txt"

// dependency is a package that is compiled into the program.
type dependency struct {
	module    string // with its version, as in "golang.org/x/sys v0.47.0"
	dir, root string // the folders of the package and of its module
}

// notices returns the notices for the command on a platform.
func (r *release) notices(ctx context.Context, p platform, env []string) (string, error) {
	top, err := modulePath(r.root)
	if err != nil {
		return "", err
	}
	env = append(env, "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	const form = `{{with .Module}}{{.Path}}|{{.Version}}|{{.Dir}}{{end}}|{{.Dir}}`
	list, err := output(ctx, filepath.Join(r.root, commandDir), env, "go", "list", "-deps", "-f", form, ".")
	if err != nil {
		return "", err
	}
	known, err := output(ctx, r.root, nil, "go", "env", "GOVERSION", "GOROOT")
	if err != nil {
		return "", err
	}
	version, goroot, _ := strings.Cut(strings.TrimSpace(string(known)), "\n")
	all := []dependency{{module: "Go " + version, dir: goroot, root: goroot}} // its runtime and its standard library
	for line := range strings.Lines(string(list)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 4 || fields[0] == top || strings.HasPrefix(fields[0], top+"/") {
			continue // of the standard library, or our own
		}
		all = append(all, dependency{module: fields[0] + " " + fields[1], dir: fields[3], root: fields[2]})
	}
	return noticesOf(all)
}

// asksToBeCopied matches the names of files that a licence wants with every copy.
var asksToBeCopied = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)s?([.-][\w.-]*)?$`)

// noticesOf returns each text once, below the names of those who want it. A package may have a licence of its own, below
// that of its module. A module without any is an error.
func noticesOf(all []dependency) (string, error) {
	wanted := map[string][]string{} // who wants a text
	licensed := map[string]bool{}
	var texts []string
	for _, d := range all {
		for dir := d.dir; strings.HasPrefix(dir, d.root); dir = filepath.Dir(dir) {
			files, err := os.ReadDir(dir)
			if err != nil {
				return "", err
			}
			for _, file := range files {
				if file.IsDir() || strings.HasSuffix(file.Name(), ".go") || !asksToBeCopied.MatchString(file.Name()) {
					continue
				}
				text, err := os.ReadFile(filepath.Join(dir, file.Name()))
				if err != nil {
					return "", err
				}
				below, err := filepath.Rel(d.root, filepath.Join(dir, file.Name()))
				if err != nil {
					return "", err
				}
				who, licence := d.module+": "+filepath.ToSlash(below), strings.TrimSpace(string(text))
				if len(wanted[licence]) == 0 {
					texts = append(texts, licence)
				}
				if !slices.Contains(wanted[licence], who) {
					wanted[licence] = append(wanted[licence], who)
				}
				licensed[d.module] = licensed[d.module] || licence != ""
			}
		}
		if !licensed[d.module] {
			return "", fmt.Errorf("%s has no licence", d.module)
		}
	}
	var b strings.Builder
	b.WriteString("carryon contains the following software, under these licences.\n")
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(wanted[text], "\n"), text)
	}
	return b.String(), nil
}

// verifyNotices checks that the notices name all that a program says it was built from.
func (r *release) verifyNotices(notices string, info *debug.BuildInfo) error {
	top, err := modulePath(r.root)
	if err != nil {
		return err
	}
	all := []string{"Go " + info.GoVersion}
	for _, m := range info.Deps {
		if m.Path != top && !strings.HasPrefix(m.Path, top+"/") {
			all = append(all, m.Path+" "+m.Version)
		}
	}
	var missing []error
	for _, module := range all {
		if !strings.Contains(notices, "\n"+module+": ") {
			missing = append(missing, fmt.Errorf("%s does not name %s", noticesFile, module))
		}
	}
	return errors.Join(missing...)
}

// writeNotices writes what goes with the command besides the program, for an image of the working tree.
func (r *release) writeNotices(ctx context.Context, dir string) error {
	notices, err := r.notices(ctx, platform{"linux", "amd64"}, nil)
	if err != nil {
		return err
	}
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // others may read it
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "LICENSE"), licence, 0o644),           //nolint:gosec // as above
		os.WriteFile(filepath.Join(dir, noticesFile), []byte(notices), 0o644), //nolint:gosec // as above
	)
}
