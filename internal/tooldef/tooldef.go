// Package tooldef holds the one form in which carryon's packages define a tool.
package tooldef

import "encoding/json"

// Definition declares a tool independently of any SDK. Its JSON is the function
// object of the Chat Completions API. In Go, copy its fields into the SDK's own
// type; where that has parameters of type any, it accepts the json.RawMessage.
type Definition struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Parameters is a JSON schema.
	Parameters json.RawMessage `json:"parameters"`
}
