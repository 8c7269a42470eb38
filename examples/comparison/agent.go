package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/todo"
)

// maxRounds bounds the cost of a model that never stops calling tools.
const maxRounds = 20

var (
	errNoAnswer = errors.New("the model gave no answer")
	errNoEnd    = fmt.Errorf("the model still called tools after %d rounds", maxRounds)
)

const instructions = "You work on files with tools. Before you start, write a todo list with todo_write, one todo " +
	"per file. After each file, write the list again with its todo completed and the next one in_progress. " +
	"Write one file at a time."

// chat is the one method that the agent needs. The SDK's client has it, and so
// does the client that carryon wraps around it.
type chat interface {
	CreateChatCompletion(context.Context, openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error)
}

// agent is a plain tool loop, the same with and without carryon.
type agent struct {
	client  chat
	model   string
	todos   *todo.Memory
	files   map[string]string // the content that write_file wrote, by path
	history []openai.ChatCompletionMessage
}

// work asks the model until it answers without calling a tool.
func (a *agent) work(ctx context.Context, task string) error {
	a.say(openai.ChatMessageRoleSystem, instructions)
	a.say(openai.ChatMessageRoleUser, task)
	for range maxRounds {
		answer, err := a.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
			Model: a.model, Messages: a.history, Tools: tools(),
		})
		if err != nil {
			return err
		}
		if len(answer.Choices) == 0 {
			return errNoAnswer
		}
		message := answer.Choices[0].Message
		a.history = append(a.history, message)
		if len(message.ToolCalls) == 0 {
			return nil
		}
		for _, call := range message.ToolCalls {
			a.history = append(a.history, openai.ChatCompletionMessage{
				Role:       openai.ChatMessageRoleTool,
				ToolCallID: call.ID,
				Content:    a.use(ctx, call.Function.Name, call.Function.Arguments),
			})
		}
	}
	return errNoEnd
}

func (a *agent) say(role, text string) {
	a.history = append(a.history, openai.ChatCompletionMessage{Role: role, Content: text})
}

// use executes a tool call and returns the result for the model.
func (a *agent) use(ctx context.Context, name, arguments string) string {
	if result, ok := a.todos.Handle(ctx, name, arguments); ok {
		return result
	}
	if name != writeFile {
		return "Error: there is no tool " + name + "."
	}
	var file struct{ Path, Content string }
	if err := json.Unmarshal([]byte(arguments), &file); err != nil || file.Path == "" {
		return "Error: write_file takes a path and a content."
	}
	a.files[file.Path] = file.Content
	return fmt.Sprintf("Wrote %s, %d bytes.", file.Path, len(file.Content))
}

const writeFile = "write_file"

func tools() []openai.Tool {
	object := `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},` +
		`"required":["path","content"],"additionalProperties":false}`
	definitions := []todo.Definition{
		todo.WriteTool(), todo.ReadTool(),
		{Name: writeFile, Description: "Write a text file.", Parameters: json.RawMessage(object)},
	}
	list := make([]openai.Tool, 0, len(definitions))
	for _, d := range definitions {
		list = append(list, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: d.Name, Description: d.Description, Parameters: d.Parameters,
		}})
	}
	return list
}
