// Package delivery is how a model is told about background tasks: what package asynctask gives to carryon's own packages,
// and programs have no use for.
package delivery

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
)

// Tasks are the background tasks of conversations. An asynctask.Manager returns its own; see its method Deliveries. Errors
// are those of the engine that keeps the tasks.
type Tasks interface {
	// IsShared reports whether the tasks are kept in an engine, so that methods may block and fail.
	IsShared() bool
	// SummaryInSystem reports whether the status summary belongs into the system message of every request.
	SummaryInSystem() bool
	// Clock returns the clock of the tasks.
	Clock() clock.Clock
	// Session returns the session of tasks that are started under ctx, and whether the model is told about them.
	Session(ctx context.Context) (session string, delivered bool)

	// Pending returns the work of the session. If maxAge is positive, tasks that have been unfinished for that long are
	// left out.
	Pending(ctx context.Context, session string, maxAge time.Duration) (Pending, error)
	// Summary returns the status summary of the session, or "" if it has no tasks.
	Summary(ctx context.Context, session string) (string, error)

	// Deliver returns what to tell the model in a request of the session that is about to be sent, or nil if there is
	// nothing to tell. There is something if a task has ended that no delivery reports, if the status summary has changed
	// since the model was told (with NoSummary: if more tasks run than the model was told), or if a text has to be
	// repeated. A summary does not count as changed if only old tasks drop out of it.
	//
	// Deliver takes one update of the account. In memory, a call with nothing to tell only reads the account and does not
	// allocate.
	Deliver(ctx context.Context, session string, o Options) (*Delivery, error)
	// Remind returns a reminder of the session's tasks that have ended and have not been delivered, and of the number of
	// running tasks, or nil if there are neither. Its text stays in the history, so nothing has to be repeated.
	Remind(ctx context.Context, session string) (*Delivery, error)
	// Settle records the outcome of a delivery. After Unread, Delivered or Repeat, another outcome has no effect; neither
	// has Unread after Read. A delivery that is never settled lapses after Life: other deliveries may then report its
	// tasks, and until one does, it can still be settled.
	Settle(ctx context.Context, d *Delivery, outcome Outcome) error
	// Renew extends a delivery by another Life from now, for calls that take long.
	Renew(ctx context.Context, d *Delivery) error

	// Watch calls f when a task of the session has ended, in this process or in another one that shares the engine. It may
	// also call f when no task has ended. f must not block, and may be called concurrently. Tasks that ended before Watch
	// returned may not be reported, so look at the tasks after calling Watch. After stop has returned, f is not called
	// again, though a call may still be running.
	Watch(session string, f func()) (stop func())
	// Join registers work that runs beside the tasks. Close of the Manager calls stop with asynctask.ErrClosed and waits
	// until leave has been called. stop must not block, and must not call the Manager. The error is ErrClosed.
	Join(stop func(cause error)) (leave func(), err error)
}

// Life is how long an unsettled [Delivery] keeps other deliveries from reporting the same tasks.
const Life = 10 * time.Minute

// Pending is the work of a session.
type Pending struct {
	Unfinished int       // number of running tasks
	Oldest     time.Time // when the oldest of these began; zero if there is none

	Undelivered int // ended tasks that the model has not been told about
	Unclaimed   int // how many of those no delivery reports
}

// Options say what a [Delivery] leaves out. The zero value leaves out nothing.
type Options struct {
	// NoSummary leaves out the status summary, for requests that have it elsewhere, such as in the system message.
	NoSummary bool
	// OnlyNew leaves out Repeated, for a further request of the same call, which already has those texts.
	OnlyNew bool
}

// Delivery is what the model has to be told about background tasks. Until it is settled, no other delivery reports the
// same tasks.
//
// The text that [Tasks.Deliver] returns is not part of the conversation's history. It is therefore repeated in the same
// place, byte for byte, in the following requests, until a turn ends in text. The sender of a request adds Text and the
// texts of Repeated to a copy of the request, sets their anchors, and calls [Tasks.Settle].
//
// A Delivery is not safe for concurrent use.
type Delivery struct {
	Session string
	Lease   uint64 // 0 if there is nothing to settle

	// Text has the reminder and the status summary, or one of them, with a blank line in between. It is "" if there is
	// nothing new.
	Text string
	// Anchor is where the sender put Text. The sender sets it.
	Anchor Anchor
	// Tasks has the ids of the ended tasks that Text reports, in the order in which they ended.
	Tasks []string
	// Repeated has the texts of earlier requests that this request repeats, oldest first. If the position of a text is gone
	// because the history was rewritten, the sender puts the text elsewhere and changes its Anchor.
	Repeated []Note

	Version uint64 // version of the summary in Text; 0 if there is none
	Running int    // number of running tasks that Text reports
}

// Anchors returns where the repeated texts are, by their ids.
func (d *Delivery) Anchors() map[uint64]Anchor {
	anchors := make(map[uint64]Anchor, len(d.Repeated))
	for _, n := range d.Repeated {
		anchors[n.ID] = n.Anchor
	}
	return anchors
}

// Note is a text that the requests of a session repeat.
type Note struct {
	ID     uint64 `json:"id"` // unique in the session
	Text   string `json:"text"`
	Anchor Anchor `json:"anchor"`
}

// Anchor is a position in a conversation: the index of the message after which a text was put, and a hash of that message.
// The zero Anchor is no position.
type Anchor struct {
	Message int    `json:"message"`
	Digest  uint64 `json:"digest"` // of the message; the same in every process
}

// Outcome says what became of a [Delivery].
type Outcome uint8

// The outcomes.
const (
	// Unread says that the model was not told, because the call failed or was abandoned before its finish reason. The next
	// delivery reports the same tasks again.
	Unread Outcome = iota
	// Read says that the finish reason was seen, but that the call goes on. No other delivery repeats the text until Settle
	// is called again with Delivered or Repeat.
	Read
	// Delivered says that the model was told and nothing needs to be repeated, because the call ended in text or the program
	// keeps the text in its own history.
	Delivered
	// Repeat says that the model was told, and that later requests repeat the text because the call ended in a tool call.
	Repeat
)
