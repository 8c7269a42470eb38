package asynctask

import (
	"fmt"
	"slices"
	"strings"
)

// excerpt is a text in valid UTF-8 of which the middle may have been left out.
type excerpt struct {
	head, tail string
	cut        int // bytes left out between them
}

// markerSize is the most that the words about what was left out take, quoted.
const markerSize = 48

// shortest is the room that a text is never given less of, so that the words
// about what was left out fit.
const shortest = 64

func excerptOf(text string) excerpt {
	return excerpt{head: strings.ToValidUTF8(text, "\uFFFD")}
}

// String returns the text, with words about what was left out where it was.
func (e excerpt) String() string {
	if e.cut == 0 {
		return e.head
	}
	return e.head + e.marker() + e.tail
}

func (e excerpt) marker() string {
	return fmt.Sprintf("\n[... %d bytes cut ...]\n", e.cut)
}

// bytes is what the text takes in memory.
func (e excerpt) bytes() int { return len(e.head) + len(e.tail) }

// quoted returns how many bytes the text has inside a JSON string, or limit if
// it has more.
func (e excerpt) quoted(limit int) int {
	n := quotedLen(e.head, limit)
	if e.cut > 0 {
		n += markerSize + quotedLen(e.tail, limit)
	}
	return min(n, limit)
}

func (e excerpt) appendQuoted(dst []byte) []byte {
	dst = appendQuoted(dst, e.head)
	if e.cut == 0 {
		return dst
	}
	return appendQuoted(appendQuoted(dst, e.marker()), e.tail)
}

// shorten returns the text with as much of its middle left out as makes it fit
// into limit bytes of a JSON string, shortest at least.
func (e excerpt) shorten(limit int) excerpt {
	if limit = max(limit, shortest); e.quoted(limit+1) <= limit {
		return e
	}
	room := limit - markerSize
	whole, end := e.bytes()+e.cut, e.tail
	if e.cut == 0 {
		end = e.head
	}
	// Copies, so that the rest of a long text can be collected.
	head := strings.Clone(quotedPrefix(e.head, room-room/2))
	tail := strings.Clone(quotedSuffix(end, room/2))
	return excerpt{head: head, tail: tail, cut: whole - len(head) - len(tail)}
}

// fairShare returns how much each of several may have at most, so that together
// they keep within room and none is cut while another has more. It sorts sizes.
func fairShare(sizes []int, room int) int {
	slices.Sort(sizes)
	share := room
	for i, size := range sizes {
		if share = room / (len(sizes) - i); size > share {
			return share
		}
		room -= size
	}
	return share
}
