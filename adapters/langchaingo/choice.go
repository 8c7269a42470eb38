package langchaingo

import (
	"encoding/json"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/middleware"
)

// toolChoice reads what the options say about calling tools, in the field in
// use and in the one that it replaced. What can't be read rules a continuation
// out, as a named tool does.
func toolChoice(asked *llms.CallOptions) middleware.ToolChoice {
	if asked.ToolChoice != nil {
		word, _ := choiceFields(asked.ToolChoice)
		if choice := middleware.ToolChoiceOf(word); choice != middleware.ToolChoiceAuto {
			return choice
		}
	}
	return middleware.ToolChoiceOf(string(asked.FunctionCallBehavior))
}

const allowedTools = "allowed_tools"

// choiceFields returns the word that a tool choice comes to. langchaingo takes
// anything that becomes the provider's JSON: a word, an object with the word as
// its type, or a choice among allowed tools, whose fields are returned too.
func choiceFields(choice any) (word string, fields map[string]any) {
	if word, ok := choice.(string); ok {
		return word, nil
	}
	const unknown = "unknown"
	data, err := json.Marshal(choice)
	if err != nil {
		return unknown, nil // the provider is going to fail on it
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

// allow returns a choice among allowed tools with one more. Other choices are
// left as they are.
func allow(choice any, name string) any {
	if choice == nil {
		return nil
	}
	_, fields := choiceFields(choice) // decoded just now, and so a copy
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
