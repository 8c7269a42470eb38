package rawjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unsafe"
)

// Member returns the value of a member of the object in raw, or nil if there is
// none. If several members have the name, the last one counts, as in
// encoding/json and most other parsers.
func Member(raw []byte, name string) (value []byte) {
	s := Over(raw)
	for key := range s.Members() {
		if key == name {
			value = s.Raw()
		}
	}
	return value
}

// Peek returns a member of the object that comes next, as Member does. The
// Scanner stays where it is.
func (s *Scanner) Peek(name string) []byte { return Member(s.json[s.at:], name) }

// Elements returns the elements of the array in raw.
func Elements(raw []byte) [][]byte {
	s := Over(raw)
	return s.elements()
}

// MemberElements returns the elements of a member of the object in raw, which
// must be an array. It reads raw only once, because raw may be large.
func MemberElements(raw []byte, name string) (elements [][]byte) {
	s := Over(raw)
	for key := range s.Members() {
		if key == name {
			elements = s.elements()
		}
	}
	return elements
}

func (s *Scanner) elements() (all [][]byte) {
	for range s.Elements() {
		all = append(all, s.Raw())
	}
	return all
}

// TextOf returns the text of the string in raw, or "" if raw is not a string.
func TextOf(raw []byte) string {
	if !IsString(raw) {
		return ""
	}
	text, _ := Text(raw, nil)
	return string(text)
}

// TextView is TextOf without a copy if nothing in the string is escaped. The
// result is valid until raw changes.
func TextView(raw []byte) string {
	if !IsString(raw) {
		return ""
	}
	text, _ := Text(raw, nil)
	return View(text)
}

// Int returns the integer in raw, and reports whether raw is one.
func Int(raw []byte) (int, bool) {
	n, err := strconv.Atoi(View(raw))
	return n, err == nil
}

// ObjectEnd returns the length of the object that b begins with, or -1 if b
// does not begin with a whole one.
func ObjectEnd(b []byte) int {
	if len(b) == 0 || b[0] != '{' {
		return -1
	}
	return Length(b)
}

// IsEmpty reports whether raw is absent, null, or an empty string, array or
// object.
func IsEmpty(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// Append skips the next value in s. If it is an array, Append adds the elements
// to its end.
func (e *Edits) Append(s *Scanner, elements ...[]byte) {
	raw := s.Raw()
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	inner := bytes.TrimRight(raw[:len(raw)-1], spaces)
	more := bytes.Join(elements, []byte{','})
	if len(inner) > 1 {
		more = append([]byte{','}, more...)
	}
	e.Insert(s.At()-len(raw)+len(inner), more)
}

// Object returns a JSON object of alternating names and values, at least one
// pair. It panics if a value cannot be encoded.
func Object(members ...any) []byte {
	object := []byte{'{'}
	for i, member := range members {
		encoded, err := json.Marshal(member)
		if err != nil {
			panic("carryon/internal/rawjson: " + err.Error())
		}
		object = append(append(object, encoded...), ":,"[i%2])
	}
	object[len(object)-1] = '}'
	return object
}

// View returns bytes as a string without copying them. The string is valid
// until the bytes change.
func View(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // the caller must not change b, as documented
}
