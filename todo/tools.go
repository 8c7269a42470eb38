package todo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// The names of the tools that WriteTool and ReadTool define.
const (
	WriteToolName = "todo_write"
	ReadToolName  = "todo_read"
)

// Definition is a tool in a form that belongs to no SDK. Its JSON is the
// function object of the Chat Completions API. In Go its fields go into the
// SDK's own type: where that takes the parameters as any, a json.RawMessage
// will do.
type Definition struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Parameters is a JSON schema.
	Parameters json.RawMessage `json:"parameters"`
}

// WriteTool returns the tool a model replaces its todo list with. Each call
// returns a value of its own, which the caller may change; Memory.Handle
// answers to the name it has here.
func WriteTool() Definition {
	return Definition{
		Name: WriteToolName,
		Description: "Replace the todo list. Use it for work of three or more steps: write the whole list before " +
			"you start, and again whenever something changes. Always send every todo that shall stay, in the order " +
			"of work, for what is missing is gone. Have one todo in_progress at a time, set it to completed as soon " +
			"as it is done, not later together with others, and set to cancelled what is no longer needed.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"todos":{"type":"array",` +
			`"description":"The whole list, in the order of work. An empty array clears it.",` +
			`"items":{"type":"object","properties":{` +
			`"id":{"type":"string","description":"Names the todo. Keep it when the list is written again."},` +
			`"content":{"type":"string","description":"What has to be done, in one sentence."},` +
			`"status":{"type":"string","enum":["pending","in_progress","completed","cancelled"]},` +
			`"priority":{"type":"string","enum":["high","medium","low"]}},` +
			`"required":["id","content","status"],"additionalProperties":false}}},` +
			`"required":["todos"],"additionalProperties":false}`),
	}
}

// ReadTool returns the tool a model looks at its todo list with. Each call
// returns a value of its own, as WriteTool does.
func ReadTool() Definition {
	return Definition{
		Name:        ReadToolName,
		Description: "Read the todo list: a JSON array in the order of work, empty if there is none.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	}
}

// Handle answers a call to todo_write or todo_read, in any case of the letters,
// for the session of ctx. ok is false for other names, and then nothing was
// done. result is the text of the tool message.
//
// The result of todo_write is a line such as "Todo list saved: 3 todos, 2 left
// to do." and, on the next line, the list as it is now, as JSON. The result of
// todo_read is the list as JSON. Arguments that cannot be read, and a list
// beyond a limit, leave the list as it was, and the result starts with
// "Error: " and tells the model what to send.
func (m *Memory) Handle(ctx context.Context, name, arguments string) (result string, ok bool) {
	switch {
	case strings.EqualFold(name, WriteToolName):
		return m.handleWrite(ctx, arguments), true
	case strings.EqualFold(name, ReadToolName):
		return encode(m.Read(ctx)), true
	}
	return "", false
}

func (m *Memory) handleWrite(ctx context.Context, arguments string) string {
	list, err := m.writeArguments(ctx, arguments)
	if err != nil {
		return "Error: " + strings.TrimPrefix(err.Error(), "todo: ") + ". The todo list was not changed."
	}
	if len(list) == 0 {
		return "Todo list cleared.\n[]"
	}
	return fmt.Sprintf("Todo list saved: %s, %d left to do.\n%s", count(list), active(list), encode(list))
}

// writeArguments returns the list as stored; it must not be changed.
func (m *Memory) writeArguments(ctx context.Context, arguments string) ([]Todo, error) {
	found, err := findListing(arguments)
	if err != nil {
		return nil, err
	}
	if found.merge {
		changes, err := found.changes()
		if err != nil {
			return nil, err
		}
		return m.change(ctx, changes)
	}
	list, err := found.list()
	if err != nil {
		return nil, err
	}
	return m.write(ctx, list)
}

func count(list []Todo) string {
	if len(list) == 1 {
		return "1 todo"
	}
	return fmt.Sprintf("%d todos", len(list))
}

func active(list []Todo) int {
	n := 0
	for _, t := range list {
		if t.Status.Active() {
			n++
		}
	}
	return n
}

// encode returns list as compact JSON, without the escapes for HTML that would
// cost the model tokens.
func encode(list []Todo) string {
	if len(list) == 0 {
		return "[]"
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(list); err != nil {
		return "[]" // strings always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}
