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
	// maxPause is the longest pause; each one has a random length. Pauses do not grow:
	// a process that waited longer after each failure would lose every time against
	// one that has just succeeded and tries again at once.
	maxPause = 500 * time.Microsecond
	// A process that changed a record less than soon ago pauses before its next change
	// if another process changed the record less than lately ago. Without that pause,
	// the process that won once would keep winning, because the others still try with
	// the old revision.
	soon   = time.Millisecond
	lately = time.Second
)

// NewSwapping returns Records that keep their data in engine. It panics if engine is
// nil.
//
// An update first calls its function with the record that this process last saw, and
// asks the engine to swap. If the record has changed since, the engine returns the
// current one, and the function is called again with that. So an update takes one
// round trip while only one process uses the record, and two if another process has
// changed the record or if this process has not seen it yet.
//
// Within a process, the updates of a key run one after another. If several processes
// update the same key all the time, none of them starves: the process that succeeded
// last waits for up to half a millisecond before its next try.
func NewSwapping(engine Swapper) Records {
	if engine == nil {
		panic("carryon/records: NewSwapping: nil Swapper")
	}
	return &swapping{engine: engine}
}

type swapping struct {
	engine Swapper
	turns  turns
	seen   seen
	clock  clock
}

// Update implements [Records].
func (s *swapping) Update(ctx context.Context, key string, f UpdateFunc) error {
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
		last, swapped, err = s.try(ctx, key, last, f)
		if swapped {
			return err
		}
		if err == nil && try%eager == 0 {
			err = pause(ctx)
		}
	}
	return err
}

// lastSeen returns the record to try first. The first update of a process asks the
// engine, to learn its time.
func (s *swapping) lastSeen(ctx context.Context, key string) (Snapshot, error) {
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

// try calls f with the record as last seen. swapped reports whether that was the
// current record; only then is err the error of f.
func (s *swapping) try(ctx context.Context, key string, last Snapshot, f UpdateFunc) (now Snapshot, swapped bool, err error) {
	next, keep, failed := f(s.clock.now(), last.Record)
	swap := Swap{Revision: last.Revision}
	if failed == nil {
		swap, failed = change(last, next, keep)
	}
	// An error of f counts only if f was given the current record.
	now, swapped, err = s.swap(ctx, key, swap)
	switch {
	case err != nil:
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
	case checkKeep(keep) != nil:
		return Swap{Revision: last.Revision}, checkKeep(keep)
	case bytes.Equal(next, last.Record):
		swap.Action, swap.Record = Renew, nil
	default:
		swap.Action = Replace
	}
	return swap, nil
}

// swap calls the engine's Swap and adjusts the clock to the engine's.
func (s *swapping) swap(ctx context.Context, key string, swap Swap) (Snapshot, bool, error) {
	if err := ctx.Err(); err != nil { // f may have taken long
		return Snapshot{}, false, err
	}
	began := time.Now()
	now, swapped, err := s.engine.Swap(ctx, key, swap)
	if err == nil {
		s.clock.learn(now.Now, began, time.Now())
	}
	return now, swapped, err
}

// pause waits for a random time of up to maxPause.
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
