// Package recordtable keeps values of one type as records of an engine: it
// encodes them, tells their version, and names them.
package recordtable

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/carryon-go/carryon/records"
)

// Format is how values of one kind are encoded: a header with kind and version,
// then JSON. JSON, because people read records when something is wrong.
type Format struct {
	Kind    string // one word
	Version int    // of the JSON; a program refuses newer ones than its own
}

// Key returns the key of a record: of the name, which may be long, or personal,
// only a hash is in it.
func (f Format) Key(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "carryon:" + f.Kind + ":" + hex.EncodeToString(sum[:])
}

func (f Format) header() string { return "carryon/" + f.Kind + "/" + strconv.Itoa(f.Version) + " " }

// Encode returns the record of a value.
func (f Format) Encode(value any) ([]byte, error) {
	buffer := bytes.NewBufferString(f.header())
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// Decode sets value to what the record says. What it does not know it refuses:
// to write the rest back would lose it.
func (f Format) Decode(record []byte, value any) error {
	header, content, _ := strings.Cut(string(record), " ")
	version, ok := strings.CutPrefix(header, "carryon/"+f.Kind+"/")
	n, err := strconv.Atoi(version)
	switch {
	case !ok || err != nil || n < 1:
		return fmt.Errorf("%w: it has to begin with %q", records.ErrForeign, f.header())
	case n > f.Version:
		return fmt.Errorf("%w: %s of version %d, and this one reads up to %d", records.ErrNewer, f.Kind, n, f.Version)
	}
	decoder := json.NewDecoder(strings.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		return fmt.Errorf("%w: %w", records.ErrForeign, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("%w: more than one value", records.ErrForeign)
	}
	return nil
}

// Table keeps values under names. Its fields are set once.
type Table[V any] struct {
	Records records.Records
	Format  Format
}

// Forget is the time to keep a value that is not to be kept at all.
const Forget = 0

// Update replaces the value under name, the zero value if there is none, by what
// f makes of it, and keeps that for as long as f says: [records.Off] for good,
// [Forget] not at all. f is pure, may run more than once, and does not change
// what v refers to.
func (t *Table[V]) Update(
	ctx context.Context, name string, f func(now time.Time, v V) (next V, keep time.Duration, err error),
) error {
	return t.Records.Update(ctx, t.Format.Key(name), func(now time.Time, old []byte) ([]byte, time.Duration, error) {
		var value V
		if len(old) > 0 {
			if err := t.Format.Decode(old, &value); err != nil {
				return nil, 0, err
			}
		}
		next, keep, err := f(now, value)
		if err != nil || keep == Forget {
			return nil, 0, err
		}
		record, err := t.Format.Encode(next)
		return record, keep, err
	})
}
