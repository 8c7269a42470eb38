package langchaingo

import (
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/separator"
	"github.com/carryon-go/carryon/internal/toolchoice"
)

// extend returns the messages of a continuation. It copies whatever it changes.
func (m *Model) extend(messages []llms.MessageContent, k *adapter.Continuation) []llms.MessageContent {
	if m.options.fold {
		if folded, ok := fold(messages, k); ok {
			return folded
		}
	}
	if k.Pause != nil {
		return slices.Concat(messages, m.answeredPause(k))
	}
	return slices.Concat(messages, []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeAI, k.Text),
		llms.TextParts(llms.ChatMessageTypeHuman, k.Prompt),
	})
}

// answeredPause returns the text of the turn, its call of todo_pause, and the
// result of that call.
func (m *Model) answeredPause(k *adapter.Continuation) []llms.MessageContent {
	answer := llms.MessageContent{Role: llms.ChatMessageTypeAI}
	if k.Text != "" {
		answer.Parts = append(answer.Parts, llms.TextContent{Text: k.Text})
	}
	var added []llms.MessageContent
	if m.provider.readsOnePart && len(answer.Parts) > 0 {
		added = append(added, answer)
		answer.Parts = nil
	}
	answer.Parts = append(answer.Parts, llms.ToolCall{
		ID: k.Pause.ID, Type: "function",
		FunctionCall: &llms.FunctionCall{Name: k.Pause.Name, Arguments: k.Pause.Arguments},
	})
	return append(added, answer, llms.MessageContent{
		Role: llms.ChatMessageTypeTool,
		Parts: []llms.ContentPart{llms.ToolCallResponse{
			ToolCallID: k.Pause.ID, Name: k.Pause.Name, Content: k.Pause.Result,
		}},
	})
}

// fold returns the messages with the texts of the continuation appended to the
// first message. It returns false if that message does not begin with text.
func fold(messages []llms.MessageContent, k *adapter.Continuation) ([]llms.MessageContent, bool) {
	if len(messages) == 0 || len(messages[0].Parts) == 0 {
		return nil, false
	}
	text, ok := messages[0].Parts[0].(llms.TextContent)
	if !ok {
		return nil, false
	}
	prompt := k.Prompt
	if k.Pause != nil {
		prompt = k.Pause.Result
	}
	for _, more := range []string{k.Text, prompt} {
		if more != "" {
			text.Text += separator.Text + more
		}
	}
	messages = slices.Clone(messages)
	messages[0].Parts = slices.Clone(messages[0].Parts)
	messages[0].Parts[0] = text
	return messages, true
}

// declare adds the tool to a copy of the list that the caller has used. If the
// caller has used both, it adds to Tools: some providers then ignore Functions.
func declare(o *llms.CallOptions, tool *adapter.PauseTool) {
	definition := llms.FunctionDefinition{
		Name: tool.Name, Description: tool.Description, Strict: tool.Strict,
		Parameters: pausetool.SchemaMap(tool.Strict), // some providers accept only a map
	}
	if len(o.Tools) == 0 && len(o.Functions) > 0 {
		o.Functions = append(slices.Clip(o.Functions), definition)
	} else {
		o.Tools = append(slices.Clip(o.Tools), llms.Tool{Type: "function", Function: &definition})
	}
	o.ToolChoice = toolchoice.Allow(o.ToolChoice, tool.Name)
}
