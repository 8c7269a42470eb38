// Package sse reads and writes server-sent events as the providers of language
// models send them: events whose data is a JSON object, in any framing. It
// knows no protocol: its callers interpret the events.
//
// It differs from the standard where providers do. An event ends with its data
// line if the data is a whole JSON object: no blank line need follow, and the
// event can be shown before its blank line has arrived. A line that is not a
// field is an event of its own, unless it is inside another event.
package sse

import (
	"bytes"
	"slices"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// Event is a piece of a stream: an event, or the bytes between two events. Its
// bytes are valid until the next use of the [Reader], unless the event owns
// them. Nobody may change them.
type Event struct {
	Raw     []byte // its lines, with their ends
	Kind    Kind
	Written bool // made by [New], not read
	Owned   bool // nothing else will use its memory

	from, to int    // where the data stands in Raw
	joined   []byte // the data, if it came in several lines
}

// Kind says what an event consists of.
type Kind uint8

// The kinds.
const (
	NonData Kind = iota // blank lines, comments, and fields without data
	Text                // data that is no JSON object, or a line that is no field
	Object              // a JSON object
	Broken              // what should be one: it is cut off, too long, or outside of a data line
)

// Data returns the event's data, or the line that is not a field.
func (e *Event) Data() []byte {
	if e.joined != nil {
		return e.joined
	}
	return e.Raw[e.from:e.to]
}

// Name returns the value of the last event field, or nothing.
func (e *Event) Name() (name []byte) {
	lines := e.Raw
	if e.joined == nil && e.to > 0 {
		lines = lines[:e.from] // the event ends with its data line
	}
	lines = bytes.TrimPrefix(lines, []byte(byteOrderMark))
	for len(lines) > 0 {
		end := BreakAt(lines)
		if end < 0 {
			end = len(lines)
		}
		if value, ok := bytes.CutPrefix(lines[:end], []byte("event:")); ok {
			name = bytes.Trim(value, blanks)
		}
		lines = lines[min(end+1, len(lines)):]
	}
	return name
}

// Clone returns e as an event that owns its bytes.
func (e *Event) Clone() Event {
	c := *e
	c.Raw, c.joined, c.Owned = e.Keep(e.Raw), e.Keep(e.joined), true
	return c
}

// Keep returns a part of e's bytes that stays valid. It copies the part, unless
// e owns its bytes.
func (e *Event) Keep(part []byte) []byte {
	if e.Owned {
		return part
	}
	return slices.Clone(part)
}

// AppendHead appends the beginning of an event, up to its data: the event
// field, unless the name is empty, and the start of the data line.
func AppendHead(dst []byte, name string) []byte {
	if name != "" {
		dst = append(append(append(dst, "event: "...), name...), '\n')
	}
	return append(dst, "data: "...)
}

// New returns the event with the lines in raw, up to the end of its data. The
// data begins at from; New makes one line of it. The event takes ownership of
// raw.
func New(raw []byte, from int, kind Kind) Event {
	for rest := raw[from:]; ; {
		at := BreakAt(rest)
		if at < 0 {
			break
		}
		rest[at], rest = ' ', rest[at+1:] // JSON has line breaks only between its tokens
	}
	to := len(raw)
	return Event{Raw: append(raw, "\n\n"...), from: from, to: to, Kind: kind, Written: true, Owned: true}
}

// Lines returns the event's lines. Those of an event that carryon wrote end as
// end says.
func (e *Event) Lines(end LineEnd) []byte {
	if !e.Written || end == LF {
		return e.Raw
	}
	return bytes.ReplaceAll(e.Raw, []byte("\n"), []byte(end.String()))
}

// Document returns an event for a whole JSON document, so that code that reads
// events can read documents too. The white space around the document is not
// part of the data.
func Document(b []byte, written bool) Event {
	e := Event{Raw: b, Kind: Broken, Written: written}
	e.from = len(b) - len(bytes.TrimLeft(b, " \t\r\n"))
	e.to = max(e.from, len(bytes.TrimRight(b, " \t\r\n")))
	if rawjson.ObjectEnd(b[e.from:e.to]) == e.to-e.from {
		e.Kind = Object
	}
	return e
}
