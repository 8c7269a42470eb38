// Package engine is what carryon/middleware shows of itself to carryon/adapter/join: an
// interface of a few verbs, and what both of them know of an answer.
package engine

import (
	"context"
	"errors"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/reading"
)

// Engine begins calls. O is the outcome of a call, as a program sees it.
type Engine[O any] interface {
	// Begin begins a call. If it is left alone, Begin returns nil and the final outcome.
	Begin(ctx context.Context, r *adapter.Request) (*Handle[O], O)
	// Pass records the outcome of a call whose request was not read far enough.
	Pass(ctx context.Context, reason continuation.Reason)
	// AttachesReminders reports whether requests may carry reminders.
	AttachesReminders() bool
}

// Call is a call of the program that the engine may continue. Whoever reads its answer
// drives it, on one goroutine at a time; Context, OpenContext, Additions, Outcome, Cancel
// and Interruption are safe for concurrent use.
type Call[O any] interface {
	Context() context.Context     // for the caller's own request
	OpenContext() context.Context // the same, but the answer may outlive the call
	Additions() *adapter.Additions
	Outcome() O
	Clock() clock.Clock
	Limits() *continuation.Limits

	// TurnRead says that the turn was read up to its finish.
	TurnRead()
	// MayGoOn reports whether the call may go on after the first turn, whose end is not
	// read yet. If not, the decision was taken and reported.
	MayGoOn() bool
	// DecideFirstTurn decides on the caller's own turn, which did not end as it should have: with
	// err, if that is not nil.
	DecideFirstTurn(err error)
	// EndTurn says that all of the turn was read, or that it failed with err.
	EndTurn(err error)
	// DecideNext decides on the turn that has ended, and reports whether the call goes on.
	// tailErr is an error that came after the finish, or nil.
	DecideNext(tailErr error) bool
	// Next waits until the continuation may be sent, and returns it; nil if nothing more is
	// sent. While the program's check runs, Next returns ErrCheckRuns each time that patience
	// has passed; with a patience of 0, it waits to the end. Another error ends the answer.
	Next(patience time.Duration) (*adapter.Continuation, error)
	// ShowedLife says that the caller was shown a sign of life during ErrCheckRuns.
	ShowedLife()
	// BeginTurn begins the turn of a continuation. It returns the ctx to send it with, and
	// one that ends when the program ends.
	BeginTurn(k *adapter.Continuation) (turn, program context.Context)
	// Failed says that a continuation, whose turn has ended, failed with err, and whether a
	// part of a tool call was shown. If again is true, the continuation is sent once more.
	// interrupted is an error that ends the answer.
	Failed(err error, showedCall bool) (again bool, interrupted error)
	// Notice returns the text that the caller is shown of a pause, "" for none.
	Notice() string

	// Abandon ends the turn that is open, if one is, because the caller has closed the
	// stream.
	Abandon()
	// CallbackFailed says that one of the caller's callbacks failed with err.
	CallbackFailed(err error)
	// Interruption returns the error with which the caller ended the call, or nil.
	Interruption() error
	// Cancel cancels what runs of the call, and gives back its claim on the session.
	Cancel()
	// End ends the call. It may be called again.
	End()
}

// Handle is a call as carryon/adapter/join holds it. It is a part of the call, so that it
// costs no allocation of its own.
type Handle[O any] struct {
	call   Call[O]
	answer Answer
}

// Set sets what the handle is of.
func (h *Handle[O]) Set(c Call[O], a Answer) { h.call, h.answer = c, a }

// Call returns the call.
func (h *Handle[O]) Call() Call[O] { return h.call }

// Answer returns what is known of the answer.
func (h *Handle[O]) Answer() *Answer { return &h.answer }

// ErrCheckRuns is the error of [Call].Next if its patience is over.
var ErrCheckRuns = errors.New("middleware: the program's check still runs")

// Answer is what both the engine and whoever joins the turns of a call know of its answer.
type Answer struct {
	Turn     *reading.Turn       // the current turn
	Text     *reading.Transcript // of all turns
	Times    *reading.Times      // of the current turn; nil if nobody wants to know
	Timeouts *Timeouts           // of the caller; nil if it sets no limit

	PlainStop    string             // the provider's word for a plain stop; set if turn 1 ended in one
	Usage        adapter.UsageShown // of a joined answer
	NoFinish     bool               // see [adapter.Request]
	SaysDone     bool               // see [adapter.Request]
	HasReminders bool               // the caller's own request carries reminders, which are reported on
}
