package session

import (
	"math"
	"time"

	"github.com/carryon-go/carryon/continuation"
)

// Claim returns the state after a call claimed the session for a continuation
// that it is about to send: one more attempt, one more continuation. The claim
// lapses after life, or never if life is continuation.Off.
func Claim(s continuation.State, token uint64, now time.Time, life time.Duration) continuation.State {
	s.Claim = continuation.Claim{Token: token, Since: now}
	if life != continuation.Off {
		s.Claim.Until = now.Add(life)
	}
	s.Attempts++
	s.Continuations++
	s.LastPrompt = now
	return s
}

// Ending is how a continuation ended.
type Ending struct {
	Called bool // with a tool call
	Tokens int  // that it used, as far as known
	Result continuation.PromptResult
	// Refused says that the provider will not answer this conversation, however
	// often it is asked.
	Refused bool
}

// Release returns the state after the continuation with that token ended. If
// its answer had a tool call, its attempt does not count. Release changes
// nothing if the claim is gone: another call has it, or a newer user turn has
// begun.
func Release(s continuation.State, token uint64, e Ending) continuation.State {
	if token == 0 || s.Claim.Token != token {
		return s
	}
	s.Claim = continuation.Claim{}
	s.Tokens = addTokens(s.Tokens, e.Tokens)
	s.Refused = s.Refused || e.Refused
	s.LastResult = e.Result
	if e.Called && s.Attempts > 0 {
		s.Attempts--
	}
	return s
}

// addTokens adds a number of tokens. A provider may report any number, so the
// sum never shrinks and never overflows.
func addTokens(sum, tokens int) int {
	if tokens = max(tokens, 0); sum > math.MaxInt-tokens {
		return math.MaxInt
	}
	return sum + tokens
}
