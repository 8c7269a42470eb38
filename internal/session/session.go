// Package session keeps the state of sessions. Its transitions are pure functions
// that take a [continuation.State] and return the next one: what a user turn is and
// resets, pauses, what is remembered of the todo list, and how a call claims a
// session for a continuation and releases it. Its stores are in memory or shared.
//
// The decision itself is [continuation.Evaluate]. Package todolist evaluates a
// list.
package session

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
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
	watermarks, used := todolist.Watermarks(s.Watermarks).Observe(&list, todolist.Used{
		Attempts: s.Attempts, Continuations: s.Continuations, Repeats: s.Repeats,
	})
	s.Watermarks = continuation.Watermarks(watermarks)
	s.Attempts, s.Continuations, s.Repeats = used.Attempts, used.Continuations, used.Repeats
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

// Ask returns the state after a call claimed the session for the question whether
// anything is open.
func Ask(s continuation.State) continuation.State {
	s.Asked = true
	return s
}

// RegisterWork returns the state after the arrival of a request, with what is known of
// the program's check. before and after are the states before and after its user turn was
// registered. main says that the request is of the session's main conversation, and worked
// that the model has called tools in its user turn.
//
// An agent may give its sub-agents the name of its own session. What is known is of the
// user turn in the main conversation, whatever else comes in between.
func RegisterWork(before, after continuation.State, main, worked bool) continuation.State {
	cameBack := before.Message != after.Message && before.Check.Message == after.Message
	if !main || cameBack {
		after.Check = before.Check
	}
	if main {
		after.Check.Message, after.Check.Worked = after.Message, after.Check.Worked || worked
	}
	return after
}

// FailCheck returns the state after the program's check has failed, in the way that the
// digest identifies.
func FailCheck(s continuation.State, digest uint64) continuation.State {
	s.Check.Failed++
	s.Check.Last = digest
	return s
}

// PassCheck returns the state after the program's check has passed.
func PassCheck(s continuation.State) continuation.State {
	s.Check.Failed, s.Check.Last = 0, 0
	return s
}

// Wait returns the state after a turn was left alone because work that the agent has
// begun still runs.
func Wait(s continuation.State, now time.Time) continuation.State {
	if s.Waiting.Turns == 0 {
		s.Waiting.Since = now
	}
	s.Waiting.Turns++
	return s
}

// Ended describes a continuation that has ended.
type Ended struct {
	// Answered says that the model answered with text or calls, and did not pause.
	Answered bool

	Asked   bool   // it was the question whether anything is open
	Checked bool   // it was about a failure of the program's check
	Called  bool   // with a tool call
	Calls   uint64 // identifies its calls by names and arguments; 0 if they are not known
	Tokens  int    // that it used, as far as known
	Result  continuation.PromptResult
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
func Release(s continuation.State, token uint64, e Ended) continuation.State {
	if token == 0 || s.Claim.Token != token {
		return s
	}
	s.Claim = continuation.Claim{}
	s.Tokens = addTokens(s.Tokens, e.Tokens)
	s.Refused = s.Refused || e.Refused
	s.LastResult = e.Result
	s.Answered = s.Answered || s.Loop.Size > 0 && !e.Unshown
	s.Repeats = repeatsAfter(s.Repeats, e)
	s.Unjudged = e.Answered && !e.Asked && !e.Checked // only a list tells what a continuation was worth
	s.Asked = s.Asked && !e.Called && !e.Unshown
	made := addCalls(&s, e.Calls)
	if (e.Called && made || e.Unshown) && s.Attempts > 0 {
		s.Attempts--
	}
	return s
}

// addCalls adds the calls of a continuation to those of the user turn, and reports whether
// no earlier one has made the same.
func addCalls(s *continuation.State, calls uint64) bool {
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
func repeatsAfter(repeats int, e Ended) int {
	switch {
	case e.Result == continuation.ResultSameAnswer:
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
func Withdraw(s continuation.State, token uint64, before continuation.State) continuation.State {
	if token == 0 || s.Claim.Token != token {
		return s
	}
	s.Claim = continuation.Claim{}
	s.Attempts, s.Continuations = max(s.Attempts-1, 0), max(s.Continuations-1, 0)
	s.LastPrompt, s.LeaveDenied, s.Asked, s.Check = before.LastPrompt, before.LeaveDenied, before.Asked, before.Check
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

// Effect says what became of the list after a continuation. It is small, because every
// open stream has one.
type Effect struct {
	Kind     EffectKind
	Finished uint16 // todos completed since the continuation, with Progress
}

// EffectKind is what a continuation has led to.
type EffectKind uint8

// The kinds of effects.
const (
	NotJudged  EffectKind = iota // there is no continuation to judge
	Progress                     // the list has made progress
	Repeated                     // none, and the model repeated its answer
	NoProgress                   // none
)

// Judge judges the last continuation of the user turn, unless that was done before.
// before and after are the state before and after the list was observed. The result is
// after, without the continuation to judge.
//
// The next continuation is sent only after the list was read. So each is judged once,
// by what happened until the next one, even if that took several calls.
func Judge(before, after continuation.State) (continuation.State, Effect) {
	if !before.Unjudged || !before.Watermarks.Set {
		return after, Effect{}
	}
	after.Unjudged = false
	switch {
	case todolist.Watermarks(before.Watermarks).Precedes(after.Watermarks.Completed, after.Watermarks.Active):
		finished := min(after.Watermarks.Completed-before.Watermarks.Completed, math.MaxUint16)
		return after, Effect{Kind: Progress, Finished: uint16(finished)} //nolint:gosec // bounded, and watermarks only rise
	case before.LastResult == continuation.ResultSameAnswer:
		return after, Effect{Kind: Repeated}
	}
	return after, Effect{Kind: NoProgress}
}

// UserTurn identifies the calls between two messages of the real user. The zero
// value stands for the session's current user turn.
type UserTurn struct {
	message    uint64 // hash of the user's last message, or of the name that the program gave the turn
	users      int    // messages of the user in the request
	text       string // of a message that may grow; otherwise ""
	unanswered bool   // the request has no answer behind that message
	previous   uint64 // if unanswered: hash of the message before that one
}

// UserTurnOf returns the user turn of a request with that many user messages,
// the last of which has the text.
func UserTurnOf(users int, last string) UserTurn {
	return UserTurn{message: messageHash(last), users: users}
}

// Unanswered returns the user turn of a request with no answer after the user's
// last message. previous is the text of the message before that one.
func (t UserTurn) Unanswered(previous string) UserTurn {
	t.unanswered, t.previous = true, messageHash(previous)
	return t
}

// GrowingUserTurnOf is [UserTurnOf] for text agents, which append their steps
// to their one message: a message that begins with the whole previous one
// belongs to the same turn.
func GrowingUserTurnOf(users int, last string) UserTurn {
	return UserTurn{message: messageHash(last), users: users, text: last}
}

// NamedUserTurn returns the user turn that the program calls id.
func NamedUserTurn(id string) UserTurn {
	return UserTurn{message: digest(namedTurn, id)}
}

// RegisterUserTurn returns the state after a call of user turn t reached the
// session. A new user turn resets all budgets and ends a pause and a claim.
func RegisterUserTurn(s continuation.State, t UserTurn) continuation.State {
	if t.message == 0 {
		return s
	}
	next := s
	if !t.isOf(s) {
		next = continuation.State{
			UserTurn: s.UserTurn + 1, LastPrompt: s.LastPrompt, Stale: s.Stale, Cancelled: s.Cancelled, Overrides: s.Overrides,
		}
	}
	next.Message, next.Users, next.TextLength = t.message, t.users, len(t.text)
	switch {
	case t.unanswered:
		next.Previous = t.previous
	case t.text == "": // a text agent's one message includes its answers
		next.Answered = true
	}
	if s.UserTurn == 0 && s.LastPrompt.IsZero() {
		next.Paused = s.Paused // set by the program, before the first call was seen
	}
	return next
}

// isOf reports whether t is the session's current user turn. If the request has
// fewer messages of the user than before, the history was cut. If it has as
// many, the turn may still be new: the history is a sliding window, and the
// user repeats a message. That is so if the message is unanswered now, and was
// answered before or now follows a different message.
func (t UserTurn) isOf(s continuation.State) bool {
	switch {
	case s.UserTurn == 0:
		return false
	case t.extends(s):
		return true
	case t.message != s.Message || t.users > s.Users:
		return false
	}
	moved := s.Previous != 0 && t.previous != s.Previous
	return t.users < s.Users || !t.unanswered || !s.Answered && !moved
}

// extends reports whether the message of t is the session's message with more
// text.
func (t UserTurn) extends(s continuation.State) bool {
	length := s.TextLength
	return length > 0 && len(t.text) > length && t.users == s.Users && messageHash(t.text[:length]) == s.Message
}

// The kinds of hashed texts, so that different kinds never share a hash.
const (
	aMessage uint64 = iota
	namedTurn
)

func messageHash(text string) uint64 { return digest(aMessage, text) }

// digest returns a hash that is the same in every process, so that replicas can
// share a store, and never 0. Nobody must be able to choose a message that
// collides with another one, hence no fast hash.
func digest(kind uint64, text string) uint64 {
	h := sha256.New()
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], kind)
	h.Write(number[:])
	h.Write([]byte(text))
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(sum[:0])) | 1
}

// loopLife is how long the state of a tool loop without a session is valid after the
// loop's last request.
const loopLife = time.Hour

// RegisterLoop returns the state after a request of that size reached a tool
// loop without a session. A request that is smaller than the last one, is the last one
// although that was answered, or comes long after it, begins a new loop that happens to
// look the same: the program runs its conversation once more.
func RegisterLoop(s continuation.State, size int, now time.Time) continuation.State {
	again := size == s.Loop.Size && s.Answered
	if size < s.Loop.Size || again || now.Sub(s.Loop.Seen) >= loopLife {
		s = continuation.State{UserTurn: s.UserTurn + 1}
	}
	s.Answered = false
	s.Loop = continuation.Loop{Size: size, Seen: now}
	return s
}

// LoopKey makes the key of a tool loop from texts that two unrelated loops
// would not share. The zero value is ready to use. Keys are the same in every
// process.
type LoopKey struct {
	sum   hash.Hash
	block [256]byte // through which texts get there: a conversion would copy all of them
	held  int       // bytes in block
}

// Add adds a text. The order and the boundaries of texts count.
func (k *LoopKey) Add(text string) {
	const size = 8 // of the length
	if len(k.block)-k.held < size {
		k.flush()
	}
	binary.BigEndian.PutUint64(k.block[k.held:], uint64(len(text)))
	for k.held += size; len(text) > 0; {
		n := copy(k.block[k.held:], text)
		k.held += n
		text = text[n:]
		if len(text) > 0 {
			k.flush()
		}
	}
}

// flush hashes what is in the block.
func (k *LoopKey) flush() {
	if k.sum == nil {
		k.sum = sha256.New()
	}
	k.sum.Write(k.block[:k.held])
	k.held = 0
}

// String returns the key of the texts added.
func (k *LoopKey) String() string {
	k.flush()
	var sum [sha256.Size]byte
	return hex.EncodeToString(k.sum.Sum(sum[:0])[:16])
}
