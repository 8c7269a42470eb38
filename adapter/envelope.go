package adapter

// Envelope keeps what every turn of a call is shown under: the id, the model and
// the like of the first one. E is a struct of them, in the SDK's own types. The
// zero value is ready for use.
type Envelope[E any] struct {
	// First is the envelope of the first turn.
	First E

	taken, fixed bool
}

// IsFixed reports whether the envelope does not change any more.
func (e *Envelope[E]) IsFixed() bool { return e.fixed }

// Take takes the envelope of a value that was read. The first one with an id
// counts, or else the very first of the first turn: some providers begin with a
// value that has no id.
func (e *Envelope[E]) Take(envelope E, hasID bool) {
	if e.fixed || e.taken && !hasID {
		return
	}
	e.First, e.taken, e.fixed = envelope, true, hasID
}

// Fix ends the first turn: one without an id leaves the others without one too.
func (e *Envelope[E]) Fix() { e.fixed = true }
