// Package pausetool has the todo_pause tool: its definition, the rules for a reason, and
// the reason as a user sees it. Package pause has what programs use of it.
//
// A reason comes from a model and may contain anything. No input makes this package
// panic, and processing time grows at most linearly with the input.
package pausetool

import (
	"encoding/json"
	"strings"
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
