// Package pause is the todo_pause tool: how a model that is blocked stops the
// continuation of its task, and how the user hears why.
//
// It holds what the tool is (its name, description and schema), what counts as
// a reason, and what is shown of an accepted one. It calls no model and keeps
// no state between calls; the middleware decides when the tool is offered and
// what an accepted pause ends.
//
// A call arrives as JSON arguments, which [Parse] reads and judges:
//
//	reason, err := pause.Parse(arguments, pause.Strict)
//	if errors.Is(err, pause.ErrInvalidReason) {
//		answer(err.Error()) // tell the model, and let it go on
//		return
//	}
//	result := pause.NewResult(reason, time.Now(), pause.FullNotice)
//
// or as text that a model printed instead of calling the tool, which [Printed]
// finds while the text streams by and [JudgePrinted] judges by the same rules.
//
// [Strict] is the default [Policy]: it rejects reasons that are too long, too
// brief, vague, or that report a completed task. [Lenient] only bounds the
// length, and a host may bring a policy of its own.
//
// Reasons come from a model and may hold anything. Nothing here panics on any
// input, work is bounded by the size of the input, and what [Shown] returns is
// one line without control, escape or format characters.
//
// All functions are safe for concurrent use; a [Printed] belongs to one stream.
package pause
