package pause

import "time"

// Result is an accepted pause, as events and outcomes carry it.
type Result struct {
	// Reason is the reason as it is shown; see [Shown].
	Reason string

	// Message is what the user is told; "" if nothing.
	Message string

	// Time is when the pause was accepted.
	Time time.Time
}

// Notice words what the user is told about a pause. The reason is one that
// [Shown] returned. A notice of "" tells nothing. It may be called concurrently.
type Notice func(reason string, at time.Time) string

// NewResult returns the result of a pause for reason, which is made fit to be
// shown, with the message that notice gives for it; nil is [ShortNotice]. A
// panic of notice passes through.
func NewResult(reason string, at time.Time, notice Notice) Result {
	if notice == nil {
		notice = ShortNotice
	}
	shown := Shown(reason)
	return Result{Reason: shown, Message: notice(shown, at), Time: at}
}

// ShortNotice is the default [Notice]: "Task paused: " and the reason.
func ShortNotice(reason string, _ time.Time) string {
	return "Task paused: " + reason
}

// FullNotice is the [Notice] that also gives the time, as RFC 3339 in its own
// zone, and says what can be done now.
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

// NoNotice is the [Notice] that tells nothing; the pause is still in events
// and outcomes.
func NoNotice(string, time.Time) string { return "" }
