package todo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/carryon-go/carryon/internal/tooldef"
)

// Definition declares a tool independently of any SDK. Its fields are Name and
// Description, both strings, and Parameters, a json.RawMessage with a JSON schema. As
// JSON, it is the function object of the Chat Completions API. In Go, copy the fields
// into the SDK's own type; a field of type any accepts the json.RawMessage.
//
// It is the same type as in package asynctask.
type Definition = tooldef.Definition

// WriteTool returns the tool with which a model replaces its todo list. The caller owns
// the result, but [Memory.Handle] answers only to this name.
func WriteTool() Definition {
	return Definition{
		Name: tooldef.TodoWrite,
		Description: "Replace the todo list, which shows the user what is planned and what is done. Use it for work with " +
			"three or more separate pieces, or when the user asks for a list; other work needs none. Send it together with " +
			"the next call of another tool rather than alone. Send every todo that stays, in the order of work: what is " +
			"missing is gone. Keep one todo in_progress while you work on it, and cancelled for what is no longer needed. " +
			"When your answer ends, the list says what is true: completed for what is done.",
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

// ReadTool returns the tool with which a model reads its todo list. The caller owns the
// result, but [Memory.Handle] answers only to this name.
func ReadTool() Definition {
	return Definition{
		Name:        tooldef.TodoRead,
		Description: "Read the todo list: a JSON array in the order of work, empty if there is none.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	}
}

// Handle answers a call of todo_write or todo_read, in any case, for the session of
// ctx. It returns the text of the tool message and true. For any other name it does
// nothing and returns false.
//
// The result of todo_write is a line such as "Todo list saved: 3 todos, 2 left to do.",
// followed by a line with the new list as JSON. The result of todo_read is the list as
// JSON. If the call fails, because of its arguments, a limit, or a missing session,
// Handle keeps the old list, and the result begins with "Error: " and tells the model
// what to do.
func (m *Memory) Handle(ctx context.Context, name, arguments string) (result string, ok bool) {
	switch {
	case strings.EqualFold(name, tooldef.TodoWrite):
		return m.handleWrite(ctx, arguments), true
	case strings.EqualFold(name, tooldef.TodoRead):
		return m.handleRead(ctx), true
	}
	return "", false
}

func (m *Memory) handleRead(ctx context.Context) string {
	list, err := m.Todos(ctx)
	if err != nil && !errors.Is(err, ErrNoList) {
		return "Error: " + reasonOf(err) + "."
	}
	return encode(list)
}

func (m *Memory) handleWrite(ctx context.Context, arguments string) string {
	list, err := m.handleArguments(ctx, arguments)
	if err != nil {
		return "Error: " + reasonOf(err) + ". The todo list was not changed."
	}
	if len(list) == 0 {
		return "Todo list cleared.\n[]"
	}
	return fmt.Sprintf("Todo list saved: %s, %d left to do.\n%s", count(list), active(list), encode(list))
}

// reasonOf returns why a call failed, in words that the model can act on.
func reasonOf(err error) string {
	var refused *ArgumentsError
	switch {
	case errors.Is(err, ErrNoSession):
		return "the program has not said which conversation this is, so it keeps no list" // the model cannot change that
	case errors.As(err, &refused):
		return strings.TrimPrefix(err.Error(), "todo: ")
	}
	return "the list cannot be reached just now" // the model need not know how it is kept
}

// handleArguments carries out a todo_write call and returns the stored list, which
// nobody may change.
func (m *Memory) handleArguments(ctx context.Context, arguments string) ([]Todo, error) {
	parsed, err := parseArguments(arguments)
	if err != nil {
		return nil, err
	}
	read, store := parsed.whole, m.replace
	if parsed.merge {
		read, store = parsed.todos, m.apply
	}
	list, err := read()
	if err != nil {
		return nil, err
	}
	if err := checkStatuses(list); err != nil {
		return nil, err
	}
	return store(ctx, list)
}

// checkStatuses refuses an unknown status: the model can send another.
func checkStatuses(list []Todo) error {
	for i := range list {
		if _, known := ParseStatus(string(list[i].Status)); !known {
			return refuse(i+1, "status is not known", sendStatus)
		}
	}
	return nil
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

// encode returns list as compact JSON, without HTML escapes, which would cost
// the model tokens.
func encode(list []Todo) string {
	if len(list) == 0 {
		return "[]"
	}
	return encodeAny(list) // strings always encode
}

// encodeAny returns v as compact JSON without HTML escapes, or "" if it cannot be encoded.
func encodeAny(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
