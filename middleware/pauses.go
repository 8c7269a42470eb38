package middleware

import (
	"errors"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/finish"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/internal/todolist"
	"github.com/carryon-go/carryon/pause"
)

// policyFailed is the shown reason if the program's own pause policy panicked.
const policyFailed = "Tool execution error"

// pauses judges the model's pauses, and pauses the session.
type pauses struct {
	*decider

	result    *pause.Result // set once the model has paused
	plainStop string        // the provider's word for a plain stop; set if turn 1 ended in one
}

// goesOn judges the turn that has ended, and reports whether the call goes on with
// another. A call of todo_pause ends the call, unless its reason is rejected and the
// model can be told.
func (p *pauses) goesOn() bool {
	reason, err, ok := p.turn.pauseReason(p.mw.options.pausePolicy())
	asksLeave := false
	if ok && err == nil && p.deniesLeave() {
		err = pause.NoLeave(reason)
		asksLeave = err != nil
	}
	switch {
	case !ok:
		return p.decide()
	case errors.Is(err, pause.ErrPolicyPanicked):
		p.fault(p.turn.TurnID, "pause policy", err)
		p.pause(policyFailed)
		return false
	case err == nil || p.turn.reader.calls.others > 0 || p.rejected:
		p.pause(reason)
		return false
	}
	return p.reject(&rejection{reason: reason, err: err, asksLeave: asksLeave, answer: p.turn.pauseAnswer()})
}

// deniesLeave reports whether a pause that only asks for leave to go on is rejected:
// nobody is there who could give it, and this is the first such pause of the user turn.
// A program with a policy of its own decides itself.
func (p *pauses) deniesLeave() bool {
	return p.session.settings().ApprovalMode == continuation.ApprovalYOLO && !p.session.denied && p.mw.options.policy == nil
}

// reject tells the model that its reason is rejected, if the call goes on.
func (p *pauses) reject(r *rejection) bool {
	p.turn.rejection = r
	if !p.decide() {
		p.acceptRejected()
		return false
	}
	p.rejected = true
	p.mw.options.report.pauseRejected(p.cancel.caller, PauseRejected{TurnID: p.turn.TurnID, Reason: pause.Shown(r.reason), Err: r.err})
	return true
}

// acceptRejected accepts a rejected pause because the model cannot be told: a blocked
// model must be able to stop.
func (p *pauses) acceptRejected() {
	if r := p.turn.rejection; r != nil && p.result == nil {
		p.pause(r.reason)
	}
}

// pause reports that the model has paused, and pauses its session.
func (p *pauses) pause(reason string) {
	now := p.mw.options.clock.Now()
	var result pause.Result
	err := guard.Run(func() error { result = pause.NewResult(reason, now, p.mw.options.notice); return nil })
	if err != nil {
		p.fault(p.turn.TurnID, "notice", err)
		result = pause.NewResult(reason, now, pause.ShortNotice)
	}
	p.result = &result
	p.record(func(o *Outcome) { o.Reason, o.Paused = continuation.ReasonPaused, &result })
	p.mw.options.report.paused(p.cancel.caller, Paused{TurnID: p.turn.TurnID, Result: result})
	if p.turn.Session == "" || p.mw.options.dryRun {
		return
	}
	if p.list.todos == nil {
		p.readTodos() // the caller's own turn paused: nobody has asked yet
	}
	var digest uint64
	if p.list.err == nil {
		digest = todolist.Digest(p.list.todos)
	}
	p.updateInUserTurn(p.turn.TurnID, func(s continuation.State) continuation.State {
		return session.Pause(s, result.Reason, now, digest)
	})
}

// notice returns the text that is shown of a pause, without a separator.
func (p *pauses) notice() string {
	if p.result == nil {
		return ""
	}
	return p.result.Message
}

// joinedNotice returns the notice as it follows the text of the answer.
func (p *pauses) joinedNotice() string {
	notice := p.notice()
	if notice == "" {
		return ""
	}
	return p.turn.reader.text.transcript.separator() + notice
}

// endReading ends the reading of the turn, and learns the provider's word for a plain
// stop.
func (p *pauses) endReading() {
	p.turn.reader.end()
	if r := &p.turn.reader; r.first && finish.IsPlainStop(r.finish) {
		p.plainStop = r.finish
	}
}

// shownFinish is a finish reason as it is shown.
type shownFinish struct {
	reason    string
	plainStop bool // show the protocol's own word for a plain stop; reason is ""
}

// shownFinish returns the finish reason that the caller sees. A turn whose only calls
// were pauses has simply stopped. A missing reason stays missing.
func (p *pauses) shownFinish() shownFinish {
	r := &p.turn.reader
	if r.calls.pauseRemoved && r.calls.others == 0 && r.finish != "" {
		return shownFinish{reason: p.plainStop, plainStop: p.plainStop == ""}
	}
	return shownFinish{reason: r.finish}
}

// rejectionText returns what is wrong with a reason, without the words that the
// prompt itself has.
func rejectionText(err error) string {
	var invalid *pause.InvalidReasonError
	if errors.As(err, &invalid) {
		return invalid.Problem
	}
	return err.Error()
}
