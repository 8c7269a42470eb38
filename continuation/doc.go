// Package continuation decides whether an agent's turn is continued.
//
// Most programs use package middleware, and need from this package only [WithSession],
// which says to which conversation a call belongs, [Suppress], which excludes a call, and
// [Limits]:
//
//	ctx = continuation.WithSession(ctx, "conversation-42")
//	mw := middleware.New(todos, middleware.WithLimits(continuation.Limits{MaxAttempts: 2}))
//
// The package contains rules and values only: no I/O, no SDK, and no clock. [Evaluate] is
// a pure function from an [Input] to an [Evaluation]. [State] is what carryon remembers
// about a session. [Templates] are the texts of the message that asks the model to go on.
// All functions are safe for concurrent use. [How it decides] describes the rules.
//
// If you change carryon, these packages hold what is not public:
//
//   - internal/session: the transitions of a State: claim, release, pause, user turns;
//     where states are kept
//   - internal/todolist: which todos count, what progress is, when a list has changed
//   - internal/handback: which finish reasons are a plain stop, and how the text of a
//     turn ends
//   - internal/prompt: the prompt, made of Templates
//   - internal/description: a todo's content as one short line
//
// [How it decides]: https://github.com/carryon-go/carryon/blob/main/docs/how-it-decides.md
package continuation
