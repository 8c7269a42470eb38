package langchaingo

// Option configures a [Model]. Making one never panics: [Wrap] panics with what is
// wrong with it.
type Option func(*options)

type options struct {
	plain bool
	fold  bool
	read  func(string) Reading
	wrong string // what is wrong with an option
}

// apply applies options to what they configure. Nil ones are left out: the
// wrapped model is going to fail on those of a call.
func apply[T any, O ~func(*T)](to *T, all []O) {
	for _, option := range all {
		if option != nil {
			option(to)
		}
	}
}

// WithPlainChains has calls continued, too, that offer no tools and are not an
// agent's: for a chat whose every answer is for the user. Under a chain that
// does something with the answer, such as running it as SQL, it is wrong.
func WithPlainChains() Option {
	return func(o *options) { o.plain = true }
}

// WithTextAgent has calls of a text agent continued, which write their tool
// calls as text: read says what the agent makes of an answer. It is asked about
// whole answers, as the model gave them, and must be safe for concurrent use. An
// answer on which it panics is taken for one that the agent can't read.
// Package agents has the options for the agents of langchaingo. A Model serves
// one kind of text agent; the same model may be wrapped once for each.
func WithTextAgent(read func(answer string) Reading) Option {
	return func(o *options) {
		if read == nil {
			o.wrong = "nil text agent"
		}
		o.read = guarded(read)
	}
}

// guarded returns read without its panics. Langchaingo's own parsers panic on
// some letters whose lower case is longer; on an answer of the caller's own turn
// they are going to do so all the same.
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

// WithSinglePrompt is for providers whose clients send the first message and
// drop the others: a continuation is folded into that message. Without it calls
// to the clients of langchaingo that are known to be such (cohere, ernie,
// huggingface, local, palm, watsonx) count as suppressed. Not known to be such
// are a client behind a wrapper of another kind, and anthropic's with its legacy
// completions: wrap these with this option or not at all.
func WithSinglePrompt() Option {
	return func(o *options) { o.fold = true }
}
