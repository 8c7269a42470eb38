package fakellm

import (
	"fmt"
	"unicode/utf8"
)

const (
	maxFragments = 8 // that arguments are cut into
	minFragment  = 8 // bytes of arguments worth a fragment
)

// callsInRounds returns the fragments of all calls in the order of sending. The fragments of one round go out together.
func (a answer) callsInRounds(number int) [][]chatCall {
	var rounds [][]chatCall
	for i, c := range a.numberedCalls(number) {
		fragments := a.fragments(c, i)
		if !a.quirks.has(Interleaved | Batched) {
			rounds = append(rounds, fragments)
			continue
		}
		for j, f := range fragments {
			if j == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[j] = append(rounds[j], f)
		}
	}
	return rounds
}

// numberedCalls gives ids to the calls that have none: "call_2_1" is the first one of the second answer. An answer in the
// legacy form has one call.
func (a answer) numberedCalls(number int) []call {
	list := make([]call, len(a.calls))
	for i, c := range a.calls {
		if c.id == "" {
			c.id = fmt.Sprintf("call_%d_%d", number, i+1)
		}
		list[i] = c
	}
	if a.quirks.has(Legacy) && len(list) > 0 {
		list = list[:1]
	}
	return list
}

// fragments is a call as a stream sends it; i counts the calls of the answer.
func (a answer) fragments(c call, i int) []chatCall {
	parts := a.parts(c)
	list := make([]chatCall, 0, len(parts))
	for j, part := range parts {
		f := chatCall{Index: a.index(i), Function: part}
		if j == 0 || a.quirks.has(RepeatID) {
			f.ID = c.id
		}
		if !a.quirks.has(NoType) && (j == 0 || a.quirks.has(RepeatType)) {
			f.Type = "function"
		}
		if a.quirks.has(RepeatName) {
			f.Function.Name = c.name
		}
		list = append(list, f)
	}
	return list
}

func (a answer) index(i int) *int {
	if a.quirks.has(NoIndex) {
		return nil
	}
	if a.quirks.has(SameIndex) {
		i = 0
	}
	i += a.startIndex
	return &i
}

// parts cuts a call: its name first, then its arguments.
func (a answer) parts(c call) []chatFunction {
	whole := a.quirks.has(WholeCalls | OneChunk)
	var list []chatFunction
	switch {
	case whole:
		list = []chatFunction{{Name: c.name, Arguments: c.arguments}}
	case a.quirks.has(SplitName):
		half := boundary(c.name, len(c.name)/2)
		list = []chatFunction{{Name: c.name[:half]}, {Name: c.name[half:]}}
	default:
		list = []chatFunction{{Name: c.name}}
	}
	if a.quirks.has(EmptyFragments) {
		list = append(list, chatFunction{}, chatFunction{})
	}
	if !whole {
		for _, piece := range cut(c.arguments) {
			list = append(list, chatFunction{Arguments: piece})
		}
	}
	if a.quirks.has(EmptyFragments) {
		list = append(list, chatFunction{})
	}
	return list
}

// cut divides arguments, never inside a character.
func cut(arguments string) []string {
	size := max(minFragment, (len(arguments)+maxFragments-1)/maxFragments)
	var pieces []string
	for len(arguments) > size {
		at := boundary(arguments, size)
		pieces = append(pieces, arguments[:at])
		arguments = arguments[at:]
	}
	if arguments != "" {
		pieces = append(pieces, arguments)
	}
	return pieces
}

// boundary is the first beginning of a character in text at or after the given byte.
func boundary(text string, at int) int {
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}
