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
func (r *KeptReasoning) Text() string {
	var text strings.Builder
	var end ReasoningEnd
	for _, turn := range r.kept {
		text.WriteString(end.Separator())
		text.WriteString(turn)
		end.Add(turn)
	}
	return text.String()
}

// ReasoningEnd is how the reasoning ends that was streamed so far. The zero value
// stands for none.
type ReasoningEnd struct {
	some    bool
	missing uint8 // bytes of the Separator that it lacks
}

// Add adds what was streamed next.
func (r *ReasoningEnd) Add(text string) {
	if text == "" {
		return
	}
	missing := len(SeparatorAfter(text))
	if strings.Trim(text, "\r\n") == "" && r.some { // it adds to the line breaks before it
		missing = max(0, int(r.missing)-(len(Separator)-missing))
	}
	*r = ReasoningEnd{some: true, missing: uint8(missing)} //nolint:gosec // as long as Separator at most
}

// Separator returns what stands before the reasoning of another turn: nothing, if
// there was none before it.
func (r ReasoningEnd) Separator() string {
	return Separator[len(Separator)-int(r.missing):]
}
