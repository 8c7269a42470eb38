package langchaingo

// Reading is how a text agent reads an answer. Get it from the agent's own parser, so
// that carryon and the agent agree.
type Reading struct {
	Kind ReadingKind

	Answer string // with Finish: the answer that the user will see
	Tool   string // with Action: the tool that the agent will call
	Input  string // with Action: the input of that tool
}

// ReadingKind says what the agent will do with an answer. The zero value is
// Unreadable.
type ReadingKind uint8

// The kinds. carryon continues only an answer that is a Finish.
const (
	Unreadable ReadingKind = iota // the agent fails on the answer, or lets the model try again
	Action                        // the agent calls a tool
	Finish                        // the agent is done and returns to the user
)
