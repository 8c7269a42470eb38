package adapter

// Edit says what a [Dialect] shows in place of a chunk, or of a whole answer. It
// is valid until AppendShown returns.
type Edit struct {
	// Part says how much of the chunk is shown.
	Part Part
	// Text replaces the chunk's own text.
	Text string
	// TurnEnds says where in Text the text of each turn ends that the Text is
	// made of, each with the separator before it. What Text has behind the last
	// of them is a notice. It is empty for chunks.
	TurnEnds []int
	// ReasoningSeparator stands before the chunk's own reasoning, where that is
	// the first of its turn and another turn has shown reasoning before. It is
	// empty for whole answers; see [KeptReasoning].
	ReasoningSeparator string
	// Finish replaces the chunk's own finish reason, in the provider's own
	// words; "" shows none, unless PlainStop is set.
	Finish string
	// PlainStop shows the protocol's own word for a turn that simply stopped,
	// where the provider has given none. Finish is "" then.
	PlainStop bool
	// Usage says which usage replaces the chunk's own.
	Usage UsageShown
	// Calls has an edit for each call that Read reported from the chunk, in
	// that order. It is empty if Part is not Whole.
	Calls []CallEdit
	// Continuation is true for what a continuation answered. It is shown under
	// the first turn's id and model, and without a role of its own.
	Continuation bool
}

// Call returns the edit of the i-th call that Read reported from the chunk. A
// call that has none is dropped.
func (e *Edit) Call(i int) CallEdit {
	if i >= len(e.Calls) {
		return CallEdit{Drop: true}
	}
	return e.Calls[i]
}

// FinishOr returns Finish, or word if PlainStop is set: the protocol's own word
// for a turn that simply stopped.
func (e *Edit) FinishOr(word string) string {
	if e.PlainStop {
		return word
	}
	return e.Finish
}

// Part says how much of a chunk is shown.
type Part uint8

// The parts.
const (
	// Whole shows the chunk, changed as the Edit says. What the Edit does not
	// name stays as it is.
	Whole Part = iota
	// Synthetic shows only what the Edit names. Everything else in the chunk
	// was shown before, or there is no chunk.
	Synthetic
	// UsageOnly shows the usage and nothing else, in a chunk without choices.
	// The finish was shown before.
	UsageOnly
	// TurnCut shows what closes the content that a failed continuation has left
	// open, if anything does: the end of a block, say. The chunk is the zero
	// value.
	TurnCut
	// AnswerEnd shows what closes a joined stream in the protocol, if anything
	// does: "[DONE]", say. The chunk is the zero value. It comes last, and only
	// after a finish was shown that AppendShown wrote.
	AnswerEnd
)

// UsageShown says which usage is shown.
type UsageShown uint8

// The usages.
const (
	UsageHidden    UsageShown = iota // none
	UsageOneAnswer                   // of the turns that were kept: the first one's prompt, and the output of all
	UsageSum                         // of the turns that were kept: their sum
	UsageLast                        // that of the last turn that was kept
	UsageOwn                         // the chunk's own
)

// CallEdit says how a tool call, or a fragment of one, is shown.
type CallEdit struct {
	Drop    bool // not at all
	Rewrite bool // under Index, and with its type in the first fragment only
	Index   int  // dense: a call before this one was dropped
	First   bool // this is the first fragment of its call that is shown
}
