package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/carryon-go/carryon/internal/scope"
)

// canceller cancels what a call has running, and knows what ended the call. It
// derives a ctx for the call only when there is something to cancel: most streams
// never need one.
type canceller struct {
	caller context.Context
	ctx    context.Context // the caller's, until derive was called

	mu        sync.Mutex
	stop      context.CancelCauseFunc // nil until derive was called
	cancelled bool
}

// derive returns the ctx of the call: inside this layer, and cancelled with the
// caller's ctx or by cancel.
func (c *canceller) derive() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop == nil {
		c.ctx, c.stop = context.WithCancelCause(scope.EnterLayer(c.caller))
		if c.cancelled {
			c.stop(ErrClosed)
		}
	}
	return c.ctx
}

// cancel cancels the ctx of the call, even if it is derived later.
func (c *canceller) cancel() {
	c.mu.Lock()
	stop := c.stop
	c.cancelled = true
	c.mu.Unlock()
	if stop != nil {
		stop(ErrClosed)
	}
}

// hasEnded reports whether the caller ended the call: by its ctx, or by cancel.
func (c *canceller) hasEnded() bool { return c.interruption() != nil }

// interruption returns the error with which the caller ended the call, or nil.
func (c *canceller) interruption() error {
	c.mu.Lock()
	cancelled := c.cancelled
	c.mu.Unlock()
	err := c.caller.Err()
	if err == nil && cancelled {
		return ErrClosed
	}
	if cause := context.Cause(c.caller); err != nil && !errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// wait waits on the consumer's own goroutine, until the time is over or the
// program ends. It reports false if the call was cancelled meanwhile.
func (c *canceller) wait(program context.Context, clock Clock, d time.Duration) bool {
	over := make(chan struct{})
	timer := clock.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	select {
	case <-over:
		return true
	case <-program.Done():
		return true
	case <-c.ctx.Done():
		return false
	}
}
