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

// What the sandbox takes at most.
const (
	maxFile  = 64 << 10 // bytes of a file
	maxFiles = 200      // files in a list
)

var errOutside = errors.New("is outside of the folder; a path is relative to it and stays inside")

// sandbox is the one folder that the tools can reach, whatever a path or a
// symbolic link says.
type sandbox struct {
	dir  string
	root *os.Root
}

// openSandbox opens a folder, which it makes if need be. Without a name it is a
// new one among the temporary files.
func openSandbox(dir string) (*sandbox, error) {
	err := os.MkdirAll(dir, 0o750)
	if dir == "" {
		dir, err = os.MkdirTemp("", "carryon-chat-")
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &sandbox{dir: dir, root: root}, nil
}

func (s *sandbox) close() { _ = s.root.Close() } // nothing is left to be written

// read returns a text file. Bytes that are not UTF-8 are replaced, and broken
// says so.
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

// write puts content into a file, and makes the folders that it is in.
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

// list returns the files below a folder of the sandbox, "" for all of it.
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

// regular looks at what is there before it is opened: a pipe or a device would
// never end, and a huge file not soon.
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

// plain says what is wrong with a path, without the path of the folder.
func plain(name string, err error) error {
	if err == nil {
		return nil
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if err.Error() == "path escapes from parent" { // what package os says has no value of its own
		err = errOutside
	}
	if errors.Is(err, errOutside) {
		return fmt.Errorf("%q %w", name, errOutside)
	}
	return fmt.Errorf("%s: %w", name, err)
}
