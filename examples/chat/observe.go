package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/examples/chat/terminal"
	"github.com/carryon-go/carryon/examples/internal/plaintext"
	"github.com/carryon-go/carryon/middleware"
)

// observer returns an Observer that shows what carryon does.
func (c *chat) observer() middleware.Observer {
	return middleware.Observer{
		ContinuationStarted: func(_ context.Context, e middleware.ContinuationStarted) {
			c.prompted.Add(1)
			c.note("carrying on: %s (attempt %d of %d)",
				plaintext.OneLine(e.Todo.Content), e.Attempt, continuation.DefaultLimits().MaxAttempts)
		},
		Decision: func(_ context.Context, e middleware.Decision) {
			if e.Reason.Code() == "background" {
				c.note("waiting for background tasks")
			}
			if e.Exhausted {
				c.note("gave up: %s", e.Reason)
			}
		},
		PauseCalled: func(_ context.Context, e middleware.PauseCalled) {
			if e.Err != nil {
				c.note("no reason to pause: %q", e.Result.Reason)
			}
		},
		ReminderDelivered: func(ctx context.Context, e middleware.ReminderDelivered) {
			c.delivered(ctx, func(id string) bool { return slices.Contains(e.Tasks, id) })
		},
		Failed: func(_ context.Context, e middleware.Failed) {
			c.view.Say(terminal.Failed, plaintext.OneLine(fmt.Sprintf("carryon: %s: %v", e.Op, e.Err)))
		},
	}
}

func (c *chat) note(format string, args ...any) {
	c.view.Say(terminal.Noted, plaintext.OneLine(fmt.Sprintf(format, args...)))
}

// started registers a background task.
func (c *chat) started(ctx context.Context, id string) {
	c.mu.Lock()
	c.pending[id] = true
	c.mu.Unlock()
	c.show(ctx)
}

// taskEnded shows that a background task has ended. The next request tells the
// model; if there is none, the AutoTrigger does.
func (c *chat) taskEnded(ctx context.Context, t asynctask.Task) {
	c.note("background result: %s (%s)", t.Name, t.State)
	if t.State == asynctask.Cancelled { // carryon does not tell the model about these
		c.delivered(ctx, func(id string) bool { return id == t.ID })
	}
}

// delivered removes the background tasks whose result the model has received.
func (c *chat) delivered(ctx context.Context, told func(id string) bool) {
	c.mu.Lock()
	for id := range c.pending {
		if told(id) {
			delete(c.pending, id)
		}
	}
	c.mu.Unlock()
	c.show(ctx)
	c.wake()
}
