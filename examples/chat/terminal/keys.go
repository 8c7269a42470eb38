package terminal

import (
	"bufio"
	"strings"
)

// Keys that are not characters, with values beyond those of characters.
const (
	keyUp rune = 0x110000 + iota
	keyDown
	keyLeft
	keyRight
	keyHome
	keyEnd
	keyDelete
	keyNone
)

const (
	pasteBegins = "200~"
	pasteEnds   = "201~"
)

// keys reads the keys from a terminal in raw mode.
type keys struct {
	in      *bufio.Reader
	pasting bool // within a paste, in which keys do nothing but insert
	last    rune // the character before, within a paste
}

func (k *keys) next() (rune, error) {
	r, _, err := k.in.ReadRune()
	switch {
	case err != nil:
		return 0, err
	case r == '\x1b' && k.in.Buffered() > 0: // otherwise it is the key Esc
		return k.sequence()
	case r == '\x1b':
		return keyNone, nil
	case k.pasting:
		return k.pasted(r), nil
	}
	return r, nil
}

// pasted returns the text that a pasted character inserts. It accepts the line breaks of every system.
func (k *keys) pasted(r rune) rune {
	last := k.last
	k.last = r
	switch {
	case r == '\n' && last == '\r':
		return keyNone
	case r == '\r' || r == '\n':
		return '\n'
	case r == '\t':
		return ' '
	case r < ' ':
		return keyNone
	}
	return r
}

// sequence reads the rest of an escape sequence, such as "[A" or "[1;5C".
func (k *keys) sequence() (rune, error) {
	r, _, err := k.in.ReadRune()
	if r == '\r' && err == nil {
		return '\n', nil // Alt-Enter
	}
	if err != nil || r != '[' && r != 'O' {
		return keyNone, err
	}
	var b strings.Builder
	for range 16 {
		r, _, err := k.in.ReadRune()
		if err != nil {
			return 0, err
		}
		b.WriteRune(r)
		if r >= '@' && r <= '~' {
			break
		}
	}
	name := b.String()
	if name == pasteBegins || name == pasteEnds {
		k.pasting, k.last = name == pasteBegins, 0
	}
	key, ok := map[string]rune{
		"A": keyUp, "B": keyDown, "C": keyRight, "D": keyLeft,
		"H": keyHome, "1~": keyHome, "F": keyEnd, "4~": keyEnd, "3~": keyDelete,
	}[name]
	if !ok {
		key = keyNone
	}
	return key, nil
}
