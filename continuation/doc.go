// Package continuation decides whether an agent's turn is continued.
//
// The package holds rules and values only: no I/O, no SDK, and no clock in any
// decision. [Evaluate] is a pure function from an [Input] to an [Evaluation];
// [Limits] and [Values] set its bounds; [State] is what carryon remembers about one
// session; [Templates] are the texts of the message that asks the model to go on.
// Package middleware applies all this to a real client.
//
// Programs use the context helpers directly:
//
//	ctx = continuation.WithSession(ctx, "conversation-42") // which conversation a call belongs to
//	ctx = continuation.Suppress(ctx)                       // never continue this call
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
package continuation
