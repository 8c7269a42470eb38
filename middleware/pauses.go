package middleware

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/pause"
)

// policyFailed is the shown reason if the program's own pause policy panicked.
const policyFailed = "Tool execution error"

// pauses judges the model's pauses, and pauses the session.
type pauses struct {
	*decider

	result *pause.Result // set once the model has paused
}

// decideNext judges the turn that has ended, and reports whether the call goes on with
// another. A call of todo_pause ends the call, unless its reason is rejected and the
// model can be told.
func (p *pauses) decideNext() bool {
	reason, err, ok := p.turn.pauseReason(p.policy())
	asksPermission := false
	if ok && err == nil && p.deniesPermission() {
		err = pausetool.NeedsNoPermission(reason)
		asksPermission = err != nil
	}
	switch {
	case !ok:
		return p.decide()
	case errors.Is(err, pausetool.ErrPolicyPanicked):
		p.env.reportFailure(p.turn.TurnID, opPausePolicy, err)
		p.pause(policyFailed)
		return false
	case err == nil || p.turn.read.Calls.ProgramCalls > 0 || p.rejectedBefore:
		p.pause(reason)
		return false
	}
	return p.reject(&rejection{reason: reason, err: err, asksPermission: asksPermission, answer: p.turn.pauseAnswer()})
}

// policy returns the policy that judges the model's reasons for pausing.
func (p *pauses) policy() pausetool.Policy {
	if own := p.env.options().policy; own != nil {
		return own
	}
	return pausetool.Strict
}

// deniesPermission reports whether a pause that only asks for permission to go on is rejected:
// nobody is there who could give it, and this is the first such pause of the user turn.
// A program with a policy of its own decides itself.
func (p *pauses) deniesPermission() bool {
	session := &p.env.session
	return session.settings().ApprovalMode == continuation.ApprovalYOLO && !session.permissionDenied && p.env.options().policy == nil
}

// reject tells the model that its reason is rejected, if the call goes on.
func (p *pauses) reject(r *rejection) bool {
	p.turn.rejection = r
	if !p.decide() {
		p.acceptRejected()
		return false
	}
	p.rejectedBefore = true
	emit(p.env.cancel.caller, p.env.reporter(), PauseCalled{
		TurnID: p.turn.TurnID, Result: pause.Result{Reason: pausetool.Shown(r.reason)}, Err: r.err,
	})
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
	now := p.env.now()
	result := pause.Result{Reason: pausetool.Shown(reason), Time: now}
	err := guard.Run(func() error { result.Message = p.env.options().notice(result.Reason, now); return nil })
	if err != nil {
		p.env.reportFailure(p.turn.TurnID, opNotice, err)
		result.Message = pause.ShortNotice(result.Reason, now)
	}
	p.result = &result
	p.env.record(func(o *Outcome) { o.Reason, o.Paused = reasons.Paused, &result })
	emit(p.env.cancel.caller, p.env.reporter(), PauseCalled{TurnID: p.turn.TurnID, Result: result})
	if p.turn.Session == "" || p.env.rules().DryRun {
		return
	}
	if p.list.todos == nil {
		p.readTodos() // the caller's own turn paused: nobody has asked yet
	}
	var digest uint64
	if p.list.err == nil {
		digest = decision.Digest(p.list.todos)
	}
	p.env.updateInUserTurn(p.turn.TurnID, func(s decision.State) decision.State {
		return s.Pause(result.Reason, now, digest)
	})
}

// notice returns the text that is shown of a pause, without a separator.
func (p *pauses) notice() string {
	if p.result == nil {
		return ""
	}
	return p.result.Message
}

// rejectionText returns what is wrong with a reason, without the words that the
// prompt itself has.
func rejectionText(err error) string {
	var invalid *pausetool.InvalidReasonError
	if errors.As(err, &invalid) {
		return invalid.Problem
	}
	return err.Error()
}

// pauseReason returns the reason of the turn's pause, what is wrong with it, and
// whether there is a pause.
func (t *turn) pauseReason(policy pausetool.Policy) (reason string, err error, ok bool) { //nolint:revive // err is a result among others
	if found := t.read.Calls.Pause(); found != nil {
		reason, err = pausetool.Parse(string(found.Arguments), policy)
		return reason, err, true
	}
	if printed := t.read.PrintedPause(); printed != nil {
		reason, err = pausetool.Judge(*printed, policy)
		return reason, err, true
	}
	return "", nil, false
}

// pauseAnswer returns the call of todo_pause that a continuation answers, or nil if
// the model printed it.
func (t *turn) pauseAnswer() *adapter.PauseAnswer {
	found := t.read.Calls.Pause()
	if found == nil {
		return nil
	}
	answer := &adapter.PauseAnswer{ID: found.ID, Name: found.Name, Arguments: string(found.Arguments)}
	if answer.ID == "" {
		answer.ID = newID()
	}
	if trimmed := strings.TrimSpace(answer.Arguments); !strings.HasPrefix(trimmed, "{") || !json.Valid(found.Arguments) {
		answer.Arguments = "{}" // providers refuse a history with broken arguments
	}
	return answer
}

// newPauseTool returns the declaration of todo_pause, with a schema for strict arguments
// if strict is true: without bounds on the length of the reason, which providers refuse
// in strict mode.
func newPauseTool(strict bool) *adapter.PauseTool {
	return &adapter.PauseTool{
		Name:        pause.ToolName,
		Description: pausetool.Description(),
		Schema:      pausetool.Schema(strict),
		Strict:      strict,
	}
}

// newID returns nine alphanumeric characters, the only form of an id that every
// provider accepts.
func newID() string {
	const digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var id [9]byte
	for i := range id {
		id[i] = digits[rand.IntN(len(digits))] //nolint:gosec // names a call, guards nothing
	}
	return string(id[:])
}
