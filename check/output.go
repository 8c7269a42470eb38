package check

import (
	"fmt"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/internal/terminal"
)

// Bytes of an output that are kept: its beginning, which often names the first of many
// errors, and its end.
const (
	headSize = 4 << 10
	tailSize = 16 << 10
)

// output keeps the beginning and the end of what a command writes.
type output struct {
	mu   sync.Mutex // what has left the process group may still write
	head []byte
	tail []byte // the last bytes behind head, up to twice tailSize
	size int64  // of everything
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	o.size += int64(n)
	if room := headSize - len(o.head); room > 0 {
		room = min(room, n)
		o.head, p = append(o.head, p[:room]...), p[room:]
	}
	if len(p) >= tailSize {
		o.tail, p = o.tail[:0], p[len(p)-tailSize:]
	}
	if len(o.tail)+len(p) > 2*tailSize {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-tailSize:]...)
	}
	o.tail = append(o.tail, p...)
	return n, nil
}

// String returns the output as a terminal shows it, and says how much is left out.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	left := o.size - int64(len(o.head)+len(o.tail))
	if left <= 0 {
		return terminal.Plain(string(o.head) + string(o.tail))
	}
	head, _ := cutAfterLast(string(o.head))
	tail := string(o.tail)
	if _, lines, ok := strings.Cut(tail, "\n"); ok && lines != "" {
		tail = lines
	}
	left = o.size - int64(len(head)+len(tail))
	return terminal.Plain(head) + fmt.Sprintf("\n[… %d bytes left out …]\n", left) + terminal.Plain(tail)
}

// cutAfterLast cuts a text behind its last line break, if it has one.
func cutAfterLast(text string) (lines, rest string) {
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		return text[:at+1], text[at+1:]
	}
	return text, ""
}

// maxLine is how much of a line an error quotes, in bytes.
const maxLine = 200

// lastLine returns the last line of the output that is not blank.
func (o *output) lastLine() string {
	lines := strings.Split(strings.TrimSpace(o.String()), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	return strings.ToValidUTF8(last[:min(len(last), maxLine)], "")
}
