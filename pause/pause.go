// Package pause defines the todo_pause tool. A blocked model calls it to stop being
// asked to go on, and to tell the user why.
//
// Most programs need only a [Policy] and a [Notice], for the options
// middleware.WithPausePolicy and middleware.WithNotice: the policy decides which reasons
// count, and the notice is the text that the user sees. Package middleware offers the
// tool, reads its calls, and decides what a pause ends.
//
// [Strict], the default policy, rejects a reason that is too long, too short or vague,
// or that only reports a completed task. [Lenient] limits only the length. A program
// may supply a policy of its own.
//
// All functions are safe for concurrent use. [The guide] says what a pause does to
// a session.
//
// [The guide]: https://github.com/carryon-go/carryon/blob/main/docs/go.md#pausing
package pause

import (
	"time"

	"github.com/carryon-go/carryon/internal/pausetool"
)

// ToolName is the name of the tool.
const ToolName = pausetool.Name

// Is reports whether name is the name of the tool. It ignores case, because models
// change it, but not white space or prefixes.
func Is(name string) bool { return pausetool.Is(name) }

// ErrInvalidReason is matched by the error of a rejected pause. The text of that error,
// "Invalid pause reason: " and what is wrong, is written for the model.
var ErrInvalidReason = pausetool.ErrInvalidReason

// Policy decides whether a reason is accepted. A nil error accepts it; any other error
// rejects it, and the model receives its text after "Invalid pause reason: ". A policy
// is called with a trimmed reason of any length that has a visible character. It may be
// called concurrently.
type Policy func(reason string) error

// Lenient is the [Policy] that accepts every reason of 1 to 500 characters.
func Lenient(reason string) error { return pausetool.Lenient(reason) }

// Strict is the default [Policy]. It rejects what [Lenient] rejects, a reason of fewer
// than 10 bytes, and a reason of fewer than 50 characters that is vague or only reports
// that the task is completed.
//
// A reason is vague if it contains, as whole words in any case, "can't
// continue", "stuck", "don't know", "confused", "need help" or "not sure". It
// reports completion if it contains "finished", "complete", "completed" or
// "done" and otherwise only words that usually go with those: "The task is now
// complete!" does, but "Cannot complete the task: no disk" and "Task done, push
// denied" do not.
func Strict(reason string) error { return pausetool.Strict(reason) }

// Result describes an accepted pause, in events and outcomes.
type Result struct {
	// Reason is the reason as the user sees it: one line of at most 500 characters,
	// without control, escape and format characters.
	Reason string `json:"reason"`

	// Message is the notice for the user, or "" if there is none.
	Message string `json:"message,omitzero"`

	// Time is the time at which the pause was accepted.
	Time time.Time `json:"time"`
}

// Notice returns the text that tells the user about a pause, or "" for no text. It
// receives the reason of the [Result]. A Notice may be called concurrently.
type Notice func(reason string, at time.Time) string

// ShortNotice is the default [Notice]. It returns "Task paused: " followed by the
// reason.
func ShortNotice(reason string, _ time.Time) string {
	return "Task paused: " + reason
}

// FullNotice is a [Notice] that also gives the time (RFC 3339, in the zone of at) and
// says what the user can do.
func FullNotice(reason string, at time.Time) string {
	return "\U0001F6D1 Task Paused\n" +
		"\n" +
		"Reason: " + reason + "\n" +
		"Time: " + at.Format(time.RFC3339) + "\n" +
		"\n" +
		"The continuation process has been stopped. You can now:\n" +
		"\u2022 Address the blocking issue mentioned above\n" +
		"\u2022 Modify the current task or add new tasks\n" +
		"\u2022 Continue with other work\n" +
		"\n" +
		"Resume work when the blocking issue is resolved."
}

// NoNotice is a [Notice] that returns "". Events and outcomes still report the
// pause.
func NoNotice(string, time.Time) string { return "" }
