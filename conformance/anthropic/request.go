package anthropic

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// describe returns what the engine must know about a request.
func describe(p *sdk.MessageNewParams) adapter.Request {
	d := adapter.Request{
		Tools:       len(p.Tools),
		StrictTools: len(p.Tools) > 0,
		Choice:      choiceOf(&p.ToolChoice),
		JSON:        !param.IsOmitted(p.OutputConfig.Format),
		Messages:    len(p.Messages),
		Attachable: func(i int) (string, bool) {
			return textOf(&p.Messages[i]), p.Messages[i].Role == sdk.MessageParamRoleUser
		},
		History: history(p.Messages),
	}
	for _, tool := range p.Tools {
		name, strict := tool.GetName(), tool.GetStrict()
		d.OwnPause = d.OwnPause || name != nil && pause.Is(*name)
		d.StrictTools = d.StrictTools && strict != nil && *strict
	}
	previous := ""
	for i := range p.Messages {
		if m := &p.Messages[i]; isUsers(m) && !adapter.IsAutomatic(textOf(m)) {
			d.Users++
			d.User, d.Unanswered, d.Previous, d.Loop = textOf(m), true, previous, nil
		} else {
			d.Unanswered = false
			if call := firstCall(m); call != nil && d.Loop == nil {
				before := p.Messages[:i]
				d.Loop = func(add func(string)) { addLoop(before, call, add) }
			}
		}
		previous = textOf(&p.Messages[i])
	}
	return d
}

// addLoop adds the messages before the first call of a tool loop, and the call.
func addLoop(before []sdk.MessageParam, call *sdk.ToolUseBlockParam, add func(string)) {
	for i := range before {
		add(string(before[i].Role))
		add(textOf(&before[i]))
		for _, block := range before[i].Content {
			if block.OfToolUse != nil {
				addCall(block.OfToolUse, add)
			}
		}
	}
	addCall(call, add)
}

func addCall(call *sdk.ToolUseBlockParam, add func(string)) {
	arguments, _ := json.Marshal(call.Input) //nolint:errchkjson // it has been sent as JSON
	add(call.ID)
	add(call.Name)
	add(string(arguments))
}

func choiceOf(c *sdk.ToolChoiceUnionParam) adapter.ToolChoice {
	switch {
	case c.OfNone != nil:
		return adapter.ToolChoiceNone
	case c.OfAny != nil:
		return adapter.ToolChoiceRequired
	case c.OfTool != nil:
		return adapter.ToolChoiceNamed
	}
	return adapter.ToolChoiceAuto
}

// isUsers reports whether the user wrote the message. Tool results also have
// the role of the user.
func isUsers(m *sdk.MessageParam) bool {
	return m.Role == sdk.MessageParamRoleUser &&
		!slices.ContainsFunc(m.Content, func(b sdk.ContentBlockParamUnion) bool { return b.OfToolResult != nil })
}

// firstCall returns the first tool call in a message, or nil.
func firstCall(m *sdk.MessageParam) *sdk.ToolUseBlockParam {
	for _, block := range m.Content {
		if block.OfToolUse != nil {
			return block.OfToolUse
		}
	}
	return nil
}

// textOf returns the text of a message, that of tool results included.
func textOf(m *sdk.MessageParam) string {
	var text strings.Builder
	for _, block := range m.Content {
		switch {
		case block.OfText != nil:
			text.WriteString(block.OfText.Text)
		case block.OfToolResult != nil:
			text.WriteString(resultOf(block.OfToolResult))
		}
	}
	return text.String()
}

func resultOf(r *sdk.ToolResultBlockParam) string {
	var text strings.Builder
	if r.IsError.Value {
		text.WriteString("Error: ") // elsewhere a history has no flag for it, only words
	}
	for _, part := range r.Content {
		if part.OfText != nil {
			text.WriteString(part.OfText.Text)
		}
	}
	return text.String()
}

// history yields the tool calls of the messages, newest first, each with its result,
// and what the agent itself has written between them.
func history(messages []sdk.MessageParam) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		walk := adapter.HistoryWalk{Yield: yield}
		var results adapter.ToolResults[*sdk.ToolResultBlockParam]
		for i := range slices.Backward(messages) {
			if isUsers(&messages[i]) && !walk.User(textOf(&messages[i]), nil) {
				return
			}
			for _, block := range slices.Backward(messages[i].Content) {
				if block.OfToolResult != nil {
					results.Add(block.OfToolResult.ToolUseID, block.OfToolResult)
				}
				if block.OfToolUse != nil && !walk.Call(callOf(block.OfToolUse, &results)) {
					return
				}
			}
		}
	}
}

func callOf(use *sdk.ToolUseBlockParam, results *adapter.ToolResults[*sdk.ToolResultBlockParam]) todo.Call {
	call := todo.Call{ID: use.ID, Name: use.Name}
	if input, err := json.Marshal(use.Input); err == nil {
		call.Arguments = string(input)
	}
	if result, ok := results.Take(use.ID); ok {
		call.Result, call.Answered = resultOf(result), true
	}
	return call
}
