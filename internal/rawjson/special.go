package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// A word is eight bytes. c*each has the value c in each of them.
const (
	word  = 8
	each  = 0x0101010101010101
	highs = 0x80 * each
)

// special returns the offset of the first byte of b, from an offset on, that is
// special in a string: a quote, a backslash or a control character. It returns
// len(b) or more if there is none.
//
// Most strings of a stream are a few letters long. For them, testing eight bytes
// at once is faster than bytes.IndexByte, which is made for long ones.
func special(b []byte, from int) int {
	at := from
	for ; at+word <= len(b); at += word {
		w := binary.LittleEndian.Uint64(b[at:])
		if found := below(w^'"'*each, 1) | below(w^'\\'*each, 1) | below(w, ' '); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for at < len(b) && b[at] != '"' && b[at] != '\\' && b[at] >= ' ' {
		at++
	}
	return at
}

// below marks the first byte of w that is less than c, and perhaps some behind
// it. c must not be greater than 0x80.
func below(w, c uint64) uint64 { return (w - c*each) &^ w & highs }

// Plain returns the length of the string that b begins with, quotes included, if
// nothing in it is escaped. Otherwise it returns 0.
func Plain(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	if end := special(b, 1); end < len(b) && b[end] == '"' {
		return end + 1
	}
	return 0
}
