// Package toolchoice reads and extends tool choices in the form of Chat Completions.
package toolchoice

import (
	"encoding/json"

	"github.com/carryon-go/carryon/adapter"
)

// Of reads a tool choice in the form that Chat Completions and similar APIs
// use: a word, a value that is encoded as a word in JSON, or a value that is encoded as
// an object. It looks at the object's type, and for a choice among allowed tools at its
// mode. nil and "" mean "auto".
func Of(choice any) adapter.ToolChoice {
	word, ok := choice.(string)
	if !ok && choice != nil {
		word, _ = readChoice(choice)
	}
	switch word {
	case "", "auto":
		return adapter.ToolChoiceAuto
	case "none":
		return adapter.ToolChoiceNone
	case "required", "any":
		return adapter.ToolChoiceRequired
	}
	return adapter.ToolChoiceNamed
}

// Allow adds a tool to a choice among allowed tools. It returns a copy with the
// tool; any other choice is returned unchanged.
func Allow(choice any, name string) any {
	if _, isWord := choice.(string); isWord || choice == nil {
		return choice
	}
	_, fields := readChoice(choice) // just decoded, so a copy
	allowed, _ := fields[allowedTools].(map[string]any)
	if allowed == nil {
		return choice
	}
	tools, _ := allowed["tools"].([]any)
	allowed["tools"] = append(tools, map[string]any{
		"type": "function", "function": map[string]any{"name": name},
	})
	return fields
}

const allowedTools = "allowed_tools"

// readChoice returns the word that a choice stands for and, for a choice among allowed
// tools, its fields.
func readChoice(choice any) (word string, fields map[string]any) {
	const unknown = "unknown"
	data, err := json.Marshal(choice)
	if err != nil {
		return unknown, nil // the SDK will fail on it
	}
	if json.Unmarshal(data, &word) == nil {
		return word, nil
	}
	if json.Unmarshal(data, &fields) != nil {
		return unknown, nil
	}
	word, _ = fields["type"].(string)
	if word != allowedTools {
		if word == "" {
			word = unknown
		}
		return word, nil
	}
	allowed, _ := fields[allowedTools].(map[string]any)
	word, _ = allowed["mode"].(string)
	return word, fields
}
