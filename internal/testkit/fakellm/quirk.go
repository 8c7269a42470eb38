package fakellm

// Quirk is a way in which some provider deviates from the protocol it speaks. Quirks apply only to streams, unless they
// say otherwise. [Turn.With] adds them to a turn. A protocol ignores quirks that do not concern it.
type Quirk uint64

// The quirks of Chat Completions: of chunks, of tool calls, and of the end of a stream. WholeCalls, TextLast and NoFinish
// are quirks of Messages too.
const (
	// OneChunk sends the text, the whole calls, the finish reason and the usage in a single chunk.
	OneChunk Quirk = 1 << iota
	// RoleEveryChunk repeats the role in each chunk.
	RoleEveryChunk
	// TextLast sends the text after the calls.
	TextLast
	// Legacy sends the first call as a function_call, streamed or not, with that finish reason, and leaves out the others.
	Legacy
	// AzureFirst begins with a chunk that has neither id nor choices, but filter results for the prompt.
	AzureFirst
	// ChangeID gives the chunks another id from the second one on.
	ChangeID

	// WholeCalls sends each call in one fragment.
	WholeCalls
	// SplitName sends the name of each call in two fragments. It has no effect on whole calls.
	SplitName
	// RepeatName repeats the name of a call in each of its fragments.
	RepeatName
	// EmptyFragments adds empty fragments: two after the header of each call and one at its end.
	EmptyFragments
	// Interleaved sends the fragments of several calls by turns.
	Interleaved
	// Batched sends the first fragments of all calls in one chunk, then the second ones, and so on.
	Batched
	// NoIndex leaves out the index of calls.
	NoIndex
	// SameIndex gives all calls the same index.
	SameIndex
	// NoType leaves out the type of calls, streamed or not.
	NoType
	// RepeatType repeats the type of a call in each of its fragments.
	RepeatType
	// RepeatID repeats the id of a call in each of its fragments.
	RepeatID

	// NoFinish reports no finish reason, streamed or not. The stream still ends with [DONE], unless NoDone is set too.
	NoFinish
	// FinishWithText reports the finish reason in the last chunk of the text or the calls.
	FinishWithText
	// FinishTwice repeats the finish reason in a second chunk.
	FinishTwice
	// NullFinishLast sends a chunk without a finish reason after the one that has it.
	NullFinishLast
	// UsageOnFinish reports the usage, asked for or not, in the last chunk that has choices: mostly the one with the
	// finish reason.
	UsageOnFinish
	// UsageEveryChunk reports the usage so far, asked for or not, in each chunk.
	UsageEveryChunk
	// UsageTwice reports the usage, asked for or not, both where UsageOnFinish does and in a chunk of its own after that.
	UsageTwice

	// Unsigned leaves out the signature of thinking, streamed or not, as servers of other models do.
	Unsigned
	// OpenThinking does not end the block of thinking, and gives the next block the same index, as Ollama does.
	OpenThinking
	// Omitted signs thinking but leaves out its text, streamed or not.
	Omitted
	// Gaps numbers the blocks 0, 2, 4 and so on.
	Gaps
	// Padded adds blanks after each delta, as Anthropic does.
	Padded
	// Pings sends a ping between all events.
	Pings
	// LateUsage reports no tokens at the beginning and all at the end, as servers built on Chat Completions do.
	LateUsage
	// EndTurn reports the stop reason "end_turn" even after calls, streamed or not.
	EndTurn
)

// Apply adds the quirk to a turn, as [Turn.With] does: for tables of changes to a turn.
func (q Quirk) Apply(t Turn) Turn { return t.With(q) }

// has reports whether q includes any of these quirks.
func (q Quirk) has(these Quirk) bool { return q&these != 0 }

// With adds quirks.
func (t Turn) With(quirks ...Quirk) Turn {
	t.mustRender()
	for _, q := range quirks {
		t.answer.quirks |= q
	}
	return t
}

// StartIndex gives the first call of a stream the index n.
func (t Turn) StartIndex(n int) Turn {
	t.mustRender()
	t.answer.startIndex = n
	return t
}
