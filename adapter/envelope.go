package adapter

// Envelope keeps the id, the model and the like of the first turn, under which every
// turn of a call is shown. E is a struct of them, in the SDK's own types. The zero
// value is ready for use.
type Envelope[E any] struct {
	// First is the envelope of the first turn.
	First E

	taken, fixed bool
}

// IsFixed reports whether the envelope can no longer change.
func (e *Envelope[E]) IsFixed() bool { return e.fixed }

// Take offers the envelope of a value that was read. The first envelope with an id
// counts, or else the very first of the first turn: some providers begin with a value
// that has no id.
func (e *Envelope[E]) Take(envelope E, hasID bool) {
	if e.fixed || e.taken && !hasID {
		return
	}
	e.First, e.taken, e.fixed = envelope, true, hasID
}

// Fix ends the first turn. If it had no id, later turns are shown without one too.
func (e *Envelope[E]) Fix() { e.fixed = true }
