// Package files opens files that somebody names, and that may be something else.
package files

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrNotRegular is the cause if a path is that of a folder, a pipe or a device.
var ErrNotRegular = errors.New("is no regular file")

// Open opens a regular file to be read. It waits for nobody, whatever the path is: to open
// a named pipe would wait until somebody writes to it.
func Open(path string) (*os.File, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have been replaced meanwhile
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(cmp.Or(err, refused(path)), file.Close())
	}
	return file, nil
}

// Read returns what a regular file holds, if that is not more than most bytes.
func Read(path string, most int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", path, most)
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Check looks at a path without opening it. It returns an error if there is something that
// is no regular file, and [io/fs.ErrNotExist] if there is nothing.
func Check(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return refused(path)
	}
	return nil
}

func refused(path string) error { return fmt.Errorf("%s %w", path, ErrNotRegular) }
