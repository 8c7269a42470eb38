package decision

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"

	"github.com/carryon-go/carryon/continuation"
)

// State is what carryon remembers about one session. The zero value is a session that
// carryon has not seen before. State is plain, comparable data, and its only text is the
// reason of a pause. Its methods return the next state and change nothing.
//
// Stored states stay readable: a field keeps its JSON name, and its zero value means
// what its absence has meant.
type State struct {
	UserTurn   int    `json:"user_turn,omitzero"`   // number of the current user turn; 0 before the first
	Message    uint64 `json:"message,omitzero"`     // hash of the user message that began it, or of its WithUserTurn id
	Users      int    `json:"users,omitzero"`       // number of user messages in the session's last request
	TextLength int    `json:"text_length,omitzero"` // text agents only: the length in bytes of the message that Message stands for
	Previous   uint64 `json:"previous,omitzero"`    // hash of the message before Message, in the last request that ended with Message
	Answered   bool   `json:"answered,omitzero"`    // a request had an answer after Message

	Claim   Claim              `json:"claim,omitzero"`   // set while a call of the session is being continued
	Paused  continuation.Pause `json:"paused,omitzero"`  // set while the session is paused
	Waiting Waiting            `json:"waiting,omitzero"` // for work of the agent's own, in this user turn

	Attempts      int `json:"attempts,omitzero"`      // continuations in a row without progress
	Continuations int `json:"continuations,omitzero"` // continuations in this user turn since the list last made progress
	Tokens        int `json:"tokens,omitzero"`        // tokens that all continuations of this user turn used
	Repeats       int `json:"repeats,omitzero"`       // continuations in a row that gave the answer before them again

	LastPrompt      time.Time    `json:"last_prompt,omitzero"` // when the last prompt was sent
	LastResult      PromptResult `json:"last_result,omitzero"` // result of the last continuation
	ProviderRefused bool         `json:"refused,omitzero"`     // the provider has refused a continuation in this user turn
	Watermarks      Watermarks   `json:"watermarks,omitzero"`  // the best counts of the list in this user turn
	Stale           uint64       `json:"stale,omitzero"`       // digest of the list that gets one attempt; see Limits.MaxAttempts
	Cancelled       bool         `json:"cancelled,omitzero"`   // the caller cancelled a call: the next list seen gets one attempt

	ListWritten      bool `json:"touched,omitzero"`           // the model wrote the list in this user turn
	PermissionDenied bool `json:"permission_denied,omitzero"` // a pause that only asked for permission was rejected in this user turn
	ClosingQuestion  bool `json:"asked,omitzero"`             // the model was asked whether anything is open, and has called no tool since
	Unassessed       bool `json:"unassessed,omitzero"`        // the last continuation was answered, and the list has not been read since

	Check CheckState `json:"check,omitzero"` // of the program's check, in this user turn

	// Calls has a hash of the names and arguments of the tool calls for each of the latest
	// continuations of this user turn that called tools, newest first.
	Calls [8]uint64 `json:"calls,omitzero"`

	Overrides Overrides `json:"overrides,omitzero"` // the settings that the session has changed; see middleware.Settings

	Loop Loop `json:"loop,omitzero"` // calls without a session only
}

// Loop tells a tool loop without a session from a later one with the same messages. A
// state with a Loop is valid for an hour after the loop's last request.
type Loop struct {
	Size int       `json:"size,omitzero"` // number of messages in its last request
	Seen time.Time `json:"seen,omitzero"` // time of its last request
}

// Waiting counts the turns of a user turn that were left alone because work that the
// agent has begun still runs.
type Waiting struct {
	Since time.Time `json:"since,omitzero"` // when the first of them ended; zero: there is none
	Turns int       `json:"turns,omitzero"`
}

// CheckState is what a session remembers of the program's check; see
// middleware.WithCheck.
type CheckState struct {
	Message uint64 `json:"message,omitzero"` // hash of the message that began the user turn in the main conversation
	Worked  bool   `json:"worked,omitzero"`  // the model has called tools in this user turn
	Failed  int    `json:"failed,omitzero"`  // how often the check has failed in this user turn since it last passed
	Last    uint64 `json:"last,omitzero"`    // digest of the last failure
}

// maxWaits is how many turns of a user turn may end in a wait for work whose age nobody
// knows. Whoever watches an agent that says eight times in a row that it waits, without
// a word to it, is not there.
const maxWaits = 8

// IsOver reports whether the session waits no longer for work whose age nobody knows:
// it has waited for as long as maxAge, or at the end of eight turns. What only a text
// claims must not stop a session for ever.
func (w Waiting) IsOver(now time.Time, maxAge time.Duration) bool {
	return w.Turns >= maxWaits || w.Turns > 0 && maxAge != continuation.Off && now.Sub(w.Since) >= maxAge
}

// Claim marks a session as being continued by one call, so that no other call continues
// it at the same time. The zero value means no claim. A claim ends when the continuation
// ends, when a new user turn begins, and after Limits.ClaimLife. No other call can
// release it.
type Claim struct {
	Token uint64    `json:"token,omitzero"` // identifies the claim; 0 means no claim
	Since time.Time `json:"since,omitzero"` // when the claim was made
	Until time.Time `json:"until,omitzero"` // when the claim lapses; zero means never
}

// Active reports whether the claim is held and has not lapsed.
func (c Claim) Active(now time.Time) bool {
	return c.Token != 0 && (c.Until.IsZero() || now.Before(c.Until))
}

// Watermarks are the best counts that a todo list has had in a user turn. Progress is
// measured against them.
type Watermarks struct {
	Set       bool `json:"set,omitzero"`       // whether a list was seen
	Todos     int  `json:"todos,omitzero"`     // number of todos when the list was first seen
	Completed int  `json:"completed,omitzero"` // highest number of completed todos so far
	Active    int  `json:"active,omitzero"`    // lowest number of active todos so far
}

// maxAdded is how many todos added since then can be progress. Without this bound, a
// model that keeps adding finished todos would be continued forever.
const maxAdded = 20

// IsSurpassedBy reports whether a list with these counts is progress: more todos are completed
// than ever before in the user turn, or fewer are active. Reordering, rewording, toggling
// a status and adding an item again are no progress. Nor is the first list, because there
// is nothing to compare it with. Todos that were added later count only up to maxAdded,
// because a model may add finished ones without end.
func (w Watermarks) IsSurpassedBy(completed, active int) bool {
	return w.Set && (completed > w.Completed && w.Completed < w.Todos+maxAdded || active < w.Active)
}

// with returns the watermarks after a list was seen.
func (w Watermarks) with(list *summary) Watermarks {
	if !w.Set {
		return Watermarks{Set: true, Todos: list.Todos, Completed: list.Completed, Active: list.Active}
	}
	w.Completed, w.Active = max(w.Completed, list.Completed), min(w.Active, list.Active)
	return w
}

// PromptResult is the result of a continuation: one of the constants, or the HTTP status
// with which it failed. The next prompt tells the model.
type PromptResult int

// The results that are not an HTTP status.
const (
	ResultNone       PromptResult = 0  // nothing to tell: a tool was called, or the caller ended the continuation
	ResultSameAnswer PromptResult = -1 // the model repeated its answer
	ResultNoProgress PromptResult = -2 // the model answered without calling a tool
	ResultTimeout    PromptResult = -3 // the continuation timed out
	ResultTransport  PromptResult = -4 // the continuation failed in another way, without an HTTP status
)

// Switch is an override of a setting: on, off, or none.
type Switch uint8

// The switches.
const (
	Unchanged   Switch = iota // no override: the default applies
	SwitchedOn                // on, whatever the default is
	SwitchedOff               // off, whatever the default is
)

// Overrides are the settings that a session has changed. The zero value changes none.
type Overrides struct {
	TodoContinuation Switch `json:"todo_continuation,omitzero"` // overrides Values.TodoContinuation
	YOLO             Switch `json:"yolo,omitzero"`              // overrides Values.ApprovalMode: on is ApprovalYOLO, off is ApprovalDefault
}

// Packed is a state in few bytes, for a store that keeps a million of them. It is valid
// within one process: the form that processes share is the state's JSON.
type Packed []byte

// Append appends s, packed, to p. It takes some more bytes of p's memory meanwhile.
func (p Packed) Append(s *State) Packed {
	c := coder{data: p}
	s.code(&c)
	return c.data
}

// Unpack returns the state that was packed.
func (p Packed) Unpack() (s State) {
	s.code(&coder{data: p, reads: true})
	return s
}

// code writes the fields of s to c, or reads them from it. Each field has one line. Those
// that most sessions do not have stand in parts, which cost a byte if they are empty.
func (s *State) code(c *coder) {
	c.number(&s.Message)
	c.number(&s.Previous)
	c.time(&s.LastPrompt)
	c.count(&s.UserTurn)
	c.count(&s.Users)
	c.count(&s.TextLength)
	c.count(&s.Attempts)
	c.count(&s.Continuations)
	c.count(&s.Tokens)
	c.bools(&s.Answered, &s.ProviderRefused, &s.ListWritten, &s.Cancelled, &s.PermissionDenied, &s.ClosingQuestion, &s.Unassessed,
		&s.Watermarks.Set)
	c.count(&s.Watermarks.Todos)
	c.count(&s.Watermarks.Completed)
	c.count(&s.Watermarks.Active)
	if c.begin() {
		c.number(&s.Claim.Token)
		c.time(&s.Claim.Since)
		c.time(&s.Claim.Until)
		c.result(&s.LastResult)
		c.end()
	}
	if c.begin() {
		c.text(&s.Paused.Reason)
		c.time(&s.Paused.Since)
		c.time(&s.Waiting.Since)
		c.count(&s.Waiting.Turns)
		c.count(&s.Repeats)
		c.number(&s.Stale)
		c.count(&s.Loop.Size)
		c.time(&s.Loop.Seen)
		c.end()
	}
	if c.begin() {
		c.bools(&s.Check.Worked)
		c.number(&s.Check.Message)
		c.count(&s.Check.Failed)
		c.number(&s.Check.Last)
		c.setting(&s.Overrides.TodoContinuation)
		c.setting(&s.Overrides.YOLO)
		for i := range s.Calls {
			c.number(&s.Calls[i])
		}
		c.end()
	}
}

// maxPart is how many bytes an empty part has at most.
const maxPart = 128

// coder writes values to data, or reads them from there. A zero value has only zero bytes.
type coder struct {
	data  []byte
	part  int // where the current part begins
	reads bool
}

// begin begins a part. It reports false if the part was empty.
func (c *coder) begin() bool {
	if c.reads {
		empty := c.data[0] == 0
		c.data = c.data[1:]
		return !empty
	}
	c.data = append(c.data, 1)
	c.part = len(c.data)
	return true
}

// end ends a part, of which an empty one leaves only its mark.
func (c *coder) end() {
	if c.reads {
		return
	}
	var zeros [maxPart]byte
	if part := c.data[c.part:]; len(part) <= maxPart && bytes.Equal(part, zeros[:len(part)]) {
		c.data = c.data[:c.part]
		c.data[c.part-1] = 0
	}
}

// number codes any number, in eight bytes.
func (c *coder) number(n *uint64) {
	if c.reads {
		*n = binary.LittleEndian.Uint64(c.data)
		c.data = c.data[8:]
		return
	}
	c.data = binary.LittleEndian.AppendUint64(c.data, *n)
}

// count codes a number that is not negative, and mostly small.
func (c *coder) count(n *int) {
	if c.reads {
		read, size := binary.Uvarint(c.data)
		*n, c.data = int(read), c.data[size:] //nolint:gosec // it was an int
		return
	}
	c.data = binary.AppendUvarint(c.data, uint64(max(*n, 0))) //nolint:gosec // not negative
}

// result codes a result, which may be negative.
func (c *coder) result(r *PromptResult) {
	if c.reads {
		read, size := binary.Varint(c.data)
		*r, c.data = PromptResult(read), c.data[size:]
		return
	}
	c.data = binary.AppendVarint(c.data, int64(*r))
}

// time codes a time by its nanoseconds since 1970, 0 for none.
func (c *coder) time(t *time.Time) {
	var nanos uint64
	if !c.reads {
		nanos = uint64(nanosOf(*t)) //nolint:gosec // and back again
	}
	c.number(&nanos)
	if c.reads && nanos != 0 {
		*t = time.Unix(0, int64(nanos)) //nolint:gosec // as above
	}
}

func nanosOf(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.After(time.Unix(0, math.MaxInt64)): // such as the end of a claim of 250 years
		return math.MaxInt64
	}
	return t.UnixNano()
}

// text codes a text.
func (c *coder) text(s *string) {
	length := len(*s)
	c.count(&length)
	if c.reads {
		*s, c.data = string(c.data[:length]), c.data[length:]
		return
	}
	c.data = append(c.data, *s...)
}

// setting codes a switch.
func (c *coder) setting(s *Switch) {
	if c.reads {
		*s, c.data = Switch(c.data[0]), c.data[1:]
		return
	}
	c.data = append(c.data, byte(*s))
}

// bools codes up to eight booleans, in one byte.
func (c *coder) bools(values ...*bool) {
	if c.reads {
		for i, value := range values {
			*value = c.data[0]>>i&1 != 0
		}
		c.data = c.data[1:]
		return
	}
	var bits byte
	for i, value := range values {
		if *value {
			bits |= 1 << i
		}
	}
	c.data = append(c.data, bits)
}
