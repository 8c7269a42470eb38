package main

import (
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
)

// results returns the result of a call for the model.
func results(t *testing.T, prepare func(*scene), call carryontest.Turn) (result, shown string) {
	t.Helper()
	inPipe(t, func(s *scene) {
		prepare(s)
		s.enter("Go.")
		s.settle()
		result, shown = s.server.Requests()[1].Last().Content, s.written()
	}, call, carryontest.Text("I see."), carryontest.Text("I see."))
	return result, shown
}

func TestToolsTellTheModelWhatTheyDid(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ name, arguments, result, shown string }{
		"write": {writeFile, `{"path":"a.txt","content":"x"}`, "OK: wrote a.txt, 1 bytes.", "  wrote a.txt, 1 bytes\n"},
		"read":  {readFile, `{"path":"there.txt"}`, "it is", "  read there.txt, 5 bytes\n"},
		"list":  {listFiles, `{"folder":"."}`, "there.txt\nThat is all.", "  listed 1 files\n"},
		"outside": {
			readFile, `{"path":"../a"}`, `Error: "../a" is outside of the folder; a path is relative to it and stays inside.`,
			`! read_file: "../a" is outside of the folder; a path is relative to it and stays inside` + "\n",
		},
		"unknown":   {"rm", `{}`, `Error: there is no tool "rm".`, "! rm: there is no tool \"rm\"\n"},
		"not JSON":  {writeFile, `{"path":`, "Error: the arguments are not the JSON object that it takes.", "! write_file: "},
		"not text":  {writeFile, `{"path":1}`, "Error: the arguments are not the JSON object that it takes.", "! write_file: "},
		"escapes":   {readFile, `{"path":"\u001b[2Jx"}`, "Error: \x1b[2Jx: no such file or directory.", "! read_file: x: no such file"},
		"todo list": {"todo_write", `{"todos":[{"content":"Dig","status":"completed"}]}`, "Todo list saved: 1 todo, 0 left to do.", "  todo [x] Dig\n"},
		"tasks":     {"check_async_tasks", `{}`, "", "  looked at the background tasks\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, shown := results(t, func(s *scene) {
				require.NoError(t, s.files.write("there.txt", "it is"))
			}, carryontest.Call(test.name, test.arguments))
			assert.True(t, strings.HasPrefix(result, test.result), result)
			assert.Contains(t, shown, test.shown)
		})
	}
}

func TestCheckTellsOfFaults(t *testing.T) {
	t.Parallel()
	_, shown := results(t, func(s *scene) {
		require.NoError(t, s.files.write("a.txt", "one two"))
		require.NoError(t, s.files.write("b.txt", "three \xff"))
	}, carryontest.Call(checkFiles, `{"folder":"."}`))
	assert.Contains(t, shown, "* background result: check the files in . (completed)\n")

	files, _ := newSandbox(t)
	require.NoError(t, files.write("a.txt", "one two"))
	require.NoError(t, files.write("b.txt", "three \xff"))
	out, err := (&toolbox{files: files}).check(t.Context(), ".")
	require.NoError(t, err)
	assert.Equal(t, "2 files with 4 words. b.txt is not UTF-8.", *out.FinalMessage)
	_, err = (&toolbox{files: files}).check(t.Context(), "nowhere")
	require.Error(t, err)
}

func TestModelIsOfferedTheTools(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("Hello.")
		s.settle()
		assert.Equal(t, []string{
			writeFile, readFile, listFiles, checkFiles, "todo_write", "todo_read", "check_async_tasks",
		}, s.server.Requests()[0].Tools)
	}, carryontest.Text("Hello."))
}

func TestFragmentsOfCallsAreJoined(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]carryontest.Turn{
		"fragments": carryontest.Call("one", `{"a":1}`).AndCall("two", `{"b":2}`),
		"mixed": fragments(
			`{"index":0,"id":"a","type":"function","function":{"name":"one","arguments":""}}`,
			`{"index":1,"id":"b","type":"function","function":{"name":"two","arguments":""}}`,
			`{"index":0,"function":{"arguments":"{\"a\":1}"}}`,
			`{"index":1,"function":{"arguments":"{\"b\":2}"}}`,
		),
		"whole": carryontest.Call("one", `{"a":1}`).AndCall("two", `{"b":2}`).WholeCalls(),
		"no index": fragments(
			`{"id":"a","type":"function","function":{"name":"one","arguments":""}}`,
			`{"function":{"arguments":"{\"a\":1}"}}`,
			`{"id":"b","type":"function","function":{"name":"two","arguments":""}}`,
			`{"function":{"arguments":"{\"b\":2}"}}`,
		),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inPipe(t, func(s *scene) {
				s.enter("Go.")
				s.settle()
				var calls []openai.FunctionCall
				for _, call := range s.agent.messages()[2].ToolCalls {
					calls = append(calls, call.Function)
					assert.Nil(t, call.Index, "belongs to streams")
				}
				assert.Equal(t, []openai.FunctionCall{{Name: "one", Arguments: `{"a":1}`}, {Name: "two", Arguments: `{"b":2}`}}, calls)
			}, turn, carryontest.Text("Done."))
		})
	}
}

// fragments is a turn whose stream has these fragments of tool calls, each in its own chunk.
func fragments(calls ...string) carryontest.Turn {
	payloads := make([]string, 0, len(calls)+1)
	for _, call := range calls {
		payloads = append(payloads, `{"choices":[{"index":0,"delta":{"tool_calls":[`+call+`]},"finish_reason":null}]}`)
	}
	return carryontest.Chunks(append(payloads, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`)...)
}

func TestLoopIsBounded(t *testing.T) {
	t.Parallel()
	turns := make([]carryontest.Turn, maxRounds)
	for i := range turns {
		turns[i] = carryontest.Call("todo_read", `{}`)
	}
	inPipe(t, func(s *scene) {
		s.enter("Go.")
		s.settle()
		assert.Contains(t, s.written(), "! The model still called tools after 50 rounds.\n")
	}, turns...)
}

func TestToolsBelongToTheSession(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("Go.")
		s.settle()
		assert.Len(t, s.todos.Read(continuation.WithSession(t.Context(), session)), 1)
		assert.Empty(t, s.todos.Read(t.Context()))
	}, planOf("Dig"), carryontest.Text("Well."), carryontest.Pause("The spade is locked away, and only you have the key."))
}
