package audit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/cmd/carryon/internal/files"
)

// database reads tables of an SQLite file, with its write-ahead log, and changes neither. SQLite itself would create a
// file beside them. See https://sqlite.org/fileformat2.html.
type database struct {
	file, log *os.File // log may be nil
	pageSize  int
	usable    int
	pages     map[uint32]int64 // where the log has pages that are newer than those of the file
	count     int64            // of the pages
	tables    map[string]table
	cache     map[uint32][]byte // some pages; they are read only
}

// maxCached is how many pages are kept.
const maxCached = 2048

// table is a table with row ids.
type table struct {
	root    uint32
	columns []string
}

// Bounds of what is read.
const (
	maxDepth   = 16       // of a tree of pages
	maxPayload = 16 << 20 // bytes of a row; longer ones are left out
)

var errDatabase = errors.New("it is no SQLite database that carryon can read")

// openDatabase opens a file and its log.
func openDatabase(path string) (*database, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	d := &database{file: file, pages: map[uint32]int64{}, tables: map[string]table{}, cache: map[uint32][]byte{}}
	d.log, err = files.Open(path + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = d.readHeaders()
	}
	if err == nil {
		err = d.readSchema()
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// close closes the files.
func (d *database) close() {
	_ = d.file.Close() // nothing was written
	if d.log != nil {
		_ = d.log.Close() // likewise
	}
}

// readHeaders reads the headers of the file and the log.
func (d *database) readHeaders() error {
	var header [100]byte
	if _, err := d.file.ReadAt(header[:], 0); err != nil || string(header[:16]) != "SQLite format 3\x00" {
		return errDatabase
	}
	d.pageSize = int(binary.BigEndian.Uint16(header[16:]))
	if d.pageSize == 1 {
		d.pageSize = 1 << 16
	}
	d.usable = d.pageSize - int(header[20])
	if d.pageSize < 512 || d.pageSize&(d.pageSize-1) != 0 || d.usable < 480 {
		return errDatabase
	}
	info, err := d.file.Stat()
	if err != nil {
		return err
	}
	if err := d.readLog(); err != nil {
		return err
	}
	d.count = info.Size()/int64(d.pageSize) + int64(len(d.pages))
	first, err := d.page(1) // the log may have a newer one
	if err != nil {
		return err
	}
	if encoding := binary.BigEndian.Uint32(first[56:]); encoding > 1 { // 0 and 1 are UTF-8
		return errDatabase
	}
	return nil
}

// readLog finds the newest page of each number up to the last commit.
func (d *database) readLog() error {
	const headerSize, frameSize = 32, 24
	var header [headerSize]byte
	if d.log == nil {
		return nil
	}
	if _, err := d.log.ReadAt(header[:], 0); err != nil {
		return nil //nolint:nilerr // an empty log has nothing to add
	}
	if magic := binary.BigEndian.Uint32(header[:]); magic != 0x377f0682 && magic != 0x377f0683 || int(binary.BigEndian.Uint32(header[8:])) != d.pageSize {
		return errDatabase
	}
	pending := map[uint32]int64{}
	for at := int64(headerSize); ; at += frameSize + int64(d.pageSize) {
		var frame [frameSize]byte
		if _, err := d.log.ReadAt(frame[:], at); err != nil || string(frame[8:16]) != string(header[16:24]) {
			return nil //nolint:nilerr // the end, or frames from before the log began anew
		}
		pending[binary.BigEndian.Uint32(frame[:])] = at + frameSize
		if binary.BigEndian.Uint32(frame[4:]) == 0 {
			continue
		}
		maps.Copy(d.pages, pending) // they are committed
		clear(pending)
	}
}

// page reads a page. Pages count from 1.
func (d *database) page(number uint32) ([]byte, error) {
	if page, ok := d.cache[number]; ok {
		return page, nil
	}
	page := make([]byte, d.pageSize)
	offset, inLog := d.pages[number]
	var source io.ReaderAt = d.log
	if !inLog {
		source, offset = d.file, int64(number-1)*int64(d.pageSize)
	}
	if number == 0 {
		return nil, errDatabase
	}
	if _, err := source.ReadAt(page, offset); err != nil {
		return nil, fmt.Errorf("page %d: %w", number, err)
	}
	if len(d.cache) >= maxCached {
		clear(d.cache)
	}
	d.cache[number] = page
	return page, nil
}

// readSchema finds the tables.
func (d *database) readSchema() error {
	return d.rows(table{root: 1}, func(r *row) bool {
		values, err := r.values(5)
		if err != nil || values[0].text() != "table" {
			return true
		}
		d.tables[values[1].text()] = table{root: uint32(values[3].number), columns: columnsOf(values[4].text())} //nolint:gosec // checked when it is read
		return true
	})
}

// columnsOf returns the names of the columns in CREATE TABLE name (…).
func columnsOf(statement string) (names []string) {
	_, body, _ := strings.Cut(statement, "(")
	depth, begin := 0, 0
	for i := range len(body) {
		switch body[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 || depth == 0 && body[i] == ',' {
			name, _, _ := strings.Cut(strings.TrimSpace(body[begin:i]), " ")
			names = append(names, strings.Trim(name, "`\"[]"))
			begin = i + 1
		}
		if depth < 0 {
			break
		}
	}
	return names
}

// column returns the number of a column, or -1.
func (t table) column(name string) int { return slices.Index(t.columns, name) }

// has reports whether the table has columns.
func (t table) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return t.column(name) < 0 })
}

// row is a row of a table.
type row struct {
	id       int64
	database *database
	local    []byte // the part of its values that its page holds
	size     int    // of all of it
	overflow uint32 // the page with the rest, or 0
}

// rows calls yield for each row of a table, in the order of their ids, until it returns false.
func (d *database) rows(t table, yield func(*row) bool) error {
	w := walk{database: d, yield: yield}
	_, err := w.page(t.root, 0)
	return err
}

// rowAt returns the row with an id.
func (d *database) rowAt(t table, id int64) (*row, error) {
	var found *row
	w := walk{database: d, from: id, yield: func(r *row) bool {
		if r.id == id {
			found = r
		}
		return false
	}}
	if _, err := w.page(t.root, 0); err != nil {
		return nil, err
	}
	if found == nil {
		return nil, errDatabase
	}
	return found, nil
}

// walk walks over the pages of a table.
type walk struct {
	database *database
	from     int64 // the first row, if it is not 0
	pages    int64 // so far; a broken file may have circles
	yield    func(*row) bool
}

// page walks over a page and those below it.
func (w *walk) page(number uint32, depth int) (more bool, err error) {
	const interior, leaf = 5, 13
	w.pages++
	page, err := w.database.page(number)
	if err != nil || depth > maxDepth || w.pages > w.database.count {
		return false, errors.Join(err, errDatabase)
	}
	header := page
	if number == 1 {
		header = page[100:]
	}
	cells := int(binary.BigEndian.Uint16(header[3:]))
	pointers := header[8:]
	switch header[0] {
	case interior:
		pointers = header[12:]
	case leaf:
	default:
		return false, errDatabase
	}
	if 2*cells > len(pointers) {
		return false, errDatabase
	}
	for i := range cells {
		cell := page[min(int(binary.BigEndian.Uint16(pointers[2*i:])), len(page)):]
		if header[0] == interior {
			more, err = w.child(cell, depth)
		} else {
			more, err = w.leaf(cell)
		}
		if err != nil || !more {
			return false, err
		}
	}
	if header[0] == leaf {
		return true, nil
	}
	return w.page(binary.BigEndian.Uint32(header[8:]), depth+1)
}

// child walks over the pages below a cell, which hold rows up to its key.
func (w *walk) child(cell []byte, depth int) (more bool, err error) {
	if len(cell) < 5 {
		return false, errDatabase
	}
	if key, _ := varint(cell[4:]); w.from != 0 && key < w.from {
		return true, nil
	}
	return w.page(binary.BigEndian.Uint32(cell), depth+1)
}

// leaf yields the row of a cell.
func (w *walk) leaf(cell []byte) (more bool, err error) {
	size, n := varint(cell)
	id, m := varint(cell[n:])
	if n == 0 || m == 0 || size < 0 || size > math.MaxInt32 {
		return false, errDatabase
	}
	if w.from != 0 && id < w.from {
		return true, nil
	}
	r := row{id: id, database: w.database, local: cell[n+m:], size: int(size)}
	local, behind := w.database.localSize(r.size), 0
	if local < r.size {
		behind = 4 // the number of a page
	}
	if len(r.local) < local+behind {
		return false, errDatabase
	}
	if behind > 0 {
		r.overflow = binary.BigEndian.Uint32(r.local[local:])
	}
	r.local = r.local[:local]
	return w.yield(&r), nil
}

// localSize returns how much of a row of a size its own page holds.
func (d *database) localSize(size int) int {
	if size <= d.usable-35 {
		return size
	}
	least := (d.usable-12)*32/255 - 23
	local := least + (size-least)%(d.usable-4)
	if local <= d.usable-35 {
		return local
	}
	return least
}

// value is a value of a column.
type value struct {
	bytes  []byte // of a text
	number int64  // of an integer
}

func (v value) text() string { return string(v.bytes) }

// values returns the first values of a row, as many as count. It reads no more pages than they need.
func (r *row) values(count int) ([]value, error) {
	headerSize, n := varint(r.local)
	if n == 0 || headerSize < int64(n) || headerSize > int64(len(r.local)) {
		return nil, errDatabase
	}
	types, data := r.local[n:headerSize], r.local[headerSize:]
	whole := r.overflow == 0
	values := make([]value, 0, count)
	for len(values) < count {
		kind, n := varint(types)
		if n == 0 {
			return nil, errDatabase
		}
		types = types[n:]
		size := sizeOf(kind)
		if size > len(data) && !whole {
			rest, err := r.rest()
			if err != nil {
				return nil, err
			}
			data, whole = append(slices.Clip(data), rest...), true
		}
		if size > len(data) {
			return nil, errDatabase
		}
		values = append(values, valueOf(kind, data[:size]))
		data = data[size:]
	}
	return values, nil
}

// sizeOf returns the size of a value of a kind.
func sizeOf(kind int64) int {
	switch {
	case kind >= 12:
		return int((kind - 12) / 2)
	case kind == 5:
		return 6
	case kind == 6, kind == 7:
		return 8
	case kind > 7, kind < 0:
		return 0
	}
	return int(kind)
}

func valueOf(kind int64, data []byte) value {
	switch {
	case kind >= 12:
		return value{bytes: data}
	case kind == 9:
		return value{number: 1}
	case kind < 1, kind > 6:
		return value{}
	}
	number := int64(int8(data[0])) //nolint:gosec // the sign is kept
	for _, b := range data[1:] {
		number = number<<8 | int64(b)
	}
	return value{number: number}
}

// rest reads the part of a row that other pages hold.
func (r *row) rest() ([]byte, error) {
	missing := r.size - len(r.local)
	if r.size > maxPayload {
		return nil, errDatabase
	}
	rest := make([]byte, 0, missing)
	for next := r.overflow; len(rest) < missing; {
		page, err := r.database.page(next)
		if err != nil {
			return nil, err
		}
		next = binary.BigEndian.Uint32(page)
		rest = append(rest, page[4:min(4+missing-len(rest), r.database.usable)]...)
	}
	return rest, nil
}

// varint reads a variable-length integer. n is 0 if there is none.
func varint(data []byte) (number int64, n int) {
	for i := range min(len(data), 9) {
		if i == 8 {
			return number<<8 | int64(data[8]), 9
		}
		number = number<<7 | int64(data[i]&0x7f)
		if data[i] < 0x80 {
			return number, i + 1
		}
	}
	return 0, 0
}
