package join

import (
	"context"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/engine"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/middleware"
)

// Call is a call of the program that carryon may continue, from its request to the end
// of its answer. Adapters get one from [Begin] and pass it to [NewStream] or [Unary],
// which do the rest. Only one goroutine at a time may use it, except that Additions,
// OpenContext and Outcome are safe for concurrent use.
type Call engine.Handle[middleware.Outcome]

func (c *Call) engine() engine.Call[middleware.Outcome] {
	return (*engine.Handle[middleware.Outcome])(c).Call()
}

func (c *Call) answer() *engine.Answer { return (*engine.Handle[middleware.Outcome])(c).Answer() }

// Begin begins a call. r describes the request that is about to be sent. If carryon
// leaves the call alone, Begin returns a nil Call and the final Outcome, and the
// adapter sends the request unchanged. Otherwise the adapter sends it with the ctx of
// [Call.Context] and the additions of [Call.Additions]. Begin panics if ctx is nil.
func Begin(ctx context.Context, mw *middleware.Middleware, r adapter.Request) (*Call, middleware.Outcome) {
	begun, outcome := mw.Engine().Begin(ctx, &r)
	return (*Call)(begun), outcome
}

// Pass records the outcome of a call that an adapter leaves alone before it has read
// enough for [Begin]. The outcome goes to [middleware.Capture], but not to observers and
// logs, which are about calls to models. Pass panics if ctx is nil.
func Pass(ctx context.Context, mw *middleware.Middleware, reason continuation.Reason) {
	mw.Engine().Pass(ctx, reason)
}

// AttachesReminders reports whether requests may carry reminders. If not, adapters need
// not fill in the fields of [adapter.Request] that say where reminders go.
func AttachesReminders(mw *middleware.Middleware) bool { return mw.Engine().AttachesReminders() }

// Context returns the ctx for the caller's own request. It is cancelled when the
// caller's ctx ends and when the call ends.
func (c *Call) Context() context.Context { return c.engine().Context() }

// OpenContext returns a ctx for a request of the caller whose answer may outlive the
// call. It has the same values as Context, but is cancelled only when the caller's ctx
// ends.
func (c *Call) OpenContext() context.Context { return c.engine().OpenContext() }

// Additions returns what carryon adds to the caller's own request. The caller must not
// modify it.
func (c *Call) Additions() *adapter.Additions { return c.engine().Additions() }

// Outcome returns the outcome of the call, or its present state if the call has not
// ended; see [middleware.Outcome].Ended.
func (c *Call) Outcome() middleware.Outcome { return c.engine().Outcome() }

// Abort ends the call because the caller's own request could not be sent or was
// refused. Adapters call it if they have no source to pass to [NewStream].
func (c *Call) Abort(err error) {
	c.engine().DecideFirstTurn(err)
	c.engine().EndTurn(err)
	c.engine().End()
	c.engine().Cancel()
}

// endReading ends the reading of the turn, and learns the provider's word for a plain
// stop.
func (c *Call) endReading() {
	turn := c.answer().Turn
	turn.End()
	if turn.First && handback.IsPlainStop(turn.FinishReason) {
		c.answer().PlainStop = turn.FinishReason
	}
	c.engine().TurnRead()
}

// shownFinish returns the finish reason that the caller sees. A turn whose only calls
// were pauses has simply stopped. A missing reason stays missing.
func (c *Call) shownFinish() shownFinish {
	answer := c.answer()
	turn := answer.Turn
	if turn.Calls.PauseRemoved && turn.Calls.ProgramCalls == 0 && turn.FinishReason != "" {
		return shownFinish{reason: answer.PlainStop, plainStop: answer.PlainStop == ""}
	}
	return shownFinish{reason: turn.FinishReason}
}

// joinedNotice returns the notice of a pause as it follows the text of the answer.
func (c *Call) joinedNotice() string {
	notice := c.engine().Notice()
	if notice == "" {
		return ""
	}
	return c.answer().Text.End().Separator() + notice
}
