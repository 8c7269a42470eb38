package middleware

// Edit says how a [Dialect] is to show a chunk, or a whole answer.
type Edit struct {
	// Text is the text to show, in place of the chunk's own.
	Text string
	// Finish is the finish reason to show, "" for none, in place of the
	// chunk's own.
	Finish string
	// Usage says which usage to show, in place of the chunk's own.
	Usage UsageEdit
	// Later is true for the chunks of continuations, which are shown under the
	// first turn's envelope and without a role of their own.
	Later bool
	// Rest is true if everything else in the chunk has been shown already:
	// only what the edit names is to be left. Call then says Drop.
	Rest bool
	// Bare is true for a chunk that is shown for its usage alone: it must have
	// no choices, as the finish has been shown.
	Bare bool

	calls   *tracker
	entries []entry
}

// UsageEdit says which usage is to be shown.
type UsageEdit uint8

// The usages.
const (
	HideUsage UsageEdit = iota // none
	ShowSum                    // that of all turns that were kept
	ShowLast                   // that of the last turn that was kept
	ShowOwn                    // the chunk's own
)

// CallEdit says how a tool call, or a fragment of one, is to be shown.
type CallEdit struct {
	Drop    bool // not at all
	Rewrite bool // with Index, and with the type in its first fragment only
	Index   int  // dense: a call before it was dropped
	First   bool // this is the first fragment of its call that is shown
}

// Call returns how the i-th call that Read reported from the chunk is to be
// shown. It must be asked once for each, in order.
func (e *Edit) Call(i int) CallEdit {
	if e.calls == nil || i >= len(e.entries) {
		return CallEdit{Drop: true}
	}
	return e.calls.edit(e.entries[i])
}
