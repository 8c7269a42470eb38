package middleware

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/continuation"
)

// watch keeps a continuation within its limits of time: to its first chunk,
// between chunks while somebody waits for them, and before the caller's own
// deadline. It runs no goroutine.
type watch struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	clock   Clock
	silence time.Duration
	first   Timer
	near    Timer
	quiet   Timer
	began   bool // the first chunk has come
}

// watch returns the watch over a continuation that is about to be sent.
func (c *Call) watch(k *Continuation) *watch {
	marker := continuation.Marker{Session: c.place.Session, Turn: k.Turn, Attempt: k.Attempt}
	w := &watch{clock: c.mw.clock, silence: c.mw.options.limits.ResponseTimeout}
	w.ctx, w.cancel = context.WithCancelCause(continuation.WithMarker(c.ctx, marker))
	if limit := c.mw.options.limits.FirstByteTimeout; limit != continuation.Off {
		w.first = w.clock.AfterFunc(limit, func() { w.cancel(ErrFirstByteTimeout) })
	}
	if deadline, ok := c.caller.Deadline(); ok {
		left := deadline.Sub(w.clock.Now())
		w.near = w.clock.AfterFunc(left-min(left/10, 2*time.Second), func() { w.cancel(ErrDeadlineNear) })
	}
	return w
}

// arm begins to wait for a chunk.
func (w *watch) arm() {
	switch {
	case !w.began || w.silence == continuation.Off:
	case w.quiet == nil:
		w.quiet = w.clock.AfterFunc(w.silence, func() { w.cancel(ErrResponseTimeout) })
	default:
		w.quiet.Reset(w.silence)
	}
}

// disarm ends the wait: a chunk has come.
func (w *watch) disarm() {
	w.began = true
	if w.first != nil {
		w.first.Stop()
		w.first = nil
	}
	if w.quiet != nil {
		w.quiet.Stop()
	}
}

// alive begins the wait for a chunk anew: a part of one has come.
func (w *watch) alive() {
	w.disarm()
	w.arm()
}

// end ends the watch and, with it, whatever of the continuation still runs.
func (w *watch) end() {
	w.disarm()
	if w.near != nil {
		w.near.Stop()
	}
	w.cancel(nil)
}

// explain returns the limit that err is due to, or err.
func (w *watch) explain(err error) error {
	switch cause := context.Cause(w.ctx); cause { //nolint:errorlint // the watch's own values
	case ErrFirstByteTimeout, ErrResponseTimeout, ErrDeadlineNear:
		return cause
	}
	return err
}
