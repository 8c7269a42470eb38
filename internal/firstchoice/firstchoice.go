// Package firstchoice tells which choice of a streamed chunk is the first one of the
// answer: the one that carryon reads, continues and edits.
package firstchoice

// Finder finds the first choice in the chunks of a turn. The zero value is for the caller's
// own turn, in which the first choice has index 0. A continuation asks for one choice; some
// gateways number it otherwise, or only its end.
type Finder struct {
	continuation bool
	found        bool // a choice of the continuation has said something
	others       bool // another one has, too
	index        int  // of the choice that was found
}

// BeginContinuation begins the next turn.
func (f *Finder) BeginContinuation() { *f = Finder{continuation: true} }

// IsFirst reports whether a choice is the first one. saysAnything reports whether it has more
// than a role.
func (f *Finder) IsFirst(index int, saysAnything func() bool) bool {
	if index == 0 || !f.continuation {
		return index == 0
	}
	return !f.found || f.index == index || !f.others && !saysAnything()
}

// Read reads a choice, and reports whether it is the first one. In a continuation, that is
// the first choice that says something or ends.
func (f *Finder) Read(index int, saysAnything, ends func() bool) bool {
	isFirst := f.IsFirst(index, saysAnything)
	switch {
	case !isFirst:
		f.others = true
	case f.continuation && !f.found && (ends() || saysAnything()):
		f.found, f.index = true, index
	}
	return isFirst
}
