package middleware

// Usage is the number of tokens that a turn used, as the provider reported it.
// Total may be 0 where the provider leaves it out.
type Usage struct {
	Prompt, Completion, Total int // 0 where none was reported
}

// Tokens returns the total, or the sum of the others where the provider leaves
// it out.
func (u Usage) Tokens() int {
	if u.Total > 0 {
		return u.Total
	}
	return u.Prompt + u.Completion
}

// UsageMode says which usage a joined answer reports.
type UsageMode uint8

// The usage modes.
const (
	// SumTurns reports what all turns used together: what is billed.
	SumTurns UsageMode = iota
	// LastTurn reports what the last turn used: for callers that take an
	// answer's usage for the size of its context.
	LastTurn
)
