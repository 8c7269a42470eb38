package chatcompletions_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest/adaptertest"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire/chatcompletions"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// Parts of the JSON of a chunk, or of a whole answer.
type (
	wireAnswer struct {
		ID      string       `json:"id,omitempty"`
		Choices []wireChoice `json:"choices"`
		Usage   *wireUsage   `json:"usage,omitempty"`
	}
	wireChoice struct {
		Index   int       `json:"index"`
		Delta   *wireBody `json:"delta,omitempty"`
		Message *wireBody `json:"message,omitempty"`
		Finish  string    `json:"finish_reason,omitempty"`
	}
	wireBody struct {
		Role    string     `json:"role,omitempty"`
		Content string     `json:"content,omitempty"`
		Calls   []wireCall `json:"tool_calls,omitempty"`
	}
	wireCall struct {
		Index    *int   `json:"index,omitempty"`
		ID       string `json:"id,omitempty"`
		Type     string `json:"type,omitempty"`
		Function struct {
			Name      string `json:"name,omitempty"`
			Arguments string `json:"arguments,omitempty"`
		} `json:"function"`
	}
	wireUsage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
)

func TestDialect(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]struct {
		kind  adaptertest.Kind
		whole bool
		body  string
	}{
		"chunks":  {adaptertest.Chunks, false, "delta"},
		"answers": {adaptertest.Answers, true, "message"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stops := func(body string) sse.Event {
				return eventOf(d.whole, `{"id":"first","choices":[{"index":0,"`+d.body+`":{"content":"So.",`+body+`},"finish_reason":`+
					map[bool]string{true: `"stop"`, false: "null"}[d.whole]+`}]}`)
			}
			_, request, _ := chatcompletions.Protocol{}.Parse(nil, []byte("{}"), nil)
			adaptertest.TestDialect(t, adaptertest.Kit[sse.Event]{
				New: func() adapter.Dialect[sse.Event] {
					if d.whole {
						return request.NewDialect()
					}
					return request.NewCodec()
				},
				Make: func(v adaptertest.View) sse.Event { return makeEvent(d.whole, v) },
				View: viewEvent,
				Kind: d.kind,
				Stops: map[string]sse.Event{
					"a refusal":       stops(`"refusal":"I won't."`),
					"a function call": stops(`"function_call":{"name":"f","arguments":"{}"}`),
					"speech":          stops(`"audio":{"id":"a"}`),
					"a second choice": eventOf(d.whole, `{"id":"first","choices":[{"index":0,"`+d.body+`":{"content":"Either."},`+
						`"finish_reason":"stop"},{"index":1,"`+d.body+`":{"content":"Or."}}]}`),
					"an error": eventOf(d.whole, `{"error":{"message":"overloaded"}}`),
				},
			})
		})
	}
}

// A heartbeat is an empty text. Within a call there is none: some clients would end the call there.
func TestHeartbeatIsAnEmptyText(t *testing.T) {
	t.Parallel()
	_, request, _ := chatcompletions.Protocol{}.Parse(nil, []byte("{}"), nil)
	c := request.NewCodec()
	c.EndTurn(true)
	beat := c.AppendHeartbeat(nil)
	require.Len(t, beat, 1)
	assert.JSONEq(t, `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":null}]}`, string(beat[0].Data()))
	call := makeEvent(false, adaptertest.View{Calls: []adaptertest.Call{{ID: "c", Name: "edit_file"}}})
	c.Read(&call, wiretest.NoReader())
	assert.Empty(t, c.AppendHeartbeat(nil))
	c.EndTurn(true)
	assert.Len(t, c.AppendHeartbeat(nil), 1)
}

// eventOf returns the event of a JSON.
func eventOf(whole bool, body string) sse.Event {
	if whole {
		return sse.Document([]byte(body), false)
	}
	e := sse.Written("", []byte(body), sse.Object)
	e.Written = false
	return e
}

func makeEvent(whole bool, v adaptertest.View) sse.Event {
	answer := wireAnswer{ID: v.ID, Choices: []wireChoice{}}
	if !v.Bare {
		body := &wireBody{Role: v.Role, Content: v.Text}
		for _, call := range v.Calls {
			made := wireCall{ID: call.ID, Type: call.Type}
			made.Function.Name, made.Function.Arguments = call.Name, call.Arguments
			if call.Index != adapter.NoIndex {
				made.Index = &call.Index
			}
			body.Calls = append(body.Calls, made)
		}
		choice := wireChoice{Delta: body, Finish: v.Finish}
		if whole {
			choice.Delta, choice.Message = nil, body
		}
		answer.Choices = append(answer.Choices, choice)
	}
	if v.Usage != nil {
		answer.Usage = &wireUsage{v.Usage.Prompt, v.Usage.Completion, v.Usage.Total}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return eventOf(whole, string(body))
}

func viewEvent(e sse.Event) adaptertest.View {
	var answer wireAnswer
	if err := json.Unmarshal(e.Data(), &answer); err != nil {
		panic(err)
	}
	v := adaptertest.View{ID: answer.ID, Bare: len(answer.Choices) == 0}
	for _, choice := range answer.Choices {
		body := choice.Delta
		if body == nil {
			body = choice.Message
		}
		v.Role, v.Text, v.Finish = body.Role, body.Content, choice.Finish
		for _, call := range body.Calls {
			seen := adaptertest.Call{
				Index: adapter.NoIndex, ID: call.ID, Type: call.Type,
				Name: call.Function.Name, Arguments: call.Function.Arguments,
			}
			if call.Index != nil {
				seen.Index = *call.Index
			}
			v.Calls = append(v.Calls, seen)
		}
	}
	if u := answer.Usage; u != nil {
		v.Usage = &adapter.Usage{Prompt: u.Prompt, Completion: u.Completion, Total: u.Total}
	}
	return v
}
