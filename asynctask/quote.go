package asynctask

import (
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// quotedRune returns how many bytes r has inside a JSON string. HTML is not
// escaped, for nothing here ends up in a page and the escapes cost tokens.
func quotedRune(r rune) int {
	switch {
	case r == '"', r == '\\', r == '\b', r == '\f', r == '\n', r == '\r', r == '\t':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029':
		return 6
	}
	return utf8.RuneLen(r)
}

// quotedLen returns how many bytes s, which is valid UTF-8, has inside a JSON
// string, or limit if it has more.
func quotedLen(s string, limit int) int {
	if len(s) >= limit {
		return limit // quoting only adds
	}
	n := 0
	for _, r := range s {
		if n += quotedRune(r); n >= limit {
			return limit
		}
	}
	return n
}

// quotedPrefix returns the longest beginning of s that has at most room bytes
// inside a JSON string.
func quotedPrefix(s string, room int) string {
	for i, r := range s {
		if room -= quotedRune(r); room < 0 {
			return s[:i]
		}
	}
	return s
}

// quotedSuffix is quotedPrefix for the end of s.
func quotedSuffix(s string, room int) string {
	for end := len(s); end > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if room -= quotedRune(r); room < 0 {
			return s[end:]
		}
		end -= size
	}
	return s
}

// appendQuoted appends s as it stands inside a JSON string.
func appendQuoted(dst []byte, s string) []byte {
	plain := 0
	for i, r := range s {
		size := quotedRune(r)
		if size == utf8.RuneLen(r) {
			continue
		}
		dst = append(dst, s[plain:i]...)
		plain = i + utf8.RuneLen(r)
		switch r {
		case '"', '\\':
			dst = append(dst, '\\', byte(r))
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', hexDigits[r>>12&0xf], hexDigits[r>>8&0xf], hexDigits[r>>4&0xf], hexDigits[r&0xf])
		}
	}
	return append(dst, s[plain:]...)
}
