package carryontest

import (
	"fmt"
	"unicode/utf8"
)

const (
	maxFragments = 8 // that arguments are cut into
	minFragment  = 8 // bytes of arguments worth a fragment
)

// fragments is the call as a stream sends it; index is its place among the calls of the answer.
func (c call) fragments(s shape, index int) []fragment {
	parts := c.parts(s)
	list := make([]fragment, 0, len(parts))
	for i, part := range parts {
		f := fragment{Index: s.index(index), Function: part}
		if i == 0 || s.repeatID {
			f.ID = c.id
		}
		if !s.noType && (i == 0 || s.repeatType) {
			f.Type = "function"
		}
		if s.repeatName {
			f.Function.Name = c.name
		}
		list = append(list, f)
	}
	return list
}

func (s shape) index(i int) *int {
	if s.noIndex {
		return nil
	}
	if s.sameIndex {
		i = 0
	}
	i += s.startIndex
	return &i
}

// parts cuts the call: its name first, then its arguments.
func (c call) parts(s shape) []function {
	var list []function
	switch {
	case s.wholeCalls:
		list = []function{{Name: c.name, Arguments: c.arguments}}
	case s.splitName:
		half := boundary(c.name, len(c.name)/2)
		list = []function{{Name: c.name[:half]}, {Name: c.name[half:]}}
	default:
		list = []function{{Name: c.name}}
	}
	if s.emptyFragments {
		list = append(list, function{}, function{})
	}
	if !s.wholeCalls {
		for _, piece := range cut(c.arguments) {
			list = append(list, function{Arguments: piece})
		}
	}
	if s.emptyFragments {
		list = append(list, function{})
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

// numbered gives ids to the calls that have none: "call_2_1" is the first one of the second answer.
func numbered(calls []call, answer int) []call {
	list := make([]call, len(calls))
	for i, c := range calls {
		if c.id == "" {
			c.id = fmt.Sprintf("call_%d_%d", answer, i+1)
		}
		list[i] = c
	}
	return list
}

// rounds is the fragments of all calls in the order of sending: those of one round belong together.
func rounds(calls []call, s shape) [][]fragment {
	var list [][]fragment
	if !s.interleaved && !s.batched {
		for i, c := range calls {
			list = append(list, c.fragments(s, i))
		}
		return list
	}
	for i, c := range calls {
		for j, f := range c.fragments(s, i) {
			if j == len(list) {
				list = append(list, nil)
			}
			list[j] = append(list[j], f)
		}
	}
	return list
}
