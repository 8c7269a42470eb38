package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// The limits of the sandbox.
const (
	maxFile  = 64 << 10 // bytes of a file
	maxFiles = 200      // files in a list
)

var errOutside = errors.New("is outside of the folder; a path is relative to it and stays inside")

// sandbox is the only folder that the tools can reach. Neither a path nor a
// symbolic link leads out of it.
type sandbox struct {
	dir       string
	root      *os.Root
	temporary bool
}

// openSandbox opens a folder and creates it if necessary. If dir is "", it
// creates a temporary folder.
func openSandbox(dir string) (*sandbox, error) {
	err := os.MkdirAll(dir, 0o750)
	temporary := dir == ""
	if temporary {
		dir, err = os.MkdirTemp("", "carryon-chat-")
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &sandbox{dir: dir, root: root, temporary: temporary}, nil
}

// leftBehind returns a sentence that names the temporary folder, if it contains files. It removes an empty one and
// returns "".
func (s *sandbox) leftBehind() string {
	if !s.temporary || os.Remove(s.dir) == nil {
		return ""
	}
	return "The files stay in " + s.dir
}

func (s *sandbox) close() { _ = s.root.Close() } // nothing is buffered

// read returns the text of a file. It replaces bytes that are not UTF-8 and
// reports in broken whether there were any.
func (s *sandbox) read(name string) (text string, broken bool, err error) {
	if err := s.regular(name); err != nil {
		return "", false, err
	}
	data, err := s.root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return "", false, plain(name, err)
	}
	return strings.ToValidUTF8(string(data), string(utf8.RuneError)), !utf8.Valid(data), nil
}

// write writes a file and creates the folders in its path.
func (s *sandbox) write(name, content string) error {
	if len(content) > maxFile {
		return fmt.Errorf("%s would have %d KiB; a file has at most %d KiB", name, len(content)>>10, maxFile>>10)
	}
	if err := s.regular(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o750); err != nil {
		return plain(name, err)
	}
	return plain(name, s.root.WriteFile(filepath.FromSlash(name), []byte(content), 0o600))
}

// list returns the files below a folder of the sandbox; "" is the sandbox.
func (s *sandbox) list(folder string) (names []string, err error) {
	folder = path.Clean(folder)
	if !filepath.IsLocal(folder) {
		return nil, plain(folder, errOutside)
	}
	err = fs.WalkDir(s.root.FS(), folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case len(names) == maxFiles:
			return fs.SkipAll
		case !entry.IsDir():
			names = append(names, name)
		}
		return nil
	})
	return names, plain(folder, err)
}

// regular returns an error unless name is an ordinary file of limited size. Reading from a pipe or a device might never
// end.
func (s *sandbox) regular(name string) error {
	if name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return plain(name, errOutside)
	}
	info, err := s.root.Stat(filepath.FromSlash(name))
	switch {
	case err != nil:
		return plain(name, err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not an ordinary file", name)
	case info.Size() > maxFile:
		return fmt.Errorf("%s has %d KiB; files of up to %d KiB can be used", name, info.Size()>>10, maxFile>>10)
	}
	return nil
}

// plain returns err without the path of the sandbox.
func plain(name string, err error) error {
	if err == nil {
		return nil
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if err.Error() == "path escapes from parent" { // package os exports no value for this error
		err = errOutside
	}
	if errors.Is(err, errOutside) {
		return fmt.Errorf("%q %w", name, errOutside)
	}
	return fmt.Errorf("%s: %w", name, err)
}
