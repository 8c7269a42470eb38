package middleware

// Ledger keeps the usage of a call in an SDK's own type U, for a [Dialect] to
// embed: it has the dialect's EndTurn. Add must be set; it returns the sum of
// two usages and changes neither.
type Ledger[U any] struct {
	Add func(a, b U) U

	turn, last, sum *U // of the turn at hand, of the last one kept, of all kept
}

// Note takes note of a usage of the turn at hand. The last one counts.
func (l *Ledger[U]) Note(u U) { l.turn = &u }

// EndTurn is the dialect's.
func (l *Ledger[U]) EndTurn(keep bool) {
	if keep && l.turn != nil {
		if l.last = l.turn; l.sum == nil {
			l.sum = l.turn
		} else {
			sum := l.Add(*l.sum, *l.turn)
			l.sum = &sum
		}
	}
	l.turn = nil
}

// Show returns the usage that an edit asks for, nil for none. Own is that of
// the chunk at hand.
func (l *Ledger[U]) Show(which UsageEdit, own *U) *U {
	switch which {
	case ShowOwn:
		return own
	case ShowSum:
		return l.sum
	case ShowLast:
		return l.last
	case HideUsage:
	}
	return nil
}
