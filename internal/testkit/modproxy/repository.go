package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// repository is a working tree.
type repository struct {
	root    string
	modules []module // those that are published
}

// module is a folder of the repository with a go.mod.
type module struct {
	path  string
	dir   string   // below the root, with slashes; "." for the root
	files []string // below dir
}

// readRepository finds the modules in a working tree and the files of each: those
// that git knows, and new ones that it does not ignore.
func readRepository(root string) (*repository, error) {
	listed, err := output(root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	files := slices.DeleteFunc(strings.Split(string(listed), "\x00"), func(name string) bool {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
		return name == "" || err != nil || !info.Mode().IsRegular()
	})
	var dirs []string
	for _, name := range files {
		if path.Base(name) == "go.mod" {
			dirs = append(dirs, path.Dir(name))
		}
	}
	repo := &repository{root: root}
	for _, dir := range dirs {
		if !isPublished(dir) {
			continue
		}
		mod, err := readGoMod(filepath.Join(root, dir, "go.mod"))
		if err != nil {
			return nil, err
		}
		repo.modules = append(repo.modules, module{path: mod.Module.Path, dir: dir, files: filesOf(dir, dirs, files)})
	}
	return repo, nil
}

// filesOf returns the files of the module in dir: those below it that are in no
// module further down.
func filesOf(dir string, dirs, files []string) []string {
	var own []string
	for _, name := range files {
		home := path.Dir(name)
		for !slices.Contains(dirs, home) && home != "." {
			home = path.Dir(home)
		}
		if home == dir {
			own = append(own, strings.TrimPrefix(name, strings.TrimPrefix(dir+"/", "./")))
		}
	}
	return own
}

// goMod is the part of the output of "go mod edit -json" that is used here.
type goMod struct {
	Module  struct{ Path string }
	Require []struct{ Path string }
	Replace []struct {
		Old struct{ Path, Version string }
	}
}

func readGoMod(file string) (mod goMod, err error) {
	text, err := output(filepath.Dir(file), "go", "mod", "edit", "-json", filepath.Base(file))
	if err != nil {
		return mod, err
	}
	return mod, json.Unmarshal(text, &mod)
}

// goModAt returns the text of the module's go.mod for a release: it requires
// the repository's modules in that version, and replaces none.
func (r *repository) goModAt(m module, version string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "modproxy")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	text, err := os.ReadFile(filepath.Join(r.root, m.dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	mod, err := readGoMod(file)
	if err != nil {
		return nil, err
	}
	args := []string{"mod", "edit"}
	for _, require := range mod.Require {
		if r.owns(require.Path) {
			args = append(args, "-require="+require.Path+"@"+version)
		}
	}
	for _, replace := range mod.Replace {
		if !r.owns(replace.Old.Path) {
			return nil, fmt.Errorf("go.mod replaces %s, which a program that uses the module would not", replace.Old.Path)
		}
		args = append(args, "-dropreplace="+strings.TrimSuffix(replace.Old.Path+"@"+replace.Old.Version, "@"))
	}
	if len(args) > 2 {
		if _, err := output(dir, "go", append(args, "go.mod")...); err != nil {
			return nil, err
		}
	}
	return os.ReadFile(file)
}

func (r *repository) owns(modulePath string) bool {
	return slices.ContainsFunc(r.modules, func(m module) bool { return m.path == modulePath })
}

// edit writes the version into the module's go.mod.
func (r *repository) edit(m module, version string) error {
	text, err := r.goModAt(m, version)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.root, m.dir, "go.mod"), text, 0o644) //nolint:gosec // as it was
}

// publish writes the module into a proxy, as https://go.dev/ref/mod#goproxy-protocol
// describes one.
func (r *repository) publish(m module, version, proxy string) error {
	text, err := r.goModAt(m, version)
	if err != nil {
		return err
	}
	archive, err := r.archive(m, version, text)
	if err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, time.Now().UTC().Format(time.RFC3339))
	dir := filepath.Join(proxy, filepath.FromSlash(m.path), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // others may read it
		return err
	}
	return errors.Join(
		write(dir, "list", []byte(version+"\n")),
		write(dir, version+".info", []byte(info)),
		write(dir, version+".mod", text),
		write(dir, version+".zip", archive),
	)
}

// archive returns the module's files, with its go.mod for a release.
func (r *repository) archive(m module, version string, goMod []byte) ([]byte, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, name := range m.packed() {
		content, err := goMod, error(nil)
		switch {
		case name == licence && !slices.Contains(m.files, licence):
			content, err = os.ReadFile(filepath.Join(r.root, licence))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
		case name != "go.mod":
			content, err = os.ReadFile(filepath.Join(r.root, m.dir, name))
		}
		if err != nil {
			return nil, err
		}
		entry, err := w.Create(m.path + "@" + version + "/" + name)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}

// licence is a file that the go command takes from the repository if a module has none.
const licence = "LICENSE"

// packed returns the names of the files in the module's archive.
func (m module) packed() []string {
	if slices.Contains(m.files, licence) {
		return m.files
	}
	return append(slices.Clone(m.files), licence)
}

func write(dir, name string, content []byte) error {
	return os.WriteFile(filepath.Join(dir, name), content, fs.FileMode(0o644))
}

// output runs a command in a folder and returns its output. The error has the
// command's error output.
func output(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...) //nolint:gosec,noctx // git and go, which end by themselves
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	text, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), bytes.TrimSpace(exit.Stderr))
	}
	return text, err
}
