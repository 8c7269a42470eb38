package middleware

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/asynctask"
)

// SummaryMode says where the status summary of background tasks goes.
type SummaryMode uint8

// The summary modes.
const (
	// SummaryOnChange puts it beside the reminder, when it has changed.
	SummaryOnChange SummaryMode = iota
	// SummaryInSystem puts it behind the system message of every request. That
	// changes what the request begins with, which providers cache prompts by.
	SummaryInSystem
)

// Tasks is what the engine needs of background tasks. An [asynctask.Manager] has
// it.
type Tasks interface {
	// Pending returns the work of the session.
	Pending(ctx context.Context, session string, maxAge time.Duration) (asynctask.Pending, error)
	// Summary returns the status summary of the session, "" if it has no tasks.
	Summary(ctx context.Context, session string) (string, error)
	// Deliver returns what to say in a request that is about to be sent, nil if
	// nothing.
	Deliver(ctx context.Context, session string, o asynctask.DeliverOptions) (*asynctask.Delivery, error)
	// Settle says what became of a delivery.
	Settle(ctx context.Context, d *asynctask.Delivery, outcome asynctask.Outcome) error
}
