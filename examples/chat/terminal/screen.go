package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/examples/internal/plaintext"
)

const prompt = "> "

// Screen is a View for a terminal in raw mode. The chat scrolls up; below it are
// the unfinished line, the panel and the input line.
type Screen struct {
	entered    chan string
	interrupts chan struct{}
	restore    func() // restores the mode of the terminal
	closed     chan struct{}

	mu      sync.Mutex
	out     io.Writer
	size    func() (columns, rows int)
	color   bool
	flow    flow
	partial string // the unfinished line
	panel   func(columns, rows int) []string
	editor  editor
	above   []int // the widths of the lines above the cursor that draw replaces
	cursor  int   // the column of the cursor
}

// NewScreen returns a view for a terminal in raw mode. It calls size whenever it
// shows something. Tab completes the words.
func NewScreen(in io.Reader, out io.Writer, size func() (columns, rows int), color bool, words ...string) *Screen {
	s := &Screen{
		entered: make(chan string), interrupts: make(chan struct{}), closed: make(chan struct{}),
		out: out, size: size, color: color, restore: func() {}, editor: editor{words: words},
		panel: func(int, int) []string { return nil },
	}
	s.write("\x1b[?2004h") // pasted text comes in brackets
	go s.read(&keys{in: bufio.NewReader(in)})
	return s
}

// read passes on what the user types. It returns when the input ends or the user
// presses Ctrl-D on an empty line.
func (s *Screen) read(k *keys) {
	defer close(s.entered)
	for {
		key, err := k.next()
		if err != nil {
			return
		}
		s.mu.Lock()
		if key == ctrlD && len(s.editor.line) == 0 {
			s.mu.Unlock()
			return
		}
		if key == ctrlC {
			_ = s.editor.enter() // so that the user can recall the line
		}
		line, done := s.editor.press(key)
		s.draw()
		s.mu.Unlock()
		switch {
		case key == ctrlC:
			offer(s.closed, s.interrupts, struct{}{})
		case done:
			offer(s.closed, s.entered, line)
		}
	}
}

// Stream implements View.
func (s *Screen) Stream(piece string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	piece = s.flow.next(piece)
	if piece == "" {
		return
	}
	var done []string
	for line := range strings.SplitSeq(s.partial+piece, "\n") {
		done = append(done, wrap(line, s.width())...)
	}
	last := len(done) - 1
	done, s.partial = done[:last], done[last]
	s.draw(done...)
}

// Say implements View.
func (s *Screen) Say(k Kind, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var done []string
	if s.partial != "" {
		done = append(done, s.partial)
	}
	s.partial, s.flow = "", flow{}
	if k == Said {
		done = append(done, "")
	}
	for line := range strings.Lines(plaintext.Clean(text)) {
		mark := k.mark()
		for _, row := range wrap(strings.TrimRight(line, " \n"), s.width()-len(mark)) {
			done = append(done, s.paint(k.color(), mark+row))
			mark = strings.Repeat(" ", len(mark))
		}
	}
	s.draw(done...)
}

// Panel implements View.
func (s *Screen) Panel(draw func(columns, rows int) []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.panel = draw
	s.draw()
}

// draw prints finished lines and redraws everything below them. It erases the
// old lines instead of overwriting them, because a terminal that rewraps its
// lines remembers their length. Terminals that support it show everything at
// once.
func (s *Screen) draw(done ...string) {
	columns, rows := s.size()
	var b strings.Builder
	b.WriteString("\x1b[?2026h\x1b[?25l\r")
	if up := s.rowsAbove(columns); up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\x1b[J")
	s.above = s.above[:0]
	if s.partial != "" {
		done = append(done, s.partial)
		s.above = append(s.above, Width(strings.TrimRight(s.partial, " ")))
	}
	for _, line := range s.panel(s.width(), rows) {
		done = append(done, s.paint(Noted.color(), line))
		s.above = append(s.above, Width(line))
	}
	for _, line := range done {
		b.WriteString(strings.TrimRight(line, " ") + "\r\n")
	}
	text, cursor := s.editor.shown(s.width() - len(prompt))
	s.cursor = len(prompt) + cursor
	fmt.Fprintf(&b, "%s%s\r\x1b[%dC\x1b[?25h\x1b[?2026l", prompt, text, s.cursor)
	s.write(b.String())
}

// rowsAbove returns how many rows draw has to replace above the cursor, even if
// the terminal has become narrower and has wrapped lines.
func (s *Screen) rowsAbove(columns int) int {
	columns = max(columns, 1)
	n := s.cursor / columns
	for _, width := range s.above {
		n += 1 + max(width-1, 0)/columns
	}
	return n
}

// width returns the usable columns: all but the last, in which terminals differ.
func (s *Screen) width() int {
	columns, _ := s.size()
	return max(columns-1, 10)
}

func (s *Screen) paint(color, text string) string {
	if !s.color || color == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[m"
}

func (s *Screen) write(text string) { _, _ = io.WriteString(s.out, text) } // the terminal may be gone

// Lines implements View.
func (s *Screen) Lines() <-chan string { return s.entered }

// Interrupts implements View.
func (s *Screen) Interrupts() <-chan struct{} { return s.interrupts }

// Plain implements View.
func (s *Screen) Plain() bool { return false }

// Close implements View.
func (s *Screen) Close() {
	close(s.closed)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write("\r")
	if up := s.rowsAbove(max(1, s.width()+1)); up > 0 {
		s.write(fmt.Sprintf("\x1b[%dA", up))
	}
	s.write(s.partial + "\x1b[J\x1b[?2004l")
	s.restore()
}

// offer sends a value and reports true, or reports false once closed is closed.
func offer[T any](closed <-chan struct{}, to chan<- T, value T) (taken bool) {
	select {
	case to <- value:
		return true
	case <-closed:
		return false
	}
}
