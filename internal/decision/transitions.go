package decision

import (
	"math"
	"slices"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/todo"
)

// Pause returns the state after the session was paused. digest is the digest of
// its todo list, or 0 if the list is unknown.
func (s State) Pause(reason string, now time.Time, digest uint64) State {
	s.Paused = continuation.Pause{Reason: reason, Since: now}
	return s.MarkStale(digest)
}

// Resume returns the state after a person let a paused session go on. Its list
// gets the full number of attempts again.
func (s State) Resume() State {
	s.Paused = continuation.Pause{}
	s.Stale, s.Cancelled = 0, false
	return s
}

// MarkStale returns the state after a user turn ended, exhausted or paused,
// with a list of that digest. Later turns get one attempt until the list
// changes. A digest of 0 changes nothing.
func (s State) MarkStale(digest uint64) State {
	if digest != 0 {
		s.Stale = digest
	}
	return s
}

// Cancel returns the state after the caller cancelled a call: later calls and
// turns get one attempt until the list changes. digest is the digest of the
// list. It is 0 if the call has not read the list; then the next list that is
// seen counts.
func (s State) Cancel(digest uint64) State {
	s.Cancelled = digest == 0
	return s.MarkStale(digest)
}

// ObserveList returns the state after the list was seen: what is new about it, and
// whether the model wrote it in this user turn. Progress renews the budgets.
func (s State) ObserveList(todos []todo.Todo, written string) State {
	list := summarize(todos, nil)
	s.remember(&list, todos, written)
	return s
}

func (s *State) remember(list *summary, todos []todo.Todo, written string) {
	if s.Watermarks.IsSurpassedBy(list.Completed, list.Active) {
		s.renewBudgets()
	}
	s.Watermarks = s.Watermarks.with(list)
	s.ListWritten = s.ListWritten || written == origins.Now
	if s.Cancelled { // the list that is seen next is the stale one
		s.Stale, s.Cancelled = Digest(todos), false
	}
}

// renewBudgets starts the counts of continuations anew, after progress.
func (s *State) renewBudgets() { s.Attempts, s.Continuations, s.Repeats = 0, 0, 0 }

// Acquire returns the state after a call claimed the session for a continuation
// that it is about to send: one more attempt, one more continuation. The claim
// lapses after life, or never if life is continuation.Off.
func (s State) Acquire(token uint64, now time.Time, life time.Duration) State {
	s.Claim = Claim{Token: token, Since: now}
	if life != continuation.Off {
		s.Claim.Until = now.Add(life)
	}
	s.Attempts++
	s.Continuations++
	s.LastPrompt = now
	return s
}

// RegisterWork returns the state after the arrival of a request, with what is known of
// the program's check. before is the state before the request's user turn was registered,
// and s the one after. main says that the request is of the session's main conversation,
// and worked that the model has called tools in its user turn.
//
// An agent may give its sub-agents the name of its own session. What is known is of the
// user turn in the main conversation, whatever else comes in between.
func (s State) RegisterWork(before State, main, worked bool) State {
	cameBack := before.Message != s.Message && before.Check.Message == s.Message
	if !main || cameBack {
		s.Check = before.Check
	}
	if main {
		s.Check.Message, s.Check.Worked = s.Message, s.Check.Worked || worked
	}
	return s
}

// FailCheck returns the state after the program's check has failed, in the way that the
// digest identifies.
func (s State) FailCheck(digest uint64) State {
	s.Check.Failed++
	s.Check.Last = digest
	return s
}

// PassCheck returns the state after the program's check has passed.
func (s State) PassCheck() State {
	s.Check.Failed, s.Check.Last = 0, 0
	return s
}

// RecordBackground returns the state after a turn was left alone because work that the
// agent has begun still runs.
func (s State) RecordBackground(now time.Time) State {
	if s.Waiting.Turns == 0 {
		s.Waiting.Since = now
	}
	s.Waiting.Turns++
	return s
}

// ContinuationResult describes a continuation that has ended.
type ContinuationResult struct {
	// Answered says that the model answered with text or calls, and did not pause.
	Answered bool

	ClosingQuestion bool   // it was the question whether anything is open
	Checked         bool   // it was about a failure of the program's check
	Called          bool   // with a tool call
	Calls           uint64 // identifies its calls by names and arguments; 0 if they are not known
	Tokens          int    // that it used, as far as known
	Result          PromptResult
	// Unshown says that it failed before the caller was shown anything of it.
	Unshown bool
	// ProviderRefused says that the provider will not answer this conversation, however
	// often it is asked.
	ProviderRefused bool
}

// Release returns the state after the continuation that claimed the session with this
// token has ended. If the session is not claimed with it, nothing changes.
//
// A continuation gives its attempt back if it called tools, unless an earlier one of
// the user turn made the same calls: polling, and calls that fail again and again, use
// attempts up. It also gives it back if it failed before anything of it was shown.
func (s State) Release(token uint64, e ContinuationResult) State {
	if token == 0 || s.Claim.Token != token {
		return s
	}
	s.Claim = Claim{}
	s.Tokens = AddTokens(s.Tokens, e.Tokens)
	s.ProviderRefused = s.ProviderRefused || e.ProviderRefused
	s.LastResult = e.Result
	s.Answered = s.Answered || s.Loop.Size > 0 && !e.Unshown
	s.Repeats = repeatsAfter(s.Repeats, e)
	s.Unassessed = e.Answered && !e.ClosingQuestion && !e.Checked // only a list tells what a continuation was worth
	s.ClosingQuestion = s.ClosingQuestion && !e.Called && !e.Unshown
	made := s.addCalls(e.Calls)
	if (e.Called && made || e.Unshown) && s.Attempts > 0 {
		s.Attempts--
	}
	return s
}

// addCalls adds the calls of a continuation to those of the user turn, and reports whether
// no earlier one has made the same.
func (s *State) addCalls(calls uint64) bool {
	switch {
	case calls == 0: // they are not known
		return true
	case slices.Contains(s.Calls[:], calls):
		return false
	}
	copy(s.Calls[1:], s.Calls[:])
	s.Calls[0] = calls
	return true
}

// repeatsAfter returns how many continuations in a row have repeated an answer. One that
// failed says nothing about the model.
func repeatsAfter(repeats int, e ContinuationResult) int {
	switch {
	case e.Result == ResultSameAnswer:
		return repeats + 1
	case e.Answered:
		return 0
	}
	return repeats
}

// Withdraw returns the state after a call gave its claim up, because the continuation
// was not sent. before is the state that the call claimed. If the session is not claimed
// with this token, nothing changes. Other calls may have changed the counts meanwhile,
// and nothing else of what a claim sets.
func (s State) Withdraw(token uint64, before State) State {
	if token == 0 || s.Claim.Token != token {
		return s
	}
	s.Claim = Claim{}
	s.Attempts, s.Continuations = max(s.Attempts-1, 0), max(s.Continuations-1, 0)
	s.LastPrompt, s.Check = before.LastPrompt, before.Check
	s.PermissionDenied, s.ClosingQuestion = before.PermissionDenied, before.ClosingQuestion
	return s
}

// AddTokens adds a number of tokens. A provider may report any number, so the
// sum never shrinks and never overflows.
func AddTokens(sum, tokens int) int {
	tokens = max(tokens, 0)
	if sum > math.MaxInt-tokens {
		return math.MaxInt
	}
	return sum + tokens
}

// Effect says what became of the list after a continuation. It is small, because every
// open stream has one.
type Effect struct {
	Kind     EffectKind
	Finished uint16 // todos completed since the continuation, with Progress
	Mended   bool   // the program's check has passed after it had failed
}

// EffectKind is what a continuation has led to.
type EffectKind uint8

// The kinds of effects.
const (
	NoEffect   EffectKind = iota // there is no continuation to assess
	Progress                     // the list has made progress
	Repeated                     // none, and the model repeated its answer
	NoProgress                   // none
)

// Assess assesses the last continuation of the user turn, unless that was done before:
// what became of the list. before is the state before the list was observed.
//
// The next continuation is sent only after the list was read. So each is assessed once,
// by what happened until the next one, even if that took several calls.
func (s State) Assess(before State) (State, Effect) {
	if !before.Unassessed || !before.Watermarks.Set {
		return s, Effect{}
	}
	s.Unassessed = false
	switch {
	case before.Watermarks.IsSurpassedBy(s.Watermarks.Completed, s.Watermarks.Active):
		finished := min(s.Watermarks.Completed-before.Watermarks.Completed, math.MaxUint16)
		return s, Effect{Kind: Progress, Finished: uint16(finished)} //nolint:gosec // bounded, and watermarks only rise
	case before.LastResult == ResultSameAnswer:
		return s, Effect{Kind: Repeated}
	}
	return s, Effect{Kind: NoProgress}
}

// ClaimedState returns the state after the session, in this state, was claimed for the
// continuation that v decides on, and the effect of the one before.
func (v *Verdict) ClaimedState(before State, token uint64, in *Input) (State, Effect) {
	s, effect := v.State.Assess(before)
	s.PermissionDenied = s.PermissionDenied || in.Turn.AsksPermission // the model is told that it needs none
	s = s.Acquire(token, in.Now, in.Limits.ClaimLife)
	s.ClosingQuestion = s.ClosingQuestion || v.ClosingQuestion
	if v.Checks && !in.CheckNoted {
		s = s.FailCheck(in.CheckDigest)
	}
	return s, effect
}

// StoppedState returns the state after a verdict that ends the call's continuations, and
// the effect of the last one. It records what is new about the list, if v has looked at it.
func (v *Verdict) StoppedState(s State, in *Input) (State, Effect) {
	var effect Effect
	mended := false
	switch v.Reason { //nolint:exhaustive // the others change nothing of their own
	case reasons.Background:
		s = s.RecordBackground(in.Now)
	case reasons.CheckPassed:
		mended = s.Check.Failed > 0
		s = s.PassCheck()
	}
	if v.HasSeenList() && in.TodosErr == nil {
		s, effect = s.ObserveList(in.Todos, in.Origin.Written).Assess(s)
		if v.Reason.Exhausted() {
			s = s.MarkStale(Digest(in.Todos))
		}
	}
	effect.Mended = mended
	return s, effect
}
