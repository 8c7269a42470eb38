package langchaingo

// Reading is what a text agent makes of an answer: what the agent's own parser
// says, so that carryon and the agent never disagree.
type Reading struct {
	Kind ReadingKind

	Answer string // with Finish: what the user is going to see
	Tool   string // with Action: the tool that the agent is going to call
	Input  string // with Action: what it is going to give it
}

// ReadingKind says what is going to happen with an answer.
type ReadingKind uint8

// The kinds. Only after a Finish can an answer be continued.
const (
	Unreadable ReadingKind = iota // the agent fails on it, or has the model try again
	Action                        // the agent calls a tool
	Finish                        // the agent is done, and control returns to the user
)
