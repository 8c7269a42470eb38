package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// observer returns an Observer that records what carryon does.
func (j *journal) observer() middleware.Observer {
	return middleware.Observer{
		TurnEnded: func(ctx context.Context, e middleware.TurnEnded) {
			text, quoted := j.turn(e)
			j.note(ctx, e.TurnID, ended, text, quoted)
		},
		Decision: func(ctx context.Context, e middleware.Decision) {
			j.note(ctx, e.TurnID, decided, decision(e), "")
		},
		ContinuationStarted: func(ctx context.Context, e middleware.ContinuationStarted) {
			j.note(ctx, e.TurnID, asked, fmt.Sprintf("to carry on, attempt %d", e.Attempt), j.text(e.Todo.Content))
		},
		PauseRejected: func(ctx context.Context, e middleware.PauseRejected) {
			j.note(ctx, e.TurnID, pauseRefused, e.Err.Error(), j.text(e.Reason))
			j.count(func(c *counts) { c.Refused++ })
		},
		Paused: func(ctx context.Context, e middleware.Paused) {
			until := ", until the user writes again"
			if e.Session == "" {
				until = "" // without a session the pause does not last
			}
			j.note(ctx, e.TurnID, paused, "by the model"+until, j.text(e.Result.Reason))
			j.count(func(c *counts) { c.Pauses++ })
		},
		Exhausted: func(context.Context, middleware.Exhausted) { // the decision before it names the budget
			j.count(func(c *counts) { c.Exhausted++ })
		},
		Failed: func(ctx context.Context, e middleware.Failed) {
			text, quoted := j.failure(e)
			j.note(ctx, e.TurnID, failed, text, quoted)
			j.count(func(c *counts) { c.Failed++ })
		},
	}
}

// turn says how a turn ended.
func (j *journal) turn(e middleware.TurnEnded) (text, quoted string) {
	text = "without a finish reason"
	switch {
	case e.Err != nil:
		text, quoted = j.cause(e.Err)
		if text = "broke off: " + text; quoted != "" {
			return text, quoted
		}
	case e.Finish != "":
		text = "finish reason " + e.Finish
	}
	if e.ToolCalls > 0 {
		text += fmt.Sprintf(", tool calls: %d", e.ToolCalls)
	}
	if n := e.Usage.Tokens(); n > 0 {
		text += fmt.Sprintf(", tokens: %d", n)
	}
	return text, quoted
}

// decision says whether carryon continues, and why.
func decision(e middleware.Decision) string {
	ev := e.Evaluation
	verdict := "stop"
	switch {
	case ev.Continue && e.DryRun:
		verdict = "would go on"
	case ev.Continue:
		verdict = "go on"
	case ev.Reason == continuation.ReasonTooSoon:
		verdict = fmt.Sprintf("wait %v", rounded(ev.Wait))
	}
	return fmt.Sprintf("%s: %s", verdict, ev.Reason)
}

// failure says what went wrong without costing the client the answer.
func (j *journal) failure(e middleware.Failed) (text, quoted string) {
	if e.Op == "continuation" { // the event of its turn says why
		return "the answer ends as it would have without this turn", ""
	}
	text, quoted = j.cause(e.Err)
	return e.Op + ": " + text, quoted
}

// text returns a part of a message to append to an event, or "" unless texts may
// be shown.
func (j *journal) text(part string) string {
	if !j.config.Content || part == "" {
		return ""
	}
	return ": " + part
}

// cause describes an error. Quoted is what others wrote. It leaves out texts that
// may quote messages, unless texts may be shown.
func (j *journal) cause(err error) (text, quoted string) {
	var status *adapter.StatusError
	var network net.Error
	var reported *transport.ProviderError
	switch {
	case errors.As(err, &status):
		return fmt.Sprintf("HTTP status %d", status.Status), j.text(status.Error())
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
