package carryontest

// shape is the manner in which a stream is cut into chunks; each field is one that some provider has.
// The zero value is OpenAI's own.
type shape struct {
	oneChunk, roleEveryChunk, textLast, legacy bool // chunks

	wholeCalls, splitName, repeatName, emptyFragments bool // fragments of a call
	interleaved, batched                              bool // and of several
	noIndex, sameIndex                                bool
	startIndex                                        int
	noType, repeatType, repeatID                      bool

	noFinish, finishWithText, finishTwice, nullFinishLast bool

	usageOnFinish, usageEveryChunk, usageTwice bool

	azureFirst, changeID bool // what all chunks have in common
}

func (t Turn) reshape(method string, change func(*shape)) Turn {
	t.mustRender(method)
	change(&t.shape)
	return t
}

// OneChunk sends the text, the whole calls, the finish and the usage in a single chunk.
func (t Turn) OneChunk() Turn {
	return t.reshape("OneChunk", func(s *shape) { s.oneChunk, s.wholeCalls = true, true })
}

// RoleEveryChunk repeats the role in each chunk.
func (t Turn) RoleEveryChunk() Turn {
	return t.reshape("RoleEveryChunk", func(s *shape) { s.roleEveryChunk = true })
}

// TextLast sends the text after the calls.
func (t Turn) TextLast() Turn {
	return t.reshape("TextLast", func(s *shape) { s.textLast = true })
}

// Legacy sends the first call as a function_call, streamed or not, with that finish reason; other calls are left out.
func (t Turn) Legacy() Turn {
	return t.reshape("Legacy", func(s *shape) { s.legacy = true })
}

// WholeCalls sends each call in one fragment.
func (t Turn) WholeCalls() Turn {
	return t.reshape("WholeCalls", func(s *shape) { s.wholeCalls = true })
}

// SplitName sends the name of each call in two fragments. It has no effect on whole calls.
func (t Turn) SplitName() Turn {
	return t.reshape("SplitName", func(s *shape) { s.splitName = true })
}

// RepeatName repeats the name of a call in each of its fragments.
func (t Turn) RepeatName() Turn {
	return t.reshape("RepeatName", func(s *shape) { s.repeatName = true })
}

// EmptyFragments adds fragments that say nothing: two after the header of each call and one at its end.
func (t Turn) EmptyFragments() Turn {
	return t.reshape("EmptyFragments", func(s *shape) { s.emptyFragments = true })
}

// Interleaved sends the fragments of several calls by turns.
func (t Turn) Interleaved() Turn {
	return t.reshape("Interleaved", func(s *shape) { s.interleaved = true })
}

// Batched sends the first fragments of all calls in one chunk, then the second ones, and so on.
func (t Turn) Batched() Turn {
	return t.reshape("Batched", func(s *shape) { s.batched = true })
}

// NoIndex leaves out the index of calls.
func (t Turn) NoIndex() Turn {
	return t.reshape("NoIndex", func(s *shape) { s.noIndex = true })
}

// SameIndex gives all calls the same index.
func (t Turn) SameIndex() Turn {
	return t.reshape("SameIndex", func(s *shape) { s.sameIndex = true })
}

// StartIndex gives the first call the index n.
func (t Turn) StartIndex(n int) Turn {
	return t.reshape("StartIndex", func(s *shape) { s.startIndex = n })
}

// NoType leaves out the type of calls, streamed or not.
func (t Turn) NoType() Turn {
	return t.reshape("NoType", func(s *shape) { s.noType = true })
}

// RepeatType repeats the type of a call in each of its fragments.
func (t Turn) RepeatType() Turn {
	return t.reshape("RepeatType", func(s *shape) { s.repeatType = true })
}

// RepeatID repeats the id of a call in each of its fragments.
func (t Turn) RepeatID() Turn {
	return t.reshape("RepeatID", func(s *shape) { s.repeatID = true })
}

// NoFinish reports no finish reason, streamed or not. The stream still ends with [DONE], unless NoDone is set too.
func (t Turn) NoFinish() Turn {
	return t.reshape("NoFinish", func(s *shape) { s.noFinish = true })
}

// FinishWithText reports the finish in the last chunk of the text or the calls.
func (t Turn) FinishWithText() Turn {
	return t.reshape("FinishWithText", func(s *shape) { s.finishWithText = true })
}

// FinishTwice repeats the finish in a second chunk.
func (t Turn) FinishTwice() Turn {
	return t.reshape("FinishTwice", func(s *shape) { s.finishTwice = true })
}

// NullFinishLast sends a chunk without a finish after the finish.
func (t Turn) NullFinishLast() Turn {
	return t.reshape("NullFinishLast", func(s *shape) { s.nullFinishLast = true })
}

// UsageOnFinish reports the usage, asked for or not, in the last chunk that has choices: the finish, in most shapes.
func (t Turn) UsageOnFinish() Turn {
	return t.reshape("UsageOnFinish", func(s *shape) { s.usageOnFinish = true })
}

// UsageEveryChunk reports the usage so far, asked for or not, in each chunk.
func (t Turn) UsageEveryChunk() Turn {
	return t.reshape("UsageEveryChunk", func(s *shape) { s.usageEveryChunk = true })
}

// UsageTwice reports the usage, asked for or not, both where UsageOnFinish does and in a chunk of its own after that.
func (t Turn) UsageTwice() Turn {
	return t.reshape("UsageTwice", func(s *shape) { s.usageTwice = true })
}

// AzureFirst begins with a chunk that has neither id nor choices, but filter results for the prompt.
func (t Turn) AzureFirst() Turn {
	return t.reshape("AzureFirst", func(s *shape) { s.azureFirst = true })
}

// ChangeID gives the chunks another id from the second one on.
func (t Turn) ChangeID() Turn {
	return t.reshape("ChangeID", func(s *shape) { s.changeID = true })
}
