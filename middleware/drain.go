package middleware

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/carryon-go/carryon/internal/session"
)

// claim is a call's claim on its session while a continuation runs: no other call
// continues the same session. Whatever comes first releases it, once: the end of the
// continuation, the end of the call, Close, or the end of the caller's ctx. A second
// release waits for the first and returns.
type claim struct {
	token   uint64
	release func()      // runs when the ctx ends
	stop    func() bool // keeps release from running when the ctx ends
	once    sync.Once   // for the release

	// ending is how the continuation ended, if the decision on what comes next is to
	// release the claim; nil otherwise.
	ending atomic.Pointer[session.Ending]
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
