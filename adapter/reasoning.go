package adapter

import "strings"

// KeptReasoning collects the reasoning of the kept turns, for a [Dialect] of whole
// answers to show. The zero value is ready for use.
type KeptReasoning struct {
	turn string
	kept []string
}

// SetTurn sets the reasoning of the current turn. The last one set counts.
func (r *KeptReasoning) SetTurn(text string) { r.turn = text }

// EndTurn is for [Dialect].EndTurn.
func (r *KeptReasoning) EndTurn(keep bool) {
	if keep && r.turn != "" {
		r.kept = append(r.kept, r.turn)
	}
	r.turn = ""
}

// Text returns the reasoning of all kept turns, joined like their texts.
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

// ReasoningEnd describes the end of the reasoning streamed so far. The zero value
// means that there was none.
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
	if strings.Trim(text, "\r\n") == "" && r.some { // its line breaks add to earlier ones
		missing = max(0, int(r.missing)-(len(Separator)-missing))
	}
	*r = ReasoningEnd{some: true, missing: uint8(missing)} //nolint:gosec // as long as Separator at most
}

// Separator returns the separator before the reasoning of another turn: "" if there
// was no reasoning before.
func (r ReasoningEnd) Separator() string {
	return Separator[len(Separator)-int(r.missing):]
}
