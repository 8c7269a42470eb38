package terminal

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	tab       = '\t'
	newLine   = '\n' // Ctrl-J, Alt-Enter, or pasted
	backspace = 0x7f
	ctrlH     = 'H' - '@'
)

// editor holds the text that is being typed and those entered before. A text may
// have several lines.
type editor struct {
	words   []string // that Tab completes
	line    []rune
	at      int // position of the cursor in the line
	entered []string
	back    int // how far back in entered the line is from; 0 for a new one
	draft   string
	typed   string // what Tab has completed
	tabs    int    // how often in a row Tab was pressed
}

// press applies a key to the line. If the key enters the line, press returns it
// and true.
func (e *editor) press(key rune) (line string, done bool) {
	if key != tab {
		e.tabs = 0
	}
	switch key {
	case '\r':
		return e.enter(), true
	case tab:
		e.complete()
	case keyUp:
		e.recall(e.back + 1)
	case keyDown:
		e.recall(e.back - 1)
	case backspace, ctrlH:
		e.remove(e.before(), e.at)
	case keyDelete, ctrlD:
		e.remove(e.at, e.after())
	case ctrlU:
		e.remove(0, e.at)
	case ctrlK:
		e.remove(e.at, len(e.line))
	case ctrlW:
		before := strings.TrimRight(string(e.line[:e.at]), " \n")
		e.remove(len([]rune(before[:strings.LastIndexAny(before, " \n")+1])), e.at)
	default:
		e.move(key)
		e.insert(key)
	}
	return "", false
}

// insert inserts a key that is a character.
func (e *editor) insert(key rune) {
	if key <= unicode.MaxRune && (unicode.IsGraphic(key) || key == zeroWidthJoiner || key == newLine) && len(e.line) < maxLine/4 {
		e.line = slices.Insert(e.line, e.at, key)
		e.at++
	}
}

// zeroWidthJoiner joins several characters into one, as in the emoji of a family.
const zeroWidthJoiner = '\u200d'

// complete completes the only word of the line. Pressed again, Tab tries the next word with the same beginning.
func (e *editor) complete() {
	if e.tabs == 0 {
		e.typed = string(e.line)
	}
	var fitting []string
	for _, word := range e.words {
		if strings.HasPrefix(word, strings.ToLower(e.typed)) {
			fitting = append(fitting, word)
		}
	}
	if e.typed == "" || len(fitting) == 0 {
		return
	}
	e.set(fitting[e.tabs%len(fitting)])
	e.tabs++
}

// before returns where the character before the cursor begins, which may consist
// of several runes.
func (e *editor) before() int {
	from := 0
	for at := range e.characters() {
		if at >= e.at {
			break
		}
		from = at
	}
	return from
}

// after returns where the character after the cursor ends.
func (e *editor) after() int {
	for at, size := range e.characters() {
		if at+size > e.at {
			return at + size
		}
	}
	return len(e.line)
}

// characters yields the characters of the line as a reader counts them: where
// each begins, and how many runes it has.
func (e *editor) characters() iter.Seq2[int, int] {
	return func(yield func(at, size int) bool) {
		at := 0
		for rest, state := string(e.line), -1; rest != ""; {
			var character string
			character, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
			size := utf8.RuneCountInString(character)
			if !yield(at, size) {
				return
			}
			at += size
		}
	}
}

func (e *editor) move(key rune) {
	switch key {
	case keyLeft:
		e.at = e.before()
	case keyRight:
		e.at = e.after()
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

// shown returns the part of the text around the cursor that fits into that many
// columns, on one line, and the column of the cursor in it.
func (e *editor) shown(columns int) (text string, cursor int) {
	var starts []int // of the characters before the cursor
	var ends []int   // of those after it
	for at, size := range e.characters() {
		if at < e.at {
			starts = append(starts, at)
		} else {
			ends = append(ends, at+size)
		}
	}
	from, to := e.at, e.at
	for len(starts) > 0 && e.width(starts[len(starts)-1], e.at) < columns {
		from, starts = starts[len(starts)-1], starts[:len(starts)-1]
	}
	for len(ends) > 0 && e.width(from, ends[0]) < columns {
		to, ends = ends[0], ends[1:]
	}
	return e.onOneLine(from, to), e.width(from, e.at)
}

func (e *editor) width(from, to int) int { return Width(e.onOneLine(from, to)) }

// onOneLine returns a part of the text, with a sign in place of line breaks.
func (e *editor) onOneLine(from, to int) string {
	return strings.ReplaceAll(string(e.line[from:to]), "\n", "\u23ce")
}
