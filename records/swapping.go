package records

import (
	"bytes"
	"context"
	"math/rand/v2"
	"time"
)

const (
	// eager is how many swaps are tried between two pauses.
	eager = 4
	// maxPause bounds such a pause, which is random. It does not grow: a process that
	// waits longer after each failure would never get its turn, while another that
	// has just succeeded comes back at once.
	maxPause = 500 * time.Microsecond
	// soon is the time after a change of this process within which its next change
	// pauses first, if another process has changed the record lately. Without that
	// pause, the process that won once would win again and again, because the others
	// only learn of the change when it is too late.
	soon   = time.Millisecond
	lately = time.Second
)

// Swapping turns a [Swapper] into [Records]. Use [NewSwapping].
//
// An update first runs its function on the record as this process last saw it, and
// asks the engine to swap. If the record has changed since, the engine answers with
// the current one, and the function runs again on that. So an update takes one round
// trip while one process uses a session, and two if another process has changed the
// record, or if this process does not know it yet.
//
// Within a process, the updates of a key run one after another. No process starves if
// several update the same key all the time: the one that has just succeeded waits for
// up to half a millisecond before its next try.
type Swapping struct {
	engine Swapper
	turns  turns
	seen   seen
	clock  clock
}

// NewSwapping returns Records on the engine. It panics if engine is nil.
func NewSwapping(engine Swapper) *Swapping {
	if engine == nil {
		panic("carryon/records: NewSwapping: nil Swapper")
	}
	return &Swapping{engine: engine}
}

// Update implements [Records].
func (s *Swapping) Update(ctx context.Context, key string, f UpdateFunc) error {
	if err := checkUpdate(ctx, f); err != nil {
		return err
	}
	if err := s.turns.wait(ctx, key); err != nil {
		return err
	}
	defer s.turns.done(key)
	last, err := s.lastSeen(ctx, key)
	for try := 1; err == nil; try++ {
		var swapped bool
		if last, swapped, err = s.try(ctx, key, last, f); swapped {
			return err
		}
		if err == nil && try%eager == 0 {
			err = pause(ctx)
		}
	}
	return err
}

// lastSeen returns the record to begin with. The first update of a process asks the
// engine for its time.
func (s *Swapping) lastSeen(ctx context.Context, key string) (Snapshot, error) {
	if !s.clock.isSet() {
		now, _, err := s.swap(ctx, key, Swap{})
		return now, err
	}
	last := s.seen.get(key)
	if time.Since(last.changed) < soon && time.Since(last.contested) < lately {
		return last.Snapshot, pause(ctx)
	}
	return last.Snapshot, nil
}

// try runs f on the record as last seen. swapped reports whether it was the current
// one; only then is err the error of f.
func (s *Swapping) try(ctx context.Context, key string, last Snapshot, f UpdateFunc) (now Snapshot, swapped bool, err error) {
	next, keep, failed := f(s.clock.now(), last.Record)
	swap := Swap{Revision: last.Revision}
	if failed == nil {
		swap, failed = change(last, next, keep)
	}
	// An error of f counts only if f was given the current record.
	now, swapped, err = s.swap(ctx, key, swap)
	switch {
	case err != nil:
		s.seen.drop(key) // it may have been stored
		return now, false, err
	case !swapped:
		s.seen.contest(key)
		return now, false, nil
	case swap.Action == Replace:
		now.Record = bytes.Clone(next)
	case swap.Action == Remove:
		now = Snapshot{}
	default:
		now.Record = last.Record
	}
	s.seen.put(key, now, swap.Action == Replace)
	return now, true, failed
}

// change returns the swap that replaces the record as last seen by next.
func change(last Snapshot, next []byte, keep time.Duration) (Swap, error) {
	swap := Swap{Revision: last.Revision, Record: next, Keep: keep}
	switch {
	case len(next) == 0 && last.Revision == "":
		swap = Swap{}
	case len(next) == 0:
		swap = Swap{Revision: last.Revision, Action: Remove}
	case CheckKeep(keep) != nil:
		return Swap{Revision: last.Revision}, CheckKeep(keep)
	case bytes.Equal(next, last.Record):
		swap.Action, swap.Record = Renew, nil
	default:
		swap.Action = Replace
	}
	return swap, nil
}

// swap asks the engine, and learns its time.
func (s *Swapping) swap(ctx context.Context, key string, swap Swap) (Snapshot, bool, error) {
	if err := ctx.Err(); err != nil { // f may have taken its time
		return Snapshot{}, false, err
	}
	began := time.Now()
	now, swapped, err := s.engine.Swap(ctx, key, swap)
	if err == nil {
		s.clock.learn(now.Now, began, time.Now())
	}
	return now, swapped, err
}

// pause waits a little.
func pause(ctx context.Context) error {
	timer := time.NewTimer(rand.N(maxPause)) //nolint:gosec // it spreads processes, and guards nothing
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
