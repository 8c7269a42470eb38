// Package middleware keeps an agent working until its todo list is done. It wraps a
// model client: when the model ends a turn without calling a tool although the list has
// open todos, carryon asks it to go on, with a message that never enters the caller's
// history and with one extra tool, todo_pause. The caller sees one answer, streamed as
// it arrives.
//
// # Using it
//
// Begin with [New], which makes a [Middleware] from a source of todos. An adapter wraps
// it around a client:
//
//	mw := middleware.New(todos)
//	client := carryopenai.Wrap(openaiClient, mw) // or transport.New, carrylangchain.Wrap
//
// If nobody is watching, add [WithApprovalMode] with continuation.ApprovalYOLO: then a
// question does not stop the work. continuation.WithSession names the conversation of a
// call, to which budgets and pauses belong. Call [Middleware.Drain] before the program
// ends.
//
// [Capture] returns the [Outcome] of each call, which says what carryon did and why.
// [WithLogger] and [WithObserver] report the same while it happens. [How it decides]
// describes the rules, and [Telemetry] the events.
//
// Package carryon/adapter/join is for those who adapt another SDK.
//
// [How it decides]: https://github.com/carryon-go/carryon/blob/main/docs/how-it-decides.md
// [Telemetry]: https://github.com/carryon-go/carryon/blob/main/docs/operators.md#telemetry
package middleware
