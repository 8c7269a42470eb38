package pause

import "time"

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
