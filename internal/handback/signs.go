package handback

import "bytes"

// A shape is what the form of a text says, whatever its words are.
type shape uint8

const (
	isShort      shape = 1 << iota // the whole text
	isList                         // the last paragraph
	isBelowList                    // likewise
	isAboveShell                   // it stands above commands for a shell
)

// shapeOf returns the shape of the text of which only the last paragraph has been read, below
// up.
func (w *walker) shapeOf(last *paragraph, up *upper) (s shape) {
	const shortText = 160 // bytes
	if len(w.text) < shortText && !last.list && last.stops > 1 && bytes.IndexByte(last.text[last.last.start:], omitted) < 0 {
		s |= isShort
	}
	if last.list {
		s |= isList
	}
	if up.ok && up.list {
		s |= isBelowList
	}
	if w.fenced && w.tellsShell() {
		s |= isAboveShell
	}
	return s
}

// evidence is what tells a report, which leaves nothing, from a text that leaves what is
// open to others: it says what keeps the model from going on, tells them what to do, or
// offers more.
type evidence struct {
	last, paragraph, above kinds // of the last sentence, its paragraph, and the one above that
	shape                  shape
}

// evidenceOf returns what the last paragraph tells, and the one above it.
func (w *walker) evidenceOf(last *paragraph, up *upper) evidence {
	s := &last.last
	e := evidence{last: s.kinds, paragraph: last.kinds, above: up.kinds, shape: w.shapeOf(last, up)}
	switch {
	case s.isCourtesy():
		e.last, e.paragraph = last.before, last.before
	case !s.label && last.instructs(s.start):
		e.last |= imperative
		e.paragraph |= imperative
	}
	if last.list && up.kinds&left != 0 { // the names of todos have verbs, too
		e.last &^= imperative
		e.paragraph &^= imperative
	}
	return e
}

// A sign is a part of the evidence. By its weight, it speaks for a text that leaves
// something, or against that.
type sign struct {
	last, paragraph, above kinds // one of them has one of these
	with                   kinds // and, if set, the last paragraph one of these
	shape                  shape
	weight                 int
}

// signs have the weights of a logistic regression over 950 labelled ends of turns, rounded.
// No word decides alone: "only" and "because" also tell how work was done.
var signs = [...]sign{ //nolint:gochecknoglobals // constant
	{paragraph: obstacle, weight: 11},
	{last: obstacle, weight: 9},
	{paragraph: you, weight: 9},
	{last: you, weight: 10},
	{above: you, weight: 9},
	{paragraph: imperative, weight: 13},
	{above: imperative, weight: 11},
	{above: tell, weight: 10},
	{paragraph: leaning | stuck, weight: 14},
	{paragraph: offer | offerOnly | maybe, weight: 14},
	{paragraph: can, weight: 10},
	{paragraph: condition, weight: 6},
	{last: hedge, with: not | obstacle | you, weight: 3},
	{paragraph: left, weight: -3},
	{paragraph: gauge, weight: -4},
	{last: reports, weight: -3},
	{shape: isShort, weight: 3},
	{shape: isList, weight: -5},
	{shape: isBelowList, weight: -3},
	{shape: isAboveShell, weight: 13},
}

// noSign is what no sign at all weighs.
const noSign = -9

func (s *sign) isIn(e *evidence) bool {
	is := e.last&s.last|e.paragraph&s.paragraph|e.above&s.above != 0 || e.shape&s.shape != 0
	return is && (s.with == 0 || e.paragraph&s.with != 0)
}

// leaves reports whether the signs for a text that leaves something outweigh the others.
func (e evidence) leaves() bool {
	sum := noSign
	for i := range signs {
		if signs[i].isIn(&e) {
			sum += signs[i].weight
		}
	}
	return sum > 0
}
