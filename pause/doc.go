// Package pause defines the todo_pause tool, with which a blocked model stops
// the continuation of its task and tells the user why.
//
// It defines the tool (name, description, schema), the rules for a reason, and
// the notice that the user sees. It calls no model and keeps no state; the
// middleware decides when to offer the tool and what an accepted pause ends.
//
// [Parse] reads the JSON arguments of a call and applies a [Policy] to the
// reason in them:
//
//	reason, err := pause.Parse(arguments, pause.Strict)
//	if errors.Is(err, pause.ErrInvalidReason) {
//		answer(err.Error()) // tell the model, and let it continue
//		return
//	}
//	result := pause.NewResult(reason, time.Now(), pause.FullNotice)
//
// [Judge] applies the same rules to a reason that did not come as JSON, for
// example in a call that the model printed as text.
//
// [Strict], the default policy, rejects reasons that are too long, too brief,
// vague, or that report a completed task. [Lenient] limits only the length, and
// a program may supply a policy of its own.
//
// A reason comes from a model and may contain anything. No input makes this
// package panic, its work is bounded by the size of the input, and [Shown]
// returns one line without control, escape or format characters.
//
// All functions are safe for concurrent use.
package pause
