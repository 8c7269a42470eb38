package adapter

// Edit says what a [Dialect] shows in place of a chunk, or of a whole answer. It is
// valid until AppendShown returns.
type Edit struct {
	// Part says how much of the chunk is shown.
	Part Part
	// Text replaces the chunk's own text.
	Text string
	// TurnEnds are the offsets in Text at which the text of each turn ends; a turn's
	// text includes the separator before it. What follows the last offset is a
	// notice. It is empty for chunks.
	TurnEnds []int
	// ReasoningSeparator goes before the chunk's own reasoning. It is set on the
	// first reasoning of a turn, if an earlier turn has shown reasoning. It is empty
	// for whole answers; see [KeptReasoning].
	ReasoningSeparator string
	// Finish replaces the chunk's own finish reason, in the provider's own
	// words; "" shows none, unless PlainStop is set.
	Finish string
	// PlainStop shows the protocol's own word for a turn that simply stopped, because
	// the provider has given none. Finish is "" then.
	PlainStop bool
	// Usage says which usage replaces the chunk's own.
	Usage UsageShown
	// Totals says which usage is shown so far, of the kept turns and of the current one,
	// in a protocol whose chunks all have usage. Other protocols show usage only where
	// Usage says so. It is UsageHidden for chunks of the first turn, which keep their own.
	Totals UsageShown
	// Calls has an edit for each call that Read reported from the chunk, in that
	// order. It is empty unless Part is Whole.
	Calls []CallEdit
	// Continuation is true for the answer of a continuation. It is shown under the
	// first turn's id and model, and without a role of its own.
	Continuation bool
}

// Call returns the edit of the i-th call that Read reported from the chunk. If Calls
// has none for it, the call is dropped.
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
	// Whole shows the chunk, changed according to the Edit. What the Edit does not
	// name stays as it is.
	Whole Part = iota
	// Synthetic shows only what the Edit names. Everything else in the chunk
	// was shown before, or there is no chunk.
	Synthetic
	// UsageOnly shows only the usage, in a chunk without choices. The finish was
	// shown before.
	UsageOnly
	// TurnCut shows what closes content that a failed continuation has left open,
	// such as the end of a block, if the protocol needs that. The chunk is the zero
	// value.
	TurnCut
	// AnswerEnd shows what closes a joined stream in the protocol, such as "[DONE]",
	// if there is something. The chunk is the zero value. It comes last, and only
	// after AppendShown has written a finish.
	AnswerEnd
	// TurnError shows the error that the provider reported inside a continuation, if
	// the chunk is such a report: the chunk is the one whose Read called Fail. A part of
	// a tool call was shown, which must not look whole, so Recv returns the error next.
	TurnError
)

// UsageShown says which usage is shown.
type UsageShown uint8

// The usages.
const (
	UsageHidden    UsageShown = iota // none
	UsageOneAnswer                   // of the kept turns: the prompt of the first, and the output of all
	UsageSum                         // the sum of the kept turns
	UsageLast                        // of the last kept turn
	UsageOwn                         // the chunk's own
)

// CallEdit says how a tool call, or a fragment of one, is shown.
type CallEdit struct {
	Drop    bool // do not show it
	Rewrite bool // show it under Index, with its type in the first fragment only
	Index   int  // without gaps, because an earlier call was dropped
	First   bool // this is the first fragment of its call that is shown
}
