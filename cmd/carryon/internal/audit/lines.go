package audit

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the size in bytes of the longest line that is read. A longer one holds an image or the content of a file.
const maxLine = 16 << 20

// lineReader reads the lines of a file. Its memory does not depend on their length.
type lineReader struct {
	source *bufio.Reader
	line   []byte // of a line that is longer than the buffer of source
	long   int    // how many lines were too long
}

func newLineReader(source io.Reader) *lineReader {
	return &lineReader{source: bufio.NewReaderSize(source, 256<<10)}
}

// next returns the next line that is not empty, valid until the next call, or io.EOF after the last one.
func (r *lineReader) next() ([]byte, error) {
	for {
		read, err := r.read()
		if line := bytes.TrimSpace(read); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// read returns the next line, or nothing in place of one that is too long.
func (r *lineReader) read() ([]byte, error) {
	part, err := r.source.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, err
	}
	r.line = append(r.line[:0], part...)
	tooLong := false
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = r.source.ReadSlice('\n')
		tooLong = tooLong || len(r.line)+len(part) > maxLine
		if !tooLong {
			r.line = append(r.line, part...)
		}
	}
	if tooLong {
		r.long++
		r.line = nil
		return nil, err
	}
	return r.line, err
}
