package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// endless is a text without line breaks.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// linesOf returns the lines of a text.
func linesOf(t *testing.T, source io.Reader) (lines []string, long int) {
	t.Helper()
	r := newLineReader(source)
	for {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			return lines, r.long
		}
		require.NoError(t, err)
		lines = append(lines, string(line))
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	lines, long := linesOf(t, strings.NewReader("a\r\n\n  \nb\n"+strings.Repeat("c", 300<<10)+"\nd"))
	assert.Equal(t, []string{"a", "b", strings.Repeat("c", 300<<10), "d"}, lines)
	assert.Zero(t, long)
}

// The memory for a line of 500 MB is that of the longest one that is read, with what its buffer takes to grow.
func TestLongLines(t *testing.T) { //nolint:paralleltest // measures memory
	if measure.RaceDetector {
		t.Skip("allocations differ with the race detector")
	}
	read := func() {
		source := io.MultiReader(strings.NewReader("a\n"), io.LimitReader(endless{}, 500<<20), strings.NewReader("\nb"))
		lines, long := linesOf(t, source)
		assert.Equal(t, []string{"a", "b"}, lines)
		assert.Equal(t, 1, long)
	}
	assert.Less(t, measure.Allocated(read), uint64(7*maxLine))
}

// silent hears nothing.
type silent struct{ ended int }

func (s *silent) turnEnded(*conversation, bool)          { s.ended++ }
func (s *silent) userSaid(*conversation, string, string) {}
func (s *silent) flush()                                 {}

func TestConversationIsBounded(t *testing.T) { //nolint:paralleltest // measures memory
	c := newConversation("a", "f", &silent{})
	large := strings.Repeat("x", 2*maxText)
	before := measure.Live()
	for i := range 1_000 {
		id := fmt.Sprint("call", i)
		c.message("", fmt.Sprint("message ", i))
		c.calls(id, "write", large)
		if i%2 == 0 {
			c.result(id, large)
		}
		c.says(large[:1000])
	}
	assert.Less(t, measure.Live()-before, int64(2*maxKept))
	assert.LessOrEqual(t, len(c.entries), maxEntries)
	assert.LessOrEqual(t, len(c.waiting), len(c.entries))
	kept := 0
	for i := range c.entries {
		kept += c.entries[i].size()
	}
	assert.Equal(t, kept, c.bytes)
	for e := range c.history() {
		assert.Equal(t, "call999", e.Call.ID, "the newest call is there")
		break
	}
	c.result("call5", "too late")
}

func TestEndOfALongAnswerIsKept(t *testing.T) {
	t.Parallel()
	c := newConversation("a", "f", &silent{})
	c.message("", "Go.")
	for i := range 100_000 {
		c.says(fmt.Sprint(i, " "))
	}
	assert.LessOrEqual(t, len(c.answer.text), 2*maxAnswer+10)
	assert.True(t, bytes.HasSuffix(c.answer.text, []byte("99998 99999 ")))
}

func TestBar(t *testing.T) {
	t.Parallel()
	p := progress{total: 2_000_000_000}
	p.add(500_000_000)
	assert.Equal(t, "\r[#######.......................] 500.0 MB of 2.0 GB\x1b[K", p.bar())
	p.add(1e12)
	assert.Contains(t, p.bar(), "] 2.0 GB of 2.0 GB")
	assert.Contains(t, new(progress).bar(), "0.0 kB of 0.0 kB")
}

const sample = "testdata/home/.local/share/opencode/opencode.db"

// rowsIn returns the values of a table.
func rowsIn(t *testing.T, d *database, name string) (all [][]string) {
	t.Helper()
	table := d.tables[name]
	require.NoError(t, d.rows(table, func(r *row) bool {
		values, err := r.values(len(table.columns) - 1)
		require.NoError(t, err)
		var texts []string
		for _, v := range values {
			texts = append(texts, v.text())
		}
		all = append(all, texts)
		same, err := d.rowAt(table, r.id)
		require.NoError(t, err)
		assert.Equal(t, r.local, same.local)
		return true
	}))
	return all
}

// The tables lie in the file and, newer, in the log; a row is longer than a page.
func TestDatabase(t *testing.T) {
	t.Parallel()
	d, err := openDatabase(sample)
	require.NoError(t, err)
	defer d.close()
	sessions := rowsIn(t, d, "session")
	require.Len(t, sessions, 2)
	assert.Equal(t, []string{"ses_2", "global", "", "ses_1", "slug", "1.18.33"}, sessions[1])
	assert.Len(t, rowsIn(t, d, "message"), 10)
	longest := 0
	require.NoError(t, d.rows(d.tables["part"], func(r *row) bool {
		values, err := r.values(6)
		require.NoError(t, err)
		longest = max(longest, len(values[5].bytes))
		return true
	}))
	assert.Greater(t, longest, 10_000)
	_, err = d.rowAt(d.tables["part"], 10_000)
	require.ErrorIs(t, err, errDatabase)
}

// corrupt writes the sample with changes, and reads it.
func corrupt(t *testing.T, dir string, change func(file, log []byte)) {
	t.Helper()
	file, err := os.ReadFile(sample)
	require.NoError(t, err)
	log, err := os.ReadFile(sample + "-wal")
	require.NoError(t, err)
	change(file, log)
	path := filepath.Join(dir, "opencode.db")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	require.NoError(t, os.WriteFile(path+"-wal", log, 0o600))
	_ = readOpencode(t.Context(), path, func(id string) *conversation { return newConversation("a", id, &silent{}) }, func(int) {}, (*conversation).end)
}

// A broken database is read as far as that goes, and to its end.
func FuzzDatabase(f *testing.F) {
	f.Add(uint32(0), []byte{0})
	f.Add(uint32(7168+32+24), []byte{5, 0, 0, 0, 255})
	f.Add(uint32(40), []byte{255, 255})
	f.Fuzz(func(t *testing.T, at uint32, bytes []byte) {
		corrupt(t, t.TempDir(), func(file, log []byte) {
			all := append(slices.Clip(file), log...)
			from := int(at) % len(all)
			if from < len(file) {
				copy(file[from:], bytes)
			} else {
				copy(log[from-len(file):], bytes)
			}
		})
	})
}

func TestBrokenDatabases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for at := 0; at < 7168+26232; at += 97 {
		for _, b := range []byte{0, 1, 5, 13, 255} {
			if at%7 != int(b)%7 {
				continue
			}
			corrupt(t, dir, func(file, log []byte) {
				if at < len(file) {
					file[at] = b
				} else if at-len(file) < len(log) {
					log[at-len(file)] = b
				}
			})
		}
	}
}
