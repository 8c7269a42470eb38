package anthropic

import (
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/carryon-go/carryon/adapter"
)

// extend returns the request of a continuation. What it changes, it does not
// share with the caller.
func extend(p sdk.MessageNewParams, k *adapter.Continuation) sdk.MessageNewParams {
	var answer []sdk.ContentBlockParamUnion
	if k.Text != "" {
		answer = append(answer, sdk.NewTextBlock(k.Text))
	}
	prompt := sdk.NewTextBlock(k.Prompt)
	switch r := k.Pause; {
	case r == nil:
	case p.Thinking.OfEnabled != nil:
		// A call must come with the thinking before it, which is gone.
		prompt = sdk.NewTextBlock(r.Result)
	default:
		answer = append(answer, sdk.NewToolUseBlock(r.ID, json.RawMessage(r.Arguments), r.Name))
		prompt = sdk.NewToolResultBlock(r.ID, r.Result, true)
	}
	p = withAdditions(p, &k.Additions)
	p.Messages = slices.Clone(p.Messages)
	if len(answer) > 0 {
		p.Messages = append(p.Messages, sdk.NewAssistantMessage(answer...))
	}
	p.Messages = append(p.Messages, sdk.NewUserMessage(prompt))
	return p
}

// withAdditions returns the request with what carryon adds to it, or the same
// request if that is nothing.
func withAdditions(p sdk.MessageNewParams, a *adapter.Additions) sdk.MessageNewParams {
	if len(a.Attachments) > 0 {
		p.Messages = slices.Clone(p.Messages)
	}
	for _, attachment := range a.Attachments {
		m := &p.Messages[attachment.Message]
		m.Content = slices.Concat(m.Content, []sdk.ContentBlockParamUnion{sdk.NewTextBlock(attachment.Text)})
	}
	if pause := a.PauseTool; pause != nil {
		tool := sdk.ToolParam{
			Name: pause.Name, Description: sdk.String(pause.Description),
			InputSchema: param.Override[sdk.ToolInputSchemaParam](json.RawMessage(pause.Schema)),
		}
		if pause.Strict {
			tool.Strict = sdk.Bool(true)
		}
		p.Tools = slices.Concat(p.Tools, []sdk.ToolUnionParam{{OfTool: &tool}})
	}
	return p
}
