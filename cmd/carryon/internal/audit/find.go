package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// transcript is a file to read.
type transcript struct {
	path string
	size int64
}

// find returns the transcripts below paths, or those of all known agents if there are no paths. A place that does not
// exist has none, unless it was named. failed is called for what cannot be read.
func find(home string, getenv func(string) string, paths []string, failed func(path string, err error)) (found []transcript, err error) {
	if len(paths) == 0 {
		for _, f := range formats() {
			place := f.place(home, getenv)
			more, err := below(place, &f, failed)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed(place, err)
			}
			found = append(found, more...)
		}
		return found, nil
	}
	for _, path := range paths {
		more, err := below(path, nil, failed)
		switch {
		case errors.Is(err, fs.ErrNotExist): // somebody has mistyped it
			return nil, err
		case err != nil:
			failed(path, err)
		}
		found = append(found, more...)
	}
	return found, nil
}

// place returns the folder with the transcripts of an agent. Agents let their users move it.
func (f *format) place(home string, getenv func(string) string) string {
	for _, variable := range f.moved {
		if moved := getenv(variable.name); moved != "" {
			return filepath.Join(moved, filepath.FromSlash(variable.folder))
		}
	}
	return filepath.Join(home, filepath.FromSlash(f.folder))
}

// below returns the transcripts in a folder, or the file that root is.
func below(root string, f *format, failed func(path string, err error)) (found []transcript, err error) {
	root, err = filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			failed(path, err)
			return nil
		case !entry.Type().IsRegular(), !mayBe(path, f): // reading a pipe would never end
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			failed(path, err)
			return nil
		}
		found = append(found, transcript{path, info.Size() + sizeOfLog(path)})
		return nil
	})
	return found, err
}

// mayBe reports whether a file of a name may be a transcript of a format, or of any.
func mayBe(path string, f *format) bool {
	path = filepath.ToSlash(path)
	if f == nil {
		return strings.HasSuffix(path, ".jsonl") || isDatabase(path) || isWhole(path)
	}
	return strings.HasSuffix(path, f.suffix) && strings.Contains(path, f.also) && (f.not == "" || !strings.Contains(path, f.not))
}

func isDatabase(path string) bool { return strings.HasSuffix(path, ".db") }

// isWhole reports whether a file of a name may be a transcript that is one JSON object.
func isWhole(path string) bool {
	return slices.ContainsFunc(formats(), func(f format) bool { return f.whole && mayBe(path, &f) })
}

// sizeOfLog returns the size of a database's log.
func sizeOfLog(path string) int64 {
	info, err := os.Stat(path + "-wal")
	if !isDatabase(path) || err != nil {
		return 0
	}
	return info.Size()
}
