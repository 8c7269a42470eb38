package continuation

import "time"

// State is what is remembered about one session. The only text in it is the
// reason of a pause. Its zero value is a session that was never seen.
//
// It is plain data: a [Store] may encode its exported fields in any form that
// keeps every value. Carryon alone changes it.
type State struct {
	UserTurn   int    // number of the current user turn; 0 before the first
	Message    uint64 // hash of the user's message that began it, or of the name that the program gave it
	Users      int    // how many messages of the user its requests have had last
	TextLength int    // text agents only: the length in bytes of the message that Message stands for
	Previous   uint64 // hash of the message before it, as of the last request that ended with it
	Answered   bool   // a request was seen with an answer behind it

	Claim  Claim // set while a call of the session is being continued
	Paused Pause // set while the session is paused

	Attempts      int // continuations in a row without progress
	Continuations int // continuations in this user turn since the list last made progress
	Tokens        int // tokens that all continuations of this user turn used

	LastPrompt time.Time  // when the last prompt was sent
	LastResult Result     // what came of the last continuation
	Watermarks Watermarks // the best that the list has been in this user turn
	Stale      uint64     // digest of the list that leaves one attempt; see [Limits].MaxAttempts

	Loop Loop // calls without a session only
}

// Loop tells a tool loop without a session from a later one that looks the same.
type Loop struct {
	Size int       // how many messages its last request had
	Seen time.Time // when that was
}

// LoopLife is how long a state counts whose [Loop] is set.
const LoopLife = time.Hour

// Pause says why and since when a session is paused.
type Pause struct {
	Reason string
	Since  time.Time // zero: not paused
}

// IsSet reports whether the session is paused.
func (p Pause) IsSet() bool { return !p.Since.IsZero() }

// Watermarks are the best that a todo list has been in a user turn. Progress is
// measured against them.
type Watermarks struct {
	Set       bool // a list was seen
	Completed int  // the highest number of completed items so far
	Active    int  // the lowest number of active items so far
}

// Result is what came of a continuation, which the next prompt tells the model:
// one of the constants, or the HTTP status that it failed with.
type Result int

// The results that are no HTTP status.
const (
	ResultNone       Result = 0  // nothing to tell: a tool call, or the caller ended it
	ResultSameAnswer Result = -1 // the model repeated its answer
	ResultNoProgress Result = -2 // the model answered without calling a tool
	ResultTimeout    Result = -3 // it timed out
	ResultTransport  Result = -4 // it failed otherwise, without an HTTP status
)
