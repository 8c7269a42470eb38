package middleware

import (
	"context"
	"runtime"
	"sync"
	"weak"
)

// Drain prepares the end of the program. From then on carryon begins no continuation,
// and ends those under way as if they had failed, so that every answer ends as its
// last good turn did. Calls go on without carryon.
//
// Drain returns once no call holds its session any more. If ctx ends before, Drain
// takes the sessions from the calls that still hold them, and returns the cause of
// ctx. Any goroutine may call it, more than once. It panics if ctx is nil.
func (mw *Middleware) Drain(ctx context.Context) error {
	mustHave(ctx)
	mw.drain.stop()
	return mw.drain.wait(ctx)
}

// drain holds what a Middleware must end before the program ends.
type drain struct {
	begun context.Context // ends when Drain is called
	stop  context.CancelFunc

	mu    sync.Mutex
	held  map[weak.Pointer[claim]]struct{} // the claims of abandoned calls are collected with them
	empty chan struct{}                    // closed once held is empty; nil unless somebody waits
}

func newDrain() *drain {
	d := &drain{held: make(map[weak.Pointer[claim]]struct{})}
	d.begun, d.stop = context.WithCancel(context.Background())
	return d
}

// hasBegun reports whether Drain was called.
func (d *drain) hasBegun() bool { return d.begun.Err() != nil }

// add notes that a claim is held.
func (d *drain) add(c *claim) {
	held := weak.Make(c)
	runtime.AddCleanup(c, d.remove, held)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held[held] = struct{}{}
}

// remove notes that a claim is not held any more.
func (d *drain) remove(held weak.Pointer[claim]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.held, held)
	if len(d.held) == 0 && d.empty != nil {
		close(d.empty)
		d.empty = nil
	}
}

// wait returns once no claim is held. When ctx ends, it releases the remaining
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

// emptied returns a channel that is closed once no claim is held.
func (d *drain) emptied() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	empty := d.empty
	if empty == nil {
		empty = make(chan struct{})
	}
	if len(d.held) > 0 {
		d.empty = empty
	} else {
		close(empty)
	}
	return empty
}

func (d *drain) all() (claims []*claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for held := range d.held {
		if c := held.Value(); c != nil {
			claims = append(claims, c)
		}
	}
	return claims
}
