package pause

import (
	"encoding/json"
	"strings"
)

// Name is the name of the tool, as it is declared to the model.
const Name = "todo_pause"

// Is reports whether name names the tool. Case is ignored, because models
// change it; white space and prefixes are not.
func Is(name string) bool {
	// The length check keeps out letters outside ASCII that fold to one inside.
	return len(name) == len(Name) && strings.EqualFold(name, Name)
}

// IsPrefix reports whether name is a proper prefix of [Name], "" included,
// with case ignored: a name that arrives in pieces may still become the tool.
// It is false for the whole name, which [Is] knows.
func IsPrefix(name string) bool {
	return len(name) < len(Name) && strings.EqualFold(name, Name[:len(name)])
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

// Description returns the tool's description, as it is declared to the model:
// when to call it, when not, and what the reason has to say.
func Description() string { return description }

const reasonDescription = "Explanation of why the task needs to be paused (e.g., missing file, configuration error, blocked dependency)"

const (
	boundedSchema = `{"type":"object","properties":{"reason":{"type":"string","description":"` + reasonDescription +
		`","minLength":1,"maxLength":500}},"required":["reason"],"additionalProperties":false}`
	strictSchema = `{"type":"object","properties":{"reason":{"type":"string","description":"` + reasonDescription +
		`"}},"required":["reason"],"additionalProperties":false}`
)

// Schema returns the JSON schema of the tool's arguments: an object with the
// one required string "reason". Strict leaves out the bounds of its length,
// which providers refuse in strict mode. The bytes are the same in every call
// and belong to the caller.
func Schema(strict bool) json.RawMessage {
	if strict {
		return json.RawMessage(strictSchema)
	}
	return json.RawMessage(boundedSchema)
}

// SchemaMap returns the schema of [Schema] for SDKs that want it decoded. Its
// objects are map[string]any, its only list is a []string and its numbers are
// int. The map is new in every call and belongs to the caller.
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
