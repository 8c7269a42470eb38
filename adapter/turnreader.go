package adapter

// NoIndex is the index that a [Dialect] reports for a tool call without one.
const NoIndex = -1 << 31

// TurnReader receives what a [Dialect] reads from the chunks of a turn. The engine
// implements it. A dialect may call the methods in any order and any number of times
// per chunk; the order of its calls of Call is the order of [Edit].Calls. Strings may
// share memory with the chunk: the TurnReader copies what it keeps.
type TurnReader interface {
	// Text reports text for the reader.
	Text(text string)
	// Reasoning reports reasoning: text that the model wrote for itself.
	Reasoning(text string)
	// Call reports a tool call, or a fragment of one: its index in the turn,
	// or NoIndex, and what it adds to the id, the name and the arguments.
	Call(index int, id, name, arguments string)
	// OtherCall reports a tool call that Call cannot express: one in an older form,
	// or one of another choice.
	OtherCall()
	// Pause reports that the model pauses, and why, in a form that only the adapter
	// can read, such as the text of an agent that writes its calls as text. The
	// adapter does not report that text as well. A pause counts only in
	// continuations, and not beside a tool call or the caller's own todo_pause.
	Pause(reason string)
	// Signed reports reasoning that the provider has signed together with everything
	// before it in the request. From then on nothing may be added there; see
	// [Request].FixedPrefix.
	Signed()
	// Content reports content that is shown and that is neither text, nor reasoning, nor
	// a call that the program answers: a signature alone, citations, a tool that the
	// provider has run.
	Content()
	// Unknown reports content that the dialect does not know. It could be a tool
	// call, so the turn is not continued.
	Unknown()
	// Refusal reports that the model refuses.
	Refusal()
	// OtherChoice reports content of a choice other than the first.
	OtherChoice()
	// Finish reports the provider's finish reason. The empty reason is none.
	Finish(reason string)
	// Done reports that the provider has said that nothing more comes in this turn,
	// as "[DONE]" does. A turn that is done without a finish reason has none.
	Done()
	// Usage reports token counts. The last ones of a turn count.
	Usage(u Usage)
	// Size reports the size of the whole chunk in bytes, if the dialect knows it;
	// otherwise the engine adds up what the chunk reports. The size limits how much
	// the engine holds back.
	Size(bytes int)
	// Fail reports an error that came in place of content. The first one of a
	// turn counts.
	Fail(err error)
}
