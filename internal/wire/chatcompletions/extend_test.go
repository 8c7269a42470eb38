package chatcompletions_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// Marks in a body, at the places where a continuation adds to it.
const (
	atMessages = "«messages»"
	atTools    = "«tools»"
	atAllowed  = "«allowed»"
)

// fill replaces the marks by the additions of a continuation, or by nothing for the caller's own body.
func fill(body, messages, tools, allowed string) string {
	return strings.NewReplacer(atMessages, messages, atTools, tools, atAllowed, allowed).Replace(body)
}

// The messages and tools of most bodies below.
const (
	someMessages = `"messages":[{"role":"user","content":"Write the parser."}` + atMessages + `]`
	someTools    = `"tools":[` + wiretest.ChatTool + atTools + `]`
)

// Everything in the caller's body keeps its spelling and its place.
func TestContinuationSendsTheCallersBytesExtended(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string // with marks
		next string // that of the continuation, if it differs in more
	}{
		"plain":           {`{"model":"m",` + someMessages + `,` + someTools + `}`, ""},
		"tools first":     {`{` + someTools + `,"model":"m",` + someMessages + `}`, ""},
		"numbers":         {`{"temperature":1.0e2,"seed":12345678901234567890,"top_p":-0.10E-02,` + someMessages + `,` + someTools + `}`, ""},
		"unknown members": {`{"vendor":{"messages":[1],"tools":[2],"store":true,"prediction":3},` + someMessages + `,` + someTools + `,"x":[]}`, ""},
		"escapes":         {`{"user":"j\u00fc\/\u2028","me\u0073sages":[{"role":"user","content":"\ud83d\ude00"}` + atMessages + `],"\u0074ools":[` + wiretest.ChatTool + atTools + `]}`, ""},
		"white space": {
			"\r\n\t{ \"messages\" : [ {\"role\" : \"user\", \"content\" : \"Hi.\"}" + atMessages + " \n] ,\n \"tools\" : [ " + wiretest.ChatTool + atTools + "\n\t] }\n", "",
		},
		"twice": {
			`{"model":"a","model":"b",` + fill(someMessages, "", "", "") + `,` + someMessages + `,` + fill(someTools, "", "", "") + `,` + someTools + `}`, "",
		},
		"what must not be mistaken": {
			`{"a":"\"messages\":[]","b":"]}","c":["}",{"d":"\\"}],` + someMessages + `,` + someTools + `}`, "",
		},
		"store": {
			`{"store":true,` + someMessages + `,` + someTools + `}`, `{"store":false,` + someMessages + `,` + someTools + `}`,
		},
		"store, wide": {
			`{ "store" : true , ` + someMessages + `,` + someTools + `}`, `{ "store" : false , ` + someMessages + `,` + someTools + `}`,
		},
		"store with metadata": {
			`{"metadata":{"a":"b"},"store":true,` + someMessages + `,` + someTools + `}`, `{"store":false,` + someMessages + `,` + someTools + `}`,
		},
		"store, and metadata last": {
			`{"store":true,` + someMessages + `,` + someTools + `,"prediction":{},"metadata":{}}`, `{"store":false,` + someMessages + `,` + someTools + `}`,
		},
		"metadata that is not stored": {`{"metadata":{"a":"b"},"store":false,` + someMessages + `,` + someTools + `}`, ""},
		"metadata alone":              {`{"metadata":{"a":"b"},` + someMessages + `,` + someTools + `}`, ""},
		"stream options": {
			`{"stream_options":{"include_usage":true},"parallel_tool_calls":false,"logprobs":true,"top_logprobs":2,` + someMessages + `,` + someTools + `}`, "",
		},
		"not stored":       {`{"store":false,` + someMessages + `,` + someTools + `}`, ""},
		"store of null":    {`{"store":null,` + someMessages + `,` + someTools + `}`, ""},
		"prediction first": {`{"prediction":{"content":"x, }"},` + someMessages + `,` + someTools + `}`, `{` + someMessages + `,` + someTools + `}`},
		"prediction last":  {`{` + someMessages + `,` + someTools + `,"prediction":null}`, `{` + someMessages + `,` + someTools + `}`},
		"prediction between": {
			`{` + someMessages + `,"prediction":[1,{"a":2}],` + someTools + `}`, `{` + someMessages + `,` + someTools + `}`,
		},
		"prediction twice": {
			`{` + someMessages + `,"prediction":1,"prediction":2,` + someTools + `,"prediction":3,"prediction":4}`,
			`{` + someMessages + `,` + someTools + `}`,
		},
		"tool choice auto": {`{"tool_choice":"auto",` + someMessages + `,` + someTools + `}`, ""},
		"allowed tools": {
			`{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function",` +
				`"function":{"name":"edit_file"}}` + atAllowed + `]}},` + someMessages + `,` + someTools + `}`, "",
		},
		"allowed tools, other order": {
			`{` + someTools + `,"tool_choice":{"allowed_tools":{"tools":[{"type":"function","function":{"name":"edit_file"}}` +
				atAllowed + `],"mode":"auto"},"x":{"tools":[]},"type":"allowed_tools"},` + someMessages + `}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := wiretest.NewScene(t, wiretest.TwoTodos)
			own := fill(tt.body, "", "", "")
			got := s.Send(t, s.Request(t, own), wiretest.Texts("Nächstens:\t\"<parser>\"\u2028")[0], wiretest.Edit())
			require.NoError(t, got.Err)
			bodies := s.Wire.Bodies()
			require.Len(t, bodies, 2)
			assert.Equal(t, own, bodies[0])

			prompt := carryontest.Recorded[middleware.ContinuationStarted](s.Events)[0].Prompt
			messages := `,{"role":"assistant","content":"Nächstens:\t\"<parser>\""},{"role":"user","content":` + wiretest.Quoted(t, prompt) + `}`
			if strings.Contains(tt.body, `"messages":[`+atMessages) {
				messages = messages[1:]
			}
			allowed := `,{"function":{"name":"todo_pause"},"type":"function"}`
			if tt.next == "" {
				tt.next = tt.body
			}
			assert.Equal(t, fill(tt.next, messages, ","+wiretest.ChatPauseTool(t, false), allowed), bodies[1])
		})
	}
}

// In an empty list of allowed tools, todo_pause becomes the only one.
func TestEmptyListOfAllowedToolsIsExtended(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	const body = `{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[ ` + atAllowed + `]}},` +
		someMessages + `,` + someTools + `}`
	require.NoError(t, s.Send(t, s.Request(t, fill(body, "", "", "")), wiretest.Texts(wiretest.Plan)[0], wiretest.Edit()).Err)
	assert.Contains(t, s.Wire.Bodies()[1], `"tools":[{"function":{"name":"todo_pause"},"type":"function"} ]}}`)
}

func TestReasoningIsSentBackUnderTheNamesTheHistoryUses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ history, want string }{
		"none":             {`{"role":"assistant","content":"x"}`, ``},
		"null":             {`{"role":"assistant","content":"x","reasoning_content":null,"reasoning":[]}`, ``},
		"reasoning":        {`{"role":"assistant","content":"x","reasoning":"y"}`, `,"reasoning":"First \"the\" parser."`},
		"content":          {`{"role":"assistant","content":"x","reasoning_content":""}`, `,"reasoning_content":"First \"the\" parser."`},
		"both":             {`{"role":"assistant","content":"x","reasoning":"y","reasoning_content":"z"}`, `,"reasoning_content":"First \"the\" parser.","reasoning":"First \"the\" parser."`},
		"in several turns": {`{"role":"assistant","reasoning_content":"z"},{"role":"assistant","reasoning":"y","reasoning_content":"z"}`, `,"reasoning_content":"First \"the\" parser.","reasoning":"First \"the\" parser."`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				s := wiretest.NewScene(t, wiretest.TwoTodos)
				body := strings.Replace(wiretest.ChatBody(w.Stream), `"messages":[`, `"messages":[`+tt.history+`,`, 1)
				got := s.Send(t, s.Request(t, body), fakellm.Text(wiretest.Plan).Reasoning(`First "the" parser.`), wiretest.Edit())
				require.NoError(t, got.Err)
				assert.Contains(t, s.Wire.Bodies()[1],
					`{"role":"assistant","content":`+wiretest.Quoted(t, wiretest.Plan)+tt.want+`},{"role":"user","content":`)
			})
		})
	}
}

func TestRejectedPauseIsAnsweredAsAToolResult(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		got := s.Ask(t, w, wiretest.Texts(wiretest.Plan)[0], fakellm.Pause("stuck").ID("call_7"), wiretest.Edit())
		wiretest.RequireChat(t, got, wiretest.Plan, "tool_calls")
		bodies := s.Wire.Bodies()
		require.Len(t, bodies, 3)
		rejected := carryontest.Recorded[middleware.PauseCalled](s.Events)
		require.Len(t, rejected, 1)
		result := rejected[0].Err.Error() + "\n\nThe task that is still to be done:\n'Write the parser'"
		added := `,{"role":"assistant","content":` + wiretest.Quoted(t, wiretest.Plan) + `,"tool_calls":[{"id":"call_7","type":"function",` +
			`"function":{"name":"todo_pause","arguments":"{\"reason\":\"stuck\"}"}}]},` +
			`{"role":"tool","tool_call_id":"call_7","content":` + wiretest.Quoted(t, result) + `}]`
		assert.Contains(t, bodies[2], `{"role":"user","content":"Write and test the parser."}`+added)
		assert.Contains(t, bodies[2], ","+wiretest.ChatPauseTool(t, false)+"]")
		assert.NotContains(t, bodies[2], continuation.PromptPreamble, "there is no prompt")
	})
}

func TestStrictToolsGetAStrictPause(t *testing.T) {
	t.Parallel()
	const strictTool = `{"type":"function","function":{"name":"edit_file","strict":true,"parameters":{}}}`
	for tools, strict := range map[string]bool{
		strictTool: true, strictTool + "," + wiretest.ChatTool: false, wiretest.ChatTool: false,
		strings.Replace(strictTool, "true", "false", 1): false, strings.Replace(strictTool, "true", `"true"`, 1): false,
	} {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		body := strings.Replace(wiretest.ChatBody(true), wiretest.ChatTool, tools, 1)
		require.NoError(t, s.Send(t, s.Request(t, body), wiretest.Texts(wiretest.Plan)[0], wiretest.Edit()).Err)
		assert.Contains(t, s.Wire.Bodies()[1], tools+","+wiretest.ChatPauseTool(t, strict)+"]", tools)
	}
}

func TestPauseToolIsDeclaredAlways(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewScene(t, wiretest.TwoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
		const choice = `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function",` +
			`"function":{"name":"edit_file"}}]}}`
		body := wiretest.ChatBody(w.Stream, choice, `"store":true`, `"prediction":{}`)
		got := s.Send(t, s.Request(t, body), wiretest.Texts("One.")[0], wiretest.Texts("Two.")[0], wiretest.Edit())
		wiretest.RequireChat(t, got, "One.\n\nTwo.", "tool_calls")
		bodies := s.Wire.Bodies()
		require.Len(t, bodies, 3)
		declared := strings.NewReplacer(wiretest.ChatTool, wiretest.ChatTool+","+wiretest.ChatPauseTool(t, false),
			`"edit_file"}}]}}`, `"edit_file"}},{"function":{"name":"todo_pause"},"type":"function"}]}}`).Replace(body)
		assert.Equal(t, declared, bodies[0])
		assert.Equal(t, int64(len(declared)), s.Wire.Seen()[0].ContentLength)
		tools := func(body string) string { return body[strings.LastIndex(body, `"tools":`):] }
		for _, next := range bodies[1:] {
			assert.Equal(t, tools(declared), tools(next), "the tools are the same in every request")
		}
	})
}

// If carryon has declared todo_pause, the caller does not see a pause in the caller's own turn.
func TestDeclaredPauseToolPausesTheFirstTurn(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewScene(t, wiretest.TwoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
		got := s.Ask(t, w, fakellm.Text("I can't.").AndCall("todo_pause", `{"reason":"`+wiretest.Blocked+`"}`))
		wiretest.RequireChat(t, got, "I can't.\n\nTask paused: "+wiretest.Blocked, "stop")
		assert.Empty(t, got.Chat(t).Calls)
		assert.NotContains(t, got.Body, "todo_pause")
		assert.Len(t, s.Server.Requests(), 1)
	})
}

func TestCallersOwnTodoPauseIsTheirs(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		for _, own := range []string{
			`{"type":"function","function":{"name":"TODO_Pause"}}`, `{"type":"custom","custom":{"name":"todo_pause"}}`,
		} {
			s := wiretest.NewScene(t, wiretest.TwoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
			body := strings.Replace(wiretest.ChatBody(w.Stream), wiretest.ChatTool, wiretest.ChatTool+","+own, 1)
			got := s.Send(t, s.Request(t, body), wiretest.Texts(wiretest.Plan)[0], fakellm.Pause(wiretest.Blocked))
			wiretest.RequireChat(t, got, wiretest.Plan, "tool_calls")
			assert.Len(t, got.Chat(t).Calls, 1)
			for _, sent := range s.Wire.Bodies() {
				assert.Equal(t, 1, strings.Count(strings.ToLower(sent), `"todo_pause"`))
			}
		}
	})
}

// carryon adds no tool to a request without tools, because the provider refuses tools for some models.
func TestToollessCallGetsNoTool(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos, middleware.WithToollessCalls())
	const body = `{"messages":[{"role":"user","content":"Write."}],"stream":true}`
	got := s.Send(t, s.Request(t, body), wiretest.Texts(wiretest.Plan)[0], wiretest.Texts("Done.\ntodo_pause('" + wiretest.Blocked + "')")[0])
	require.NoError(t, got.Err)
	assert.Equal(t, wiretest.Plan+"\n\nDone.\n\nTask paused: "+wiretest.Blocked, got.Chat(t).Text)
	assert.NotContains(t, s.Wire.Bodies()[1], `"tools"`)
}
