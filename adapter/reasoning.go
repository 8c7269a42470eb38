package adapter

import "strings"

// KeptReasoning keeps the reasoning of the turns that were kept, for a [Dialect]
// of whole answers to show. The zero value is ready for use.
type KeptReasoning struct {
	turn string
	kept []string
}

// SetTurn sets the reasoning of the current turn. The last one set counts.
func (r *KeptReasoning) SetTurn(text string) { r.turn = text }

// EndTurn ends the turn, as [Dialect] says.
func (r *KeptReasoning) EndTurn(keep bool) {
	if keep && r.turn != "" {
		r.kept = append(r.kept, r.turn)
	}
	r.turn = ""
}

// Text returns the reasoning of all turns that were kept, joined as texts are.
func (r *KeptReasoning) Text() string { return strings.Join(r.kept, Separator) }
