package continuation

import "time"

// ClaimLife is how long a session counts as being continued if nothing says
// that the continuation has ended: a stream dropped without Close, or a
// replica that died.
const ClaimLife = 10 * time.Minute

// Claim marks a session as being continued by one call, so that no other call
// continues it. The zero value is no claim. A call makes its claim in the
// update that decides, and releases it when the continuation ends; no other call
// can release it. A new user turn drops it, and after [ClaimLife] it lapses.
// Package internal/session makes and releases claims.
type Claim struct {
	Token uint64    // of the call that holds it; 0: nobody
	Since time.Time // when it was made
}

// Active reports whether the claim is held and has not lapsed.
func (c Claim) Active(now time.Time) bool {
	return c.Token != 0 && now.Sub(c.Since) < ClaimLife
}
