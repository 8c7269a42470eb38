// Package tooldef has the type with which carryon's packages define a tool.
package tooldef

import "encoding/json"

// Definition declares a tool independently of any SDK. Its JSON is the function
// object of the Chat Completions API. In Go, copy its fields into the SDK's own
// type; if its parameters have type any, they accept the json.RawMessage.
type Definition struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Parameters is a JSON schema.
	Parameters json.RawMessage `json:"parameters"`
}

// Names of the tools with which a model works on a todo.Memory.
const (
	TodoWrite = "todo_write"
	TodoRead  = "todo_read"
)
