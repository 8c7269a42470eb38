package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/examples/internal/plaintext"
)

// PlainLines is a View for pipes and files. It writes no control characters.
type PlainLines struct {
	in     chan string
	echo   bool
	closed chan struct{}

	mu   sync.Mutex
	out  io.Writer
	flow flow
	open bool // the last line has not ended
}

// NewLines returns a view of plain lines. With echo it also shows what the user
// enters.
func NewLines(in io.Reader, out io.Writer, echo bool) *PlainLines {
	l := &PlainLines{in: make(chan string), closed: make(chan struct{}), out: out, echo: echo}
	go l.read(bufio.NewReaderSize(in, maxLine))
	return l
}

func (l *PlainLines) read(in *bufio.Reader) {
	defer close(l.in)
	for {
		line, more, err := in.ReadLine()
		text := string(line)
		for more && err == nil {
			text = ""
			_, more, err = in.ReadLine()
			if !more {
				l.Say(Failed, fmt.Sprintf("A line has at most %d KiB.", maxLine>>10))
			}
		}
		if err != nil || !offer(l.closed, l.in, text) {
			return
		}
	}
}

// Stream implements View.
func (l *PlainLines) Stream(piece string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	piece = l.flow.next(piece)
	if piece != "" {
		l.open = !strings.HasSuffix(piece, "\n")
		l.write(piece)
	}
}

// Say implements View.
func (l *PlainLines) Say(k Kind, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		l.write("\n")
	}
	l.open, l.flow = false, flow{}
	if k == Said {
		l.write("\n")
		if !l.echo {
			return
		}
	}
	for line := range strings.Lines(plaintext.Clean(text)) {
		l.write(strings.TrimRight(k.mark()+line, " \n") + "\n")
	}
}

func (l *PlainLines) write(text string) { _, _ = io.WriteString(l.out, text) } // the reader may be gone

// Panel implements View. Plain lines have no panel.
func (l *PlainLines) Panel(func(columns, rows int) []string) {}

// Lines implements View.
func (l *PlainLines) Lines() <-chan string { return l.in }

// Interrupts implements View. They arrive as signals.
func (l *PlainLines) Interrupts() <-chan struct{} { return nil }

// Plain implements View.
func (l *PlainLines) Plain() bool { return true }

// Close implements View.
func (l *PlainLines) Close() { close(l.closed) }
