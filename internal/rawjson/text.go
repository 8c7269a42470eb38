package rawjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

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
