package adapter

// NoIndex is the index that a [Dialect] reports for a tool call that came
// without one.
const NoIndex = -1 << 31

// TurnReader takes what a [Dialect] reads from the chunks of a turn. The engine
// implements it. A dialect may call the methods in any order and any number of
// times for one chunk; the order of its calls of Call is the order of
// [Edit].Calls. Strings may share memory with the chunk: the TurnReader copies
// what it keeps longer.
type TurnReader interface {
	// Text reports text for the reader.
	Text(text string)
	// Reasoning reports text that the model wrote for itself.
	Reasoning(text string)
	// Call reports a tool call, or a fragment of one: its index in the turn,
	// or NoIndex, and what it adds to the id, the name and the arguments.
	Call(index int, id, name, arguments string)
	// OtherCall reports a tool call that Call cannot express: one in a form
	// that tool calls replaced, or one of another choice.
	OtherCall()
	// Pause reports that the model pauses, and why, in a form that only the
	// adapter can read: that of an agent which writes its calls as text. The
	// adapter reports no such text. It counts in continuations only, and not
	// beside a tool call or the caller's own todo_pause.
	Pause(reason string)
	// Signed reports reasoning that the provider has signed together with all
	// that stands before it in the request. Nothing may be added there from
	// then on; see [Request].FixedPrefix.
	Signed()
	// Unknown reports content that the dialect does not know. It may be
	// anything, a tool call too, so that the turn is not continued.
	Unknown()
	// Refusal reports that the model refuses.
	Refusal()
	// OtherChoice reports content of a choice other than the first.
	OtherChoice()
	// Finish reports the provider's finish reason. The empty reason is none.
	Finish(reason string)
	// Done reports that the provider said that nothing more comes in this
	// turn, as "[DONE]" does. A turn that is done without a finish reason has
	// none.
	Done()
	// Usage reports token counts. The last ones of a turn count.
	Usage(u Usage)
	// Size reports the size of the whole chunk in bytes, where the dialect
	// knows it; otherwise the engine adds up what the chunk reports. The
	// engine bounds by it what it holds back.
	Size(bytes int)
	// Fail reports an error that came in place of content. The first one of a
	// turn counts.
	Fail(err error)
}
