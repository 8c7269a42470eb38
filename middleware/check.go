package middleware

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/engine"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

// Check says whether the work of a user turn is done: nil if it is, an *[Unmet] if
// something is missing. Any other error, or a panic, means that nobody knows. The package
// carryon/check has one that runs a command.
//
// A Check must return soon after its ctx has ended. The ctx has the session of the call,
// and carryon does not continue a model that is asked under it. Several calls may run a
// Check at the same time.
type Check func(ctx context.Context, turn NextTurn) error

// Unmet is the error of a [Check] that says what is missing. The model is told the end of
// Text.
type Unmet struct { //nolint:errname // it reads as what a check says
	Name string // what was checked, such as "make test"
	Text string // what is missing, such as the output of a command
}

// Error returns the name and that the check failed, without the text.
func (u *Unmet) Error() string { return cmp.Or(u.Name, "the check") + " failed" }

// NextTurn describes a continuation that is about to be sent, for the function of
// [WithGate], or that would be sent if a [Check] fails.
type NextTurn struct {
	continuation.TurnID
	Todo  todo.Todo // the todo to go on with
	Asks  bool      // whether the question of [WithClosingQuestion] is about to be sent; Todo is then zero
	Unmet *Unmet    // the failure of a [Check] that the model is about to be told; Todo is then zero
	Text  string    // the answer so far: the text of all turns of the call, joined
}

// maxSilence is how long a check may take where the stream can show no sign of life:
// agents give up after 240 seconds or later.
const maxSilence = 200 * time.Second

// errSilence ends a check that takes longer.
var errSilence = errors.New("middleware: the check took longer than clients bear silence")

// errNoResult is the error of a check that ended its goroutine instead of returning.
var errNoResult = errors.New("middleware: the check did not return")

// callCheck asks the program's check about the turns of a call.
type callCheck struct {
	env     *callEnv
	turnNo  int                      // the turn that the check was asked about last
	result  continuation.CheckResult // what it said
	unmet   *Unmet                   // the last failure of the call
	digest  uint64                   // of it
	noted   bool                     // it was counted in the state of the session
	err     error                    // why nobody knows
	current *checkRun                // nil unless the check runs
}

// resultFor returns what the check says of a turn, and the digest of a failure.
func (c *callCheck) resultFor(t *turn, sameTurn bool) (continuation.CheckResult, uint64) {
	switch {
	case c == nil:
		return continuation.NoCheck, 0
	case t.rejection != nil && c.unmet == nil:
		return continuation.NoCheck, 0 // a model that is blocked may say so
	case t.rejection != nil, sameTurn && c.unmet != nil:
		return continuation.CheckFailed, c.digest
	case c.turnNo == t.Turn:
		return c.result, c.digest
	case c.env.session.worked || c.env.request.callsTools():
		return continuation.CheckDue, 0
	}
	return continuation.NoCheck, 0
}

// isRunning reports whether the check runs.
func (c *callCheck) isRunning() bool { return c != nil && c.current != nil }

// begin starts the check on a turn. Where the caller is shown signs of life, if the
// protocol has any, patience is not 0.
func (c *callCheck) begin(turn *NextTurn, patience time.Duration) {
	e := c.env
	ctx, stop := context.WithCancelCause(scope.WithToolCalls(scope.WithSession(e.cancel.ctx, turn.Session), e.mw.toolCalls.Load()))
	r := &checkRun{ctx: ctx, stop: stop, err: errNoResult, done: make(chan struct{}), limit: continuation.Off}
	c.current = r
	if left, ok := e.answer.Timeouts.Left(); ok {
		r.timers = append(r.timers, e.options().clock.AfterFunc(left-engine.Reserve(left), func() { stop(ErrDeadlineNear) }))
	}
	if patience > 0 {
		r.limit = maxSilence
	}
	if limit := e.answer.Timeouts.UntilFirst(r.limit); limit != continuation.Off {
		r.silence = e.options().clock.AfterFunc(limit, func() { stop(errSilence) })
		r.timers = append(r.timers, r.silence)
	}
	r.release = context.AfterFunc(e.mw.drain.begun, func() { stop(ErrShutdown) })
	e.mw.drain.beginCheck()
	check, about := e.session.rules.Check, *turn
	go func() {
		defer e.mw.drain.endCheck()
		defer close(r.done)
		r.err = e.mw.plugins.run(func() error { return check(ctx, about) })
	}()
}

// checkRun is a check that runs.
type checkRun struct {
	ctx     context.Context
	stop    context.CancelCauseFunc
	release func() bool // from the end of the program
	done    chan struct{}
	err     error // valid once done is closed
	timers  []clock.Timer
	silence clock.Timer   // of timers: until the caller gives up; nil for no limit
	limit   time.Duration // of the silence, unless the caller's own is shorter
}

// await waits until the check has ended, or was ended, but no longer than patience,
// unless that is 0. It reports whether the wait is over.
func (r *checkRun) await(clock clock.Clock, patience time.Duration) bool {
	var late chan struct{}
	if patience > 0 {
		late = make(chan struct{})
		timer := clock.AfterFunc(patience, func() { close(late) })
		defer timer.Stop()
	}
	select {
	case <-r.done:
	case <-r.ctx.Done():
	case <-late:
		return false
	}
	return true
}

// result returns what the check has returned or, if it was ended, what ended it.
func (r *checkRun) result() error {
	cause := context.Cause(r.ctx)
	select {
	case <-r.done:
		if cause == nil || r.err == nil || errors.As(r.err, new(*Unmet)) {
			return r.err
		}
	default:
	}
	return cause
}

// showedLife notes that the caller was shown a sign of life.
func (c *callCheck) showedLife() {
	c.env.timeouts().StartQuiet()
	if r := c.current; r != nil && r.silence != nil {
		r.silence.Reset(c.env.timeouts().UntilFirst(r.limit))
	}
}

// takeResult takes the result of the check on a turn.
func (c *callCheck) takeResult(turn int) {
	r := c.current
	c.end()
	c.turnNo, c.result, c.unmet, c.digest, c.noted = turn, continuation.CheckUnknown, nil, 0, false
	c.err = r.result()
	switch {
	case c.err == nil:
		c.result = continuation.CheckPassed
	case errors.As(c.err, &c.unmet) && c.unmet != nil:
		c.result, c.digest, c.err = continuation.CheckFailed, digestOf(c.unmet.Text), nil
	}
	r.stop(nil)
	c.env.record(func(o *Outcome) {
		o.Check = c.result
		if c.result == continuation.CheckFailed {
			o.Worth.ChecksFailed++
		}
	})
}

// end stops everything that waits for a check.
func (c *callCheck) end() {
	if !c.isRunning() {
		return
	}
	c.current.release()
	for _, timer := range c.current.timers {
		timer.Stop()
	}
	c.current = nil
}

// failure returns the last failure, for a prompt.
func (c *callCheck) failure() prompt.Failure {
	return prompt.Failure{Name: c.unmet.Name, Text: c.unmet.Text}
}

// digestOf identifies a failure by its words. Numbers do not count: counts, times,
// addresses and hashes differ from run to run although nothing has changed.
func digestOf(text string) uint64 {
	sum := fnv.New64a()
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !isNumber(word) {
			_, _ = sum.Write(append([]byte(strings.Map(dropDigit, word)), 0)) // it never fails
		}
	}
	return sum.Sum64() | 1
}

func dropDigit(r rune) rune {
	if unicode.IsDigit(r) {
		return -1
	}
	return r
}

// leastHash is how many characters a hash or an address has at least.
const leastHash = 6

// isNumber reports whether a word is a number, perhaps with a unit, or a hash in
// hexadecimal digits.
func isNumber(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return unicode.IsDigit(first) ||
		len(word) >= leastHash && strings.Trim(word, "0123456789abcdef") == "" && strings.ContainsAny(word, "0123456789")
}
