package middleware

import (
	"context"
	"runtime"
	"sync"
	"weak"
)

// Drain prepares for the end of the program. From now on carryon sends no continuation,
// and it ends running continuations as if they had failed, so that every answer ends as
// its last good turn did. New calls work, but are not continued.
//
// Drain returns nil once no call holds a claim on its session and no [Check] runs. If ctx ends first, Drain
// releases the remaining claims and returns [context.Cause] of ctx. It may be called
// several times and on any goroutine. It panics if ctx is nil.
func (mw *Middleware) Drain(ctx context.Context) error {
	mustHave(ctx)
	mw.drain.stop()
	return mw.drain.wait(ctx)
}

// drain holds what a Middleware must end before the program ends.
type drain struct {
	begun context.Context // ends when Drain is called
	stop  context.CancelFunc

	mu     sync.Mutex
	claims map[weak.Pointer[claim]]struct{} // not released; those of abandoned calls are collected with them
	checks int                              // that run
	empty  chan struct{}                    // closed once there is none of both; nil unless somebody waits
}

func newDrain() *drain {
	d := &drain{claims: make(map[weak.Pointer[claim]]struct{})}
	d.begun, d.stop = context.WithCancel(context.Background())
	return d
}

// hasBegun reports whether Drain was called.
func (d *drain) hasBegun() bool { return d.begun.Err() != nil }

// add notes that a claim is held.
func (d *drain) add(c *claim) {
	ref := weak.Make(c)
	runtime.AddCleanup(c, d.remove, ref)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.claims[ref] = struct{}{}
}

// remove notes that a claim is not held any more.
func (d *drain) remove(ref weak.Pointer[claim]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.claims, ref)
	d.noteEmpty()
}

// beginCheck notes that the program's check begins to run.
func (d *drain) beginCheck() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checks++
}

// endCheck notes that it has returned.
func (d *drain) endCheck() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checks--
	d.noteEmpty()
}

// isEmpty reports whether nothing has to be waited for.
func (d *drain) isEmpty() bool { return len(d.claims) == 0 && d.checks == 0 }

func (d *drain) noteEmpty() {
	if d.isEmpty() && d.empty != nil {
		close(d.empty)
		d.empty = nil
	}
}

// wait returns once no claim is held and no check runs. When ctx ends, it releases the remaining
// claims.
func (d *drain) wait(ctx context.Context) error {
	select {
	case <-d.emptied():
		return nil
	case <-ctx.Done():
	}
	for _, c := range d.all() {
		c.release()
	}
	return context.Cause(ctx)
}

// emptied returns a channel that is closed once no claim is held and no check runs.
func (d *drain) emptied() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	empty := d.empty
	if empty == nil {
		empty = make(chan struct{})
	}
	if !d.isEmpty() {
		d.empty = empty
	} else {
		close(empty)
	}
	return empty
}

func (d *drain) all() (claims []*claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ref := range d.claims {
		if c := ref.Value(); c != nil {
			claims = append(claims, c)
		}
	}
	return claims
}
