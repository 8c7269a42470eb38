package adapter

import (
	"encoding/json"
	"slices"
)

// ToolChoice is what a request says about calling tools.
type ToolChoice uint8

// The tool choices. Only with ToolChoiceAuto can a turn be continued: the others do
// not let the model choose whether to call a tool.
const (
	ToolChoiceAuto     ToolChoice = iota // the model decides; also among allowed tools
	ToolChoiceNone                       // no tool may be called
	ToolChoiceRequired                   // some tool must be called
	ToolChoiceNamed                      // that tool must be called, or the choice is unknown
)

// ToolChoiceOf reads a tool choice in the form of Chat Completions and similar APIs:
// a word, a value that becomes a word in JSON, or an object. Of an object the type
// counts; of a choice among allowed tools, the mode. No choice, nil or "", is "auto".
func ToolChoiceOf(choice any) ToolChoice {
	word, ok := choice.(string)
	if !ok && choice != nil {
		word, _ = readChoice(choice)
	}
	switch word {
	case "", "auto":
		return ToolChoiceAuto
	case "none":
		return ToolChoiceNone
	case "required", "any":
		return ToolChoiceRequired
	}
	return ToolChoiceNamed
}

// AllowTool returns a choice among allowed tools with one more allowed tool. It
// changes nothing in place, and returns any other choice unchanged.
func AllowTool(choice any, name string) any {
	if _, isWord := choice.(string); isWord || choice == nil {
		return choice
	}
	_, fields := readChoice(choice) // just decoded, so a copy
	allowed, _ := fields[allowedTools].(map[string]any)
	if allowed == nil {
		return choice
	}
	tools, _ := allowed["tools"].([]any)
	allowed["tools"] = append(slices.Clip(tools), map[string]any{
		"type": "function", "function": map[string]any{"name": name},
	})
	return fields
}

const allowedTools = "allowed_tools"

// readChoice returns the word for a choice, and the fields of a choice among allowed
// tools.
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
	if word, _ = fields["type"].(string); word != allowedTools {
		if word == "" {
			word = unknown
		}
		return word, nil
	}
	allowed, _ := fields[allowedTools].(map[string]any)
	word, _ = allowed["mode"].(string)
	return word, fields
}
