package middleware

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/carryon-go/carryon/continuation"
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

// hold keeps a claim, and releases it at the latest when the ctx of the call ends.
func (s *callEnv) hold(id continuation.TurnID, token uint64) {
	c := &claim{token: token}
	c.release = func() {
		if s.session.key != "" { // otherwise only the call itself touches its state
			s.releaseClaim(c, id, session.Ending{})
		}
	}
	c.stop = context.AfterFunc(s.cancel.ctx, c.release)
	s.mw.drain.add(c)
	s.claim.Store(c)
}

// withRelease returns f, preceded by the release of a claim whose continuation has
// ended, if there is one: both are one update. Once it is stored, call released.
func (s *callEnv) withRelease(f func(continuation.State) continuation.State) func(continuation.State) continuation.State {
	c := s.claim.Load()
	if c == nil || c.ending.Load() == nil {
		return f
	}
	token, ending := c.token, *c.ending.Load()
	return func(state continuation.State) continuation.State { return f(session.Release(state, token, ending)) }
}

// released notes that the release of withRelease was stored.
func (s *callEnv) released() {
	if c := s.claim.Load(); c != nil && c.ending.Load() != nil {
		c.stop()
		c.once.Do(func() { s.mw.drain.remove(weak.Make(c)) })
		c.ending.Store(nil)
	}
}

// releaseLater leaves the release of a claim to the decision on the next turn, with
// this ending. Whatever releases the claim before uses the ending too.
func (s *callEnv) releaseLater(e session.Ending) {
	if c := s.claim.Load(); c != nil {
		c.ending.Store(&e)
	}
}

// release releases the claim of a continuation, if it is not released yet.
func (s *callEnv) release(id continuation.TurnID) {
	if c := s.claim.Load(); c != nil && (s.session.key != "" || c.ending.Load() != nil) { // otherwise nobody else sees the claim
		s.releaseAs(id, session.Ending{})
	}
}

// releaseAs releases the claim of a continuation with this ending.
func (s *callEnv) releaseAs(id continuation.TurnID, e session.Ending) {
	if c := s.claim.Load(); c != nil {
		c.stop()
		s.releaseClaim(c, id, e)
	}
}

func (s *callEnv) releaseClaim(c *claim, id continuation.TurnID, e session.Ending) {
	var answer storeAnswer
	c.once.Do(func() {
		if ending := c.ending.Load(); ending != nil {
			e = *ending
		}
		held := weak.Make(c)
		g := &giveBack{scope: s, id: id, token: c.token, ending: e, given: func() { s.mw.drain.remove(held) }}
		answer = g.begin()
	})
	s.hasAnswered(id, answer) // outside once, because an observer may close the stream, which releases the claim too
}

// hasAnswered reports how the store has answered.
func (s *callEnv) hasAnswered(id continuation.TurnID, answer storeAnswer) {
	s.session.report(s.cancel.caller, answer)
	s.faultOnce(id, OpStore, answer.err)
}

// maxGiveBacks bounds the tries to give a claim back, one every [breakTime]: together
// they take about as long as a claim lives.
const maxGiveBacks = 120

// giveBack gives a claim back to the session. If the store fails it tries again, even
// after the call has ended.
type giveBack struct {
	scope  *callEnv
	id     continuation.TurnID
	token  uint64
	ending session.Ending
	given  func() // called at the end, whether the claim was given back or not
	tries  int
}

// begin makes the first try: now, or later if the call has already waited for the store.
func (g *giveBack) begin() storeAnswer {
	if g.scope.session.waited.isOver() {
		g.later()
		return storeAnswer{}
	}
	return g.try()
}

func (g *giveBack) try() storeAnswer {
	g.tries++
	answer := g.scope.session.release(g.scope.cancel.ctx, g.tries == 1, func(s continuation.State) continuation.State {
		return session.Release(s, g.token, g.ending)
	})
	if answer.err == nil || errors.Is(answer.err, session.ErrBadState) || g.tries == maxGiveBacks {
		g.given()
	} else {
		g.later()
	}
	return answer
}

func (g *giveBack) later() {
	g.scope.mw.options.clock.AfterFunc(breakTime, func() { g.scope.hasAnswered(g.id, g.try()) })
}

// updateInUserTurn changes the session's state, unless a newer user turn has
// begun or the store has failed before.
func (s *callEnv) updateInUserTurn(id continuation.TurnID, f func(continuation.State) continuation.State) {
	if s.session.failure != nil {
		return // it was reported
	}
	err := s.session.updateDetached(s.cancel.ctx, s.withRelease(func(state continuation.State) continuation.State {
		if state.UserTurn != s.session.userTurn {
			return state
		}
		return f(state)
	}))
	if err != nil {
		s.storeFailed(id, err)
		return
	}
	s.released()
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
