package session

import (
	"math"
	"slices"
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
	// Answered says that the model answered with text or calls, and did not pause.
	Answered bool

	Called bool   // with a tool call
	Calls  uint64 // identifies its calls by names and arguments; 0 if they are not known
	Tokens int    // that it used, as far as known
	Result continuation.PromptResult
	// Unshown says that it failed before the caller was shown anything of it.
	Unshown bool
	// Refused says that the provider will not answer this conversation, however
	// often it is asked.
	Refused bool
}

// Release returns the state after the continuation that claimed the session with this
// token has ended. If the session is not claimed with it, nothing changes.
//
// A continuation gives its attempt back if it called tools, unless an earlier one of
// the user turn made the same calls: polling, and calls that fail again and again, use
// attempts up. It also gives it back if it failed before anything of it was shown.
func Release(s continuation.State, token uint64, e Ending) continuation.State {
	if token == 0 || s.Claim.Token != token {
		return s
	}
	s.Claim = continuation.Claim{}
	s.Tokens = addTokens(s.Tokens, e.Tokens)
	s.Refused = s.Refused || e.Refused
	s.LastResult = e.Result
	s.Unjudged = e.Answered
	repeats := e.Calls != 0 && slices.Contains(s.Calls[:], e.Calls)
	if e.Calls != 0 && !repeats {
		copy(s.Calls[1:], s.Calls[:])
		s.Calls[0] = e.Calls
	}
	if (e.Called && !repeats || e.Unshown) && s.Attempts > 0 {
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
