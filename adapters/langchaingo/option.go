package langchaingo

// Option configures a [Model]. [Wrap] panics if an option is invalid.
type Option func(*options)

type options struct {
	plain bool
	fold  bool
	read  func(string) Reading
	wrong string // the panic message for an invalid option
}

// apply applies options to what they configure. It skips nil ones: the wrapped
// model fails on nil options of a call.
func apply[T any, O ~func(*T)](to *T, all []O) {
	for _, option := range all {
		if option != nil {
			option(to)
		}
	}
}

// WithPlainChains also continues calls that offer no tools and do not come from
// an agent. Use it for a chat in which every answer is for the user. Do not use
// it under a chain that processes the answer, such as one that runs it as SQL.
func WithPlainChains() Option {
	return func(o *options) { o.plain = true }
}

// WithTextAgent continues calls of a text agent, whose model writes its tool calls as
// text. read returns how the agent reads an answer. carryon calls it with whole
// answers, with joined answers, and with the earlier steps in a prompt. It must be safe
// for concurrent use. If it panics, the answer counts as [Unreadable].
//
// Package agents has the options for the agents of langchaingo. A Model is for one kind
// of text agent; wrap the same model once for each kind.
//
// Experimental: text agents depend on how a framework writes its prompts.
func WithTextAgent(read func(answer string) Reading) Option {
	return func(o *options) {
		if read == nil {
			o.wrong = "nil text agent"
		}
		o.read = guarded(read)
	}
}

// guarded returns read without its panics. langchaingo's own parsers panic on
// some letters whose lower case is longer. If the caller's own turn has such a
// letter, the agent still panics when it parses the answer.
func guarded(read func(string) Reading) func(string) Reading {
	return func(answer string) (reading Reading) {
		defer func() {
			if recover() != nil {
				reading = Reading{}
			}
		}()
		return read(answer)
	}
}

// WithSinglePrompt is for clients that send only the first message: it appends a
// continuation to that message. Without it, carryon does not continue calls of the
// langchaingo clients that do so (cohere, ernie, huggingface, local, palm, watsonx).
// carryon does not recognize such a client behind another wrapper, nor anthropic's
// client with legacy completions: wrap these with this option, or not at all.
func WithSinglePrompt() Option {
	return func(o *options) { o.fold = true }
}
