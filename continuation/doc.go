// Package continuation decides whether an agent's turn is to be continued and
// says how the model is asked to carry on.
//
// The package holds rules and values only: no I/O, no SDK, and no clock in any
// decision. [Evaluate] is a pure function from an [Input] to an [Evaluation];
// [State] is what is remembered about one session, with each of its
// transitions as a method that returns the next state; a [Store] keeps states
// by session; a [Prompter] writes the message that asks the model to go on.
// Package middleware puts them to work around a real client.
//
// Programs use the context helpers directly:
//
//	ctx = continuation.WithSession(ctx, "conversation-42") // which conversation a call belongs to
//	ctx = continuation.Suppress(ctx)                       // never continue this call
package continuation
