package anthropic

import (
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/carryon-go/carryon/middleware"
)

// own returns the caller's own request: the same one, unless there is something
// to tell the model, or todo_pause is to be declared always.
func own(call *middleware.Call, p sdk.MessageNewParams) sdk.MessageNewParams {
	p.Messages = withNotes(p.Messages, call.Notes())
	if call.DeclaresPause() {
		p.Tools = withPause(p.Tools, call.PauseTool())
	}
	return p
}

// extend returns the request of a continuation. It shares nothing with the
// caller's that it changes.
func extend(p sdk.MessageNewParams, k *middleware.Continuation) sdk.MessageNewParams {
	var said []sdk.ContentBlockParamUnion
	if k.Text != "" {
		said = append(said, sdk.NewTextBlock(k.Text))
	}
	asked := sdk.NewTextBlock(k.Prompt)
	switch r := k.Pause; {
	case r == nil:
	case p.Thinking.OfEnabled != nil:
		// A call is to come with the thoughts before it, which are gone.
		asked = sdk.NewTextBlock(r.Result)
	default:
		said = append(said, sdk.NewToolUseBlock(r.ID, json.RawMessage(r.Arguments), r.Name))
		asked = sdk.NewToolResultBlock(r.ID, r.Result, true)
	}
	p.Messages = slices.Clone(withNotes(p.Messages, k.Notes))
	if len(said) > 0 {
		p.Messages = append(p.Messages, sdk.NewAssistantMessage(said...))
	}
	p.Messages = append(p.Messages, sdk.NewUserMessage(asked))
	if k.OffersPause {
		p.Tools = withPause(p.Tools, middleware.NewPauseTool(k.StrictPause))
	}
	return p
}

func withPause(tools []sdk.ToolUnionParam, pause middleware.PauseTool) []sdk.ToolUnionParam {
	tool := sdk.ToolParam{
		Name: pause.Name, Description: sdk.String(pause.Description),
		InputSchema: param.Override[sdk.ToolInputSchemaParam](json.RawMessage(pause.Schema)),
	}
	if pause.Strict {
		tool.Strict = sdk.Bool(true)
	}
	return slices.Concat(tools, []sdk.ToolUnionParam{{OfTool: &tool}})
}

// withNotes returns the messages with the notes joined to them.
func withNotes(messages []sdk.MessageParam, notes []middleware.Note) []sdk.MessageParam {
	if len(notes) == 0 {
		return messages
	}
	messages = slices.Clone(messages)
	for _, note := range notes {
		m := &messages[note.Message]
		m.Content = slices.Concat(m.Content, []sdk.ContentBlockParamUnion{sdk.NewTextBlock(note.Text)})
	}
	return messages
}
