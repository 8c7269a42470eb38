package wire

import (
	"iter"
	"slices"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// List says where a list stands in the body of a request, such as the list of its messages. A body is read several times
// in a call, and a long list takes a while. The zero value is an empty list.
type List struct {
	at   uint32    // where the list begins; 0 if there is none
	long *[]uint32 // where the elements of a long list begin; nil for any other list
}

// Lists of more than minLong and fewer than maxLong elements are long. Shorter ones are quickly read again, and the
// positions in longer ones take memory.
const (
	minLong = 32
	maxLong = 1 << 16
)

// Begin records where the list is: it is the next value in s.
func (l *List) Begin(s *rawjson.Scanner) {
	s.Kind()
	*l = List{at: uint32(s.At())} //nolint:gosec // no body is that long
}

// Elements records where the list and its elements are, and yields their indexes, as [rawjson.Scanner.Elements] does.
func (l *List) Elements(s *rawjson.Scanner) iter.Seq[int] {
	l.Begin(s)
	return func(yield func(i int) bool) {
		var room [minLong]uint32
		starts := room[:0]
		for i := range s.Elements() {
			if i < maxLong {
				s.Kind()
				starts = append(starts, uint32(s.At())) //nolint:gosec // no body is that long
			}
			if !yield(i) {
				return
			}
		}
		if n := len(starts); minLong < n && n < maxLong {
			kept := slices.Clone(starts)
			l.long = &kept
		}
	}
}

// starts returns where the elements begin. A string is its own element.
func (l *List) starts(body []byte) (all []uint32) {
	switch {
	case l.long != nil:
		return *l.long
	case l.at == 0:
		return nil
	}
	s := rawjson.From(body, int(l.at))
	if s.Kind() == '"' {
		return []uint32{l.at}
	}
	for range s.Elements() {
		s.Kind()
		all = append(all, uint32(s.At())) //nolint:gosec // no body is that long
	}
	return all
}

// Attachable returns the function of that name in [adapter.Request]. read reads an element.
func (l *List) Attachable(b Body, read func(element rawjson.Scanner) (text string, ok bool)) func(int) (string, bool) {
	var body []byte
	var starts []uint32
	return func(i int) (string, bool) {
		if body == nil {
			var err error
			if body, err = b.Bytes(); err != nil {
				return "", false
			}
			starts = l.starts(body)
		}
		if i >= len(starts) {
			return "", false
		}
		return read(rawjson.From(body, int(starts[i])))
	}
}

// Append adds elements to the array that is next in s, which it skips. If that is this list, it does not read the others.
func (l *List) Append(e *rawjson.Edits, s *rawjson.Scanner, elements ...[]byte) {
	s.Kind()
	if l.long == nil || s.At() != int(l.at) {
		e.Append(s, elements...)
		return
	}
	starts := *l.long
	e.AppendAfter(s, int(starts[len(starts)-1]), elements...)
}
