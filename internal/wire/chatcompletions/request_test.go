package chatcompletions_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/chatcompletions"
	"github.com/carryon-go/carryon/todo"
)

func parse(t *testing.T, b wiretest.Body) (adapter.Request, wire.Request) {
	t.Helper()
	facts, r, ok := chatcompletions.Protocol{}.Parse(nil, []byte(b), b)
	require.True(t, ok, b)
	facts.Attachable = r.Attachable(b)
	return facts, r
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/v1/chat/completions": true, "/openai/deployments/x/chat/completions": true, "/v1/completions": false, "/v1/chat/completions/1": false, "": false,
	} {
		assert.Equal(t, want, chatcompletions.Protocol{}.Match(&url.URL{Path: path}), path)
	}
}

func TestFactsOfARequest(t *testing.T) {
	t.Parallel()
	const edit, strict = `{"type":"function","function":{"name":"edit"}}`, `{"type":"function","function":{"name":"edit","strict":true}}`
	for text, want := range map[string]adapter.Request{
		`{}`:                       {},
		`{"tools":[` + edit + `]}`: {Tools: 1},
		`{"tools":[` + strict + `,` + strict + `]}`:                                                                             {Tools: 2, StrictTools: true},
		`{"tools":[` + strict + `,` + edit + `]}`:                                                                               {Tools: 2},
		`{"tools":[` + edit + `],"tools":[]}`:                                                                                   {},
		`{"tools":[{"type":"function","function":{"name":"TODO_pause"}}]}`:                                                      {Tools: 1, OwnPause: true},
		`{"tools":[{"type":"custom","custom":{"name":"todo_pause"}}]}`:                                                          {Tools: 1, OwnPause: true},
		`{"tools":[{"type":"function","function":{"name":"todo_pause","strict":true},"custom":null}]}`:                          {Tools: 1, OwnPause: true, StrictTools: true},
		`{"tool_choice":"required"}`:                                                                                            {Choice: adapter.ToolChoiceRequired},
		`{"tool_choice":null}`:                                                                                                  {},
		`{"tool_choice":{"type":"function","function":{"name":"edit"}}}`:                                                        {Choice: adapter.ToolChoiceNamed},
		`{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto"}}}`:                                              {},
		`{"n":2,"response_format":{"type":"json_object"}}`:                                                                      {N: 2, JSON: true},
		`{"n":null,"response_format":{"type":"text"}}`:                                                                          {},
		`{"guided_json":{"type":"object"}}`:                                                                                     {JSON: true},
		`{"structured_outputs":{"regex":"a+"},"response_format":{"type":"text"}}`:                                               {JSON: true},
		`{"grammar":"root ::= x","guided_choice":[]}`:                                                                           {JSON: true},
		`{"grammar":"","guided_choice":[],"json_schema":{},"guided_json":null}`:                                                 {},
		`{"continue_final_message":true,"messages":[]}`:                                                                         {LeaveAlone: reasons.Prefill},
		`{"continue_final_message":false}`:                                                                                      {},
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":null}]}`:                     {Messages: 2, Users: 1, User: "a"},
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":[]}]}`:                       {Messages: 2, Users: 1, User: "a"},
		`{"messages":[{"role":"assistant","prefix":true},{"role":"user","content":"a"}]}`:                                       {Messages: 2, Users: 1, User: "a", Unanswered: true},
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","prefix":true}]}`:                                       {Messages: 2, Users: 1, User: "a", LeaveAlone: reasons.Prefill},
		`{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}],"messages":[{"role":"user","content":"c"}]}`: {Messages: 1, Users: 1, User: "c", Unanswered: true},
		`{"functions":[{}]}`:                    {Legacy: true},
		`{"functions":[],"function_call":null}`: {},
		`{"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c1"}]},{"role":"user","content":"b"},` +
			`{"role":"assistant","reasoning":"r","tool_calls":[{"id":"c2"},{"id":"c3"}]},{"role":"assistant","tool_calls":[{"id":"c4"}]}]}`: {
			Messages: 6, System: 1, Users: 2, User: "b", FirstUser: "a", Reasoning: true,
		},
		`{"messages":[{"role":"developer","content":[]},{"role":"developer","content":null},{"role":"user","content":[{"type":"image"}]},null]}`: {
			Messages: 4, System: 2, Users: 1, User: "\x00", Unanswered: true,
		},
	} {
		got, r := parse(t, wiretest.Body(text))
		got.History, got.Attachable, got.ToolNames, got.Loop = nil, nil, nil, nil
		want.Provider = "openai"
		if want.FirstUser == "" {
			want.FirstUser = want.User
		}
		if want.Messages == 0 && want.LeaveAlone == reasons.None {
			want.LeaveAlone = reasons.NoMessages
		}
		assert.Equal(t, want, got, text)
		assert.False(t, r.Stream(), text)
	}
	_, r := parse(t, `{"stream":true}`)
	assert.True(t, r.Stream())
	for _, text := range []string{``, `[]`, `{"a":1`, `{"a":1}x`, `"x"`} {
		_, _, ok := chatcompletions.Protocol{}.Parse(nil, []byte(text), wiretest.Body(text))
		assert.False(t, ok, text)
	}
}

func TestHistoryIsReadNewestFirst(t *testing.T) {
	t.Parallel()
	facts, _ := parse(t, `{"messages":[{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"a","arguments":"{}"}},`+
		`{"id":"c2","function":{"name":"b","arguments":{"x":1}}}]},{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"one"}]},`+
		`{"role":"assistant","tool_calls":[{"id":"c3","function":{"name":"c","arguments":"[]"}}]}]}`)
	assert.Equal(t, []todo.Call{
		{ID: "c3", Name: "c", Arguments: "[]"},
		{ID: "c2", Name: "b", Arguments: `{"x":1}`},
		{ID: "c1", Name: "a", Arguments: "{}", Answered: true, Result: "one"},
	}, slices.Collect(reading.CallsOf(facts.History)))
	facts, _, _ = chatcompletions.Protocol{}.Parse(nil, []byte(`{}`), wiretest.Body(""))
	assert.Empty(t, slices.Collect(reading.CallsOf(facts.History)), "a body that cannot be read again has none")
}

// An attachment comes directly after the message's own text.
func TestAttachments(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`,"content":"a\n"`: `,"content":"a\nx\"y"`, `,"content":null`: `,"content":"x\"y"`, ``: `,"content":"x\"y"`,
		`,"content":[{"type":"text","text":"a"}]`: `,"content":[{"type":"text","text":"a"},{"type":"text","text":"x\""},{"type":"text","text":"y"}]`,
		`,"content":[]`: `,"content":[]`,
	} {
		const frame = `{"messages":[{"role":"system"},{"role":"user"%s},{"role":"tool","content":"z"}],"x":1}`
		facts, r := parse(t, wiretest.Body(fmt.Sprintf(frame, content)))
		_, ok := facts.Attachable(1)
		assert.Equal(t, content != want, ok, content)
		got := r.Add(fmt.Appendf(nil, frame, content), &adapter.Additions{Attachments: []adapter.Attachment{{Message: 1, Text: `x"`}, {Message: 1, Text: "y"}}})
		assert.Equal(t, fmt.Sprintf(frame, want), string(got))
		for _, i := range []int{0, 3, 99} {
			_, ok := facts.Attachable(i)
			assert.False(t, ok, i)
		}
	}
}

func TestContinuationOfARequest(t *testing.T) {
	t.Parallel()
	const own = `{"store":true,"messages":[{"role":"user","content":"a"},{"role":"assistant","reasoning":"r"}],"prediction":{},"tools":[{"x":1}],` +
		`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}}`
	_, r := parse(t, own)
	k := &adapter.Continuation{Text: "<so>", Reasoning: "hm", Prompt: "<go on>"}
	k.PauseTool = &adapter.PauseTool{Name: "todo_pause", Description: "d", Schema: []byte(`{"a": 1}`), Strict: true}
	got := string(r.Continue([]byte(own), k))
	for _, want := range []string{
		`"store":false,`, `"reasoning":"r"},{"role":"assistant","content":"<so>","reasoning":"hm"},{"role":"user","content":"\u003cgo on\u003e"}],"tools"`,
		`"tools":[{"x":1},{"type":"function","function":{"name":"todo_pause","description":"d","parameters":{"a":1},"strict":true}}],`,
		`"tools":[{"function":{"name":"todo_pause"},"type":"function"}]}}}`,
	} {
		assert.Contains(t, got, want)
	}
	assert.NotContains(t, got, "prediction")

	k = &adapter.Continuation{Pause: &adapter.PauseAnswer{ID: "p", Name: "todo_pause", Arguments: `{"reason":"x"}`, Result: "No."}}
	got = string(r.Continue([]byte(own), k))
	assert.Contains(t, got, `{"role":"assistant","tool_calls":[{"id":"p","type":"function","function":{"name":"todo_pause","arguments":"{\"reason\":\"x\"}"}}]},`+
		`{"role":"tool","tool_call_id":"p","content":"No."}]`)
	assert.Equal(t, 1, strings.Count(got, `"tools":[{"x":1}]`), "no tool is offered")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	_, r := parse(t, `{}`)
	for text, want := range map[string]*wire.ProviderError{
		`{"error":{"type":"t","code":"c","message":"m"}}`: {Type: "t", Code: "c", Message: "m"}, `{"error":"m"}`: {Message: "m"},
		`{"error":{"code":429,"message":"m"}}`: {Code: "429", Message: "m"},
	} {
		var reported *wire.ProviderError
		require.ErrorAs(t, r.Refusal([]byte(text)), &reported, text)
		assert.Equal(t, want, reported, text)
	}
	for _, text := range []string{``, `{}`, `<html>`, `[]`} {
		assert.NoError(t, r.Refusal([]byte(text)), text)
	}
}

func TestHistoryHasWhatTheAgentWrote(t *testing.T) {
	t.Parallel()
	facts, _ := parse(t, `{"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Begin."},`+
		`{"role":"assistant","tool_calls":[{"id":"c1"}]},{"role":"tool","tool_call_id":"c1","content":"<task-notification>a</task-notification>"},`+
		`{"role":"user","content":[{"type":"text","text":"<task-notification>b</task-notification>"},{"type":"text","text":"And?"}]},`+
		`{"role":"assistant","content":"<task-notification>c</task-notification>","tool_calls":[{"id":"c2"}]},`+
		`{"role":"developer","content":[{"type":"text","text":"<task-notification>d</task-notification>"}]},`+
		`{"role":"user","content":"<task-notification>e</task-notification>"}]}`)
	assert.Equal(t, []adapter.Entry{
		{Automatic: "<task-notification>e</task-notification>"},
		{Automatic: "<task-notification>d</task-notification>"},
		{Call: todo.Call{ID: "c2"}},
		{Automatic: "<task-notification>b</task-notification>"},
		{FromUser: true},
		{Call: todo.Call{ID: "c1", Result: "<task-notification>a</task-notification>", Answered: true, UserMessagesAfter: 1}},
		{FromUser: true},
	}, slices.Collect(facts.History))
	assert.Equal(t, 2, facts.Users)
}
