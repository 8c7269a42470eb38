package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/examples/chat/terminal"
)

// maxRounds bounds the cost of a model that never stops calling tools.
const maxRounds = 50

var (
	errNoAnswer = errors.New("the model gave no answer")
	errNoEnd    = fmt.Errorf("the model still called tools after %d rounds", maxRounds)
)

const instructions = "You work on text files with tools, in one folder. For work of more than one step write a todo " +
	"list with todo_write first, and write it again whenever a todo is completed or begun. check_files runs in the " +
	"background: you are told when it has ended, so do not wait for it."

// agent is a plain tool loop. Only its client is carryon's.
type agent struct {
	client *carryopenai.Client
	model  string
	tools  *toolbox
	view   terminal.View

	mu      sync.Mutex
	history []openai.ChatCompletionMessage
}

// work asks the model until it answers without calling a tool.
func (a *agent) work(ctx context.Context, text string) error {
	before := len(a.messages())
	a.add(openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: text})
	for range maxRounds {
		message, err := a.ask(ctx)
		a.view.Say(terminal.Told, "") // ends the line
		if err == nil || message.Content != "" {
			a.add(message)
		} else if len(a.messages()) == before+1 {
			a.mu.Lock()
			a.history = a.history[:before] // so that the user can send it again
			a.mu.Unlock()
		}
		if err != nil || len(message.ToolCalls) == 0 {
			return err
		}
		for _, call := range message.ToolCalls {
			a.add(openai.ChatCompletionMessage{
				Role: openai.ChatMessageRoleTool, ToolCallID: call.ID,
				Content: a.tools.use(ctx, call.Function.Name, call.Function.Arguments),
			})
		}
	}
	return errNoEnd
}

// ask shows the model's answer as it streams, and returns it. If the stream
// fails, ask returns the text so far and no tool calls.
func (a *agent) ask(ctx context.Context) (openai.ChatCompletionMessage, error) {
	message := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant}
	stream, err := a.client.CreateChatCompletionStream(ctx, openai.ChatCompletionRequest{
		Model: a.model, Messages: a.messages(), Tools: a.tools.definitions(),
	})
	if err != nil {
		return message, err
	}
	for chunk, err := range stream.All() {
		if err != nil {
			message.ToolCalls = nil // they may be incomplete
			return message, err
		}
		for _, choice := range chunk.Choices {
			a.view.Stream(choice.Delta.Content)
			message.Content += choice.Delta.Content
			join(&message, choice.Delta.ToolCalls)
		}
	}
	if message.Content == "" && len(message.ToolCalls) == 0 {
		return message, errNoAnswer
	}
	return message, nil
}

// join adds fragments of tool calls to a message.
func join(message *openai.ChatCompletionMessage, fragments []openai.ToolCall) {
	for _, f := range fragments {
		last := len(message.ToolCalls) - 1
		at := last
		if f.Index != nil {
			at = slices.IndexFunc(message.ToolCalls, func(c openai.ToolCall) bool { return c.Index != nil && *c.Index == *f.Index })
		} else if f.ID != "" && (last < 0 || message.ToolCalls[last].ID != f.ID) {
			at = -1
		}
		if at < 0 {
			f.Type = openai.ToolTypeFunction
			message.ToolCalls = append(message.ToolCalls, f)
			continue
		}
		call := &message.ToolCalls[at]
		call.Function.Name += f.Function.Name
		call.Function.Arguments += f.Function.Arguments
	}
}

func (a *agent) add(message openai.ChatCompletionMessage) {
	for i := range message.ToolCalls {
		message.ToolCalls[i].Index = nil // for streams only
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.history = append(a.history, message)
}

// messages returns the conversation so far. Later messages do not change it.
func (a *agent) messages() []openai.ChatCompletionMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clip(a.history)
}
