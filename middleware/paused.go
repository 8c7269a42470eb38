package middleware

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/pause"
)

// policyFailed is shown if the program's own pause policy panicked.
const policyFailed = "Tool execution error"

// goesOn judges the turn that has ended, and reports whether the call goes on
// with another. A call of todo_pause ends it, unless its reason is rejected
// and the model can be told so.
func (c *Call) goesOn() bool {
	reason, err, ok := c.pauseReason()
	switch {
	case !ok:
		return c.decide()
	case errors.Is(err, pause.ErrPolicyPanicked):
		c.fault("pause policy", err)
		c.pause(policyFailed)
		return false
	case err == nil || c.sink.calls.others > 0 || c.rejections > 0:
		c.pause(reason)
		return false
	}
	return c.reject(reason, err)
}

// pauseReason returns the reason with which the turn wants to pause, if it
// does, and what is wrong with it.
func (c *Call) pauseReason() (reason string, err error, ok bool) { //nolint:revive // err is a result among others
	if call := c.sink.calls.pause(); call != nil {
		reason, err = pause.Parse(string(call.arguments), c.mw.options.policy)
		return reason, err, true
	}
	if c.printed != nil {
		reason, err = pause.JudgePrinted(*c.printed, c.mw.options.policy)
		return reason, err, true
	}
	return "", nil, false
}

// reject has the model told that its reason will not do, if it can be told.
func (c *Call) reject(reason string, err error) bool {
	c.rejection = &rejection{reason: reason, err: err, answer: c.pauseAnswer()}
	if !c.decide() {
		c.giveUp()
		return false
	}
	c.rejections++
	c.mw.pauseRejected(c.caller, PauseRejected{Place: c.place, Reason: pause.Shown(reason), Err: err})
	return true
}

// giveUp accepts a pause that was rejected, because the model can't be told:
// a blocked model must be able to stop.
func (c *Call) giveUp() {
	if r := c.rejection; r != nil && c.result == nil {
		c.pause(r.reason)
	}
}

// pause takes note that the model has paused, and pauses its session.
func (c *Call) pause(reason string) {
	now := c.mw.clock.Now()
	var result pause.Result
	err := guard(func() error { result = pause.NewResult(reason, now, c.mw.options.notice); return nil })
	if err != nil {
		c.fault("notice", err)
		result = pause.NewResult(reason, now, pause.ShortNotice)
	}
	c.result = &result
	c.note(func(o *Outcome) { o.Reason, o.Paused = continuation.ReasonPaused, &result })
	c.mw.paused(c.caller, Paused{Place: c.place, Result: result})
	if c.place.Session == "" || c.mw.options.dryRun {
		return
	}
	if c.todos == nil {
		c.readTodos() // the caller's own turn paused: nobody has asked yet
	}
	var digest uint64
	if !c.unread {
		digest = continuation.Digest(c.todos)
	}
	c.change(func(s continuation.State) continuation.State { return s.Pause(result.Reason, now, digest) })
}

// notice returns what is to be shown of a pause, with the seam before it.
func (c *Call) notice() string {
	if c.result == nil || c.result.Message == "" {
		return ""
	}
	if c.said.len() == 0 {
		return c.result.Message
	}
	return Seam + c.result.Message
}

// pauseAnswer returns the call of todo_pause that is to be answered, or nil if
// it was printed.
func (c *Call) pauseAnswer() *PauseAnswer {
	call := c.sink.calls.pause()
	if call == nil {
		return nil
	}
	answer := &PauseAnswer{ID: call.id, Name: call.name, Arguments: string(call.arguments)}
	if answer.ID == "" {
		answer.ID = newID()
	}
	if trimmed := strings.TrimSpace(answer.Arguments); !strings.HasPrefix(trimmed, "{") || !json.Valid(call.arguments) {
		answer.Arguments = "{}" // providers refuse a history with broken arguments
	}
	return answer
}

// finishReason returns the finish reason that the caller is to see: a turn of
// which nothing is left but text has simply stopped. Where there is no reason,
// none is made up.
func (c *Call) finishReason() string {
	if c.sink.calls.stripped && c.sink.calls.others == 0 && c.sink.finish != "" {
		return c.plainFinish
	}
	return c.sink.finish
}

// endSink ends the turn's reading and remembers what it found.
func (c *Call) endSink() {
	if reason, ok := c.sink.end(); ok {
		printed := reason
		c.printed = &printed
	}
	if c.sink.number == 1 && continuation.EndsPlainly(c.sink.finish) {
		c.plainFinish = c.sink.finish
	}
}

// rejectionText returns what is wrong with a reason, without the words that
// the prompt has of its own.
func rejectionText(err error) string {
	var invalid *pause.InvalidReasonError
	if errors.As(err, &invalid) {
		return invalid.Problem
	}
	return err.Error()
}
