package langchaingo

import (
	"encoding/json"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest/adaptertest"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	adaptertest.TestDialect(t, adaptertest.Kit[*llms.ContentResponse]{
		New: func() adapter.Dialect[*llms.ContentResponse] {
			return &answers{usageTotals: newUsageTotals(), model: new(Model)}
		},
		Make:  makeAnswer,
		View:  viewAnswer,
		Kind:  adaptertest.Answers,
		Lacks: adaptertest.Fields{ID: true, Role: true},
		Stops: map[string]*llms.ContentResponse{
			"a function call": {Choices: []*llms.ContentChoice{{
				Content: "So:", StopReason: "function_call", FuncCall: &llms.FunctionCall{Name: "f"},
			}}},
			"a call that was dropped": {Choices: []*llms.ContentChoice{{Content: "So:", StopReason: "tool_use"}}},
			"a call in a second block": {Choices: []*llms.ContentChoice{
				{Content: "So:", StopReason: "stop"},
				{ToolCalls: []llms.ToolCall{{FunctionCall: &llms.FunctionCall{Name: "f"}}}, StopReason: "stop"},
			}},
			"a call of nothing": {Choices: []*llms.ContentChoice{{
				Content: "So:", StopReason: "stop", ToolCalls: []llms.ToolCall{{}},
			}}},
			"a second text": {Choices: []*llms.ContentChoice{
				{Content: "Either.", StopReason: "stop"}, {Content: "Or.", StopReason: "stop"},
			}},
			"no choices":  {},
			"nil choices": {Choices: []*llms.ContentChoice{nil}},
			"nil":         nil,
		},
	})
}

func makeAnswer(v adaptertest.View) *llms.ContentResponse {
	choice := &llms.ContentChoice{Content: v.Text, StopReason: v.Finish}
	if v.Usage != nil {
		choice.GenerationInfo = map[string]any{
			"PromptTokens": v.Usage.Prompt, "CompletionTokens": v.Usage.Completion, "TotalTokens": v.Usage.Total,
		}
	}
	for _, call := range v.Calls {
		choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{
			ID: call.ID, Type: call.Type,
			FunctionCall: &llms.FunctionCall{Name: call.Name, Arguments: call.Arguments},
		})
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}
}

func viewAnswer(a *llms.ContentResponse) (v adaptertest.View) {
	for _, choice := range choicesOf(a) {
		v.Text, v.Finish = choice.Content, choice.StopReason
		if choice.GenerationInfo != nil {
			usage := counts(choice.GenerationInfo)
			v.Usage = &usage
		}
		for i := range choice.ToolCalls {
			tool := &choice.ToolCalls[i]
			call := callIn(choice, tool)
			v.Calls = append(v.Calls, adaptertest.Call{
				Index: adapter.NoIndex, ID: call.id, Type: tool.Type, Name: call.name, Arguments: call.arguments,
			})
		}
	}
	return v
}

func TestPieces(t *testing.T) {
	t.Parallel()
	adaptertest.TestDialect(t, adaptertest.Kit[piece]{
		New:      func() adapter.Dialect[piece] { return pieces{} },
		Make:     makePiece,
		View:     viewPiece,
		Kind:     adaptertest.Callbacks,
		Lacks:    adaptertest.Fields{ID: true, Role: true, Index: true},
		OneThing: true,
	})
}

func makePiece(v adaptertest.View) (p piece) {
	var calls []fragment
	for _, view := range v.Calls {
		call := fragment{ID: view.ID, Type: view.Type}
		call.Function.Name, call.Function.Arguments = view.Name, view.Arguments
		calls = append(calls, call)
	}
	switch {
	case calls != nil:
		p.text, _ = json.Marshal(calls)
	case v.Text != "":
		p.text = []byte(v.Text)
	}
	return p
}

func viewPiece(p piece) (v adaptertest.View) {
	calls := fragmentsIn(p.text)
	if calls == nil {
		v.Text = string(p.text)
	}
	for _, call := range calls {
		v.Calls = append(v.Calls, adaptertest.Call{
			Index: adapter.NoIndex, ID: call.ID, Type: call.Type,
			Name: call.Function.Name, Arguments: call.Function.Arguments,
		})
	}
	return v
}
