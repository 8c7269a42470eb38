package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/telemetry"
	"github.com/carryon-go/carryon/middleware"
)

// observer returns an Observer that records what carryon does.
func (j *journal) observer() middleware.Observer {
	return middleware.Observer{
		CallStarted: func(ctx context.Context, e middleware.CallStarted) context.Context {
			if entry, ok := ctx.Value(entryKey{}).(*entry); ok {
				j.change(entry, func() { entry.Model, entry.Streamed = short(e.Model, maxName), e.Streamed })
			}
			return nil
		},
		TurnStarted: func(ctx context.Context, e middleware.TurnStarted) context.Context {
			j.at(ctx, e.TurnID, func(_ *entry, t *turn) { t.waited = e.Wait })
			return nil
		},
		TurnEnded: func(ctx context.Context, e middleware.TurnEnded) {
			j.at(ctx, e.TurnID, func(entry *entry, t *turn) { j.turnEnded(ctx, entry, t, &e) })
		},
		Decision: func(ctx context.Context, e middleware.Decision) {
			j.at(ctx, e.TurnID, func(_ *entry, t *turn) {
				t.decided, t.goOn, t.dryRun, t.reason = true, e.Evaluation.Continue, e.DryRun, e.Evaluation.Reason
			})
		},
		ContinuationStarted: func(ctx context.Context, e middleware.ContinuationStarted) {
			j.at(ctx, e.TurnID, func(entry *entry, t *turn) {
				t.attempt, t.todo = e.Attempt, entry.quote("", j.text(e.Todo.Content))
			})
		},
		PauseRejected: func(ctx context.Context, e middleware.PauseRejected) {
			j.at(ctx, e.TurnID, func(entry *entry, t *turn) {
				entry.note(t, notePauseRefused, e.Err.Error(), j.appended(e.Reason))
				j.add(func(c *counts) { c.Refused++ })
			})
		},
		Paused: func(ctx context.Context, e middleware.Paused) { j.at(ctx, e.TurnID, j.paused(&e)) },
		Exhausted: func(context.Context, middleware.Exhausted) { // the decision before it names the budget
			j.count(func(c *counts) { c.Exhausted++ })
		},
		Failed: func(ctx context.Context, e middleware.Failed) {
			j.count(func(c *counts) { c.Failed++ })
			j.at(ctx, e.TurnID, func(entry *entry, t *turn) {
				text, quoted := j.failure(e)
				entry.note(t, noteFailed, text, quoted)
			})
		},
	}
}

// turnEnded records the end of a turn.
func (j *journal) turnEnded(ctx context.Context, entry *entry, t *turn, e *middleware.TurnEnded) {
	t.began, t.ended = e.Times.Began, e.Times.Ended
	t.finish, t.toolCalls, t.usage = strings.Clone(short(e.Finish, maxName)), e.ToolCalls, e.Usage
	if e.Err == nil {
		return
	}
	text, quoted := j.cause(e.Err)
	t.failure = entry.quote(text, quoted)
	t.interrupted = telemetry.IsInterruption(ctx, e.Err)
}

// paused records a pause.
func (j *journal) paused(e *middleware.Paused) func(*entry, *turn) {
	return func(entry *entry, t *turn) {
		t.paused = true
		j.add(func(c *counts) { c.Pauses++ })
		until := ", until the user writes again"
		if e.Session == "" {
			until = "" // without a session the pause does not last
		}
		entry.note(t, notePaused, "by the model"+until, j.appended(e.Result.Reason))
	}
}

// failure describes a failure that did not affect the client's answer.
func (j *journal) failure(e middleware.Failed) (text, quoted string) {
	if e.Op == middleware.OpContinuation { // the end of its turn says why
		return "the answer goes on without this turn", ""
	}
	text, quoted = j.cause(e.Err)
	return "the " + string(e.Op) + " failed: " + text, quoted
}

// text returns part, or "" if the page must not show texts.
func (j *journal) text(part string) string {
	if !j.config.Content {
		return ""
	}
	return part
}

// appended returns text(part) with ": " before it, or "".
func (j *journal) appended(part string) string {
	if part = j.text(part); part == "" {
		return ""
	}
	return ": " + part
}

// cause describes an error: text is the proxy's own, quoted comes from others. It
// omits whatever may quote a message, unless the page may show texts.
func (j *journal) cause(err error) (text, quoted string) {
	var status *adapter.StatusError
	var network net.Error
	var reported *transport.ProviderError
	switch {
	case errors.As(err, &status) && status.Status > 0:
		return fmt.Sprintf("HTTP status %d", status.Status), j.appended(status.Error())
	case j.config.Content || errors.As(err, &network):
		return "", err.Error()
	case errors.As(err, &reported):
		return "the provider reported an error", ""
	}
	for _, plain := range []error{
		context.Canceled, io.EOF, io.ErrUnexpectedEOF,
		middleware.ErrClosed, middleware.ErrFirstByteTimeout, middleware.ErrResponseTimeout,
		middleware.ErrDeadlineNear, middleware.ErrShutdown, middleware.ErrIncomplete,
		transport.ErrKind, transport.ErrEncoded, transport.ErrTooLarge, transport.ErrUnreadable,
	} {
		if errors.Is(err, plain) {
			return plain.Error(), ""
		}
	}
	return fmt.Sprintf("%T", err), ""
}
