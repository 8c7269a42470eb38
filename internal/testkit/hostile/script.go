package hostile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Blocked is a reason that todo_pause accepts.
const Blocked = "The grammar file grammar.ebnf is missing"

// Task is the open todo, which carryon's prompts name and the model never does.
const Task = "Finish the secret parser"

// kind says what a part of an answer is.
type kind int

const (
	words kind = iota
	thought
	call
	pause        // a call of todo_pause
	printedPause // text that calls it
)

// part is a piece of what the model answers.
type part struct {
	kind     kind
	pieces   []string // as they are streamed: of a text, or of arguments
	id, name string   // of a call
}

// whole returns the part in one piece.
func (p part) whole() string { return strings.Join(p.pieces, "") }

// isCall reports whether the part is a tool call.
func (p part) isCall() bool { return p.kind == call || p.kind == pause }

// script is an answer of the model.
type script []part

// calls reports whether the answer calls tools.
func (s script) calls() bool { return slices.ContainsFunc(s, part.isCall) }

// pauses reports whether the answer calls todo_pause in any form.
func (s script) pauses() bool {
	return slices.ContainsFunc(s, func(p part) bool { return p.kind == pause || p.kind == printedPause })
}

// plan is the first answer: it announces work, and does none.
func plan(r *rand.Rand) script {
	var s script
	if r.IntN(4) == 0 {
		s = append(s, part{kind: thought, pieces: split(r, "The parser comes first.")})
	}
	return append(s, part{kind: words, pieces: split(r, "Next I will write the parser.")})
}

// answer is a later answer. Only the number of the turn tells its texts apart from
// those of others; the ids of its calls are those of every turn.
func answer(r *rand.Rand, turn int) script {
	var s script
	for at := range r.IntN(4) {
		name := fmt.Sprintf("turn %d, part %d.", turn, at)
		switch r.IntN(9) {
		case 0, 1, 2:
			s = append(s, part{kind: words, pieces: split(r, "This is "+name)})
		case 3:
			s = append(s, part{kind: thought, pieces: split(r, "A thought of "+name)})
		case 4:
			s = append(s, part{kind: words, pieces: split(r, "todo_list of "+name)}) // may begin a pause
		case 5:
			s = append(s, part{kind: pause, id: fmt.Sprintf("call_%d", at), name: "todo_pause", pieces: split(r, `{"reason":"`+Blocked+`"}`)})
		case 6:
			s = append(s, part{kind: printedPause, pieces: split(r, "todo_pause('"+Blocked+"')")})
		default:
			s = append(s, part{kind: call, id: fmt.Sprintf("call_%d", at), name: "edit_file", pieces: split(r, `{"path":"`+name+`"}`)})
		}
	}
	return s
}

// split cuts a text in up to four pieces.
func split(r *rand.Rand, text string) []string {
	var pieces []string
	for n := r.IntN(4); n > 0 && len(text) > 1; n-- {
		at := 1 + r.IntN(len(text)-1)
		pieces, text = append(pieces, text[:at]), text[at:]
	}
	return append(pieces, text)
}
