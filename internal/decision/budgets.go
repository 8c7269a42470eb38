package decision

import (
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/reasons"
)

const (
	// maxRepeats is how many continuations in a row may give the answer before them again.
	// A model that is told so once mostly goes on; one that repeats itself after that does
	// not.
	maxRepeats = 1
	// maxFailedChecks is how often the check may fail in a user turn. A check that never
	// passes must not cost more, whatever changes from failure to failure.
	maxFailedChecks = 10
)

// The rules that allow fewer continuations than the limits of the program, in words.
const (
	ruleReport       = "a report gets one attempt in standard mode"
	ruleStale        = "the list has not changed since the last user turn that ended exhausted, paused or cancelled, so it gets one attempt"
	ruleRepeat       = "the model gave the same answer again after it had been told so"
	ruleShortLoop    = "an agent whose executor counts iterations gets one continuation in a row, unless the program sets MaxAttempts"
	ruleFailedChecks = "a check that fails gets ten continuations until the user writes again"
)

func (v *Verdict) judgeBudgets(in *Input) bool {
	if !v.Checks {
		return v.judgeLimits(in)
	}
	v.observeFailure(in)
	if !v.checkLimit(conditionAttemptsLeft, in.State.Check.Failed, maxFailedChecks, reasons.CheckExhausted) {
		v.LimitRule = ruleFailedChecks
		return false
	}
	if v.judgeLimits(in) {
		return true
	}
	if in.State.Check.Failed > 0 {
		v.Reason = reasons.CheckExhausted
	}
	return false
}

// observeFailure gives the attempts back if the check has failed in another way than
// before.
func (v *Verdict) observeFailure(in *Input) {
	if last := v.State.Check.Last; in.Check == continuation.CheckFailed && last != 0 && last != in.CheckDigest {
		v.State.renewBudgets()
		v.Attempt = 1
	}
}

func (v *Verdict) judgeLimits(in *Input) bool {
	limit, rule := v.attempts(in)
	if !v.checkLimit(conditionAttemptsLeft, v.State.Attempts, limit, reasons.MaxAttempts) {
		v.LimitRule = rule
		return false
	}
	return v.checkLimit(conditionProgressLeft, v.State.Continuations, in.Limits.MaxWithoutProgress, reasons.WithoutProgress) &&
		v.checkLimit(conditionTokensLeft, in.State.Tokens, in.Limits.TokenBudget, reasons.TokenBudget)
}

// attempts returns the limit of attempts in a row, and the rule that made it, "" for the
// limit of the program. If the list has changed, it clears the mark that the list is stale.
func (v *Verdict) attempts(in *Input) (limit int, rule string) {
	if v.State.Repeats > maxRepeats {
		return v.State.Attempts, ruleRepeat
	}
	limit = in.Limits.MaxAttempts
	if in.ShortLoop {
		limit, rule = 1, ruleShortLoop
	}
	if !v.isAboutTodos() {
		return limit, rule
	}
	if in.isAttendedReport() {
		limit, rule = lower(limit, rule, ruleReport)
	}
	switch v.State.Stale {
	case 0:
	case Digest(in.Todos):
		limit, rule = lower(limit, rule, ruleStale)
	default:
		v.State.Stale = 0
	}
	return limit, rule
}

// lower returns a limit of one attempt that rule has made, unless the limit is that low.
func lower(limit int, made, rule string) (int, string) {
	if limit == 1 {
		return limit, made
	}
	return 1, rule
}

// isAttendedReport reports whether a person is there, but the turn neither hands back nor
// shows that the model has stalled.
func (in *Input) isAttendedReport() bool { return in.isAttended() && in.Turn.End == handback.Unclear }

// handsRestOver reports whether a person is there, and the turn leaves the rest to others.
func (in *Input) handsRestOver() bool { return in.isAttended() && in.Turn.End == handback.Leaves }

// isAttended reports whether a person is there, and the end of the turn counts.
func (in *Input) isAttended() bool {
	return in.Settings.ApprovalMode != continuation.ApprovalYOLO && !in.Turn.Rejected
}

// checkLimit is require for a limit: the condition is met while used < limit.
func (v *Verdict) checkLimit(c condition, used, limit int, otherwise continuation.Reason) bool {
	if v.require(c, limit == continuation.Off || used < limit, otherwise) {
		return true
	}
	v.Limit = limit
	return false
}
