package middleware

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/session"
)

// claim is a call's claim on its session while a continuation runs: no other call
// continues the same session. Whatever comes first releases it, once: the end of the
// continuation, the end of the call, Close, or the end of the caller's ctx. A second
// release waits for the first and returns.
type claim struct {
	token   uint64
	release func()      // runs when the ctx ends; for any goroutine, like releaseShared
	stop    func() bool // keeps release from running when the ctx ends
	once    sync.Once   // for the release

	// ended describes the continuation that has ended, if the decision on what comes
	// next is to release the claim; nil otherwise.
	ended atomic.Pointer[decision.ContinuationResult]
}

// keepClaim keeps a claim, and releases it at the latest when the ctx of the call ends.
func (e *callEnv) keepClaim(id continuation.TurnID, token uint64) {
	c := &claim{token: token}
	c.release = func() {
		if e.isShared() {
			e.releaseClaim(c, id, decision.ContinuationResult{})
		}
	}
	c.stop = context.AfterFunc(e.cancel.ctx, c.release)
	e.mw.drain.add(c)
	e.claim.Store(c)
}

// withRelease returns f, preceded by the release of a claim whose continuation has
// ended, if there is one: both are one update. Once it is stored, call claimReleased.
func (e *callEnv) withRelease(f func(decision.State) decision.State) func(decision.State) decision.State {
	c := e.claim.Load()
	if c == nil || c.ended.Load() == nil {
		return f
	}
	token, ended := c.token, *c.ended.Load()
	return func(state decision.State) decision.State { return f(state.Release(token, ended)) }
}

// claimReleased notes that the release of withRelease was stored.
func (e *callEnv) claimReleased() {
	if c := e.claim.Load(); c != nil && c.ended.Load() != nil {
		c.stop()
		c.once.Do(func() { e.mw.drain.remove(weak.Make(c)) })
		c.ended.Store(nil)
	}
}

// releaseLater leaves the release of a claim, whose continuation has ended, to the
// decision on the next turn. Whatever releases the claim before records the same.
func (e *callEnv) releaseLater(ended decision.ContinuationResult) {
	if c := e.claim.Load(); c != nil {
		c.ended.Store(&ended)
	}
}

// isShared reports whether the state of the session is shared. The state of a call without
// a session belongs to the goroutine that reads the call, which releases its claim.
func (e *callEnv) isShared() bool { return e.session.key != "" }

// releaseShared is release for any goroutine.
func (e *callEnv) releaseShared(id continuation.TurnID) {
	if e.isShared() {
		e.release(id, decision.ContinuationResult{})
	}
}

// release releases the claim of a continuation that has ended, if it is not released yet.
func (e *callEnv) release(id continuation.TurnID, ended decision.ContinuationResult) {
	if c := e.claim.Load(); c != nil {
		c.stop()
		e.releaseClaim(c, id, ended)
	}
}

func (e *callEnv) releaseClaim(c *claim, id continuation.TurnID, ended decision.ContinuationResult) {
	var answer storeAnswer
	c.once.Do(func() {
		how := ended
		if known := c.ended.Load(); known != nil {
			how = *known
		}
		ref, token := weak.Make(c), c.token
		g := &giveBack{
			env: e, id: id, done: func() { e.mw.drain.remove(ref) },
			release: func(s decision.State) decision.State { return s.Release(token, how) },
		}
		answer = g.begin()
	})
	e.reportAnswer(id, answer) // outside once, because an observer may close the stream, which releases the claim too
}

// withdraw takes back a claim that the store may have saved in spite of its error, with
// everything that says that a prompt was sent. before is the state that was claimed.
func (e *callEnv) withdraw(id continuation.TurnID, token uint64, before *decision.State) {
	g := &giveBack{
		env: e, id: id, done: func() {},
		release: func(s decision.State) decision.State { return s.Withdraw(token, *before) },
	}
	e.reportAnswer(id, g.begin())
}

// reportAnswer reports how the store has answered to a release.
func (e *callEnv) reportAnswer(id continuation.TurnID, answer storeAnswer) {
	e.session.reportAnswer(e.cancel.caller, answer)
	e.reportFailureOnce(id, opStore, answer.err)
}

// maxGiveBacks bounds the tries to give a claim back, one every [guard.BreakTime]: together
// they take about as long as a claim lives.
const maxGiveBacks = 120

// giveBack gives a claim back to the session. If the store fails it tries again, even
// after the call has ended.
type giveBack struct {
	env     *callEnv
	id      continuation.TurnID
	release func(decision.State) decision.State
	done    func() // called at the end, whether the claim was given back or not
	tries   int
}

// begin makes the first try: now, or later if the call has already waited for the store.
func (g *giveBack) begin() storeAnswer {
	if g.env.session.remoteBudget.IsOver() {
		g.later()
		return storeAnswer{}
	}
	return g.try()
}

func (g *giveBack) try() storeAnswer {
	g.tries++
	callerWaits := g.tries == 1 // the others run on a timer
	answer := g.env.session.release(g.env.cancel.ctx, callerWaits, g.release)
	if answer.err == nil || errors.Is(answer.err, session.ErrBadState) || g.tries == maxGiveBacks {
		g.done()
	} else {
		g.later()
	}
	return answer
}

func (g *giveBack) later() {
	g.env.options().clock.AfterFunc(guard.BreakTime, func() { g.env.reportAnswer(g.id, g.try()) })
}

// updateInUserTurn changes the session's state, unless a newer user turn has
// begun or the store has failed before.
func (e *callEnv) updateInUserTurn(id continuation.TurnID, f func(decision.State) decision.State) {
	if e.session.failure != nil {
		return // it was reported
	}
	err := e.session.updateDetached(e.cancel.ctx, e.withRelease(func(state decision.State) decision.State {
		if state.UserTurn != e.session.userTurn {
			return state
		}
		return f(state)
	}))
	if err != nil {
		e.storeFailed(id, err)
		return
	}
	e.claimReleased()
}
