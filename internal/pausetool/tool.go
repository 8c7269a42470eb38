// Package pausetool has the todo_pause tool: its definition, the rules for a reason, and
// the reason as a user sees it. Package pause has what programs use of it.
//
// A reason comes from a model and may contain anything. No input makes this package
// panic, and processing time grows at most linearly with the input.
package pausetool

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carryon-go/carryon/internal/terminal"
)

// Name is the name of the tool.
const Name = "todo_pause"

// Is reports whether name is the name of the tool. It ignores case, because models
// change it, but not white space or prefixes.
func Is(name string) bool {
	// The length excludes letters outside ASCII that fold to letters inside.
	return len(name) == len(Name) && strings.EqualFold(name, Name)
}

const description = `Pause work on the current task because something blocks it. ` +
	`The task keeps its status and the user is told the reason.

Use it when:
- a file or resource that the task depends on is missing
- a configuration is missing or wrong and you cannot correct it
- a dependency is blocked or unavailable
- an error needs a person to resolve it
- the next step is a decision that only the user can make

Do not use it:
- when the task is completed: update its status in the todo list instead
- for small clarifications: continue with your best understanding
- for problems that you can solve or work around

The reason names the specific issue in at most 500 characters, such as the file, command or error concerned. ` +
	`Put longer explanations in ordinary text before the call.`

// Description returns the tool's description for the model: when to call it,
// when not to, and what the reason must say.
func Description() string { return description }

const reasonDescription = "Explanation of why the task needs to be paused (e.g., missing file, configuration error, blocked dependency)"

// Schema returns the JSON schema of the tool's arguments: an object with one required
// string, "reason". If strict is true, the schema has no bounds on the length of the
// reason, because providers refuse bounds in strict mode. Every call returns the same
// content in a new slice, which the caller owns.
func Schema(strict bool) json.RawMessage {
	bounds := `,"minLength":1,"maxLength":500`
	if strict {
		bounds = ""
	}
	return json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string","description":"` + reasonDescription +
		`"` + bounds + `}},"required":["reason"],"additionalProperties":false}`)
}

// SchemaMap returns the schema of [Schema] in decoded form, for SDKs that do not take
// JSON. Objects are map[string]any, the only list is a []string, and numbers are int.
// The caller owns the map.
func SchemaMap(strict bool) map[string]any {
	reason := map[string]any{
		"type":        "string",
		"description": reasonDescription,
	}
	if !strict {
		reason["minLength"] = 1
		reason["maxLength"] = MaxReason
	}
	return map[string]any{
		"type":                 "object",
		"properties":           map[string]any{"reason": reason},
		"required":             []string{"reason"},
		"additionalProperties": false,
	}
}

const noReason = "no reason given"

// Shown returns reason in a form that is safe to show to a user: one line of at most
// [MaxReason] characters, or "no reason given" if nothing visible is left. It removes
// terminal escape sequences and all control and format characters (such as those that
// change the direction of text or have no width), turns each run of white space into
// one space, and replaces bytes that are not UTF-8 by U+FFFD. Shown is idempotent.
func Shown(reason string) string {
	reason = oneLine(reason)
	if runes := []rune(reason); len(runes) > MaxReason {
		reason = strings.TrimSpace(string(runes[:MaxReason]))
	}
	return cmp.Or(reason, noReason)
}

// oneLine is Shown without the limit on the length and without the text for an empty
// reason.
func oneLine(reason string) string {
	reason = strings.ToValidUTF8(reason, string(utf8.RuneError))
	var b strings.Builder
	b.Grow(len(reason))
	e := terminal.Escapes{}
	space := false
	for len(reason) > 0 {
		if n := e.Length(reason); n > 0 {
			reason = reason[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(reason)
		reason = reason[size:]
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		default:
			if space {
				b.WriteByte(' ')
				space = false
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ErrInvalidReason is matched by every [InvalidReasonError]; test with [errors.Is].
var ErrInvalidReason = errors.New("pause: invalid reason")

// ErrPolicyPanicked is wrapped by the error that [Parse] and [Judge] return if the
// policy panicked. The text of that error contains the value of the panic: log it, and
// do not send it to the model.
var ErrPolicyPanicked = errors.New("pause: policy panicked")

const invalidPrefix = "Invalid pause reason: "

// InvalidReasonError says why a reason was rejected. Its text is written for
// the model that gave the reason.
//
//	var invalid *pause.InvalidReasonError
//	if errors.As(err, &invalid) {
//		log(invalid.Problem)
//	}
type InvalidReasonError struct {
	// Problem says what is wrong with the reason: the part of the text that follows
	// "Invalid pause reason: ".
	Problem string

	cause error
}

// Error returns "Invalid pause reason: " followed by the problem.
func (e *InvalidReasonError) Error() string { return invalidPrefix + e.Problem }

// Is reports whether target is [ErrInvalidReason].
func (e *InvalidReasonError) Is(target error) bool { return target == ErrInvalidReason }

// Unwrap returns the error of the policy, or nil if the reason was rejected
// before the policy was called.
func (e *InvalidReasonError) Unwrap() error { return e.cause }

func reject(problem string) error { return &InvalidReasonError{Problem: problem} }
