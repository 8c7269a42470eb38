// Package session has the transitions of [continuation.State]: pure functions
// that take the state of a session and return the next one.
//
//   - this file: pauses, what is remembered of the todo list, and how a call claims
//     a session for a continuation and releases it
//   - userturn.go: what a user turn is, and what a new one resets
//
// The decision itself is [continuation.Evaluate]. Package todolist evaluates a
// list.
package session

import (
	"math"
	"slices"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/todolist"
	"github.com/carryon-go/carryon/todo"
)

// Pause returns the state after the session was paused. digest is the digest of
// its todo list, or 0 if the list is unknown.
func Pause(s continuation.State, reason string, now time.Time, digest uint64) continuation.State {
	s.Paused = continuation.Pause{Reason: reason, Since: now}
	return MarkStale(s, digest)
}

// Resume returns the state after a person let a paused session go on. Its list
// gets the full number of attempts again.
func Resume(s continuation.State) continuation.State {
	s.Paused = continuation.Pause{}
	s.Stale, s.Cancelled = 0, false
	return s
}

// MarkStale returns the state after a user turn ended, exhausted or paused,
// with a list of that digest. Later turns get one attempt until the list
// changes. A digest of 0 changes nothing.
func MarkStale(s continuation.State, digest uint64) continuation.State {
	if digest != 0 {
		s.Stale = digest
	}
	return s
}

// Cancel returns the state after the caller cancelled a call: later calls and
// turns get one attempt until the list changes. digest is the digest of the
// list. It is 0 if the call has not read the list; then the next list that is
// seen counts.
func Cancel(s continuation.State, digest uint64) continuation.State {
	s.Cancelled = digest == 0
	return MarkStale(s, digest)
}

// ObserveList returns the state after the list was seen: what is new about it, and
// whether the model wrote it in this user turn.
func ObserveList(s continuation.State, todos []todo.Todo, written todo.Written) continuation.State {
	list := todolist.Summarize(todos, nil)
	watermarks, used := todolist.Watermarks(s.Watermarks).Observe(&list, todolist.Used{Attempts: s.Attempts, Continuations: s.Continuations})
	s.Watermarks, s.Attempts, s.Continuations = continuation.Watermarks(watermarks), used.Attempts, used.Continuations
	s.Touched = s.Touched || written == todo.WrittenNow
	if s.Cancelled {
		s.Stale, s.Cancelled = todolist.Digest(todos), false
	}
	return s
}

// Claim returns the state after a call claimed the session for a continuation
// that it is about to send: one more attempt, one more continuation. The claim
// lapses after life, or never if life is continuation.Off.
func Claim(s continuation.State, token uint64, now time.Time, life time.Duration) continuation.State {
	s.Claim = continuation.Claim{Token: token, Since: now}
	if life != continuation.Off {
		s.Claim.Until = now.Add(life)
	}
	s.Attempts++
	s.Continuations++
	s.LastPrompt = now
	return s
}

// Ending is how a continuation ended.
type Ending struct {
	// Answered says that the model answered with text or calls, and did not pause.
	Answered bool

	Called bool   // with a tool call
	Calls  uint64 // identifies its calls by names and arguments; 0 if they are not known
	Tokens int    // that it used, as far as known
	Result continuation.PromptResult
	// Unshown says that it failed before the caller was shown anything of it.
	Unshown bool
	// Refused says that the provider will not answer this conversation, however
	// often it is asked.
	Refused bool
}

// Release returns the state after the continuation that claimed the session with this
// token has ended. If the session is not claimed with it, nothing changes.
//
// A continuation gives its attempt back if it called tools, unless an earlier one of
// the user turn made the same calls: polling, and calls that fail again and again, use
// attempts up. It also gives it back if it failed before anything of it was shown.
func Release(s continuation.State, token uint64, e Ending) continuation.State {
	if token == 0 || s.Claim.Token != token {
		return s
	}
	s.Claim = continuation.Claim{}
	s.Tokens = addTokens(s.Tokens, e.Tokens)
	s.Refused = s.Refused || e.Refused
	s.LastResult = e.Result
	s.Unjudged = e.Answered
	repeats := e.Calls != 0 && slices.Contains(s.Calls[:], e.Calls)
	if e.Calls != 0 && !repeats {
		copy(s.Calls[1:], s.Calls[:])
		s.Calls[0] = e.Calls
	}
	if (e.Called && !repeats || e.Unshown) && s.Attempts > 0 {
		s.Attempts--
	}
	return s
}

// addTokens adds a number of tokens. A provider may report any number, so the
// sum never shrinks and never overflows.
func addTokens(sum, tokens int) int {
	tokens = max(tokens, 0)
	if sum > math.MaxInt-tokens {
		return math.MaxInt
	}
	return sum + tokens
}

// Verdict says what became of the list after a continuation. It is small, because every
// open stream has one.
type Verdict struct {
	Kind     VerdictKind
	Finished uint16 // todos completed since the continuation, with Progress
}

// VerdictKind is what a continuation has led to.
type VerdictKind uint8

// The kinds of verdicts.
const (
	NotJudged  VerdictKind = iota // there is no continuation to judge
	Progress                      // the list has made progress
	Repeated                      // none, and the model repeated its answer
	NoProgress                    // none
)

// Judge judges the last continuation of the user turn, unless that was done before.
// before and after are the state before and after the list was observed. The result is
// after, without the continuation to judge.
//
// The next continuation is sent only after the list was read. So each is judged once,
// by what happened until the next one, even if that took several calls.
func Judge(before, after continuation.State) (continuation.State, Verdict) {
	if !before.Unjudged || !before.Watermarks.Set {
		return after, Verdict{}
	}
	after.Unjudged = false
	switch {
	case todolist.Watermarks(before.Watermarks).Precedes(after.Watermarks.Completed, after.Watermarks.Active):
		finished := min(after.Watermarks.Completed-before.Watermarks.Completed, math.MaxUint16)
		return after, Verdict{Kind: Progress, Finished: uint16(finished)} //nolint:gosec // bounded, and watermarks only rise
	case before.LastResult == continuation.ResultSameAnswer:
		return after, Verdict{Kind: Repeated}
	}
	return after, Verdict{Kind: NoProgress}
}
