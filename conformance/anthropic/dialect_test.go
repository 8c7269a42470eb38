package anthropic

import (
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest/adaptertest"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	adaptertest.TestDialect(t, adaptertest.Kit[event]{
		New:  func() adapter.Dialect[event] { return newEvents() },
		Make: makeView,
		View: viewEvent,
		// An event has one kind of content, and only the first event has the id. The index is that of a block, not of a
		// call.
		OneThing: true,
		Lacks:    adaptertest.Fields{ID: true, Index: true, Type: true},
		Stops: map[string]event{
			"a call": made[event](object{
				"type": blockStart, "index": 1, "content_block": object{"type": "tool_use", "id": "c", "name": "edit_file", "input": object{}},
			}),
			"another stop reason":    made[event](object{"type": messageDelta, "delta": object{"stop_reason": "max_tokens"}}),
			"the end of the message": made[event](object{"type": messageStop}),
		},
	})
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	adaptertest.TestDialect(t, adaptertest.Kit[*sdk.Message]{
		New:   func() adapter.Dialect[*sdk.Message] { return newAnswers() },
		Make:  makeAnswer,
		View:  viewAnswer,
		Kind:  adaptertest.Answers,
		Lacks: adaptertest.Fields{Role: true, Type: true}, // both are always the same
		Stops: map[string]*sdk.Message{
			"a refusal":                          makeAnswer(adaptertest.View{Text: "No.", Finish: "refusal"}),
			"a turn of the provider's own tools": makeAnswer(adaptertest.View{Text: "So.", Finish: "pause_turn"}),
		},
	})
}

type object = map[string]any

func made[T any](v object) T {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return *parse[T](string(data))
}

// makeView returns the event with the view's content.
func makeView(v adaptertest.View) event {
	switch {
	case v.Text != "":
		return textEvent(0, v.Text)
	case len(v.Calls) > 0 && v.Calls[0].Name != "":
		block := object{"type": typeCall, "id": v.Calls[0].ID, "name": v.Calls[0].Name}
		if arguments := v.Calls[0].Arguments; arguments != "" {
			block["input"] = json.RawMessage(arguments)
		}
		return makeEvent(blockStart, 0, "content_block", block)
	case len(v.Calls) > 0:
		return makeEvent(blockDelta, 0, "delta", object{"type": "input_json_delta", "partial_json": v.Calls[0].Arguments})
	case v.Finish != "":
		return made[event](object{"type": messageDelta, "delta": object{"stop_reason": v.Finish}})
	case v.Usage != nil:
		return made[event](object{"type": messageDelta, "usage": makeUsage(v.Usage)})
	}
	return made[event](object{"type": messageStart, "message": object{"role": v.Role}})
}

func viewEvent(c event) adaptertest.View {
	v := adaptertest.View{Text: c.Delta.Text, Role: string(c.Message.Role), Finish: view(c.Delta.StopReason)}
	block := &c.ContentBlock
	if block.Type == typeCall || c.Delta.Type == "input_json_delta" {
		v.Calls = []adaptertest.Call{{
			Index: adapter.NoIndex, ID: block.ID, Name: block.Name, Arguments: block.JSON.Input.Raw() + c.Delta.PartialJSON,
		}}
	}
	if c.JSON.Usage.Valid() {
		v.Usage = viewUsage(c.Usage.InputTokens, c.Usage.OutputTokens)
	}
	return v
}

func makeAnswer(v adaptertest.View) *sdk.Message {
	content := []object{}
	if v.Text != "" {
		content = append(content, object{"type": typeText, "text": v.Text})
	}
	for _, call := range v.Calls {
		content = append(content, object{
			"type": typeCall, "id": call.ID, "name": call.Name, "input": json.RawMessage(call.Arguments),
		})
	}
	message := object{"id": v.ID, "role": "assistant", "content": content, "stop_reason": v.Finish}
	if v.Usage != nil {
		message["usage"] = makeUsage(v.Usage)
	}
	m := made[sdk.Message](message)
	return &m
}

func viewAnswer(m *sdk.Message) adaptertest.View {
	v := adaptertest.View{ID: m.ID, Finish: view(m.StopReason)}
	for _, block := range m.Content {
		v.Text += block.Text
		if block.Type == typeCall {
			v.Calls = append(v.Calls, adaptertest.Call{
				Index: adapter.NoIndex, ID: block.ID, Name: block.Name, Arguments: string(block.Input),
			})
		}
	}
	if m.JSON.Usage.Valid() {
		v.Usage = viewUsage(m.Usage.InputTokens, m.Usage.OutputTokens)
	}
	return v
}

func makeUsage(u *adapter.Usage) object {
	return object{"input_tokens": u.Prompt, "output_tokens": u.Completion}
}

func viewUsage(input, output int64) *adapter.Usage {
	return &adapter.Usage{Prompt: int(input), Completion: int(output), Total: int(input + output)}
}

// view translates a stop reason into the tests' words, which are OpenAI's. The test values use these words too: it
// matters only that they arrive.
func view(reason sdk.StopReason) string {
	if reason == sdk.StopReasonEndTurn {
		return "stop" // the dialect shows another word for it
	}
	return string(reason)
}
