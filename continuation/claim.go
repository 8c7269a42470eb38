package continuation

import "time"

// Claim marks a session as being continued by one call, so that no other call
// continues it too. The zero value is no claim. A call makes its claim in the store
// update that takes its decision, and releases it when the continuation ends; no
// other call can release it. A new user turn drops the claim, and after
// [Limits].ClaimLife it lapses. Package internal/session makes and releases claims.
type Claim struct {
	Token uint64    `json:"token,omitzero"` // tells claims apart; 0: no claim
	Since time.Time `json:"since,omitzero"` // when it was made
	Until time.Time `json:"until,omitzero"` // when it lapses; zero: never
}

// Active reports whether the claim is held and has not lapsed.
func (c Claim) Active(now time.Time) bool {
	return c.Token != 0 && (c.Until.IsZero() || now.Before(c.Until))
}
