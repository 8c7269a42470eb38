package middleware

import (
	"bytes"
	"context"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

// decide takes and reports the decision on the turn at hand. It reports
// whether the engine is to go on: now, or when the interval is over.
func (c *Call) decide() bool {
	c.conclude(c.evaluate())
	return !c.mw.options.dryRun && (c.last.Continue || c.last.Reason == continuation.ReasonTooSoon)
}

// conclude reports an evaluation and remembers it as the call's last word.
func (c *Call) conclude(ev continuation.Evaluation) {
	c.remember(ev)
	c.note(func(o *Outcome) { o.Reason = ev.Reason })
	c.mw.decided(c.caller, Decision{Place: c.place, Evaluation: ev, DryRun: c.mw.options.dryRun})
	var digest uint64
	if ev.Reason.Exhausted() {
		c.mw.exhausted(c.caller, Exhausted{Place: c.place, Reason: ev.Reason})
		digest = continuation.Digest(c.todos)
	}
	if ev.Conditions[continuation.ActiveTodos] == continuation.NotLookedAt || c.unread || ev.Continue || ev.Wait > 0 {
		return // there is nothing new about the list, or it is noted with the continuation
	}
	c.change(func(s continuation.State) continuation.State { return s.Observe(c.todos).GoStale(digest) })
}

// remember keeps an evaluation as the call's last word.
func (c *Call) remember(ev continuation.Evaluation) {
	if c.last == nil {
		c.last = new(continuation.Evaluation)
	}
	*c.last = ev
}

// refuse ends the call's continuations for a reason that the evaluation did
// not know.
func (c *Call) refuse(reason continuation.Reason) {
	ev := *c.last
	ev.Continue, ev.Reason, ev.Wait = false, reason, 0
	c.conclude(ev)
}

// change changes the session's state, unless a newer user turn has begun.
func (c *Call) change(f func(continuation.State) continuation.State) {
	if c.lost {
		return // it was reported
	}
	err := c.settle(func(s continuation.State) continuation.State {
		if s.UserTurn != c.userTurn {
			return s
		}
		return f(s)
	})
	if err != nil {
		c.storeFailed(err)
	}
}

// evaluate asks for as little as the decision needs: what the turn held costs
// nothing, the state a look, and only then are the todos asked for.
func (c *Call) evaluate() continuation.Evaluation {
	in := continuation.Input{
		Settings: c.mw.settings.For(c.place.Session),
		Turn:     c.facts(),
		Limits:   c.limits(),
	}
	if ev := continuation.Evaluate(in); ev.Reason != continuation.ReasonTodosNeeded {
		return ev
	}
	c.guarded() // what is asked from here on must end with the call
	if !c.see(&in) {
		return continuation.Evaluation{Reason: continuation.ReasonStore}
	}
	if ev := continuation.Evaluate(in); ev.Reason != continuation.ReasonTodosNeeded {
		return ev
	}
	c.readTodos()
	if !c.see(&in) {
		return continuation.Evaluation{Reason: continuation.ReasonStore}
	}
	// The call may have ended while the source was asked.
	in.Turn, in.Todos, in.TodosKnown = c.facts(), c.todos, true
	in.Background = c.background()
	ev := continuation.Evaluate(in)
	if c.unread {
		ev.State = in.State // that there is no list is no progress
	}
	return ev
}

// see puts the session's state into the input, and the time. It fails if there is
// none.
func (c *Call) see(in *continuation.Input) bool {
	if c.lost {
		return false
	}
	state, err := c.peek()
	if err != nil {
		c.storeFailed(err)
		return false
	}
	in.State, in.UserTurn, in.Now = state, c.userTurn, c.mw.clock.Now()
	return true
}

// limits returns the budgets of the call.
func (c *Call) limits() continuation.Limits {
	limits := c.mw.options.limits
	if c.sparing() {
		limits.MaxAttempts = 1
	}
	return limits
}

// sparing reports whether there is to be one continuation in a row; see
// [Request].ShortLoop.
func (c *Call) sparing() bool { return c.request.shortLoop && !c.mw.options.attempts }

// facts returns what the turn held, as the decision sees it.
func (c *Call) facts() continuation.Turn {
	s := &c.sink
	if s.err != nil || c.callbackErr != nil || c.ended() {
		// Close may ask while the adapter still relays text, so that no more
		// is looked at.
		return continuation.Turn{BrokeOff: true}
	}
	turn := continuation.Turn{
		ToolCalls:   s.showedCall(),
		ManyChoices: s.many,
		Refused:     s.refused,
		Finish:      s.finish,
		NoFinish:    c.request.noFinish,
		TooLong:     c.said.long,
		BlankOK:     c.mw.options.empty && !c.emptyUsed,
		Rejected:    c.rejection != nil,
	}
	if s.late {
		turn.Finish = "" // it was not the end
	}
	if !turn.ToolCalls && !turn.TooLong { // either decides it, and most turns of an agent end in calls
		text := c.said.bytes()
		turn.Blank = len(bytes.TrimSpace(text[c.turnAt:])) == 0
		turn.SameText = c.place.Turn > 1 && sameWords(text[c.turnAt:], text[c.prevAt:c.turnAt])
	}
	return turn
}

// readTodos asks the todo source, which may fail, panic or be too slow: then
// there are none.
func (c *Call) readTodos() {
	ctx, cancel := context.WithTimeout(scope.WithSession(c.Context(), c.place.Session), c.mw.options.todoWait)
	defer cancel()
	if c.request.history != nil {
		ctx = todo.WithConversation(ctx, c.request.history)
	}
	var todos []todo.Todo
	err := guard(func() (err error) { todos, err = c.mw.todos.Todos(ctx); return err })
	if err == nil {
		err = ctx.Err() // too late is too late, also for a source that does not look at its ctx
	}
	if c.unread = err != nil; c.unread {
		if c.todos = nil; !c.ended() { // which is the caller's doing
			c.fault("todos", err)
		}
		return
	}
	// The list is looked at again when the continuation is sent, and the source
	// may use its slice for something else by then.
	c.todos = slices.Clone(todos)
}

// sameWords reports whether two texts have the same letters and digits, in
// any case. Texts without any are compared as they are.
func sameWords(a, b []byte) bool {
	wholeA, wholeB, words := a, b, false
	for {
		var x, y rune
		x, a = nextWordRune(a)
		y, b = nextWordRune(b)
		if x != y {
			return false
		}
		if x < 0 {
			return words || bytes.Equal(bytes.TrimSpace(wholeA), bytes.TrimSpace(wholeB))
		}
		words = true
	}
}

// nextWordRune returns the next letter or digit, folded, or -1.
func nextWordRune(text []byte) (rune, []byte) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(unicode.ToUpper(r)), text
		}
	}
	return -1, nil
}
