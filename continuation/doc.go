// Package continuation has the words for continuing an agent's turns: sessions, limits,
// approval modes, reasons, and the texts of prompts.
//
// Most programs use package middleware, and need from this package only [WithSession],
// which says to which conversation a call belongs, [Suppress], which excludes a call, and
// [Limits]:
//
//	ctx = continuation.WithSession(ctx, "conversation-42")
//	mw := middleware.New(todos, middleware.WithLimits(continuation.Limits{MaxAttempts: 2}))
//
// The package contains values only: no I/O, no SDK, and no clock. A [Reason] says why a
// turn is or is not continued. [Templates] are the texts of the message that asks the model
// to go on. All functions are safe for concurrent use. [How it decides] describes the rules.
//
// [How it decides]: https://github.com/carryon-go/carryon/blob/main/docs/how-it-decides.md
package continuation
