// Package terminal shows a chat: on a terminal with the todos and a line to type
// into at the bottom, and as plain lines everywhere else.
package terminal

import (
	"os"
	"strings"

	"golang.org/x/term"
)

// View is what a chat is shown on and typed into. Its methods may be called from
// several goroutines, and take any text: what could disturb a terminal is left
// out.
type View interface {
	// Stream shows more of a text that comes in pieces; Say ends it.
	Stream(piece string)
	// Say shows a text in lines of its own, if it is not empty.
	Say(k Kind, text string)
	// Panel sets what stands above the line being typed, for a terminal of a
	// certain size. It is drawn anew with everything that is shown.
	Panel(draw func(columns, rows int) []string)

	// Lines are what the user enters, until the end of it.
	Lines() <-chan string
	// Interrupts are the Ctrl-C that no signal tells of.
	Interrupts() <-chan struct{}
	// Plain reports whether there are just lines: nobody types while they are
	// shown, and there is no panel.
	Plain() bool
	// Close leaves the terminal as it was found, and what was said on it.
	Close()
}

// Kind is what a text is about.
type Kind uint8

// The kinds of texts, with what their lines begin with.
const (
	Told   Kind = iota // an answer to a command
	Said               // what the user has said: "> "
	Worked             // what a tool has done: two spaces
	Noted              // what goes on: "* "
	Failed             // what went wrong: "! "
)

// Open returns a view for a terminal, and one of plain lines for anything else.
func Open(in, out *os.File, color bool) (View, error) {
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
	s := NewScreen(in, out, size, color)
	s.restore = func() { _ = term.Restore(keys, before) } // there is no other way to try
	return s, nil
}

// mark is what lines of the kind begin with.
func (k Kind) mark() string {
	return [...]string{Told: "", Said: "> ", Worked: "  ", Noted: "* ", Failed: "! "}[k]
}

// color is how lines of the kind look, as a terminal is told.
func (k Kind) color() string {
	return [...]string{Told: "", Said: "1", Worked: "2", Noted: "36", Failed: "31"}[k]
}

// flow makes pieces of a text fit to be shown one after the other.
type flow struct {
	cleaner cleaner
	begun   bool // something of the text was shown
}

// next returns what to show of a piece. A text begins where it says something.
func (f *flow) next(piece string) string {
	piece = f.cleaner.clean(piece)
	if !f.begun {
		piece = strings.TrimLeft(piece, " \n")
	}
	f.begun = f.begun || piece != ""
	return piece
}
