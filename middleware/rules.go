package middleware

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/carryon-go/carryon/continuation"
)

// Rules are the rules that a program may change while calls run, for all sessions, with
// [Middleware.SetRules]. [Settings] has what can be changed for one session.
type Rules struct {
	Limits   continuation.Limits   // see [WithLimits]; MaxSessions and SessionLife cannot be changed
	Handback continuation.Handback // see [WithHandback]
	DryRun   bool                  // see [WithDryRun]
	Holdout  float64               // see [WithHoldout]
	Check    Check                 // see [WithCheck]; nil for none
}

// check returns why rules cannot be in force.
func (r *Rules) check() error {
	if !(r.Holdout >= 0 && r.Holdout <= 1) { // NaN is neither
		return fmt.Errorf("the holdout's share %v is not between 0 and 1", r.Holdout)
	}
	return r.Handback.Check()
}

// callRules are the rules of a call. They do not change.
type callRules struct {
	Rules // with all limits

	attemptsSet bool // the program has set MaxAttempts
}

// callRulesOf checks rules and completes their limits.
func callRulesOf(r Rules) (*callRules, error) {
	err := r.check()
	if err != nil {
		return nil, err
	}
	complete := callRules{Rules: r, attemptsSet: r.Limits.MaxAttempts != 0}
	complete.Limits, err = r.Limits.WithDefaults()
	return &complete, err
}

// holdsOut reports whether the session of that name belongs to the control group.
func (r *Rules) holdsOut(name string) bool {
	if r.Holdout == 0 || name == "" {
		return false
	}
	sum := sha256.Sum256([]byte("carryon/holdout/" + name))
	const range53 = 1 << 53 // the integers below it are exact as a float64
	return float64(binary.BigEndian.Uint64(sum[:])%range53) < r.Holdout*range53
}

// Rules returns the current rules.
func (mw *Middleware) Rules() Rules { return mw.rules.Load().Rules }

// SetRules replaces the rules for all calls that begin from now on. A call keeps the
// rules with which it began. Zero fields of the limits mean their defaults. If the
// share of the holdout changes, only the sessions between the old and the new share
// change their group, each with its next call. If a rule is invalid, SetRules returns
// an error and changes nothing.
func (mw *Middleware) SetRules(r Rules) error {
	now := &mw.rules.Load().Limits
	r.Limits.MaxSessions, r.Limits.SessionLife = now.MaxSessions, now.SessionLife
	complete, err := callRulesOf(r)
	if err != nil {
		return fmt.Errorf("middleware: %w", err)
	}
	mw.rules.Store(complete)
	return nil
}
