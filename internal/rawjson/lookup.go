package rawjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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

// IsEmpty reports whether raw is absent, null, or an empty string, array or
// object.
func IsEmpty(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// View returns bytes as a string without copying them. The string is valid
// until the bytes change.
func View(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // the caller must not change b, as documented
}

// Text decodes the string in raw, which includes its quotes. If nothing is
// escaped, text is a part of raw; otherwise Text appends it to scratch, which
// it returns as well. raw must be a string as [Scanner.Raw] returns it.
func Text(raw, scratch []byte) (text, grown []byte) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], scratch
	}
	from := len(scratch)
	scratch = AppendText(scratch, raw)
	return scratch[from:len(scratch):len(scratch)], scratch
}

// AppendText appends the decoded string in raw, which includes its quotes. It
// leaves an escape that JSON does not have as it is.
func AppendText(to, raw []byte) []byte {
	in := raw[1 : len(raw)-1]
	for {
		n := bytes.IndexByte(in, '\\')
		if n < 0 || n+1 >= len(in) {
			return append(to, in...)
		}
		to = append(to, in[:n]...)
		to, in = appendEscape(to, in[n:])
	}
}

// appendEscape appends the decoded escape at the beginning of in, and returns
// the rest of in.
func appendEscape(to, in []byte) (grown, rest []byte) {
	if i := strings.IndexByte(`"\/bfnrt`, in[1]); i >= 0 {
		return append(to, "\"\\/\b\f\n\r\t"[i]), in[2:]
	}
	r := unit(in)
	if r < 0 {
		return append(to, in[0]), in[1:]
	}
	if whole := utf16.DecodeRune(r, unit(in[6:])); whole != utf8.RuneError {
		return utf8.AppendRune(to, whole), in[12:]
	}
	return utf8.AppendRune(to, r), in[6:] // half a pair becomes U+FFFD
}

// unit returns the code unit of an escape such as \u00fc, or -1.
func unit(in []byte) rune {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return -1
	}
	r, err := strconv.ParseUint(View(in[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(r)
}

// Quote returns text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func Quote(text string) []byte { return AppendQuote(nil, text) }

// AppendQuote appends text as a JSON string, as Quote returns it.
func AppendQuote(to []byte, text string) []byte {
	if isPlain(text) {
		return append(append(append(to, '"'), text...), '"')
	}
	b := bytes.NewBuffer(to)
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) //nolint:errchkjson // a string can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// isPlain reports whether text needs no escapes between quotes.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// IsString reports whether raw is a string.
func IsString(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' }

// IsNull reports whether raw is null or absent.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }
