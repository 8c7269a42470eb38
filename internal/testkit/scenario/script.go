package scenario

import (
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
)

// Plan is the model's first text in most scenarios: it announces work that it
// does not do.
const Plan = "Next I will write the parser."

// Blocked is a reason for a pause that is accepted.
const (
	Blocked          = "The grammar file grammar.ebnf is missing"
	BlockedArguments = `{"reason":"The grammar file grammar.ebnf is missing"}`
	BlockedNotice    = "Task paused: " + Blocked // what is shown of it
)

// Edit returns the answer of a model that does its work.
func Edit() fakellm.Turn { return fakellm.Call("edit_file", `{"path":"parser.go"}`) }

// Failure returns an error in the words of a provider.
func Failure(status int) fakellm.Turn {
	return fakellm.Status(status, `{"error":{"message":"the secret of the provider","type":"server_error","code":"oops"}}`)
}

// Texts returns a turn of text for each word.
func Texts(words ...string) []fakellm.Turn {
	turns := make([]fakellm.Turn, 0, len(words))
	for _, word := range words {
		turns = append(turns, fakellm.Text(word))
	}
	return turns
}

// ThreeTurns returns a script of three turns of several chunks each, for tests
// that leave a stream at any of them.
func ThreeTurns() []fakellm.Turn {
	return []fakellm.Turn{
		fakellm.Text("One two three."), fakellm.Text("Four five."), Edit().AndText("Six seven."),
	}
}

// NoInterval has no interval between prompts, so that no test waits.
func NoInterval() middleware.Option { return Within(continuation.Limits{MaxAttempts: 3}) }

// Unattended sets the approval mode in which it does not matter how a text ends, so that
// a script may say anything.
func Unattended() middleware.Option { return middleware.WithApprovalMode(continuation.ApprovalYOLO) }

// AtMost allows n continuations in a row, with no interval between them.
func AtMost(n int) middleware.Option { return Within(continuation.Limits{MaxAttempts: n}) }

// Within returns an option for the limits, with no interval between prompts.
func Within(limits continuation.Limits) middleware.Option {
	limits.MinInterval = continuation.Off
	return middleware.WithLimits(limits)
}
