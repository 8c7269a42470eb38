// Package pause defines the todo_pause tool. A blocked model calls it to stop being
// asked to go on, and to tell the user why.
//
// The package defines the tool (name, description, schema), the rules for a reason, and
// the notice that the user sees. It calls no model and keeps no state; package
// middleware decides when to offer the tool and what a pause ends. Most programs need
// only a [Policy] and a [Notice], for the options middleware.WithPausePolicy and
// middleware.WithNotice.
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
// [Strict], the default policy, rejects a reason that is too long, too short or vague,
// or that only reports a completed task. [Lenient] limits only the length. A program
// may supply a policy of its own.
//
// A reason comes from a model and may contain anything. No input makes this package
// panic, processing time grows at most linearly with the input, and [Shown] returns one
// line without control, escape or format characters.
//
// All functions are safe for concurrent use. [The guide] says what a pause does to
// a session.
//
// [The guide]: https://github.com/carryon-go/carryon/blob/main/docs/go.md#pausing
package pause
