package terminal

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// The limits of the editor.
const (
	maxLine    = 64 << 10 // bytes of a line
	maxEntered = 100      // remembered lines
)

// The keys that a terminal sends as control characters.
const (
	ctrlA     = 'A' - '@'
	ctrlC     = 'C' - '@'
	ctrlD     = 'D' - '@'
	ctrlE     = 'E' - '@'
	ctrlK     = 'K' - '@'
	ctrlU     = 'U' - '@'
	ctrlW     = 'W' - '@'
	backspace = 0x7f
	ctrlH     = 'H' - '@'
)

// editor holds the line that is being typed and the lines entered before.
type editor struct {
	line    []rune
	at      int // position of the cursor in the line
	entered []string
	back    int // how far back in entered the line is from; 0 for a new one
	draft   string
}

// press applies a key to the line. If the key enters the line, press returns it
// and true.
func (e *editor) press(key rune) (line string, done bool) {
	switch key {
	case '\r', '\n':
		return e.enter(), true
	case keyUp:
		e.recall(e.back + 1)
	case keyDown:
		e.recall(e.back - 1)
	case backspace, ctrlH:
		e.remove(e.at-1, e.at)
	case keyDelete, ctrlD:
		e.remove(e.at, e.at+1)
	case ctrlU:
		e.remove(0, e.at)
	case ctrlK:
		e.remove(e.at, len(e.line))
	case ctrlW:
		before := strings.TrimRight(string(e.line[:e.at]), " ")
		e.remove(len([]rune(before[:strings.LastIndex(before, " ")+1])), e.at)
	default:
		e.move(key)
		if key <= unicode.MaxRune && (unicode.IsGraphic(key) || key == '\u200d') && len(e.line) < maxLine/4 {
			e.line = slices.Insert(e.line, e.at, key)
			e.at++
		}
	}
	return "", false
}

func (e *editor) move(key rune) {
	switch key {
	case keyLeft:
		e.at = max(e.at-1, 0)
	case keyRight:
		e.at = min(e.at+1, len(e.line))
	case keyHome, ctrlA:
		e.at = 0
	case keyEnd, ctrlE:
		e.at = len(e.line)
	}
}

func (e *editor) enter() string {
	line := string(e.line)
	if strings.TrimSpace(line) != "" && (len(e.entered) == 0 || e.entered[len(e.entered)-1] != line) {
		e.entered = append(e.entered, line)
		e.entered = e.entered[max(0, len(e.entered)-maxEntered):]
	}
	e.set("")
	e.back = 0
	return line
}

// recall replaces the line by the one entered that many lines ago; 0 is the
// draft.
func (e *editor) recall(back int) {
	if back < 0 || back > len(e.entered) {
		return
	}
	if e.back == 0 {
		e.draft = string(e.line)
	}
	e.back = back
	if back == 0 {
		e.set(e.draft)
		return
	}
	e.set(e.entered[len(e.entered)-back])
}

func (e *editor) set(line string) {
	e.line = []rune(line)
	e.at = len(e.line)
}

func (e *editor) remove(from, to int) {
	from, to = max(from, 0), min(to, len(e.line))
	e.line = slices.Delete(e.line, from, max(from, to))
	e.at = from
}

// shown returns the part of the line around the cursor that fits into that many
// columns, and the column of the cursor in it.
func (e *editor) shown(columns int) (text string, cursor int) {
	from := e.at
	for from > 0 && uniseg.StringWidth(string(e.line[from-1:e.at])) < columns {
		from--
	}
	to := e.at
	for to < len(e.line) && uniseg.StringWidth(string(e.line[from:to+1])) < columns {
		to++
	}
	return string(e.line[from:to]), uniseg.StringWidth(string(e.line[from:e.at]))
}
