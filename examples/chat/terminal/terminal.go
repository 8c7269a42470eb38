// Package terminal shows a chat. On a terminal it shows the todos and an input line at the bottom; elsewhere it prints
// plain lines.
package terminal

import (
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/carryon-go/carryon/examples/internal/plaintext"
)

// View shows a chat and reads what the user types. Its methods are safe for concurrent use. They accept any text and
// remove escape sequences.
type View interface {
	// Stream shows the next piece of a text. Say ends the text.
	Stream(piece string)
	// Say shows a text on separate lines, unless it is empty.
	Say(k Kind, text string)
	// Panel sets the function that returns the lines above the input line, for
	// the size of the terminal. The view calls it whenever it shows something.
	Panel(draw func(columns, rows int) []string)

	// Lines returns the lines that the user enters, until the input ends.
	Lines() <-chan string
	// Interrupts receives each Ctrl-C that does not arrive as a signal.
	Interrupts() <-chan struct{}
	// Plain reports whether the view shows plain lines: nobody types while it
	// shows them, and there is no panel.
	Plain() bool
	// Close restores the terminal and leaves the chat visible on it.
	Close()
}

// Kind says what a text is about.
type Kind uint8

// The kinds of texts, and how their lines begin.
const (
	Told   Kind = iota // an answer to a command: no mark
	Said               // what the user said: "> "
	Worked             // what a tool did: two spaces
	Noted              // what is happening: "* "
	Failed             // what went wrong: "! "
)

// Open returns a Screen if in and out are a terminal, and PlainLines otherwise. On
// a Screen, Tab completes the words.
func Open(in, out *os.File, color bool, words ...string) (View, error) {
	keys, shown := int(in.Fd()), int(out.Fd())
	if !term.IsTerminal(keys) || !term.IsTerminal(shown) {
		return NewLines(in, out, !term.IsTerminal(keys)), nil
	}
	before, err := term.MakeRaw(keys)
	if err != nil {
		return nil, err
	}
	size := func() (columns, rows int) {
		columns, rows, err := term.GetSize(shown)
		if err != nil {
			return 80, 24
		}
		return columns, rows
	}
	s := NewScreen(in, out, size, color, words...)
	s.restore = func() { _ = term.Restore(keys, before) } // nothing else can be tried
	return s, nil
}

// mark returns the beginning of the lines of the kind.
func (k Kind) mark() string {
	return [...]string{Told: "", Said: "> ", Worked: "  ", Noted: "* ", Failed: "! "}[k]
}

// color returns the parameters of the escape sequence for lines of the kind.
func (k Kind) color() string {
	return [...]string{Told: "", Said: "1", Worked: "2", Noted: "36", Failed: "31"}[k]
}

// flow prepares the pieces of one text for output.
type flow struct {
	cleaner plaintext.Cleaner
	begun   bool // part of the text was shown
}

// next returns what to show of a piece. It drops white space at the beginning of
// the text.
func (f *flow) next(piece string) string {
	piece = f.cleaner.Clean(piece)
	if !f.begun {
		piece = strings.TrimLeft(piece, " \n")
	}
	f.begun = f.begun || piece != ""
	return piece
}
