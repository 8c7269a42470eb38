package handback

import "bytes"

// A shape is what the form of a text says, whatever its words are.
type shape uint8

const (
	isShort          shape = 1 << iota // the whole text
	hasShortEnd                        // the last sentence
	hasMany                            // sentences, in the last paragraph
	standsBelow                        // the last paragraph, another one
	standsBelowList                    // the last paragraph, a list
	standsAboveCode                    // the last paragraph
	standsAboveShell                   // the last paragraph, commands for a shell
)

// shapeOf returns the shape of the text of which only the last paragraph has been read, below
// up.
func (w *walker) shapeOf(last *reading, up *upper) (s shape) {
	const (
		shortText = 160 // bytes
		shortEnd  = 4   // words
		many      = 4   // sentences
	)
	set := func(is bool, this shape) {
		if is {
			s |= this
		}
	}
	set(len(w.text) < shortText && last.stops > 1 && bytes.IndexByte(last.text[last.last.start:], omitted) < 0, isShort)
	set(last.last.words <= shortEnd, hasShortEnd)
	set(last.stops >= many, hasMany)
	set(up.ok, standsBelow)
	set(up.ok && up.list, standsBelowList)
	set(w.fenced, standsAboveCode)
	set(w.fenced && w.tellsShell(), standsAboveShell)
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
func (w *walker) evidenceOf(last *reading, up *upper) evidence {
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

// signs have the weights of a logistic regression over 380 labelled ends of turns, rounded.
// No word decides alone: "only" and "because" also tell how work was done.
var signs = [...]sign{ //nolint:gochecknoglobals // constant
	{paragraph: barred, weight: 13},
	{last: barred, weight: 4},
	{above: barred, weight: 3},
	{paragraph: you, weight: 14},
	{last: you, weight: 2},
	{above: you, weight: 8},
	{paragraph: imperative, weight: 6},
	{last: imperative, weight: 10},
	{above: imperative, weight: 7},
	{paragraph: offer | offerOnly | maybe, weight: 11},
	{paragraph: can, with: offer | offerOnly | hang | consent | theirs, weight: 5},
	{paragraph: leaning, weight: 6},
	{last: hedge, with: not | barred | you, weight: 5},
	{paragraph: left, weight: -8},
	{above: left, weight: -7},
	{last: reports, weight: -3},
	{last: long | gauge | near, weight: -7},
	{shape: isShort, weight: 3},
	{shape: hasShortEnd, weight: -5},
	{shape: hasMany, weight: -7},
	{shape: standsBelow, weight: -2},
	{shape: standsBelowList, weight: -8},
	{shape: standsAboveCode, weight: 7},
	{shape: standsAboveShell, weight: 6},
}

// noSign is what no sign at all weighs.
const noSign = -2

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
