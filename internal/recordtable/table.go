// Package recordtable stores values of one type as records of an engine: it
// encodes and decodes them, checks their version, and makes their keys.
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
// then JSON, which people can read when something is wrong.
type Format struct {
	Kind    string // one word
	Version int    // of the JSON; a program refuses versions newer than its own
}

// Key returns the key of a record. It has only a hash of the name, which may be
// long or personal.
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

// Decode decodes the record into value. It refuses unknown fields, because
// writing the value back would lose them.
func (f Format) Decode(record []byte, value any) error {
	header, content, _ := strings.Cut(string(record), " ")
	version, ok := strings.CutPrefix(header, "carryon/"+f.Kind+"/")
	n, err := strconv.Atoi(version)
	switch {
	case !ok || err != nil || n < 1:
		return fmt.Errorf("%w: it must begin with %q", records.ErrForeign, f.header())
	case n > f.Version:
		return fmt.Errorf("%w: %s version %d, but this program reads only up to %d", records.ErrNewer, f.Kind, n, f.Version)
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

// Table stores values under names. Do not change its fields after first use.
type Table[V any] struct {
	Records records.Records
	Format  Format
}

// Forget removes a value, in place of the time to keep it.
const Forget = 0

// Update calls f with the value under name, or the zero value if there is none,
// and stores the value that f returns. keep says for how long: [records.Off] is
// without limit, [Forget] removes the value. f must be pure, because it may run
// more than once, and must not change what v refers to.
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
